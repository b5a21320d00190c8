//! Against a real PostgreSQL and a real Redis, which `./test` starts. Skipped with `-- --skip servers::`.

use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use redis::Client;
use redis::aio::ConnectionManager;
use rootward_checks::{postgresql, redis as check_of};
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use crate::support::{LONG, run, run_until};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set: run ./test, which starts the servers, or skip with -- --skip servers::")
    })
}

fn config(application: &str) -> Config {
    let mut config: Config = variable("ROOTWARD_TEST_POSTGRES_URL")
        .parse()
        .expect("the URL of the server");
    config.application_name(application);
    config
}

fn pool_of(config: Config, size: usize) -> Pool {
    let manager = Manager::new(config, NoTls);
    Pool::builder(manager)
        .max_size(size)
        .build()
        .expect("a pool")
}

/// The first column of the first row.
async fn one(pool: &Pool, query: &str) -> String {
    let client = pool.get().await.expect("a connection");
    let rows = client.simple_query(query).await.expect("an answer");
    rows.iter()
        .find_map(|row| match row {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .expect("a row")
}

#[tokio::test]
async fn two_hundred_runs_use_one_connection_to_postgresql() {
    let check = postgresql("db", pool_of(config("rootward-growth"), 8));
    for _ in 0..200 {
        assert_eq!(run(&check, LONG).await, "up");
    }
    let other = pool_of(config("rootward-observer"), 1);
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rootward-growth'";
    assert_eq!(one(&other, count).await, "1");
}

/// What a restart or a failover does to connections that are open.
#[tokio::test]
async fn connections_that_postgresql_ends_fail_one_run_at_most() {
    let check = postgresql("db", pool_of(config("rootward-ended"), 4));
    let other = pool_of(config("rootward-observer"), 1);
    for _ in 0..5 {
        assert_eq!(run(&check, LONG).await, "up");
        one(
            &other,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'rootward-ended'",
        )
        .await;
        let first = run(&check, LONG).await;
        let expected = [
            "up",
            "down, shutting_down, the server ended the connection",
            "down, connection_reset, connection reset",
        ];
        assert!(expected.contains(&first.as_str()), "{first}");
        assert_eq!(run(&check, LONG).await, "up", "after {first}");
    }
}

#[tokio::test]
async fn what_postgresql_refuses_has_its_category() {
    let mut wrong_password = config("rootward-refused");
    wrong_password.password("hunter2");
    assert_eq!(
        run(&postgresql("db", pool_of(wrong_password, 1)), LONG).await,
        "down, auth, credentials refused"
    );
    let mut no_such_database = config("rootward-refused");
    no_such_database.dbname("hunter2");
    assert_eq!(
        run(&postgresql("db", pool_of(no_such_database, 1)), LONG).await,
        "down, not_found, the database does not exist"
    );
}

#[tokio::test]
async fn a_pool_that_is_used_up_is_not_postgresqls_fault() {
    let pool = pool_of(config("rootward-used-up"), 2);
    let check = postgresql("db", pool.clone());
    let taken = (
        pool.get().await.expect("one"),
        pool.get().await.expect("two"),
    );
    assert_eq!(
        run(&check, Duration::from_secs(4)).await,
        "down, resource_exhausted, all 2 connections of the pool are in use"
    );
    drop(taken);
    assert_eq!(run(&check, LONG).await, "up");
}

/// A lock that somebody holds does not touch a query that needs none; a server that is slow to answer does.
#[tokio::test]
async fn a_run_that_is_cut_off_leaves_no_connection_to_postgresql() {
    let pool = pool_of(config("rootward-cut-off"), 1);
    let check = postgresql("db", pool.clone());
    assert_eq!(run(&check, LONG).await, "up");
    let busy = pool.get().await.expect("the only one");
    let sleeping =
        tokio::spawn(async move { busy.simple_query("SELECT pg_sleep(1)").await.map(drop) });
    assert_eq!(run(&check, Duration::from_millis(1)).await, "cut off");
    sleeping.await.expect("it ends").expect("an answer");
    assert_eq!(run(&check, LONG).await, "up");
    assert_eq!(pool.status().size, 1);
}

/// A client of a database of its own, by whose number its connections are told from those of other tests.
fn client(database: u8) -> Client {
    let url = variable("ROOTWARD_TEST_REDIS_URL");
    let url = format!("{}/{database}", url.trim_end_matches('/'));
    Client::open(url).expect("the URL of the server")
}

async fn ask_redis(command: &redis::Cmd) -> redis::Value {
    let mut observer = client(0)
        .get_multiplexed_async_connection()
        .await
        .expect("a connection");
    command.query_async(&mut observer).await.expect("an answer")
}

/// The connections that Redis has to this database, by their numbers.
async fn connections_to(database: u8) -> Vec<String> {
    let list = ask_redis(redis::cmd("CLIENT").arg("LIST")).await;
    let list: String = redis::from_redis_value(list).expect("a text");
    list.lines()
        .filter(|line| line.contains(&format!(" db={database} ")))
        .filter_map(|line| {
            line.split_whitespace()
                .find_map(|field| field.strip_prefix("id="))
        })
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn two_hundred_runs_use_the_applications_connection_to_redis() {
    let manager = ConnectionManager::new(client(5))
        .await
        .expect("a connection");
    let check = check_of("cache", manager);
    for _ in 0..200 {
        assert_eq!(run(&check, LONG).await, "up");
    }
    assert_eq!(connections_to(5).await.len(), 1);
}

#[tokio::test]
async fn connections_that_redis_ends_are_replaced() {
    let manager = ConnectionManager::new(client(7))
        .await
        .expect("a connection");
    for (database, connection) in [
        (6, rootward_checks::RedisConnection::from(client(6))),
        (7, manager.into()),
    ] {
        let check = check_of("cache", connection);
        assert_eq!(run(&check, LONG).await, "up");
        let before = connections_to(database).await;
        assert_eq!(before.len(), 1);
        ask_redis(redis::cmd("CLIENT").arg("KILL").arg("ID").arg(&before[0])).await;
        run_until(&check, LONG, "up").await;
        let after = connections_to(database).await;
        assert_eq!(after.len(), 1);
        assert_ne!(before, after);
    }
}

#[tokio::test]
async fn what_redis_refuses_has_its_category() {
    let url = variable("ROOTWARD_TEST_REDIS_URL").replacen("redis://", "redis://alice:hunter2@", 1);
    let client = Client::open(url).expect("the URL of the server");
    assert_eq!(
        run(&check_of("cache", client), LONG).await,
        "down, auth, credentials refused"
    );
}
