//! Started: no latch is held and every check has had its first result, or the time for it.

use std::time::Duration;

use rootward::{Check, Failure};
use rootward_core::InstanceStatus;
use tokio::time::sleep;

use crate::support::{Dependency, Log, any_port, cart, get, until};

const TIMEOUT: Duration = Duration::from_millis(500);

/// Contract rule 10.
#[tokio::test(start_paused = true)]
async fn a_dead_database_does_not_hold_the_start() {
    let health = cart()
        .check(Dependency::broken().check("orders-db").hard())
        .check(Check::new("cache", std::future::pending::<Result<(), Failure>>).soft())
        .start()
        .expect("it starts");
    assert!(!health.is_started());
    until(TIMEOUT + Duration::from_millis(50), || health.is_started()).await;
    assert_eq!(health.report().status, InstanceStatus::Unhealthy.into());
    assert!(health.is_ready(), "a shared dependency does not gate");
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_latch_holds_the_start_until_it_is_dropped() {
    let mut builder = cart();
    let migration = builder.latch("migration");
    let health = builder
        .check(Dependency::default().check("orders-db").hard())
        .start()
        .expect("it starts");
    let warm = health.latch("cache warm");
    sleep(TIMEOUT * 4).await;
    assert!(!health.is_started() && !health.is_ready());
    assert_eq!(health.report().status, InstanceStatus::Starting.into());
    drop(migration);
    assert!(!health.is_started());
    drop(warm);
    assert!(health.is_started() && health.is_ready());
    assert_eq!(health.report().status, InstanceStatus::Healthy.into());
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn once_started_it_stays_started() {
    let (log, _guard) = Log::capture();
    let health = cart().start().expect("it starts");
    assert!(health.is_started());
    let late = health.latch("late");
    assert!(health.is_started() && health.is_ready());
    insta::assert_snapshot!(log.lines().join("\n"), @r#"WARN rootward: a latch was taken after the start was over and holds nothing latch="late""#);
    drop(late);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_applications_own_switch_takes_it_out_and_back() {
    let health = cart().start().expect("it starts");
    health.set_not_ready("the catalogue is reloading");
    assert!(!health.is_ready() && health.is_started());
    assert_eq!(health.report().ready, Some(false));
    assert_eq!(health.report().status, InstanceStatus::Healthy.into());
    health.set_ready();
    assert!(health.is_ready());
    health.stop().await;
}

/// KF-029, with as many latches and failing checks as may be, and with names that grow when they are escaped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_029_small_answers_stay_below_one_kibibyte() {
    let long = "x".repeat(100);
    let builder = (0..rootward::MAX_CHECKS).fold(cart().listen(any_port()), |builder, index| {
        let check = Dependency::broken().check(&format!("{long}-{index}"));
        builder.check(check.hard().local())
    });
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let latches: Vec<_> = (0..500)
        .map(|index| health.latch(format!("\"{index}\" {}", "\\\u{7}".repeat(200))))
        .collect();
    for path in ["/livez", "/readyz", "/healthz", "/startupz", "/status"] {
        let body = get(address, path).body;
        assert!(body.len() <= 1024, "{path} has {} bytes", body.len());
    }
    let held = get(address, "/startupz").json();
    let last = held["held"]
        .as_array()
        .and_then(|held| held.last())
        .cloned();
    let last = last.expect("something is held");
    let last = last.as_str().expect("a sentence");
    assert!(
        last.starts_with("and ") && last.ends_with(" more"),
        "{last}"
    );

    drop(latches);
    until(Duration::from_secs(20), || health.is_started()).await;
    until(Duration::from_secs(20), || {
        health.report().errors.len() == rootward::MAX_CHECKS
    })
    .await;
    let ready = get(address, "/readyz");
    assert_eq!(ready.code, 503);
    assert!(ready.body.len() <= 1024);
    let reasons = ready.json()["reasons"].clone();
    let reasons: Vec<String> = serde_json::from_value(reasons).expect("sentences");
    let (last, first) = reasons.split_last().expect("some reasons");
    assert_eq!(first[0], format!("{long}-0 is down: connection refused"));
    assert_eq!(
        *last,
        format!("and {} more", rootward::MAX_CHECKS - first.len())
    );
    health.stop().await;
}
