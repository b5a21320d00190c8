//! Redis, with a stand-in that can be slow, frozen or gone.

use std::time::Duration;

use redis::Client;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use rootward::{Depth, Health};
use rootward_checks::redis as check_of;
use rootward_testkit::Mood;
use rootward_testkit::redis::StandInRedis;

use crate::support::{LONG, often, report_until, run, run_until, tasks};

const LIMIT: Duration = Duration::from_millis(200);

fn client(cache: &StandInRedis) -> Client {
    Client::open(format!("redis://{}/", cache.addr())).expect("a client")
}

async fn manager(cache: &StandInRedis) -> ConnectionManager {
    // The check's time limit is to decide, not the client's.
    let config = ConnectionManagerConfig::new().set_response_timeout(None);
    ConnectionManager::new_with_config(client(cache), config)
        .await
        .expect("a connection")
}

#[tokio::test]
async fn the_report_says_what_is_checked_and_how() {
    let cache = StandInRedis::start(0).expect("it starts");
    let health = Health::builder("cart")
        .check(often(check_of("cache", client(&cache))).soft())
        .check(often(check_of("sessions", manager(&cache).await)).soft())
        .start()
        .expect("it starts");
    report_until(&health, |report| {
        report.components.iter().all(|c| c.status.as_str() == "up")
    })
    .await;
    let report = health.report();
    let own = &report.components[0];
    assert_eq!(own.kind.as_deref(), Some("redis"));
    assert_eq!(own.depth, Some(Depth::Ping.into()));
    let target = format!("redis://{}/0", cache.addr());
    assert_eq!(own.target.as_deref(), Some(target.as_str()));
    assert_eq!(report.components[1].target, None);
    drop(report);
    health.stop().await;
}

#[tokio::test]
async fn a_target_holds_no_password() {
    let client = Client::open("redis://alice:hunter2@cache:6380/4").expect("a client");
    let health = Health::builder("cart")
        .check(check_of("cache", client).soft())
        .start()
        .expect("it starts");
    let report = health.report();
    assert_eq!(
        report.components[0].target.as_deref(),
        Some("redis://cache:6380/4")
    );
    drop(report);
    health.stop().await;
}

#[tokio::test]
async fn two_hundred_runs_use_one_connection() {
    let cache = StandInRedis::start(0).expect("it starts");
    let own = check_of("cache", client(&cache));
    for _ in 0..200 {
        assert_eq!(run(&own, LONG).await, "up");
    }
    assert_eq!((cache.connections_seen(), cache.queries_seen()), (1, 200));
    let managed = check_of("cache", (manager(&cache).await, client(&cache)));
    for _ in 0..200 {
        assert_eq!(run(&managed, LONG).await, "up");
    }
    assert_eq!((cache.connections_seen(), cache.queries_seen()), (2, 400));
}

#[tokio::test]
async fn a_cache_that_refuses_is_refused() {
    let cache = StandInRedis::start(0).expect("it starts");
    let own = check_of("cache", client(&cache));
    let paired = check_of("cache", (manager(&cache).await, client(&cache)));
    assert_eq!(run(&own, LONG).await, "up");
    assert_eq!(run(&paired, LONG).await, "up");
    cache
        .mood()
        .change(Mood::Refusing)
        .await
        .expect("it refuses");
    // Also while the manager reconnects with growing pauses and gives no answer.
    for check in [&own, &paired] {
        run_until(check, LIMIT, "down, connection_refused, connection refused").await;
        assert_eq!(
            run(check, LIMIT).await,
            "down, connection_refused, connection refused"
        );
    }
}

#[tokio::test]
async fn a_frozen_cache_times_out_and_leaves_nothing_behind() {
    let cache = StandInRedis::start(0).expect("it starts");
    let own = check_of("cache", client(&cache));
    let paired = check_of("cache", (manager(&cache).await, client(&cache)));
    assert_eq!(run(&own, LONG).await, "up");
    let before = tasks();
    cache.mood().change(Mood::Frozen).await.expect("it freezes");
    for _ in 0..20 {
        assert_eq!(run(&own, Duration::from_millis(20)).await, "cut off");
        assert_eq!(run(&paired, Duration::from_millis(20)).await, "cut off");
    }
    cache.mood().change(Mood::Healthy).await.expect("it thaws");
    assert_eq!(run(&own, LONG).await, "up", "at once");
    assert_eq!(run(&paired, LONG).await, "up", "at once");
    let began = std::time::Instant::now();
    while tasks() > before {
        assert!(began.elapsed() < LONG, "{before} before, {} after", tasks());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn it_survives_a_restart_of_the_cache() {
    let cache = StandInRedis::start(0).expect("it starts");
    let health = Health::builder("cart")
        .check(
            often(check_of("own", client(&cache)))
                .soft()
                .rise(1)
                .fall(1),
        )
        .check(
            often(check_of("managed", manager(&cache).await))
                .soft()
                .rise(1)
                .fall(1),
        )
        .start()
        .expect("it starts");
    let all = |status: &'static str| {
        move |report: &rootward::ReportBody<'_>| {
            report
                .components
                .iter()
                .all(|c| c.status.as_str() == status)
        }
    };
    for _ in 0..2 {
        report_until(&health, all("up")).await;
        cache
            .mood()
            .change(Mood::Refusing)
            .await
            .expect("it refuses");
        report_until(&health, all("down")).await;
        cache
            .mood()
            .change(Mood::Healthy)
            .await
            .expect("it is back");
    }
    report_until(&health, all("up")).await;
    health.stop().await;
}

/// A label of more than 63 bytes is refused by the resolver without asking anybody.
#[tokio::test]
async fn a_name_that_does_not_resolve_is_dns() {
    let url = format!("redis://alice:hunter2@{}/", "x".repeat(70));
    let client = Client::open(url).expect("a client");
    assert_eq!(
        run(&check_of("cache", client), LONG).await,
        "down, dns, name does not resolve"
    );
}
