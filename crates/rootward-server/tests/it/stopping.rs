//! When the run returns, nothing that it started is alive.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::fleet::{Fleet, Manner};
use crate::running::{Pace, Running, configuration};

#[tokio::test]
async fn stop_is_heard_in_the_middle_of_a_poll_and_leaves_no_task() {
    let fleet = Fleet::new();
    let (address, asked) = fleet.start(Manner::Hang);
    let alive_before = Handle::current().metrics().num_alive_tasks();
    let running = Running::start(configuration(
        Pace::millis(100, 60_000),
        &[("hung", address)],
    ));
    asked.reaches(1).await;
    let address = running.address;
    let (summary, took) = running.stop().await;
    assert!(took < Duration::from_secs(1), "stopping took {took:?}");
    assert_eq!((summary.polls_begun, summary.abandoned), (1, 1));
    assert_eq!(Handle::current().metrics().num_alive_tasks(), alive_before);
    let free = std::net::TcpListener::bind(address);
    assert!(free.is_ok(), "the address is still taken: {free:?}");
}

#[tokio::test]
async fn open_connections_end_with_the_run() {
    let fleet = Fleet::new();
    let (address, _) = fleet.start(Manner::healthy("cart"));
    let running = Running::start(configuration(Pace::millis(100, 50), &[("cart", address)]));
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    // A connection that was answered was accepted, and so were those before it.
    assert_eq!(running.get("/livez").await.status, 200);
    let (summary, took) = running.stop().await;
    assert_eq!(summary.connections, 2);
    assert!(took < Duration::from_secs(4), "stopping took {took:?}");
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap_or(0), 0);
}
