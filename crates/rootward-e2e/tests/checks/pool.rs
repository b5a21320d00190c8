//! A pool's numbers, of a real pool of connections to a real PostgreSQL, and of numbers that a test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use rootward::{Check, ErrorCategory, Failure, Unlabelled};
use rootward_checks::{PoolLevels, PoolUse, pool_saturation, pool_use};
use rootward_e2e::{Error, Run};
use tokio_postgres::{Config, NoTls};

use crate::every::{LONG, alone, beside_others, leaves_nothing, run, run_until};

fn numbers(in_use: u64, waiting: u64) -> impl Fn() -> PoolUse + Send + Sync + 'static {
    move || PoolUse {
        in_use,
        size: 10,
        waiting,
    }
}

/// With a connection beside the pool that answers, or that says nothing.
fn beside(in_use: u64, waiting: u64, answers: bool) -> Check<Unlabelled> {
    let reserved = move || async move {
        if !answers {
            std::future::pending::<()>().await;
        }
        Ok(())
    };
    pool_saturation(
        "pool",
        PoolLevels::new(),
        numbers(in_use, waiting),
        reserved,
    )
}

#[tokio::test]
async fn a_pool_is_said_to_be_the_instances_trouble_only_while_its_target_answers() {
    let _turn = beside_others().await;
    let full = "degraded, resource_exhausted, in use are 10 of 10 connections and waiting are 0";
    for answers in [true, false] {
        assert_eq!(run(&beside(0, 0, answers), LONG).await, "up");
        assert_eq!(run(&beside(8, 0, answers), LONG).await, "up");
        assert_eq!(run(&beside(10, 0, answers), LONG).await, full);
        assert_eq!(
            run(&beside(9, 0, answers), LONG).await,
            "degraded, resource_exhausted, in use are 9 of 10 connections and waiting are 0"
        );
    }
    assert_eq!(
        run(&beside(10, 3, true), Duration::from_secs(2)).await,
        "down, resource_exhausted, in use are 10 of 10 connections and waiting are 3 while one beside the pool \
         answers"
    );
    assert_eq!(
        run(&beside(10, 3, false), Duration::from_secs(2)).await,
        "degraded, resource_exhausted, in use are 10 of 10 connections and waiting are 3 and none beside the pool \
         answers: the target is slow"
    );
}

#[tokio::test]
async fn numbers_alone_never_say_more_than_degraded() {
    let _turn = beside_others().await;
    let at = |in_use, waiting| {
        pool_use(
            "pool",
            PoolLevels::new().warn_percent(50),
            numbers(in_use, waiting),
        )
    };
    assert_eq!(run(&at(4, 0), LONG).await, "up");
    assert_eq!(
        run(&at(10, 90), LONG).await,
        "degraded, resource_exhausted, in use are 10 of 10 connections and waiting are 90"
    );
}

#[tokio::test]
async fn levels_of_a_pool_that_make_no_sense_are_said_and_judge_nothing() {
    let _turn = beside_others().await;
    for levels in [
        PoolLevels::new().warn_percent(0),
        PoolLevels::new().warn_percent(101),
        PoolLevels::new().saturated_at(0),
    ] {
        let seen = run(&pool_use("pool", levels, numbers(0, 0)), LONG).await;
        assert!(seen.starts_with("down, unknown, configuration: "), "{seen}");
    }
}

#[tokio::test]
async fn a_pool_that_leaked_every_connection_is_seen_by_its_numbers_and_recovers()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let config: Config = Run::from_environment()?
        .postgres_url()
        .parse()
        .expect("a URL");
    let pool = |size| {
        let pool = Pool::builder(Manager::new(config.clone(), NoTls)).max_size(size);
        pool.build().expect("a pool")
    };
    let (pool, reserve) = (pool(2), pool(1));
    let usage = {
        let pool = pool.clone();
        move || {
            let status = pool.status();
            PoolUse {
                in_use: (status.size - status.available) as u64,
                size: status.max_size as u64,
                waiting: status.waiting as u64,
            }
        }
    };
    let reserved = move || {
        let reserve = reserve.clone();
        async move {
            let connection = reserve.get().await?;
            connection.simple_query("").await?;
            Ok::<(), Failure>(())
        }
    };
    let check = pool_saturation("pool", PoolLevels::new(), usage, reserved);
    assert_eq!(run(&check, LONG).await, "up");
    let leaked = (
        pool.get().await.expect("one"),
        pool.get().await.expect("another"),
    );
    let waiting = tokio::spawn({
        let pool = pool.clone();
        async move { pool.get().await.map(drop) }
    });
    run_until(
        &check,
        LONG,
        "down, resource_exhausted, in use are 2 of 2 connections and waiting are 1",
    )
    .await;
    drop(leaked);
    waiting.await.expect("no panic").expect("a connection");
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_saturated_pool_asks_beside_it_and_no_other_does() {
    let _turn = beside_others().await;
    let asked = Arc::new(AtomicU64::new(0));
    for (in_use, waiting, expected) in [(0, 0, 0), (10, 0, 0), (10, 1, 1)] {
        asked.store(0, Ordering::Relaxed);
        let count = Arc::clone(&asked);
        let reserved = move || {
            let count = Arc::clone(&count);
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                Err(Failure::new(ErrorCategory::ConnectionRefused))
            }
        };
        let check = pool_saturation(
            "pool",
            PoolLevels::new(),
            numbers(in_use, waiting),
            reserved,
        );
        run(&check, Duration::from_secs(5)).await;
        assert_eq!(
            asked.load(Ordering::Relaxed),
            expected,
            "{in_use} {waiting}"
        );
    }
}

#[tokio::test]
async fn a_thousand_looks_at_a_saturated_pool_leave_nothing() {
    let _turn = alone().await;
    leaves_nothing(&beside(10, 1, true), "down, resource_exhausted").await;
}
