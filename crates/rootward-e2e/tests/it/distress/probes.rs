//! Answers under harm (P1), and that they cost the dependencies nothing (P4).

use std::time::Duration;

use rootward_e2e::{Error, Run};
use tokio::time::{Instant, sleep};

use super::client::{Connections, Flood, Prober, Seen};
use super::lasting;
use super::quota::Quota;
use super::service::{Service, Settings};
use crate::alone::alone;

/// P1: what 99 of 100 answers stay below.
const PROMISED: Duration = Duration::from_millis(100);

/// With a tenth of a core the kernel lets the process run for 10 ms in each 100 ms. One that has used up its share
/// answers nothing until the next period, and then has to share 10 ms among its own threads again: no bound below a few
/// periods is honest.
const PROMISED_WITH_A_TENTH: Duration = Duration::from_millis(500);

/// What an orchestrator waits for an answer. With every core calculating and a thousand detailed reports a second asked
/// for, which the thread of the probes has to write, the machine decides how much below that an answer stays: more than
/// [`PROMISED`] in a build without optimisation.
const OVERLOADED: Duration = Duration::from_secs(1);

/// Everything at once: dependencies that hang with and without a connection, checks that block and that panic.
const ALL: &str = "good:2,hang:20,socket:4,blocking:2,panic";

/// How often a prober asks.
const PACE: Duration = Duration::from_millis(10);

/// Liveness and readiness, asked over new connections, and a bare thread of the same process, asked likewise.
struct Probes {
    livez: Prober,
    readyz: Prober,
    yardstick: Prober,
}

/// What they saw.
struct Answers {
    livez: Seen,
    readyz: Seen,
    yardstick: Seen,
}

impl Probes {
    fn start(service: &Service, pace: Duration) -> Self {
        let prober = |path| Prober::start(service.probes, path, pace, Connections::New);
        Self {
            livez: prober("/livez"),
            readyz: prober("/readyz"),
            yardstick: Prober::start_yardstick(service.control, pace),
        }
    }

    /// Stops and prints.
    fn stop(self, when: &str) -> Answers {
        let stop = |path: &str, prober: Prober| {
            let seen = prober.stop();
            seen.print(&format!("{when}: {path}"));
            seen
        };
        Answers {
            livez: stop("/livez", self.livez),
            readyz: stop("/readyz", self.readyz),
            yardstick: stop("a bare thread", self.yardstick),
        }
    }
}

impl Answers {
    fn assert_within(&self, limit: Duration, least: usize) {
        self.livez
            .assert_within("/livez", limit, &self.yardstick, least);
        self.readyz
            .assert_within("/readyz", limit, &self.yardstick, least);
    }

    /// Liveness never failed: no restart would have helped.
    fn assert_alive(&self) {
        assert_eq!(self.livez.codes.keys().collect::<Vec<_>>(), [&200]);
    }
}

/// How many runs the checks began and how many connections the dependency saw within a while.
async fn runs_within(service: &Service, while_: Duration) -> (u64, u64) {
    let before = (service.tell("").runs(), service.dependency.accepted());
    sleep(while_).await;
    let after = (service.tell("").runs(), service.dependency.accepted());
    (after.0 - before.0, after.1 - before.1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_001_kf_005_with_both_workers_blocked_for_ten_seconds_every_probe_is_answered_within_100_ms()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("hang:20,socket:4")).await?;
    sleep(Duration::from_secs(1)).await;
    for _ in 0..super::factor() {
        service.tell("block 10000");
        let connections = service.dependency.accepted();
        let probes = Probes::start(&service, PACE);
        sleep(Duration::from_secs(9)).await;
        let during = service.dependency.accepted() - connections;
        let answers = probes.stop("both workers blocked");
        answers.assert_within(PROMISED, 500);
        answers.assert_alive();
        println!(
            "{during} connections to dependencies while {} probes came",
            answers.livez.took.len() + answers.readyz.took.len()
        );
        // What was accepted late was asked for before the workers were blocked.
        assert!(
            during <= 4,
            "no check can run, and {during} connections were made"
        );
        sleep(Duration::from_secs(3)).await;
    }
    assert_eq!(
        service.ask("/readyz").map(|answer| answer.code),
        Some(200),
        "back by itself"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_005_with_every_worker_calculating_and_every_dependency_hanging_probes_are_answered_within_100_ms()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("hang:20,socket:4")).await?;
    let while_ = lasting(Duration::from_secs(6));
    service.tell(&format!("spin {}", while_.as_millis() + 2000));
    let probes = Probes::start(&service, PACE);
    sleep(while_).await;
    let answers = probes.stop("both workers calculate");
    answers.assert_within(PROMISED, 300);
    answers.assert_alive();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_001_kf_080_a_thousand_questions_a_second_on_every_endpoint_run_no_check_and_delay_no_probe()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("hang:10,socket:10")).await?;
    // Until the first failures are damped, checks come more often.
    sleep(Duration::from_secs(5)).await;
    let while_ = lasting(Duration::from_secs(3));
    let (quiet_runs, quiet_connections) = runs_within(&service, while_).await;
    println!("quiet: {quiet_runs} runs, {quiet_connections} connections in {while_:?}");
    for path in [
        "/livez",
        "/readyz",
        "/healthz",
        "/startupz",
        "/status",
        "/health",
    ] {
        let (flood, probes) = (
            Flood::start(service.probes, path),
            Probes::start(&service, PACE),
        );
        let (runs, connections) = runs_within(&service, while_).await;
        let answers = probes.stop(&format!("1,000/s on {path}"));
        let flood = flood.stop();
        flood.print(&format!("1,000/s on {path}: the flood itself"));
        println!("1,000/s on {path}: {runs} runs, {connections} connections in {while_:?}");
        answers.assert_within(PROMISED, 100);
        assert!(flood.failures.is_empty(), "{path}: {:?}", flood.failures);
        // Each check runs once a second; one more or less at the edges of the window. Thousands of questions came.
        assert!(
            runs <= quiet_runs + 20 && connections <= quiet_connections + 10,
            "{path} runs checks"
        );
        assert!(
            flood.took.len() > 1000,
            "{path}: only {} questions",
            flood.took.len()
        );
        for path in ["/livez", "/readyz"] {
            assert_eq!(
                service.ask(path).map(|answer| answer.code),
                Some(200),
                "never limited"
            );
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_at_once_and_no_probe_of_an_orchestrator_fails() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let mut service = Service::start(&run, Settings::of(ALL)).await?;
    let while_ = lasting(Duration::from_secs(8));
    let (probes, flood) = (
        Probes::start(&service, PACE),
        Flood::start(service.probes, "/health"),
    );
    let until = Instant::now() + while_;
    while Instant::now() < until {
        service.tell("spin 2000");
        sleep(Duration::from_secs(2)).await;
        service.tell("block 2000");
        sleep(Duration::from_secs(2)).await;
    }
    let answers = probes.stop("everything at once");
    flood.stop().print("everything at once: 1,000/s on /health");
    answers.assert_within(OVERLOADED, 100);
    answers.assert_alive();
    assert!(service.process.is_alive(), "{}", service.process.log());
    sleep(Duration::from_secs(3)).await;
    assert_eq!(
        service.ask("/readyz").map(|answer| answer.code),
        Some(200),
        "back by itself"
    );
    service.tell("");
    service.process.terminate()?;
    service.process.wait(Duration::from_secs(10)).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_tenth_of_a_core_probes_are_answered_within_half_a_second() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("hang:20,socket:4")).await?;
    let quota = match Quota::set(service.process.id(), 10) {
        Ok(quota) => quota,
        Err(why) => {
            println!("NOT RUN: this machine makes no control group with a quota: {why}");
            return Ok(());
        }
    };
    let while_ = lasting(Duration::from_secs(6));
    // Ten questions a second each are many for an orchestrator and few enough to be answered from a tenth of a core.
    let pace = Duration::from_millis(100);
    let probes = Probes::start(&service, pace);
    sleep(while_).await;
    let idle = probes.stop("10 % of a core, hanging checks");
    let throttled = quota.throttled();
    service.tell(&format!("spin {}", while_.as_millis()));
    let probes = Probes::start(&service, pace);
    sleep(while_).await;
    let busy = probes.stop("10 % of a core, all of it wanted by the application");
    idle.assert_within(PROMISED_WITH_A_TENTH, 30);
    // Some fifty answers: the slowest of them is what the kernel happened to do to one, so one of ten may be slower.
    for (what, seen) in [("/livez", &busy.livez), ("/readyz", &busy.readyz)] {
        seen.assert_share_within(900, what, PROMISED_WITH_A_TENTH, &busy.yardstick, 10);
        seen.assert_no_restart(what);
    }
    busy.assert_alive();
    println!(
        "stopped by the kernel in {throttled} periods before, {} after",
        quota.throttled()
    );
    assert!(
        quota.throttled() > throttled + 10,
        "the quota had no effect"
    );
    // The group can be removed when nobody is in it.
    service.process.kill().await?;
    Ok(())
}
