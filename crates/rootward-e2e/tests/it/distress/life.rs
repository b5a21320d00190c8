//! What liveness and readiness say of the process itself (P6), and that a stop is heard.

use std::time::Duration;

use rootward_e2e::{Error, Run, until};
use tokio::time::{Instant, sleep};

use super::service::{Service, Settings};
use crate::alone::alone;

/// The lag budget, where nothing else is said.
const LAG_BUDGET: Duration = Duration::from_millis(250);

const SOON: Duration = Duration::from_secs(10);

/// How long it takes until a path answers with this code.
async fn until_code(service: &Service, path: &str, code: u16) -> Result<Duration, Error> {
    let began = Instant::now();
    let what = format!("{path} to answer {code}");
    let look = async || service.ask(path).map(|answer| answer.code);
    until(&what, SOON, look, |seen| *seen == Some(code)).await?;
    Ok(began.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_runtime_is_seen_within_twice_the_lag_budget_and_its_end_as_well()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("good:1")).await?;
    let (mut seen, mut over) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        until_code(&service, "/readyz", 200).await?;
        service.tell("block 1500");
        let began = Instant::now();
        seen.push(until_code(&service, "/readyz", 503).await?);
        sleep(Duration::from_millis(1500).saturating_sub(began.elapsed())).await;
        over.push(until_code(&service, "/readyz", 200).await?);
    }
    seen.sort_unstable();
    over.sort_unstable();
    println!(
        "both workers blocked: not ready after {seen:.0?}; not blocked any more: ready after {over:.0?}"
    );
    assert!(
        seen[2] <= LAG_BUDGET * 2,
        "median of {seen:?}, promised {:?}",
        LAG_BUDGET * 2
    );
    assert!(over[2] <= LAG_BUDGET * 2, "median of {over:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_007_a_runtime_that_is_blocked_beyond_the_wedge_limit_is_not_alive_and_a_thread_of_its_own_says_so()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let wedge_limit = Duration::from_secs(2);
    let settings = Settings {
        wedge_limit: Some(wedge_limit),
        ..Settings::of("hang:20")
    };
    let service = Service::start(&run, settings).await?;
    service.tell("block 6000");
    let took = until_code(&service, "/livez", 503).await?;
    let body = service.ask("/livez").expect("it answers").body;
    println!("blocked, with a wedge limit of {wedge_limit:?}: not alive after {took:.1?}: {body}");
    assert!(
        took >= wedge_limit - Duration::from_millis(200),
        "too early: {took:?}"
    );
    assert!(
        took <= wedge_limit + Duration::from_secs(1),
        "too late: {took:?}"
    );
    until_code(&service, "/livez", 200).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_006_a_critical_task_that_is_silent_makes_the_process_not_alive_and_is_named()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("good:1")).await?;
    service.tell("watch");
    for _ in 0..10 {
        service.tell("beat");
        sleep(Duration::from_millis(200)).await;
        assert_eq!(
            service.ask("/livez").map(|answer| answer.code),
            Some(200),
            "it beats"
        );
    }
    let took = until_code(&service, "/livez", 503).await?;
    let answer = service
        .ask("/livez")
        .expect("the thread of the probes answers normally");
    println!(
        "silent, with a window of 1 s: not alive after {took:.1?}: {}",
        answer.body
    );
    assert!(answer.body.contains("order consumer"), "{}", answer.body);
    assert!(took <= Duration::from_secs(2), "{took:?}");
    service.tell("beat");
    until_code(&service, "/livez", 200).await?;
    Ok(())
}
