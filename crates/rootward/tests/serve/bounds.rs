//! What the server bounds.

use std::time::Duration;

use rootward::serve::{FIRST_BYTES, MAX_HEAD_BYTES, NEXT_REQUEST};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::clients::Server;

/// In virtual time, how long it takes the server to close a connection on which this was sent.
async fn closed_after(sent: &[u8]) -> Duration {
    let server = Server::start(Duration::ZERO, Duration::ZERO).await;
    let mut client = server.connect().await;
    client.0.write_all(sent).await.expect("sent");
    let began = Instant::now();
    let mut rest = Vec::new();
    // An error is an end, too.
    let _ = client.0.read_to_end(&mut rest).await;
    began.elapsed()
}

#[track_caller]
fn assert_about(seen: Duration, expected: Duration) {
    let slack = Duration::from_secs(1);
    assert!(
        seen + slack > expected && seen < expected + slack,
        "{seen:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_comes_is_closed() {
    assert_about(closed_after(b"").await, FIRST_BYTES);
}

#[tokio::test(start_paused = true)]
async fn half_of_what_an_http2_client_sends_first_is_nothing() {
    assert_about(closed_after(b"PRI * HTTP/2").await, FIRST_BYTES);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_not_waited_for_for_ever() {
    let head = b"GET / HTTP/1.1\r\nhost: orders\r\nx-slow: ";
    assert_about(closed_after(head).await, NEXT_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_longer_than_load_balancers_keep_it() {
    let request = b"GET / HTTP/1.1\r\nhost: orders\r\n\r\n";
    assert_about(closed_after(request).await, NEXT_REQUEST);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_431() {
    let server = Server::start(Duration::ZERO, Duration::ZERO).await;
    let mut client = server.connect().await;
    let value = "x".repeat(MAX_HEAD_BYTES as usize);
    client.send("/", &format!("x-large: {value}\r\n")).await;
    let answer = client.answer().await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer:?}");
}
