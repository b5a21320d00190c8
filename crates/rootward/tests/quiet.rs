//! Probes make no log lines. Alone in its process, because it listens to all threads.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rootward::{Check, Health};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counts what anybody says, at any level.
struct Counts;

static SAID: AtomicUsize = AtomicUsize::new(0);

impl Subscriber for Counts {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        SAID.fetch_add(1, Ordering::SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_logged_and_a_transition_is_logged_once() {
    tracing::subscriber::set_global_default(Counts).expect("the first one");
    let health = Health::builder("cart")
        .check(Check::new("disk", || async { Ok(()) }).hard())
        .listen(([127, 0, 0, 1], 0).into())
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    while !health.is_started() {
        tokio::task::yield_now().await;
    }
    // The check from unknown to up, and the instance ready.
    let began = Instant::now();
    while SAID.load(Ordering::SeqCst) < 2 {
        assert!(began.elapsed() < Duration::from_secs(10), "nothing is said");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(250)).await;
    let before = SAID.load(Ordering::SeqCst);
    assert_eq!(before, 2, "each transition once");
    for path in [
        "/livez",
        "/readyz",
        "/startupz",
        "/status",
        "/health",
        "/health?component=none",
        "/readyz?verbose",
        "/metrics",
        "/none",
    ] {
        for method in ["GET", "HEAD", "OPTIONS", "POST"] {
            let mut stream = TcpStream::connect(address).expect("a connection");
            let request =
                format!("{method} {path} HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("sent");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 "));
        }
    }
    assert_eq!(SAID.load(Ordering::SeqCst), before);
    health.stop().await;
}
