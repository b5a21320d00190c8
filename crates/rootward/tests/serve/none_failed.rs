//! No request fails because of a drain: twenty drains under load, over each protocol.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::Request;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::clients::{LIMIT, Server};

const DRAINS: u64 = 20;

/// Clients at a time.
const CLIENTS: usize = 10;

/// How many requests were handled when a drain begins.
const BEFORE: u64 = 500;

const DELAY: Duration = Duration::from_millis(50);

/// Asks as fast as it can until the server says that it goes; says how many were answered.
async fn over_http1(server: &Server) -> JoinSet<u64> {
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let mut client = server.connect().await;
        clients.spawn(async move {
            let mut answered = 0;
            loop {
                let answer = client.get("/").await;
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
                answered += 1;
                if answer.contains("connection: close") {
                    return answered;
                }
            }
        });
    }
    clients
}

/// Asks ten at a time until the server has said GOAWAY.
async fn over_http2(server: &Server) -> JoinSet<u64> {
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (mut sender, driver) = server.connect_http2().await;
        clients.spawn(async move {
            let mut answered = 0;
            // Not ready any more: it has been told, and nothing was sent.
            while let Ok(ready) = sender.ready().await {
                sender = ready;
                let mut flight = JoinSet::new();
                for _ in 0..10 {
                    let request = Request::get("http://orders/").body(());
                    let request = request.expect("a request");
                    // Refused here, it was not sent: the GOAWAY was heard meanwhile.
                    if let Ok((answer, _)) = sender.send_request(request, true) {
                        flight.spawn(answer);
                    }
                }
                while let Some(answer) = flight.join_next().await {
                    let answer = answer.expect("no panic");
                    assert_eq!(answer.expect("an answer").status(), 200);
                    answered += 1;
                }
            }
            driver.await.expect("no panic");
            answered
        });
    }
    clients
}

/// Twenty drains under these clients. Panics if one of their requests fails.
async fn drained(delay: Duration, clients: impl AsyncFn(&Server) -> JoinSet<u64>) {
    let mut all = 0;
    for _ in 0..DRAINS {
        let server = Server::start(delay, LIMIT).await;
        let handled = Arc::clone(&server.handled);
        let clients = clients(&server).await;
        let busy = async {
            while handled.load(Ordering::SeqCst) < BEFORE {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(LIMIT, busy).await.expect("requests are handled");
        server.drain.begin();
        let (served, _) = server.returns().await;
        assert_eq!(served.cut_off, 0);
        let answered = timeout(LIMIT, clients.join_all()).await;
        let answered: u64 = answered.expect("they end").iter().sum();
        assert_eq!(answered, handled.load(Ordering::SeqCst));
        all += answered;
    }
    assert!(all >= DRAINS * BEFORE, "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_092_none_of_10_000_requests_over_http1_fails_in_twenty_drains() {
    drained(DELAY, over_http1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_092_none_of_10_000_requests_over_http2_fails_in_twenty_drains() {
    drained(DELAY, over_http2).await;
}

/// All clients ask when GOAWAY comes: nothing has told them before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_092_none_of_10_000_requests_over_http2_fails_even_without_a_delay() {
    drained(Duration::ZERO, over_http2).await;
}
