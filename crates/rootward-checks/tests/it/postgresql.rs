//! PostgreSQL, with a stand-in that can be slow, frozen or gone.

use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use rootward::{Depth, ErrorCategory, Health};
use rootward_checks::{postgresql, postgresql_target};
use rootward_testkit::Mood;
use rootward_testkit::postgres::StandInPostgres;
use tokio_postgres::{Config, NoTls};

use crate::support::{LONG, often, report_until, run, run_until, tasks};

const LIMIT: Duration = Duration::from_millis(200);

fn config(database: &StandInPostgres) -> Config {
    let url = format!("postgresql://alice:hunter2@{}/orders", database.addr());
    url.parse().expect("a configuration")
}

fn pool_of(config: Config, size: usize) -> Pool {
    let manager = Manager::new(config, NoTls);
    Pool::builder(manager)
        .max_size(size)
        .build()
        .expect("a pool")
}

fn pool(database: &StandInPostgres, size: usize) -> Pool {
    pool_of(config(database), size)
}

#[tokio::test]
async fn the_report_says_what_is_checked_and_how() {
    let database = StandInPostgres::start(0).expect("it starts");
    let target = postgresql_target(&config(&database)).expect("a target");
    let check = postgresql("orders-db", pool(&database, 2)).target(target.as_str());
    let health = Health::builder("cart")
        .check(often(check).hard())
        .start()
        .expect("it starts");
    report_until(&health, |report| {
        report.components[0].status.as_str() == "up"
    })
    .await;
    let report = health.report();
    let component = &report.components[0];
    assert_eq!(component.kind.as_deref(), Some("postgresql"));
    assert_eq!(component.depth, Some(Depth::Query.into()));
    assert_eq!(
        component.target.as_deref(),
        Some(format!("postgresql://{}/orders", database.addr()).as_str())
    );
    drop(report);
    health.stop().await;
}

#[tokio::test]
async fn two_hundred_runs_use_one_connection() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 4);
    let check = postgresql("orders-db", pool.clone());
    for _ in 0..200 {
        assert_eq!(run(&check, LONG).await, "up");
    }
    assert_eq!(database.connections_seen(), 1);
    assert_eq!(database.queries_seen(), 200);
    assert_eq!((pool.status().size, pool.status().available), (1, 1));
}

#[tokio::test]
async fn a_database_that_refuses_is_refused() {
    let database = StandInPostgres::start(0).expect("it starts");
    let check = postgresql("orders-db", pool(&database, 2));
    assert_eq!(run(&check, LONG).await, "up");
    database
        .mood()
        .change(Mood::Refusing)
        .await
        .expect("it refuses");
    // The connection that was open was reset; whatever that shows as first, then it is a refusal.
    run_until(&check, LONG, "down, connection_refused, connection refused").await;
}

/// It accepts and never answers: with a connection that was there, and with none.
#[tokio::test]
async fn a_frozen_database_times_out_and_leaves_nothing_behind() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 2);
    let check = postgresql("orders-db", pool.clone());
    let before = tasks();
    assert_eq!(run(&check, LONG).await, "up");
    database
        .mood()
        .change(Mood::Frozen)
        .await
        .expect("it freezes");
    for _ in 0..3 {
        assert_eq!(run(&check, LIMIT).await, "cut off");
        assert_eq!(pool.status().size, 0, "what hangs is closed");
    }
    database
        .mood()
        .change(Mood::Healthy)
        .await
        .expect("it thaws");
    assert_eq!(run(&check, LONG).await, "up", "at once");
    assert_eq!(pool.status().size, 1);
    drop((check, pool));
    database.stop().await;
    let left = tasks();
    assert!(left <= before, "{before} tasks before, {left} after");
}

/// KF-008 and KF-022: two hundred runs that are cut off leave no connection and no task.
#[tokio::test]
async fn two_hundred_timeouts_leave_no_connection_and_no_task() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 4);
    let check = postgresql("orders-db", pool.clone());
    assert_eq!(run(&check, LONG).await, "up");
    let before = tasks();
    let slow = Mood::Slow(Duration::from_secs(3600));
    database.mood().change(slow).await.expect("it is slow");
    for _ in 0..200 {
        assert_eq!(run(&check, Duration::from_millis(10)).await, "cut off");
    }
    assert!(pool.status().size <= 1, "{:?}", pool.status());
    // The stand-in's own tasks end when it looks at its connections again and sees them closed.
    database
        .mood()
        .change(Mood::Healthy)
        .await
        .expect("it is well");
    let began = std::time::Instant::now();
    while tasks() > before + 1 {
        assert!(began.elapsed() < LONG, "{before} before, {} after", tasks());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn it_survives_a_restart_of_the_database() {
    let database = StandInPostgres::start(0).expect("it starts");
    let check = postgresql("orders-db", pool(&database, 2));
    let health = Health::builder("cart")
        .check(often(check).hard().rise(1).fall(1))
        .start()
        .expect("it starts");
    for _ in 0..3 {
        report_until(&health, |report| {
            report.components[0].status.as_str() == "up"
        })
        .await;
        database
            .mood()
            .change(Mood::Refusing)
            .await
            .expect("it refuses");
        report_until(&health, |report| {
            report.components[0].status.as_str() == "down"
        })
        .await;
        database
            .mood()
            .change(Mood::Healthy)
            .await
            .expect("it is back");
    }
    report_until(&health, |report| {
        report.components[0].status.as_str() == "up"
    })
    .await;
    health.stop().await;
}

#[tokio::test]
async fn a_timeout_reads_as_one_in_the_report() {
    let database = StandInPostgres::start(0).expect("it starts");
    database
        .mood()
        .change(Mood::Frozen)
        .await
        .expect("it freezes");
    let check = postgresql("orders-db", pool(&database, 2));
    let health = Health::builder("cart")
        .check(often(check).hard())
        .start()
        .expect("it starts");
    report_until(&health, |report| {
        report.components[0].status.as_str() == "down"
    })
    .await;
    let report = health.report();
    let component = &report.components[0];
    assert_eq!(component.error.as_deref(), Some("timed out after 200 ms"));
    assert_eq!(
        component.error_category,
        Some(ErrorCategory::Timeout.into())
    );
    drop(report);
    health.stop().await;
}

#[tokio::test]
async fn a_pool_that_is_used_up_is_not_the_databases_fault() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 2);
    let check = postgresql("orders-db", pool.clone());
    let taken = (
        pool.get().await.expect("one"),
        pool.get().await.expect("two"),
    );
    for _ in 0..3 {
        assert_eq!(
            run(&check, Duration::from_secs(1)).await,
            "down, resource_exhausted, all 2 connections of the pool are in use"
        );
    }
    assert_eq!(
        database.connections_seen(),
        2 + 3,
        "one beside the pool for each run"
    );
    drop(taken);
    assert_eq!(run(&check, LONG).await, "up");
    assert_eq!(pool.status().size, 2);
}

/// All connections hang on the database: the full pool follows from that, and the database is to be named.
#[tokio::test]
async fn a_pool_that_is_used_up_by_a_frozen_database_is_the_databases_fault() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 2);
    let check = postgresql("orders-db", pool.clone());
    let _taken = (
        pool.get().await.expect("one"),
        pool.get().await.expect("two"),
    );
    database
        .mood()
        .change(Mood::Frozen)
        .await
        .expect("it freezes");
    assert_eq!(run(&check, LIMIT).await, "cut off");
    database
        .mood()
        .change(Mood::Refusing)
        .await
        .expect("it refuses");
    assert_eq!(
        run(&check, LIMIT).await,
        "down, connection_refused, connection refused"
    );
}

/// The pool gives up waiting before the check does.
#[tokio::test]
async fn a_pool_with_a_time_limit_of_its_own_is_judged_the_same() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = Pool::builder(Manager::new(config(&database), NoTls))
        .max_size(1)
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .wait_timeout(Some(Duration::from_millis(20)))
        .build()
        .expect("a pool");
    let check = postgresql("orders-db", pool.clone());
    let _taken = pool.get().await.expect("one");
    assert_eq!(
        run(&check, LONG).await,
        "down, resource_exhausted, all 1 connections of the pool are in use"
    );
}

#[tokio::test]
async fn a_pool_that_was_closed_says_so() {
    let database = StandInPostgres::start(0).expect("it starts");
    let pool = pool(&database, 1);
    pool.close();
    assert_eq!(
        run(&postgresql("orders-db", pool), LONG).await,
        "down, shutting_down, the pool is closed here"
    );
}

/// A label of more than 63 bytes is refused by the resolver without asking anybody.
#[tokio::test]
async fn a_name_that_does_not_resolve_is_dns() {
    let url = format!("postgresql://alice:hunter2@{}/orders", "x".repeat(70));
    let pool = pool_of(url.parse().expect("a configuration"), 1);
    assert_eq!(
        run(&postgresql("orders-db", pool), LONG).await,
        "down, dns, name does not resolve"
    );
}
