//! Failures of other people's health endpoints that no other test names.

use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, Unlabelled};
use tokio::time::sleep;

use crate::support::{Log, any_port, cart, get, statuses};

/// KF-030: one kind of failure took a host out at once although three failures were configured.
#[tokio::test(start_paused = true)]
async fn kf_030_every_kind_of_failure_needs_as_many_results_as_any_other() {
    let kinds = [
        (
            "fails",
            after_good(|| async { Err(Failure::new(ErrorCategory::HttpStatus)) }),
        ),
        (
            "refuses",
            after_good(|| async { Err(Failure::new(ErrorCategory::ConnectionRefused)) }),
        ),
        ("hangs", after_good(std::future::pending)),
        ("panics", after_good(|| async { panic!("on purpose") })),
    ];
    for (kind, check) in kinds {
        let health = cart()
            .check(check.hard().local())
            .start()
            .expect("it starts");
        // The first good result, then bad ones, one each interval or sooner; the third of them counts.
        let mut seen = Vec::new();
        for _ in 0..4_000 {
            sleep(Duration::from_millis(10)).await;
            let report = health.report();
            let component = &report.components[0];
            let now = (component.seq, component.status.to_string());
            if component.seq.is_some() && seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        let statuses: Vec<_> = seen
            .iter()
            .take(4)
            .map(|(_, status)| status.as_str())
            .collect();
        assert_eq!(statuses, ["up", "up", "up", "down"], "{kind}");
        health.stop().await;
    }
}

/// A check that is good once and then does something else.
fn after_good<F, Fut>(then: F) -> Check<Unlabelled>
where
    F: Fn() -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let ran = std::sync::atomic::AtomicBool::new(false);
    Check::new("disk", move || {
        let first = !ran.swap(true, std::sync::atomic::Ordering::SeqCst);
        async move { if first { Ok(()) } else { then().await } }
    })
}

/// KF-095: passwords in what is configured.
#[tokio::test]
async fn kf_095_a_secret_in_what_is_configured_is_refused_and_repeated_nowhere() {
    const SECRET: &str = "hunter2";
    let (log, _guard) = Log::capture();
    let good = || Check::new("orders-db", || async { Ok(()) }).hard();
    let refused = [
        Health::builder(format!("cart password={SECRET}")),
        cart().instance(format!("cart:{SECRET}@host name")),
        cart().check(good().target(format!("postgresql://alice:{SECRET}@db/orders"))),
        cart().check(good().target(format!("http://stock/readyz?token={SECRET}"))),
        cart().check(good().kind(format!("postgresql {SECRET}"))),
    ];
    for (at, builder) in refused.into_iter().enumerate() {
        let error = builder.start().expect_err("it is refused");
        let problems: Vec<_> = error.problems().iter().map(ToString::to_string).collect();
        assert!(!problems.is_empty(), "{at}");
        // The name of the service begins the message, so that one knows whose it is; its problem does not repeat it.
        assert!(!problems.join("\n").contains(SECRET), "{at}: {problems:?}");
    }
    assert!(!log.text().contains(SECRET));
}

/// KF-096: endpoints of other frameworks that give away environment, memory and configuration. There are none.
#[tokio::test]
async fn kf_096_there_is_no_endpoint_for_environment_memory_or_configuration() {
    let health = cart().listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let paths = [
        "/",
        "/env",
        "/actuator",
        "/actuator/env",
        "/actuator/heapdump",
        "/actuator/configprops",
        "/heapdump",
        "/debug/pprof/",
        "/debug/pprof/heap",
        "/debug/vars",
        "/debug/requests",
        "/config",
        "/configz",
        "/flagz",
        "/loggers",
        "/threaddump",
        "/trace",
        "/dump",
        "/quit",
        "/shutdown",
        "/health/",
        "/health/../env",
        "/health/env",
        "//health",
        "/HEALTH",
    ];
    let answers =
        tokio::task::spawn_blocking(move || paths.map(|path| (path, get(address, path).code)));
    for (path, code) in answers.await.expect("it ends") {
        assert_eq!(code, 404, "{path}");
    }
    health.stop().await;
}

/// KF-011: a time limit that followed from the interval was 24 minutes.
#[tokio::test(start_paused = true)]
async fn kf_011_a_time_limit_does_not_grow_with_the_interval() {
    let hangs = Check::new("orders-db", std::future::pending::<Result<(), Failure>>);
    let health = cart()
        .check(hangs.interval(Duration::from_secs(30 * 60)).hard())
        .start()
        .expect("it starts");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(statuses(&health)[0].1, "down");
    let report = health.report();
    assert_eq!(
        report.components[0].error.as_deref(),
        Some("timed out after 500 ms")
    );
    drop(report);
    health.stop().await;
}
