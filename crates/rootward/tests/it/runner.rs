//! The background runner, on paused time: nothing here waits for real.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, Outcome, Reason};
use rootward_core::{CheckStatus, InstanceStatus, Moment};
use rootward_wire::v1::ComponentBody;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::support::{Dependency, Log, cart, statuses, until};

const INTERVAL: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_millis(500);

fn only<'h>(health: &'h Health) -> ComponentBody<'h> {
    health.report().components.remove(0)
}

fn status(health: &Health) -> CheckStatus {
    only(health).status.known().expect("one of ours")
}

/// A check that was not run is unknown, from the first snapshot on.
#[tokio::test(start_paused = true)]
async fn before_the_first_result_a_check_is_unknown() {
    let health = cart()
        .check(Dependency::default().check("orders-db").hard())
        .check(Dependency::default().check("cache").soft())
        .start()
        .expect("it starts");
    let report = health.report();
    assert_eq!(report.status, InstanceStatus::Starting.into());
    for component in &report.components {
        assert_eq!(component.status, CheckStatus::Unknown.into());
        assert_eq!(component.raw_status, Some(CheckStatus::Unknown.into()));
        assert_eq!((component.age_ms, component.seq), (None, None));
        assert_eq!(
            (&component.last_checked, component.latency_ms),
            (&None, None)
        );
    }
    drop(report);
    health.stop().await;
}

/// KF-037.
#[tokio::test(start_paused = true)]
async fn kf_037_the_first_run_comes_at_once_and_the_next_ones_on_a_phase() {
    let dependencies: Vec<_> = (0..40).map(|_| Dependency::default()).collect();
    let builder = dependencies
        .iter()
        .enumerate()
        .fold(cart(), |builder, (index, dependency)| {
            builder.check(dependency.check(&format!("db-{index}")).soft())
        });
    let health = builder.start().expect("it starts");
    sleep(INTERVAL * 4).await;
    let mut phases = Vec::new();
    for dependency in &dependencies {
        let at = dependency.asked_at();
        assert!(at[0] < INTERVAL / 10, "{at:?}");
        let gaps: Vec<_> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            gaps[0] >= INTERVAL / 2 && gaps[0] < INTERVAL * 3 / 2,
            "{at:?}"
        );
        for gap in &gaps[1..] {
            // The timer of the runtime has a grain of one millisecond.
            assert!(gap.abs_diff(INTERVAL) <= Duration::from_millis(2), "{at:?}");
        }
        phases.push(at[1].as_millis() % INTERVAL.as_millis());
    }
    phases.sort_unstable();
    phases.dedup();
    assert!(phases.len() > 35, "spread over the interval: {phases:?}");
    health.stop().await;
}

/// A tick takes as long as its slowest check, not the sum.
#[tokio::test(start_paused = true)]
async fn fifty_checks_that_hang_take_one_timeout() {
    let health = fifty_that_hang().start().expect("it starts");
    let began = Instant::now();
    until(TIMEOUT * 3, || {
        statuses(&health).iter().all(|(_, status)| status == "down")
    })
    .await;
    assert!(began.elapsed() < TIMEOUT + Duration::from_millis(20));
    let report = health.report();
    for component in &report.components {
        assert_eq!(component.error.as_deref(), Some("timed out after 500 ms"));
        assert_eq!(
            component.error_category,
            Some(ErrorCategory::Timeout.into())
        );
    }
    assert_eq!(report.status, InstanceStatus::Unhealthy.into());
    assert_eq!(report.errors.len(), 50);
    drop(report);
    health.stop().await;
}

#[test]
fn fifty_checks_that_hang_take_one_timeout_of_real_time_as_well() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let health = fifty_that_hang().start().expect("it starts");
        let began = Instant::now();
        until(Duration::from_secs(10), || {
            statuses(&health).iter().all(|(_, status)| status == "down")
        })
        .await;
        // Far below fifty timeouts, and generous to a busy machine.
        assert!(began.elapsed() < TIMEOUT * 4, "{:?}", began.elapsed());
        health.stop().await;
    });
}

fn fifty_that_hang() -> rootward::Builder {
    (0..50).fold(cart(), |builder, index| {
        let dependency = Dependency::default();
        dependency.hangs();
        builder.check(dependency.check(&format!("db-{index}")).hard())
    })
}

/// The first failure counts at once; a later one only after three in a row, which takes seconds, not intervals.
#[tokio::test(start_paused = true)]
async fn a_flip_is_pending_and_then_settled_within_seconds() {
    let db = Dependency::default();
    let health = cart()
        .check(db.check("orders-db").hard())
        .start()
        .expect("it starts");
    until(TIMEOUT, || status(&health) == CheckStatus::Up).await;

    db.breaks();
    until(INTERVAL * 2, || only(&health).pending.is_some()).await;
    let first_failure = Instant::now();
    let seen = only(&health);
    assert_eq!(seen.status, CheckStatus::Up.into());
    assert_eq!(seen.raw_status, Some(CheckStatus::Down.into()));
    assert_eq!(seen.pending, Some(2));
    assert_eq!(seen.error.as_deref(), Some("connection refused"));
    assert_eq!(
        seen.error_ref, None,
        "nothing was logged that it could find"
    );
    drop(seen);
    until(INTERVAL, || status(&health) == CheckStatus::Down).await;
    let took = first_failure.elapsed();
    assert!(
        took >= Duration::from_millis(1500) && took <= Duration::from_millis(2550),
        "two retries after about a second each: {took:?}"
    );

    // While it stays down it is asked at its interval again.
    let asked = db.asked();
    sleep(INTERVAL * 3).await;
    assert!((2..=4).contains(&(db.asked() - asked)));

    db.recovers();
    until(INTERVAL * 2, || only(&health).pending.is_some()).await;
    let seen = only(&health);
    assert_eq!(seen.status, CheckStatus::Down.into());
    assert_eq!(seen.raw_status, Some(CheckStatus::Up.into()));
    assert_eq!(
        seen.error.as_deref(),
        Some("connection refused"),
        "it explains the status that still counts"
    );
    drop(seen);
    until(INTERVAL, || status(&health) == CheckStatus::Up).await;
    assert_eq!(only(&health).error, None);
    health.stop().await;
}

/// KF-033, and that the status never moves back and forth with the results.
#[tokio::test(start_paused = true)]
async fn kf_033_one_failure_among_good_results_changes_nothing() {
    let (log, _guard) = Log::capture();
    let db = Dependency::default();
    let health = cart()
        .check(db.check("orders-db").hard())
        .start()
        .expect("it starts");
    for _ in 0..100 {
        sleep(INTERVAL).await;
        db.breaks();
        until(INTERVAL * 2, || only(&health).pending.is_some()).await;
        db.recovers();
        until(INTERVAL * 2, || only(&health).pending.is_none()).await;
        assert_eq!(status(&health), CheckStatus::Up);
    }
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "only the first result: {lines:?}");
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn kf_012_every_outcome_has_its_status_and_its_words() {
    // KF-012 and KF-077: each way to end is a result of its own.
    let health = cart()
        .check(Check::new("up", || async { Ok(()) }).soft())
        .check(
            Check::new("degraded", || async {
                Ok(Outcome::degraded(
                    ErrorCategory::ResourceExhausted,
                    Reason::new("the queue has").number(1200).text("entries"),
                ))
            })
            .soft(),
        )
        .check(
            Check::new("down", || async {
                Err::<(), _>(Failure::new(ErrorCategory::Auth))
            })
            .soft(),
        )
        .check(
            Check::new("foreign", || async {
                std::fs::read("/nonexistent/alice")?;
                Ok(())
            })
            .soft(),
        )
        .check(Check::new("hangs", std::future::pending::<Result<(), Failure>>).soft())
        .check(
            Check::new("slow", || async {
                sleep(Duration::from_millis(320)).await;
                Ok(())
            })
            .soft()
            .slow_above(Duration::from_millis(200)),
        )
        .check(
            Check::blocking("blocking", || {
                Err::<(), _>(Failure::new(ErrorCategory::NotFound))
            })
            .soft(),
        )
        .start()
        .expect("it starts");
    until(Duration::from_secs(2), || {
        statuses(&health)
            .iter()
            .all(|(_, status)| status != "unknown")
    })
    .await;
    let report = health.report();
    let rows: Vec<_> = report
        .components
        .iter()
        .map(|c| {
            let category = c.error_category.as_ref().map_or("-", |word| word.as_str());
            let error = c.error.as_deref().unwrap_or("-");
            format!("{}: {}, {category}, {error}", c.name, c.status)
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r"
    up: up, -, -
    degraded: degraded, resource_exhausted, the queue has 1200 entries
    down: down, auth, credentials refused
    foreign: down, unknown, failed
    hangs: down, timeout, timed out after 500 ms
    slow: degraded, -, answered after 320 ms, expected within 200 ms
    blocking: down, not_found, not found
    ");
    assert_eq!(report.status, InstanceStatus::Degraded.into());
    drop(report);
    health.stop().await;
}

/// KF-008.
#[tokio::test(start_paused = true)]
async fn kf_008_ten_thousand_timed_out_checks_leave_no_task_behind() {
    let baseline = Handle::current().metrics().num_alive_tasks();
    let alive = Arc::new(AtomicUsize::new(0));
    let builder = (0..50).fold(cart(), |builder, index| {
        let alive = Arc::clone(&alive);
        builder.check(
            Check::new(format!("db-{index}"), move || {
                let alive = Alive::one_more(&alive);
                async move {
                    std::future::pending::<()>().await;
                    drop(alive);
                    Ok(())
                }
            })
            .hard(),
        )
    });
    let health = builder.start().expect("it starts");
    let runs = || -> u64 {
        let report = health.report();
        report.components.iter().filter_map(|c| c.seq).sum()
    };
    while runs() < 10_000 {
        sleep(INTERVAL).await;
    }
    assert!(alive.load(Ordering::SeqCst) <= 50);
    let tasks = Handle::current().metrics().num_alive_tasks();
    assert!(
        tasks <= baseline + 1 + 50,
        "the owner and the runs: {tasks}"
    );
    health.stop().await;
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), baseline);
}

struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn one_more(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The same check, the same names, the same clock: the same report, to the byte.
#[test]
fn two_runs_under_paused_time_give_the_same_report() {
    let one_run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let db = Dependency::default();
            let health = cart()
                .check(db.check("orders-db").hard())
                .check(Dependency::broken().check("cache").soft())
                .start()
                .expect("it starts");
            let mut reports = Vec::new();
            for second in 0..120 {
                sleep(Duration::from_secs(1)).await;
                match second {
                    30 => db.hangs(),
                    70 => db.recovers(),
                    _ => {}
                }
                let mut report = health.report();
                // The lag of the runtime is measured in real time.
                report.loop_lag_ms = None;
                reports.push(report.to_json());
            }
            health.stop().await;
            reports
        })
    };
    assert!(one_run() == one_run());
}

#[tokio::test(start_paused = true)]
async fn the_whole_report() {
    let health = cart()
        .version("1.4.2")
        .environment("demo")
        .namespace("shop")
        .zone("eu-1a")
        .host("node-3")
        .check(
            Dependency::broken()
                .check("orders-db")
                .hard()
                .kind("postgresql")
                .target("postgresql://orders-db:5432/orders")
                .owner("team-orders")
                .depth(rootward::Depth::Query),
        )
        .check(Dependency::default().check("disk").hard().local())
        .start()
        .expect("it starts");
    sleep(INTERVAL * 2).await;
    let bytes = health.report().to_json();
    let reading = rootward_wire::v1::read_noting(&bytes, Moment::from_millis(1_000_000));
    let reading = reading.expect("the aggregator reads it");
    assert_eq!(
        reading.notes,
        Vec::<String>::new(),
        "nothing had to be tolerated"
    );
    let mut json: serde_json::Value = serde_json::from_slice(&bytes).expect("a report");
    // It differs from run to run.
    json.as_object_mut()
        .expect("an object")
        .remove("loop_lag_ms");
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).expect("JSON"), @r#"
    {
      "components": [
        {
          "age_ms": 5753,
          "criticality": "hard",
          "depth": "query",
          "error": "connection refused",
          "error_category": "connection_refused",
          "error_ref": "orders-db-1",
          "gates_readiness": false,
          "interval_ms": 10000,
          "kind": "postgresql",
          "last_checked": "2026-11-30T03:12:54.367Z",
          "latency_ms": 0.0,
          "name": "orders-db",
          "owner": "team-orders",
          "raw_status": "down",
          "scope": "shared",
          "seq": 2,
          "since": "2026-11-30T03:12:40.120Z",
          "since_age_ms": 20000,
          "status": "down",
          "target": "postgresql://orders-db:5432/orders",
          "timeout_ms": 500
        },
        {
          "age_ms": 5042,
          "criticality": "hard",
          "gates_readiness": true,
          "interval_ms": 10000,
          "last_checked": "2026-11-30T03:12:55.078Z",
          "latency_ms": 0.0,
          "name": "disk",
          "raw_status": "up",
          "scope": "local",
          "seq": 2,
          "since": "2026-11-30T03:12:40.120Z",
          "since_age_ms": 20000,
          "status": "up",
          "timeout_ms": 500
        }
      ],
      "contract": "rootward/1",
      "draining": false,
      "environment": "demo",
      "errors": [
        "orders-db"
      ],
      "findings": [],
      "host": "node-3",
      "instance": "cart-0",
      "namespace": "shop",
      "ready": true,
      "service": "cart",
      "serving": false,
      "status": "unhealthy",
      "uptime_s": 20,
      "version": "1.4.2",
      "warnings": [],
      "zone": "eu-1a"
    }
    "#);
    health.stop().await;
}

/// The client's own limit is often that of the check. Both are over in the same millisecond.
async fn a_dependency_that_hangs_behind_a_client_with_the_limit_of_its_check() -> Option<u64> {
    let limit = Duration::from_millis(20);
    let check = Check::new("orders-db", move || async move {
        tokio::time::timeout(limit, std::future::pending::<()>()).await?;
        Ok(())
    });
    let health = cart()
        .check(check.hard().interval(limit * 3).timeout(limit))
        .start()
        .expect("it starts");
    tokio::time::sleep(limit * 3 * 40).await;
    let report = health.report();
    let (status, seq) = (
        report.components[0].status.clone(),
        report.components[0].seq,
    );
    assert_eq!(status, CheckStatus::Down.into(), "{seq:?}");
    drop(report);
    health.stop().await;
    seq
}

#[tokio::test(start_paused = true)]
async fn a_client_with_the_limit_of_its_check_does_not_hide_a_dependency_that_hangs() {
    let results = a_dependency_that_hangs_behind_a_client_with_the_limit_of_its_check().await;
    assert!(results.is_some_and(|results| results >= 30), "{results:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_the_limit_of_its_check_does_not_hide_a_dependency_that_hangs_in_real_time() {
    let results = a_dependency_that_hangs_behind_a_client_with_the_limit_of_its_check().await;
    assert!(results.is_some_and(|results| results >= 30), "{results:?}");
}
