//! Starting and stopping: ports, tasks, bounds.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use rootward_testkit::postgres::StandInPostgres;
use rootward_testkit::redis::StandInRedis;
use rootward_testkit::wire::{CuttableWire, WireState};
use rootward_testkit::{Control, Mood};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::{stalls, within};

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

async fn is_refused(addr: SocketAddr) -> bool {
    match TcpStream::connect(addr).await {
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
    }
}

/// Connects twice and asks something on one of them, so that there are tasks of every kind.
async fn visit(addr: SocketAddr) -> [TcpStream; 2] {
    let idle = within(TcpStream::connect(addr)).await.unwrap();
    let mut busy = within(TcpStream::connect(addr)).await.unwrap();
    busy.write_all(b"PING\r\n").await.unwrap();
    [idle, busy]
}

const MOODS: [Mood; 4] = [
    Mood::Healthy,
    Mood::Slow(Duration::from_secs(3600)),
    Mood::Frozen,
    Mood::Refusing,
];

// On a runtime of one thread a task that has ended is not counted any more when its end is seen.
#[tokio::test(flavor = "current_thread")]
async fn a_stop_leaves_no_task_and_no_open_port_whatever_the_mood() {
    let before = tasks();
    for mood in MOODS {
        let database = StandInPostgres::start(0).unwrap();
        let cache = StandInRedis::start(0).unwrap();
        let wire = CuttableWire::start(0, cache.addr()).unwrap();
        let addrs = [database.addr(), cache.addr(), wire.addr()];
        let mut visitors = Vec::new();
        for addr in addrs {
            visitors.extend(visit(addr).await);
        }
        within(database.connections_reached(2)).await;
        within(cache.connections_reached(4)).await;
        assert!(tasks() >= before + 3 + 6);
        within(database.mood().change(mood)).await.unwrap();
        within(cache.mood().change(mood)).await.unwrap();

        within(wire.stop()).await;
        within(cache.stop()).await;
        within(database.stop()).await;
        assert_eq!(tasks(), before, "{mood:?}");
        for addr in addrs {
            assert!(is_refused(addr).await, "{mood:?}");
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_stop_ends_a_wire_in_every_state() {
    let before = tasks();
    for state in [
        WireState::Open,
        WireState::Cut,
        WireState::Reset,
        WireState::Delay(Duration::from_secs(3600)),
    ] {
        let cache = StandInRedis::start(0).unwrap();
        let wire = CuttableWire::start(0, cache.addr()).unwrap();
        let _visitors = visit(wire.addr()).await;
        within(cache.connections_reached(2)).await;
        wire.control().change(state).await.unwrap();
        let addr = wire.addr();
        within(wire.stop()).await;
        within(cache.stop()).await;
        assert_eq!(tasks(), before, "{state:?}");
        assert!(is_refused(addr).await, "{state:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_drop_aborts_every_task_and_resets_the_clients() {
    let before = tasks();
    let cache = StandInRedis::start(0).unwrap();
    cache
        .mood()
        .change(Mood::Slow(Duration::from_secs(3600)))
        .await
        .unwrap();
    let addr = cache.addr();
    let [mut idle, mut busy] = visit(addr).await;
    within(cache.queries_reached(1)).await;
    drop(cache);
    for visitor in [&mut idle, &mut busy] {
        let error = within(visitor.read_u8()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(tasks(), before);
    assert!(is_refused(addr).await);
}

#[tokio::test]
async fn a_given_port_is_used_and_can_be_used_again_after_a_stop() {
    let first = StandInRedis::start(0).unwrap();
    let addr = first.addr();
    let _visitors = visit(addr).await;
    within(first.queries_reached(1)).await;
    within(first.stop()).await;
    let second = StandInRedis::start(addr.port()).unwrap();
    assert_eq!(second.addr(), addr);
    let _visitors = visit(addr).await;
    within(second.queries_reached(1)).await;
}

#[tokio::test]
async fn a_port_in_use_is_said_to_be() {
    let first = StandInRedis::start(0).unwrap();
    let error = StandInPostgres::start(first.addr().port()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert_eq!(
        error.to_string(),
        format!("failed to listen on {}", first.addr())
    );
}

#[test]
fn outside_a_runtime_a_start_is_an_error() {
    assert!(StandInPostgres::start(0).is_err());
    assert!(StandInRedis::start(0).is_err());
}

#[tokio::test]
async fn a_control_outlives_its_stand_in_and_says_that_it_stopped() {
    let cache = StandInRedis::start(0).unwrap();
    let addr = cache.addr();
    let mood: Control<Mood> = cache.mood();
    within(cache.stop()).await;
    mood.set(Mood::Frozen);
    let error = within(mood.change(Mood::Healthy)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConnected);
    assert_eq!(
        error.to_string(),
        format!("the stand-in on {addr} has stopped")
    );
    assert!(is_refused(addr).await);
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_until_one_leaves() {
    const BOUND: u64 = 128;
    let cache = StandInRedis::start(0).unwrap();
    let mut guests = Vec::new();
    for _ in 0..BOUND {
        guests.push(within(TcpStream::connect(cache.addr())).await.unwrap());
    }
    within(cache.connections_reached(BOUND)).await;
    let mut waiting = within(TcpStream::connect(cache.addr())).await.unwrap();
    waiting.write_all(b"PING\r\n").await.unwrap();
    assert!(stalls(waiting.read_u8()).await);
    assert_eq!(cache.connections_seen(), BOUND);
    drop(guests.pop());
    assert_eq!(within(waiting.read_u8()).await.unwrap(), b'+');
}
