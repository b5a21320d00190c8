//! Moods that change while real clients are connected.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;

use deadpool_postgres::RecyclingMethod;
use rootward_testkit::Mood;
use rootward_testkit::postgres::StandInPostgres;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::{io_kind, pool, stalls, within};

/// Longer than any test runs: what is delayed by it is answered only when the mood changes.
const FOR_EVER: Mood = Mood::Slow(Duration::from_secs(3600));

#[tokio::test]
async fn a_slow_database_connects_at_once_and_answers_after_the_delay() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    database.mood().change(FOR_EVER).await.unwrap();
    let client = within(pool.get()).await.unwrap();
    let prepared = within(client.prepare("SELECT 1")).await.unwrap();

    let delay = Duration::from_millis(300);
    database.mood().change(Mood::Slow(delay)).await.unwrap();
    let begun = Instant::now();
    within(client.simple_query("SELECT 1")).await.unwrap();
    assert!(begun.elapsed() >= delay);
    let begun = Instant::now();
    within(client.query_one(&prepared, &[])).await.unwrap();
    assert!(begun.elapsed() >= delay);
}

#[tokio::test]
async fn queries_sent_together_on_one_connection_wait_together() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    let delay = Duration::from_millis(500);
    database.mood().change(Mood::Slow(delay)).await.unwrap();

    let begun = Instant::now();
    let ask = || client.simple_query("SELECT 1");
    let all = async { tokio::try_join!(ask(), ask(), ask(), ask(), ask(), ask(), ask(), ask()) };
    within(all).await.unwrap();
    // One after the other they would take four seconds.
    assert!(
        (delay..4 * delay).contains(&begun.elapsed()),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_query_that_is_being_delayed_follows_the_change_of_mood() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    for (asked, relief) in [
        (1, Mood::Healthy),
        (2, Mood::Slow(Duration::from_millis(1))),
    ] {
        database.mood().change(FOR_EVER).await.unwrap();
        let mut query = std::pin::pin!(client.simple_query("SELECT 1"));
        assert!(stalls(&mut query).await);
        within(database.queries_reached(asked)).await;
        database.mood().change(Mood::Frozen).await.unwrap();
        assert!(stalls(&mut query).await);
        database.mood().set(relief);
        within(query).await.unwrap();
    }
}

#[tokio::test]
async fn a_delay_that_the_clock_cannot_hold_is_for_ever() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    database
        .mood()
        .change(Mood::Slow(Duration::MAX))
        .await
        .unwrap();
    let mut query = std::pin::pin!(client.simple_query("SELECT 1"));
    assert!(stalls(&mut query).await);
    database.mood().set(Mood::Healthy);
    within(query).await.unwrap();
}

#[tokio::test]
async fn a_frozen_database_lets_clients_connect_and_answers_none_until_the_thaw() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let old = within(pool.get()).await.unwrap();
    database.mood().change(Mood::Frozen).await.unwrap();

    let mut query = std::pin::pin!(old.simple_query("SELECT 1"));
    assert!(
        stalls(&mut query).await,
        "the client's own timeout ends the wait"
    );
    within(TcpStream::connect(database.addr()))
        .await
        .expect("the kernel completes the connect");
    let mut new = std::pin::pin!(pool.get());
    assert!(stalls(&mut new).await);
    assert_eq!(
        (database.connections_seen(), database.queries_seen()),
        (1, 0)
    );

    database.mood().set(Mood::Healthy);
    within(query).await.unwrap();
    let new = within(new).await.unwrap();
    within(new.simple_query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn a_refusing_database_is_refused_by_the_kernel_and_the_same_pool_works_again() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    for _ in 0..3 {
        let client = within(pool.get()).await.unwrap();
        within(client.simple_query("SELECT 1")).await.unwrap();

        database.mood().change(Mood::Refusing).await.unwrap();
        assert!(within(client.simple_query("SELECT 1")).await.is_err());
        drop(client);
        let error = within(pool.get()).await.unwrap_err();
        assert_eq!(
            io_kind(&error),
            Some(ErrorKind::ConnectionRefused),
            "{error}"
        );

        database.mood().change(Mood::Healthy).await.unwrap();
        let client = within(pool.get()).await.unwrap();
        within(client.query_one("SELECT 1", &[])).await.unwrap();
    }
}

#[tokio::test]
async fn connections_are_reset_when_it_begins_to_refuse_also_frozen_and_delayed_ones() {
    for before in [Mood::Healthy, Mood::Frozen, FOR_EVER] {
        let database = StandInPostgres::start(0).unwrap();
        let mut idle = within(TcpStream::connect(database.addr())).await.unwrap();
        within(database.connections_reached(1)).await;
        let pool = pool(&database, RecyclingMethod::Fast);
        let client = within(pool.get()).await.unwrap();
        database.mood().change(before).await.unwrap();
        let mut query = std::pin::pin!(client.simple_query("SELECT 1"));
        if before != Mood::Healthy {
            assert!(stalls(&mut query).await);
        }

        database.mood().change(Mood::Refusing).await.unwrap();
        let error = within(idle.read_u8()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{before:?}");
        assert!(within(query).await.is_err(), "{before:?}");
    }
}

#[tokio::test]
async fn a_port_that_somebody_took_meanwhile_is_reported_and_tried_again_at_the_next_change() {
    let database = StandInPostgres::start(0).unwrap();
    let mood = database.mood();
    mood.change(Mood::Refusing).await.unwrap();
    let other = TcpListener::bind(database.addr()).unwrap();
    let error = within(mood.change(Mood::Healthy)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert_eq!(
        error.to_string(),
        format!("failed to listen on {} again", database.addr())
    );

    drop(other);
    within(mood.change(Mood::Healthy)).await.unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    within(client.simple_query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn the_last_of_several_quick_changes_is_in_force() {
    let database = StandInPostgres::start(0).unwrap();
    let mood = database.mood();
    let pool = pool(&database, RecyclingMethod::Fast);
    drop(within(pool.get()).await.unwrap());
    for _ in 0..50 {
        mood.set(Mood::Refusing);
        mood.set(Mood::Frozen);
        mood.set(Mood::Refusing);
        within(mood.change(Mood::Healthy)).await.unwrap();
    }
    assert_eq!(mood.current(), Mood::Healthy);
    let client = within(pool.get()).await.unwrap();
    within(client.simple_query("SELECT 1")).await.unwrap();
}
