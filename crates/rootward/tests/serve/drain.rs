//! What happens when: the delay, the grace, and what is left behind.

use std::time::{Duration, Instant};

use axum::http::Request;
use rootward::serve::Served;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::clients::{Client, LIMIT, Server};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// For the time that a busy machine may take on top.
const SLACK: Duration = Duration::from_secs(2);

#[track_caller]
fn assert_served(served: Served, accepted: u64, finished: usize, cut_off: usize) {
    let seen = (served.accepted, served.finished, served.cut_off);
    assert_eq!(seen, (accepted, finished, cut_off));
}

#[tokio::test]
async fn during_the_delay_all_are_served_and_those_who_keep_connections_are_told_to_go() {
    let delay = millis(2000);
    let server = Server::start(delay, delay).await;
    let mut old = server.connect().await;
    let before = old.get("/").await;
    assert!(before.ends_with("an order") && !before.contains("connection: close"));
    let began = Instant::now();
    server.drain.begin();
    let answer = old.get("/").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"));
    old.ends().await;
    let mut new = server.connect().await;
    assert!(new.get("/").await.contains("connection: close"));
    new.ends().await;
    assert!(began.elapsed() < delay, "all that was within the delay");
    let address = server.address;
    let (served, _) = server.returns().await;
    assert!(began.elapsed() >= delay && began.elapsed() < delay + SLACK);
    assert_served(served, 2, 0, 0);
    TcpStream::connect(address).await.expect_err("refused");
}

#[tokio::test]
async fn after_the_delay_idle_ones_are_closed_and_a_request_in_flight_finishes() {
    let server = Server::start(Duration::ZERO, millis(5000)).await;
    let mut idle = server.connect().await;
    idle.get("/").await;
    let mut busy = server.connect().await;
    busy.send("/slow", "").await;
    // It has arrived when another one, sent later, is answered.
    idle.get("/").await;
    server.drain.begin();
    idle.ends().await;
    assert!(busy.answer().await.ends_with("a slow order"));
    let (served, took) = server.returns().await;
    assert!(took < SLACK, "not the whole grace: {took:?}");
    assert_served(served, 2, 2, 0);
}

#[tokio::test]
async fn whoever_is_connected_when_accepting_stops_is_answered() {
    let server = Server::start(Duration::ZERO, millis(5000)).await;
    let mut clients = Vec::new();
    for _ in 0..50 {
        // Without the runtime: the server has no chance to accept before the drain begins.
        let mut stream = std::net::TcpStream::connect(server.address).expect("a connection");
        let request = b"GET / HTTP/1.1\r\nhost: orders\r\n\r\n";
        std::io::Write::write_all(&mut stream, request).expect("sent");
        stream.set_nonblocking(true).expect("set");
        clients.push(Client(TcpStream::from_std(stream).expect("a stream")));
    }
    server.drain.begin();
    for client in &mut clients {
        assert!(client.answer().await.ends_with("an order"));
    }
    let (served, _) = server.returns().await;
    assert_served(served, 50, 50, 0);
}

#[tokio::test]
async fn without_delay_and_grace_it_returns_at_once() {
    let server = Server::start(Duration::ZERO, Duration::ZERO).await;
    let mut client = server.connect().await;
    client.send("/never", "").await;
    sleep(millis(50)).await;
    server.drain.begin();
    let (served, took) = server.returns().await;
    assert!(took < SLACK, "{took:?}");
    assert_served(served, 1, 0, 1);
    client.ends().await;
}

#[tokio::test]
async fn a_server_that_starts_when_the_drain_is_over_returns_at_once() {
    let server = Server::start(Duration::ZERO, Duration::ZERO).await;
    server.drain.begin();
    let (served, took) = server.returns().await;
    assert!(took < SLACK, "{took:?}");
    assert_served(served, 0, 0, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_091_streams_idle_connections_and_clients_that_never_read_do_not_hold_it() {
    let (delay, grace) = (millis(200), millis(800));
    let server = Server::start(delay, grace).await;
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut events = server.connect().await;
        assert!(events.get("/events").await.contains("data: hello"));
        clients.push(events);
        let mut idle = server.connect().await;
        idle.get("/").await;
        clients.push(idle);
    }
    for _ in 0..10 {
        let mut deaf = server.connect().await;
        deaf.send("/flood", "").await;
        clients.push(deaf);
    }
    // Long enough for the buffers of those who never read to be full.
    sleep(millis(200)).await;
    let began = Instant::now();
    server.drain.begin();
    let (served, _) = server.returns().await;
    let took = began.elapsed();
    assert!(
        took >= delay + grace && took < delay + grace + SLACK,
        "{took:?}"
    );
    assert_served(served, 210, 100, 110);
    for client in clients {
        client.ends().await;
    }
}

#[tokio::test]
async fn kf_093_an_upgraded_connection_works_until_the_grace_is_over_and_ends_then() {
    let (delay, grace) = (millis(100), millis(400));
    let server = Server::start(delay, grace).await;
    let mut socket = server.connect().await;
    socket
        .send("/echo", "connection: upgrade\r\nupgrade: echo\r\n")
        .await;
    assert!(socket.answer().await.starts_with("HTTP/1.1 101"));
    let began = Instant::now();
    server.drain.begin();
    sleep(millis(300)).await;
    socket
        .0
        .write_all(b"content-length: 0\r\n\r\n")
        .await
        .expect("sent");
    assert!(
        socket.answer().await.starts_with("content-length"),
        "it still works"
    );
    let (served, _) = server.returns().await;
    assert!(began.elapsed() >= delay + grace && began.elapsed() < delay + grace + SLACK);
    assert_served(served, 1, 0, 1);
    socket.ends().await;
}

#[tokio::test]
async fn an_upgraded_connection_that_ends_by_itself_is_not_waited_for() {
    let server = Server::start(Duration::ZERO, millis(10_000)).await;
    let mut socket = server.connect().await;
    socket
        .send("/echo", "connection: upgrade\r\nupgrade: echo\r\n")
        .await;
    assert!(socket.answer().await.starts_with("HTTP/1.1 101"));
    server.drain.begin();
    sleep(millis(50)).await;
    drop(socket);
    let (served, took) = server.returns().await;
    assert!(took < SLACK, "{took:?}");
    assert_served(served, 1, 1, 0);
}

#[tokio::test]
async fn kf_093_no_task_is_left_behind() {
    let before = Handle::current().metrics().num_alive_tasks();
    let server = Server::start(Duration::ZERO, millis(300)).await;
    // Each with requests that never end: over HTTP/2 each is a task of its own.
    let (mut sender, driver) = server.connect_http2().await;
    let mut answers = Vec::new();
    for _ in 0..50 {
        let request = Request::get("http://orders/never").body(());
        let sent = sender.send_request(request.expect("a request"), true);
        answers.push(sent.expect("sent").0);
    }
    let asked = tokio::spawn(async move {
        for answer in answers {
            answer.await.expect_err("it is cut off");
        }
    });
    let mut clients = Vec::new();
    for path in ["/never", "/events", "/flood"] {
        let mut client = server.connect().await;
        client.send(path, "").await;
        clients.push(client);
    }
    sleep(millis(100)).await;
    server.drain.begin();
    let (served, _) = server.returns().await;
    assert_served(served, 4, 0, 4);
    // Those of the client.
    timeout(LIMIT, driver)
        .await
        .expect("it ends")
        .expect("no panic");
    timeout(LIMIT, asked)
        .await
        .expect("it ends")
        .expect("no panic");
    drop(sender);
    // The runtime counts a task for a while after its handle was woken.
    for _ in 0..200 {
        if Handle::current().metrics().num_alive_tasks() == before {
            return;
        }
        sleep(millis(5)).await;
    }
    panic!(
        "left: {}",
        Handle::current().metrics().num_alive_tasks() - before
    );
}

#[tokio::test]
async fn a_server_that_is_dropped_ends_its_connections() {
    let server = Server::start(millis(100), millis(100)).await;
    let mut socket = server.connect().await;
    socket
        .send("/echo", "connection: upgrade\r\nupgrade: echo\r\n")
        .await;
    assert!(socket.answer().await.starts_with("HTTP/1.1 101"));
    let mut events = server.connect().await;
    events.get("/events").await;
    server.abort();
    socket.ends().await;
    events.ends().await;
}
