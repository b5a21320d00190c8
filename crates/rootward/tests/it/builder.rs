//! What is wrong with a builder is said all at once, in sentences, as a value.

use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, Reason};
use rootward_core::Moment;

use crate::support::{any_port, until};

fn disk(name: &str) -> Check {
    Check::new(name, || async { Ok(()) }).hard()
}

#[tokio::test]
async fn all_problems_come_at_once_and_nothing_is_started() {
    let error = Health::builder("the cart")
        .instance("")
        .version("1.4 beta")
        .listen(any_port())
        .check(disk("disk"))
        .check(disk("disk"))
        .check(disk("orders db"))
        .check(disk("a").timeout(Duration::from_secs(10)))
        .check(disk("b").interval(Duration::ZERO).timeout(Duration::ZERO))
        .check(
            disk("c")
                .interval(Duration::from_secs(1_000_000))
                .timeout(Duration::from_secs(61)),
        )
        .check(disk("d").fall(0).rise(0))
        .check(disk("e").slow_above(Duration::from_millis(500)))
        .check(disk("f").target("postgresql://alice:hunter2@db/orders"))
        .check(disk("g").kind("my kind").owner("team\norders"))
        .drain_delay(Duration::from_secs(3601))
        .drain_grace(Duration::MAX)
        .start()
        .unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "the cart" has 18 problems
      service: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
      instance: a name may not be empty
      version: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
      drain: the delay (3601 s) may be at most 3600 s
      drain: the grace (18446744073709551615.9 s) may be at most 3600 s
      check "disk": another check has this name
      check "orders db": name: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
      check "a": the timeout (10 s) must be shorter than the interval (10 s)
      check "b": the interval must be at least 1 ms
      check "b": the timeout must be at least 1 ms
      check "b": the timeout (0 ms) must be shorter than the interval (0 ms)
      check "c": the interval (1000000 s) may be at most 86400 s
      check "c": the timeout (61 s) may be at most 60 s
      check "d": fall and rise must be at least 1
      check "e": slow_above (500 ms) must be shorter than the timeout (500 ms)
      check "f": the target must not have a user, a password or a query: it is shown to everybody who may read the report
      check "g": kind: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
      check "g": the owner must have 1 to 256 bytes without control characters
    "#);
    assert_eq!(error.problems().len(), 18);
}

#[tokio::test]
async fn one_problem_reads_like_a_sentence() {
    let error = Health::builder("cart")
        .interval(Duration::from_millis(400))
        .check(disk("disk"))
        .start()
        .unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      check "disk": the timeout (500 ms) must be shorter than the interval (400 ms)
    "#);
}

#[tokio::test]
async fn too_many_checks_are_refused() {
    let builder = (0..=rootward::MAX_CHECKS).fold(Health::builder("cart"), |builder, index| {
        builder.check(disk(&format!("disk-{index}")))
    });
    insta::assert_snapshot!(builder.start().unwrap_err(), @r#"
    the health of "cart" has 1 problem
      checks: 501 are too many, at most 500
    "#);
}

/// As many checks as may be, with the longest texts that may be: the report is one that is read.
#[tokio::test]
async fn the_largest_report_is_not_too_large_for_its_reader() {
    let long = |text: &str, bytes: usize| text.repeat(bytes);
    let builder = (0..rootward::MAX_CHECKS).fold(
        Health::builder(long("s", 128)).instance(long("i", 128)),
        |builder, index| {
            let name = format!("{index:03}{}", long("n", 125));
            let check = Check::new(name, || async {
                let reason = (0..100).fold(Reason::new("\"\""), |reason, _| reason.text("\"\""));
                Err::<(), _>(Failure::new(ErrorCategory::ResourceExhausted).because(reason))
            });
            builder.check(
                check
                    .informational()
                    .kind(long("k", 128))
                    .target(long("t", 256))
                    .owner(long("o", 256)),
            )
        },
    );
    let health = builder.start().expect("it starts");
    until(Duration::from_secs(10), || {
        let report = health.report();
        report.components.iter().all(|c| c.error.is_some())
    })
    .await;
    let bytes = health.report().to_json();
    let report = rootward_wire::v1::read(&bytes, Moment::from_millis(1_000_000));
    assert_eq!(
        report.expect("it can be read").components.len(),
        rootward::MAX_CHECKS
    );
    health.stop().await;
}

/// KF-026.
#[tokio::test]
async fn kf_026_a_port_in_use_is_an_error_value() {
    let other = std::net::TcpListener::bind(any_port()).expect("a free port");
    let address = other.local_addr().expect("an address");
    let error = Health::builder("cart").listen(address).start().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("failed to listen on {address}: address already in use")
    );
    assert!(error.is_address_in_use());
    assert!(error.problems().is_empty());
}

#[test]
fn outside_a_runtime_it_says_so() {
    insta::assert_snapshot!(
        Health::builder("cart").start().unwrap_err(),
        @"failed to start health: no tokio runtime here, call start() inside the application's"
    );
}

/// Every check would have panicked, and the service would have looked well.
#[test]
fn in_a_runtime_without_a_timer_it_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let started = runtime
        .expect("a runtime")
        .block_on(async { Health::builder("cart").listen(any_port()).start() });
    insta::assert_snapshot!(
        started.unwrap_err(),
        @"failed to start health: the tokio runtime here has no timer, build it with enable_time() or enable_all()"
    );
}

#[tokio::test]
async fn defaults_show_in_the_report() {
    let health = Health::builder("cart")
        .check(Check::new("orders-db", || async { Ok(()) }).hard())
        .check(Check::new("disk", || async { Ok(()) }).hard().local())
        .check(Check::new("cache", || async { Ok(()) }).soft().local())
        .check(
            Check::new("ledger", || async { Ok(()) })
                .hard()
                .gates_readiness(true),
        )
        .check(
            Check::new("queue", || async { Ok(()) })
                .informational()
                .interval(Duration::from_secs(60))
                .timeout(Duration::from_secs(2)),
        )
        .start()
        .expect("it starts");
    let report = health.report();
    let rows: Vec<_> = report
        .components
        .iter()
        .map(|c| (&*c.name, c.interval_ms, c.timeout_ms, c.gates_readiness))
        .collect();
    assert_eq!(
        rows,
        [
            ("orders-db", Some(10_000), Some(500), Some(false)),
            ("disk", Some(10_000), Some(500), Some(true)),
            ("cache", Some(10_000), Some(500), Some(false)),
            ("ledger", Some(10_000), Some(500), Some(true)),
            ("queue", Some(60_000), Some(2_000), Some(false)),
        ]
    );
    drop(report);
    health.stop().await;
}
