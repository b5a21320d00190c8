//! The stand-in for a database, asked by the real client in the real pool.

use deadpool_postgres::RecyclingMethod;
use rootward_testkit::postgres::StandInPostgres;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::{pool, within};

const STAND_IN: &str = "this is a stand-in for PostgreSQL, not a database: it answers SELECT 1 and \
                        the empty statement";

#[tokio::test]
async fn a_pool_gets_one_by_the_simple_and_by_the_extended_protocol() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();

    let simple = within(client.simple_query("SELECT 1")).await.unwrap();
    let rows: Vec<_> = simple
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    assert_eq!(rows, ["1"]);

    let direct: i32 = within(client.query_one("select 1;", &[]))
        .await
        .unwrap()
        .get(0);
    let prepared = within(client.prepare_cached("SELECT 1")).await.unwrap();
    let again: i32 = within(client.query_one(&prepared, &[]))
        .await
        .unwrap()
        .get(0);
    let typed = within(client.query_typed("SELECT 1", &[])).await.unwrap();
    let typed: i32 = typed[0].get("?column?");
    assert_eq!((direct, again, typed), (1, 1, 1));
    assert_eq!(database.connections_seen(), 1);
}

#[tokio::test]
async fn the_empty_statement_is_answered_in_every_way_of_asking() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();

    within(client.batch_execute("")).await.unwrap();
    within(client.batch_execute(" ; ")).await.unwrap();
    within(client.batch_execute("SELECT 1")).await.unwrap();
    let simple = within(client.simple_query("")).await.unwrap();
    assert!(
        matches!(&simple[..], [SimpleQueryMessage::CommandComplete(0)]),
        "{simple:?}"
    );
    assert_eq!(within(client.execute("", &[])).await.unwrap(), 0);
    assert!(within(client.query("", &[])).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_pool_that_verifies_keeps_its_connection() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Verified);
    for _ in 0..3 {
        let client = within(pool.get()).await.unwrap();
        within(client.simple_query("SELECT 1")).await.unwrap();
    }
    assert_eq!(database.connections_seen(), 1);
}

#[tokio::test]
async fn another_statement_is_refused_by_name_and_the_connection_survives() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();

    let simple = within(client.batch_execute("SELECT 2")).await.unwrap_err();
    let extended = within(client.query("SELECT * FROM orders", &[]))
        .await
        .unwrap_err();
    let parameter = within(client.query("SELECT 1", &[&1_i32])).await;
    for error in [&simple, &extended] {
        let refusal = error.as_db_error().expect("the server answered");
        assert_eq!(
            (refusal.code().code(), refusal.message()),
            ("0A000", STAND_IN)
        );
    }
    assert!(parameter.is_err(), "SELECT 1 has no parameters");

    within(client.query_one("SELECT 1", &[])).await.unwrap();
    within(client.simple_query("SELECT 1")).await.unwrap();
    assert!(!client.is_closed());
    assert_eq!(database.connections_seen(), 1);
}

#[tokio::test]
async fn it_says_that_it_is_a_stand_in_when_a_client_connects() {
    let database = StandInPostgres::start(0).unwrap();
    let (_client, connection) = within(tokio_postgres::connect(&database.url(), NoTls))
        .await
        .unwrap();
    assert_eq!(
        connection.parameter("server_version"),
        Some("16.0 (stand-in, not a database)")
    );
    assert_eq!(connection.parameter("client_encoding"), Some("UTF8"));
    assert_eq!(
        connection.parameter("standard_conforming_strings"),
        Some("on")
    );
    assert_eq!(connection.parameter("integer_datetimes"), Some("on"));
}

#[tokio::test]
async fn what_is_run_is_counted_and_what_is_prepared_is_not() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    assert_eq!(database.queries_seen(), 0);

    let prepared = within(client.prepare("SELECT 1")).await.unwrap();
    assert_eq!(database.queries_seen(), 0);
    within(client.query_one(&prepared, &[])).await.unwrap();
    assert_eq!(database.queries_seen(), 1);
    within(client.simple_query("SELECT 1")).await.unwrap();
    within(client.batch_execute("")).await.unwrap();
    assert_eq!(database.queries_seen(), 3);
}

#[tokio::test]
async fn a_request_to_cancel_is_taken_and_changes_nothing() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    within(client.cancel_token().cancel_query(NoTls))
        .await
        .unwrap();
    within(database.connections_reached(2)).await;
    within(client.simple_query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn a_session_that_prepares_without_end_is_refused_and_can_go_on_with_what_it_has() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    let mut kept = Vec::new();
    let refusal = loop {
        match within(client.prepare("SELECT 1")).await {
            Ok(statement) => kept.push(statement),
            Err(error) => break error,
        }
        assert!(kept.len() <= 256, "there is a bound");
    };
    assert_eq!(
        refusal.code().map(tokio_postgres::error::SqlState::code),
        Some("54000")
    );
    within(client.query_one(&kept[0], &[])).await.unwrap();
    // A statement that is dropped is closed, which makes room.
    drop(kept.pop());
    within(client.prepare("SELECT 1")).await.unwrap();
}
