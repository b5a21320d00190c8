//! The wire between a real client and a target, cut and mended under it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use rootward_testkit::postgres::StandInPostgres;
use rootward_testkit::wire::{CuttableWire, WireState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_postgres::NoTls;

use crate::{stalls, within};

fn pool_over(wire: &CuttableWire) -> Pool {
    let config = format!("postgresql://stand_in@{}/stand_in", wire.addr())
        .parse()
        .unwrap();
    Pool::builder(Manager::new(config, NoTls))
        .max_size(4)
        .build()
        .unwrap()
}

/// A wire, and both ends of one connection over it.
async fn both_ends() -> (CuttableWire, TcpStream, TcpStream) {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let wire = CuttableWire::start(0, target.local_addr().unwrap()).unwrap();
    let client = within(TcpStream::connect(wire.addr())).await.unwrap();
    let (server, _) = within(target.accept()).await.unwrap();
    (wire, client, server)
}

/// A reset may come so soon that the connect itself reports it.
async fn connect_and_read(addr: SocketAddr) -> io::Result<u8> {
    TcpStream::connect(addr).await?.read_u8().await
}

#[tokio::test]
async fn an_open_wire_passes_and_counts() {
    let database = StandInPostgres::start(0).unwrap();
    let wire = CuttableWire::start(0, database.addr()).unwrap();
    let pool = pool_over(&wire);
    let client = within(pool.get()).await.unwrap();
    let before = (wire.bytes_to_target(), wire.bytes_to_client());
    within(client.batch_execute("SELECT 1")).await.unwrap();
    assert_eq!(
        (wire.connections_seen(), database.connections_seen()),
        (1, 1)
    );
    // Kind, length, the statement and its end; the answer is four messages.
    assert_eq!(wire.bytes_to_target() - before.0, 1 + 4 + 9);
    assert_eq!(wire.bytes_to_client() - before.1, 34 + 12 + 14 + 6);
}

#[tokio::test]
async fn what_is_sent_over_a_cut_wire_goes_on_when_it_is_mended() {
    let database = StandInPostgres::start(0).unwrap();
    let wire = CuttableWire::start(0, database.addr()).unwrap();
    let pool = pool_over(&wire);
    let old = within(pool.get()).await.unwrap();
    wire.control().change(WireState::Cut).await.unwrap();

    let mut query = std::pin::pin!(old.simple_query("SELECT 1"));
    assert!(stalls(&mut query).await);
    let mut new = std::pin::pin!(pool.get());
    assert!(stalls(&mut new).await);
    within(wire.connections_reached(2)).await;
    assert_eq!(
        (database.connections_seen(), database.queries_seen()),
        (1, 0)
    );

    wire.control().set(WireState::Open);
    within(query).await.unwrap();
    let new = within(new).await.unwrap();
    within(new.simple_query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn an_answer_and_an_end_do_not_pass_a_cut_wire_either() {
    let (wire, mut client, mut server) = both_ends().await;
    wire.control().change(WireState::Cut).await.unwrap();
    server.write_all(b"answer").await.unwrap();
    server.shutdown().await.unwrap();
    let mut seen = Vec::new();
    assert!(stalls(client.read_to_end(&mut seen)).await);
    assert_eq!(seen, b"");
    assert_eq!(wire.bytes_to_client(), 0);
    wire.control().set(WireState::Open);
    within(client.read_to_end(&mut seen)).await.unwrap();
    assert_eq!(seen, b"answer");
}

#[tokio::test]
async fn a_reset_reaches_both_ends_and_those_who_come_later() {
    for before in [WireState::Open, WireState::Cut] {
        let (wire, mut client, mut server) = both_ends().await;
        wire.control().change(before).await.unwrap();
        wire.control().change(WireState::Reset).await.unwrap();
        for end in [&mut client, &mut server] {
            let error = within(end.read_u8()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{before:?}");
        }
        let error = within(connect_and_read(wire.addr())).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{before:?}");
    }
}

#[tokio::test]
async fn after_a_reset_the_same_pool_works_again() {
    let database = StandInPostgres::start(0).unwrap();
    let wire = CuttableWire::start(0, database.addr()).unwrap();
    let pool = pool_over(&wire);
    let client = within(pool.get()).await.unwrap();
    wire.control().change(WireState::Reset).await.unwrap();
    assert!(within(client.simple_query("SELECT 1")).await.is_err());
    assert!(within(pool.get()).await.is_err());
    wire.control().change(WireState::Open).await.unwrap();
    drop(client);
    let client = within(pool.get()).await.unwrap();
    within(client.simple_query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn a_long_wire_delays_each_direction_and_does_not_narrow_it() {
    let (wire, mut client, mut server) = both_ends().await;
    let delay = Duration::from_millis(200);
    wire.control()
        .change(WireState::Delay(delay))
        .await
        .unwrap();

    let begun = Instant::now();
    client.write_all(b"ping").await.unwrap();
    let mut ping = [0; 4];
    within(server.read_exact(&mut ping)).await.unwrap();
    assert!(begun.elapsed() >= delay);
    server.write_all(&ping).await.unwrap();
    within(client.read_exact(&mut ping)).await.unwrap();
    assert!(begun.elapsed() >= 2 * delay);
    assert_eq!(&ping, b"ping");

    // What is under way is passed on at once when the delay is lifted.
    wire.control()
        .change(WireState::Delay(Duration::from_secs(3600)))
        .await
        .unwrap();
    client.write_all(b"late").await.unwrap();
    client.shutdown().await.unwrap();
    let mut rest = Vec::new();
    assert!(stalls(server.read_to_end(&mut rest)).await);
    wire.control().set(WireState::Open);
    within(server.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rest, b"late");
}

#[tokio::test]
async fn a_large_transfer_arrives_whole_through_every_change_but_a_reset() {
    const LENGTH: usize = 8 * 1024 * 1024;
    let (wire, mut client, mut server) = both_ends().await;
    let control = wire.control();
    let sent: Vec<u8> = (0..LENGTH)
        .map(|at| (at / 251 + at % 251).to_le_bytes()[0])
        .collect();
    let mut received = Vec::new();
    let send = async {
        client.write_all(&sent).await.unwrap();
        client.shutdown().await.unwrap();
    };
    let receive = server.read_to_end(&mut received);
    let disturb = async {
        for round in 1..=20_u64 {
            let part = u64::try_from(LENGTH).unwrap() / 32 * round;
            within(wire.target_reached(part)).await;
            control
                .change(WireState::Delay(Duration::from_millis(round)))
                .await
                .unwrap();
            control.change(WireState::Cut).await.unwrap();
            tokio::task::yield_now().await;
            control.change(WireState::Open).await.unwrap();
        }
    };
    let (_, read, ()) = within(async { tokio::join!(send, receive, disturb) }).await;
    read.unwrap();
    assert!(received == sent, "{} of {LENGTH} bytes", received.len());
}

#[tokio::test]
async fn each_direction_ends_by_itself() {
    let (_wire, mut client, mut server) = both_ends().await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut question = Vec::new();
    within(server.read_to_end(&mut question)).await.unwrap();
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut answer = Vec::new();
    within(client.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(
        (&question[..], &answer[..]),
        (&b"question"[..], &b"answer"[..])
    );
}

#[tokio::test]
async fn a_target_that_refuses_resets_the_client() {
    let gone = StandInPostgres::start(0).unwrap();
    let target = gone.addr();
    gone.stop().await;
    let wire = CuttableWire::start(0, target).unwrap();
    let error = within(connect_and_read(wire.addr())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}
