//! Who may read the detailed report where it is mounted.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::{Request, StatusCode};
use rootward::{Health, Peer};
use tower::ServiceExt;

use crate::support::cart;

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// Asked in the process: the peer is whoever the extensions name.
async fn code(health: &Health, path: &str, with: impl FnOnce(&mut Request<()>)) -> StatusCode {
    let mut request = Request::get(path).body(()).expect("a request");
    with(&mut request);
    let answer = health.service().oneshot(request).await;
    answer.expect("it cannot fail").status()
}

#[tokio::test]
async fn only_a_peer_known_to_be_on_this_machine_reads_the_report() {
    let health = cart().start().expect("it starts");
    let peer = |text| {
        move |request: &mut Request<()>| {
            request.extensions_mut().insert(Peer(address(text)));
        }
    };
    let connected = |text| {
        move |request: &mut Request<()>| {
            request.extensions_mut().insert(ConnectInfo(address(text)));
        }
    };
    for on_this_machine in ["127.0.0.1:9", "[::1]:9", "[::ffff:127.0.0.1]:9"] {
        assert_eq!(code(&health, "/health", peer(on_this_machine)).await, 200);
        let code = code(&health, "/health", connected(on_this_machine)).await;
        assert_eq!(code, 200);
    }
    for elsewhere in ["192.0.2.7:9", "[2001:db8::7]:9"] {
        assert_eq!(code(&health, "/health", peer(elsewhere)).await, 401);
        assert_eq!(code(&health, "/health", connected(elsewhere)).await, 401);
        assert_eq!(code(&health, "/readyz", peer(elsewhere)).await, 200);
    }
    health.stop().await;
}

#[tokio::test]
async fn a_peer_that_nobody_knows_is_a_stranger() {
    let health = cart().start().expect("it starts");
    assert_eq!(code(&health, "/health", |_| {}).await, 401);
    for open in ["/livez", "/readyz", "/healthz", "/startupz", "/status"] {
        assert_eq!(code(&health, open, |_| {}).await, 200, "{open}");
    }
    health.stop().await;
}

#[tokio::test]
async fn a_proxy_on_this_machine_does_not_make_its_callers_local() {
    let health = cart().start().expect("it starts");
    let passed_on = code(&health, "/health", |request| {
        request
            .extensions_mut()
            .insert(Peer(address("127.0.0.1:9")));
        let headers = request.headers_mut();
        headers.insert("x-forwarded-for", "192.0.2.7".parse().expect("a value"));
    });
    assert_eq!(passed_on.await, 401);
    health.stop().await;
}

#[tokio::test]
async fn what_the_host_says_of_the_peer_counts_more_than_the_frameworks_word() {
    let health = cart().start().expect("it starts");
    let both = code(&health, "/health", |request| {
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(address("127.0.0.1:9")));
        extensions.insert(Peer(address("192.0.2.7:9")));
    });
    assert_eq!(both.await, 401);
    health.stop().await;
}
