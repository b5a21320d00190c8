//! All checks run now: once for all who ask, and not more often than may be.

use std::time::Duration;

use rootward::{Check, DEEP_PERIOD, Failure, Health, MAX_DEEP_WAITING};
use tokio::time::{Instant, sleep};

use crate::support::{Dependency, cart, statuses};

const TIMEOUT: Duration = Duration::from_millis(500);

#[tokio::test(start_paused = true)]
async fn a_deep_run_asks_each_dependency_once_for_all_who_ask_and_gives_fresh_results() {
    let db = Dependency::default();
    let health = cart()
        .check(db.check("orders-db").hard())
        .start()
        .expect("it starts");
    sleep(Duration::from_secs(6)).await;
    let asked = db.asked();
    db.breaks();
    let all = futures(MAX_DEEP_WAITING, &health).await;
    assert!(all.iter().all(|all| *all == Ok(true)), "{all:?}");
    assert_eq!(db.asked(), asked + 1);
    let report = health.report();
    let component = &report.components[0];
    assert_eq!(component.age_ms, Some(0));
    assert_eq!(
        component
            .raw_status
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("down")
    );
    assert_eq!(
        component.status.to_string(),
        "up",
        "damping holds for it as for every result"
    );
    health.stop().await;
}

/// So many callers at once.
async fn futures(count: usize, health: &Health) -> Vec<Result<bool, rootward::TooMany>> {
    let mut pending: Vec<_> = (0..count).map(|_| Box::pin(health.check_now())).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|cx| {
        pending.retain_mut(|caller| match caller.as_mut().poll(cx) {
            std::task::Poll::Ready(result) => {
                done.push(result);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done
}

/// KF-080: asking is not a way to load a dependency.
#[tokio::test(start_paused = true)]
async fn kf_080_deep_runs_are_at_least_five_seconds_apart_whoever_asks_and_however_often() {
    let db = Dependency::default();
    let health = cart()
        .check(db.check("orders-db").hard())
        .start()
        .expect("it starts");
    sleep(Duration::from_millis(100)).await;
    let asked = db.asked();
    let began = Instant::now();
    let mut refused = 0;
    for _ in 0..10_000 {
        match health.check_now().await {
            Ok(all) => assert!(all),
            Err(too_many) => {
                refused += 1;
                assert!(too_many.retry_after() <= DEEP_PERIOD);
                assert!(!too_many.retry_after().is_zero());
            }
        }
        sleep(Duration::from_millis(1)).await;
    }
    let lasted = began.elapsed();
    assert!(refused > 9_900);
    // One run for each five seconds, and one for each interval.
    let most = lasted.as_secs() / 5 + 1 + lasted.as_secs() / 10 + 2;
    let runs = u64::try_from(db.asked() - asked).expect("a small number");
    assert!(runs <= most, "{runs} runs in {lasted:?}, at most {most}");
    health.stop().await;
}

/// KF-004: all dependencies hang.
#[tokio::test(start_paused = true)]
async fn kf_004_a_deep_run_of_twenty_checks_that_hang_takes_one_time_limit() {
    let builder = (0..20).fold(cart(), |builder, index| {
        let check = Check::new(
            format!("db-{index}"),
            std::future::pending::<Result<(), Failure>>,
        );
        builder.check(check.timeout(TIMEOUT).hard())
    });
    let health = builder.start().expect("it starts");
    sleep(Duration::from_secs(12)).await;
    let began = Instant::now();
    assert_eq!(health.check_now().await, Ok(true));
    let took = began.elapsed();
    assert!(took <= TIMEOUT * 2, "{took:?}");
    let report = health.report();
    for component in &report.components {
        assert_eq!(component.error.as_deref(), Some("timed out after 500 ms"));
    }
    health.stop().await;
}

/// Whoever waits is told after the longest time limit, whatever the check does.
#[tokio::test]
async fn a_check_that_ignores_cancellation_holds_up_no_deep_run() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let stuck = Check::blocking("stuck", move || {
        // Until the test ends.
        let _ = held.lock().map(|held| held.recv());
        Ok(())
    });
    let db = Dependency::default();
    let health = cart()
        .check(stuck.timeout(Duration::from_millis(100)).soft())
        .check(
            db.check("orders-db")
                .timeout(Duration::from_millis(100))
                .hard(),
        )
        .start()
        .expect("it starts");
    let began = Instant::now();
    assert_eq!(health.check_now().await, Ok(true));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(
        statuses(&health),
        [
            ("stuck".to_owned(), "down".to_owned()),
            ("orders-db".to_owned(), "up".to_owned())
        ]
    );
    drop(release);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_service_without_checks_has_nothing_to_wait_for() {
    let health = cart().start().expect("it starts");
    assert_eq!(health.check_now().await, Ok(true));
    health.stop().await;
}
