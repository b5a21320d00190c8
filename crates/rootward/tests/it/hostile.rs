//! Checks that do what a check should not: panic, block their thread, answer too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Health};
use rootward_core::CheckStatus;
use tokio::time::sleep;

use crate::support::{Dependency, Log, cart, statuses, until};

const INTERVAL: Duration = Duration::from_secs(10);

fn error(health: &Health, name: &str) -> (Option<String>, String) {
    let report = health.report();
    let component = report.components.iter().find(|c| c.name == name);
    let component = component.expect("a component of this name");
    (
        component
            .error_category
            .as_ref()
            .map(|word| word.as_str().to_owned()),
        component.error.as_deref().unwrap_or_default().to_owned(),
    )
}

fn seq(health: &Health, name: &str) -> u64 {
    let report = health.report();
    let component = report.components.iter().find(|c| c.name == name);
    component.and_then(|component| component.seq).unwrap_or(0)
}

fn panicked() -> (Option<String>, String) {
    (Some("panic".to_owned()), "the check panicked".to_owned())
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

/// Foreign errors are foreign code.
#[derive(Debug)]
struct PanicsWhenShown;

impl std::fmt::Display for PanicsWhenShown {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("shown")
    }
}

impl std::error::Error for PanicsWhenShown {}

/// KF-104: in the function, in poll, in drop, in showing its error, with a payload that panics again, on a blocking
/// thread, while holding a lock.
#[tokio::test(start_paused = true)]
async fn kf_104_a_panic_is_that_checks_failure_and_nobody_elses() {
    let lock = Arc::new(std::sync::Mutex::new(()));
    let held = Arc::clone(&lock);
    let names = [
        "function", "poll", "drop", "shown", "payload", "blocking", "lock",
    ];
    let health = cart()
        .check(
            Check::new("function", || -> std::future::Ready<Result<(), _>> {
                panic!("function")
            })
            .soft(),
        )
        .check(
            Check::new("poll", || async {
                sleep(Duration::from_millis(1)).await;
                if true {
                    panic!("poll");
                }
                Ok(())
            })
            .soft(),
        )
        .check(
            Check::new("drop", || async {
                let _bomb = PanicsWhenDropped;
                std::future::pending::<()>().await;
                Ok(())
            })
            .soft(),
        )
        .check(Check::new("shown", || async { Ok(Err::<(), _>(PanicsWhenShown)?) }).soft())
        .check(
            Check::new("payload", || async {
                if true {
                    std::panic::panic_any(PanicsWhenDropped);
                }
                Ok(())
            })
            .soft(),
        )
        .check(Check::blocking("blocking", || -> Result<(), _> { panic!("blocking") }).soft())
        .check(
            Check::new("lock", move || {
                let held = Arc::clone(&held);
                async move {
                    let _guard = held
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    if true {
                        panic!("lock");
                    }
                    Ok(())
                }
            })
            .soft(),
        )
        .check(Dependency::default().check("innocent").hard())
        .start()
        .expect("it starts");
    until(Duration::from_secs(2), || {
        statuses(&health)
            .iter()
            .all(|(_, status)| status != "unknown")
    })
    .await;
    for name in names {
        assert_eq!(error(&health, name), panicked(), "{name}");
    }
    assert_eq!(error(&health, "innocent"), (None, String::new()));
    // The next runs happen.
    until(INTERVAL * 3, || {
        names.iter().all(|name| seq(&health, name) >= 2)
    })
    .await;
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_message_of_a_panic_is_in_the_log_and_not_in_the_report() {
    let (log, _guard) = Log::capture();
    let health = cart()
        .check(
            Check::new("disk", || async {
                if true {
                    panic!("index 7 out of range for alice");
                }
                Ok(())
            })
            .hard(),
        )
        .start()
        .expect("it starts");
    until(Duration::from_secs(1), || seq(&health, "disk") > 0).await;
    insta::assert_snapshot!(log.lines().join("\n"), @r#"WARN rootward: check changed check="disk" from="unknown" to="down" category="panic" reason="the check panicked" error_ref="disk-1" detail="index 7 out of range for alice""#);
    let report = health.report().to_json();
    assert!(!String::from_utf8_lossy(&report).contains("alice"));
    health.stop().await;
}

/// A check that holds its thread, until it is told to let go.
#[derive(Clone, Default)]
struct Blocker {
    release: Arc<AtomicBool>,
    started: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
}

impl Blocker {
    #[expect(
        clippy::disallowed_methods,
        reason = "the check under test is one that blocks its thread"
    )]
    fn block(&self) {
        self.started.fetch_add(1, Ordering::SeqCst);
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        // A test that has failed does not let go, and must end all the same.
        let began = std::time::Instant::now();
        while !self.release.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

fn quick(check: Check<rootward::Unlabelled>) -> Check {
    check
        .interval(Duration::from_millis(200))
        .timeout(Duration::from_millis(50))
        .hard()
}

/// KF-015 and contract rule 4.
async fn abandoned_and_never_run_twice(check: Check, blocker: Blocker) {
    let health = cart().check(check).start().expect("it starts");
    until(Duration::from_secs(10), || seq(&health, "disk") >= 4).await;
    assert_eq!(
        error(&health, "disk"),
        (
            Some("timeout".to_owned()),
            "timed out after 50 ms, still running".to_owned()
        )
    );
    assert_eq!(statuses(&health)[0].1, "down");
    assert_eq!(blocker.started.load(Ordering::SeqCst), 1, "never run twice");

    // Its late answer says that all is well. It is dropped: only a run in time makes it better.
    let before = seq(&health, "disk");
    blocker.release.store(true, Ordering::SeqCst);
    until(Duration::from_secs(10), || {
        let (_, error) = error(&health, "disk");
        error == "timed out after 50 ms" || error.is_empty()
    })
    .await;
    assert!(seq(&health, "disk") <= before + 3);
    until(Duration::from_secs(10), || statuses(&health)[0].1 == "up").await;
    assert!(blocker.started.load(Ordering::SeqCst) >= 3);
    assert_eq!(blocker.most_at_once.load(Ordering::SeqCst), 1);
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_check_that_blocks_a_worker_is_abandoned_and_never_run_twice() {
    let blocker = Blocker::default();
    let blocks = blocker.clone();
    let check = Check::new("disk", move || {
        let blocks = blocks.clone();
        async move {
            blocks.block();
            Ok(())
        }
    });
    abandoned_and_never_run_twice(quick(check), blocker).await;
}

#[tokio::test]
async fn kf_010_a_check_that_hangs_for_good_is_counted_at_every_interval_and_never_run_twice() {
    let blocker = Blocker::default();
    let blocks = blocker.clone();
    let check = Check::blocking("disk", move || {
        blocks.block();
        Ok(())
    });
    abandoned_and_never_run_twice(quick(check), blocker).await;
}

/// On a single thread the runner cannot look while the check blocks; what the check took is measured, so it is a
/// timeout all the same.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the check under test is one that blocks its thread"
)]
async fn a_check_that_blocks_the_only_thread_is_a_timeout() {
    let check = Check::new("disk", || async {
        std::thread::sleep(Duration::from_millis(300));
        Ok(())
    });
    let health = cart().check(quick(check)).start().expect("it starts");
    until(Duration::from_secs(10), || seq(&health, "disk") >= 1).await;
    assert_eq!(
        error(&health, "disk"),
        (
            Some("timeout".to_owned()),
            "timed out after 50 ms".to_owned()
        )
    );
    health.stop().await;
}

/// The application holds up its own runtime while a check's answer is on its way. That must not look as if the
/// dependency were slow.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the application under test blocks its own runtime"
)]
async fn a_runtime_that_was_held_up_is_not_blamed_on_the_dependency() {
    // The answer comes in two pieces, as answers do: it is not there whole when the runtime is free again.
    let db = Check::new("orders-db", || async {
        sleep(Duration::from_millis(10)).await;
        sleep(Duration::from_millis(10)).await;
        Ok(())
    });
    let db = db.timeout(Duration::from_millis(50)).hard();
    let health = cart().check(db).start().expect("it starts");
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    std::thread::sleep(Duration::from_millis(400));
    until(Duration::from_secs(10), || seq(&health, "orders-db") >= 1).await;
    assert_eq!(statuses(&health)[0].1, "up");
    assert_eq!(error(&health, "orders-db").1, "");
    health.stop().await;
}

/// Stop does not wait for ever for a check that nothing can stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn stop_names_what_it_cannot_stop_and_returns() {
    let blocker = Blocker::default();
    let blocks = blocker.clone();
    let check = Check::blocking("disk", move || {
        blocks.block();
        Ok(())
    });
    let health = cart().check(quick(check)).start().expect("it starts");
    until(Duration::from_secs(10), || seq(&health, "disk") >= 1).await;
    let stopped = tokio::time::timeout(Duration::from_secs(5), health.stop()).await;
    blocker.release.store(true, Ordering::SeqCst);
    stopped.expect("it returns");
}

/// A blocking check that is never given a thread says nothing about what it would have asked: its evidence turns
/// stale. And the first result after that counts at once, there is nothing left to damp it against.
#[test]
fn kf_010_a_check_that_never_gets_a_thread_turns_stale_and_then_counts_at_once() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let broken = Arc::new(AtomicBool::new(false));
        let is_broken = Arc::clone(&broken);
        let check = Check::blocking("disk", move || {
            if is_broken.load(Ordering::SeqCst) {
                return Err(rootward::Failure::new(ErrorCategory::NotFound));
            }
            Ok(())
        });
        let health = cart().check(quick(check)).start().expect("it starts");
        until(Duration::from_secs(10), || statuses(&health)[0].1 == "up").await;
        let blocker = Blocker::default();
        let blocks = blocker.clone();
        let somebody_else = tokio::task::spawn_blocking(move || blocks.block());
        until(Duration::from_secs(10), || {
            statuses(&health)[0].1 == "unknown"
        })
        .await;
        let (category, text) = error(&health, "disk");
        assert_eq!(category.as_deref(), Some("stale"));
        assert!(
            text.starts_with("no result for ") && text.ends_with(" ms, at most 450 ms may pass"),
            "{text}"
        );
        let report = health.report();
        let component = &report.components[0];
        assert_eq!(component.raw_status, Some(CheckStatus::Unknown.into()));
        assert_eq!(component.pending, None);
        drop(report);

        broken.store(true, Ordering::SeqCst);
        blocker.release.store(true, Ordering::SeqCst);
        until(Duration::from_secs(10), || {
            statuses(&health)[0].1 != "unknown"
        })
        .await;
        assert_eq!(statuses(&health)[0].1, "down");
        somebody_else.await.expect("it ends");
        health.stop().await;
    });
}
