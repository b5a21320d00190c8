//! A drain as callers see it: not ready at once, alive throughout, and the moments at which servers are told.

use std::time::Duration;

use rootward::{Builder, Drain, Health};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::support::{Log, any_port, cart, get, until};

const DELAY: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(3);

/// Nothing to wait for, in paused time: a timer comes a millisecond late at most.
const AT_ONCE: Duration = Duration::from_millis(1);

async fn started(builder: Builder) -> Health {
    let health = builder.start().expect("it starts");
    until(Duration::from_secs(1), || health.is_started()).await;
    health
}

/// How long from now until the moments of a drain: begun, stop accepting, grace over.
fn moments(drain: &Drain) -> JoinHandle<[Duration; 3]> {
    let from = Instant::now();
    let (begun, stop, over) = (drain.begun(), drain.stop_accepting(), drain.grace_over());
    tokio::spawn(async move {
        begun.await;
        let begun = from.elapsed();
        stop.await;
        let stop = from.elapsed();
        over.await;
        [begun, stop, from.elapsed()]
    })
}

#[track_caller]
fn assert_about(seen: [Duration; 3], expected: [Duration; 3]) {
    let is_about = |(seen, expected): (&Duration, &Duration)| {
        *seen >= *expected && *seen <= *expected + AT_ONCE
    };
    assert!(seen.iter().zip(&expected).all(is_about), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn servers_are_told_after_the_delay_and_after_the_grace() {
    let health = started(cart().drain_delay(DELAY).drain_grace(GRACE)).await;
    let drain = health.drain();
    let waiting = moments(&drain);
    sleep(Duration::from_secs(100)).await;
    assert!(!drain.is_draining() && !waiting.is_finished());
    drain.begin();
    assert!(drain.is_draining());
    let after = Duration::from_secs(100);
    let seen = waiting.await.expect("it ends");
    assert_about(seen, [after, after + DELAY, after + DELAY + GRACE]);
    // Asked late, they are over at once.
    let seen = moments(&drain).await.expect("it ends");
    assert_about(seen, [Duration::ZERO; 3]);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn ten_seconds_each_if_nothing_is_said() {
    let health = started(cart()).await;
    let waiting = moments(&health.drain());
    health.drain().begin();
    let seen = waiting.await.expect("it ends");
    let ten = Duration::from_secs(10);
    assert_about(seen, [Duration::ZERO, ten, 2 * ten]);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_delay_and_grace_all_is_over_at_once() {
    let builder = cart()
        .drain_delay(Duration::ZERO)
        .drain_grace(Duration::ZERO);
    let health = started(builder).await;
    let waiting = moments(&health.drain());
    health.drain().begin();
    let seen = waiting.await.expect("it ends");
    assert_about(seen, [Duration::ZERO; 3]);
    assert!(!health.is_ready());
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_is_begun_twice_began_the_first_time() {
    let (log, _guard) = Log::capture();
    let health = started(cart().drain_delay(DELAY).drain_grace(GRACE)).await;
    let (drain, other) = (health.drain(), health.drain());
    let waiting = moments(&drain);
    drain.begin();
    sleep(DELAY - AT_ONCE).await;
    other.begin();
    let seen = waiting.await.expect("it ends");
    assert_about(seen, [Duration::ZERO, DELAY, DELAY + GRACE]);
    insta::assert_snapshot!(log.lines().join("\n"), @r#"INFO rootward: drain began: not ready; serving on for 5 s, then 3 s for what is in flight why="the application said so" delay_ms=5000 grace_ms=3000"#);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_outlives_the_health_and_can_still_begin() {
    let health = started(cart().drain_delay(DELAY)).await;
    let drain = health.drain();
    health.stop().await;
    let waiting = moments(&drain);
    drain.begin();
    waiting.await.expect("it ends");
    insta::assert_snapshot!(format!("{drain:?}"), @"Drain { timing: Timing { delay: 5s, grace: 10s }, is_draining: true }");
}

#[tokio::test]
async fn not_ready_from_the_next_probe_on_and_alive_throughout() {
    let health = started(cart().listen(any_port()).drain_grace(Duration::ZERO)).await;
    let address = health.listen_addr().expect("it listens");
    // Asked all the time, so that an answer made for this millisecond is there to be given again.
    for path in ["/livez", "/readyz", "/healthz", "/startupz", "/status"] {
        assert_eq!(get(address, path).code, 200, "{path}");
    }
    health.drain().begin();
    let ready = get(address, "/readyz");
    assert_eq!(ready.code, 503);
    assert_eq!(
        ready.json(),
        json!({
            "ready": false,
            "reasons": ["shutting down: requests are still answered"],
            "serving": true,
        })
    );
    assert_eq!(get(address, "/healthz").code, 503);
    for path in ["/livez", "/startupz", "/status"] {
        assert_eq!(get(address, path).code, 200, "{path}");
    }
    let report = get(address, "/health");
    assert_eq!(report.code, 200, "what it depends on is as well as before");
    let report = report.json();
    assert_eq!(report["draining"], json!(true));
    assert_eq!(report["ready"], json!(false));
    assert_eq!(report["status"], json!("healthy"));
    health.stop().await;
}

#[tokio::test]
async fn one_that_drains_before_its_start_is_over_says_both() {
    let mut builder = cart().listen(any_port());
    let latch = builder.latch("cache warm");
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    health.drain().begin();
    let reasons = get(address, "/readyz").json()["reasons"].take();
    assert_eq!(
        reasons,
        json!([
            "shutting down: requests are still answered",
            "still starting: cache warm"
        ])
    );
    assert_eq!(get(address, "/startupz").code, 503);
    assert_eq!(get(address, "/livez").code, 200);
    drop(latch);
    assert_eq!(get(address, "/startupz").code, 200);
    assert_eq!(get(address, "/readyz").code, 503);
    health.stop().await;
}
