//! The gRPC port of its own against callers that behave badly.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use rootward::Health;
use tokio::time::timeout;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::grpc::named;
use crate::servers_of_ours::grpc_client;
use crate::support::{any_port, until};

#[tokio::test]
async fn silent_connections_do_not_keep_a_probe_out() {
    let health = Health::builder("cart")
        .listen_grpc(any_port())
        .start()
        .expect("it starts");
    until(Duration::from_secs(5), || health.is_ready()).await;
    let address = health.grpc_addr().expect("it listens");
    // From a thread of its own, so that the runtime of the application is not blocked by it.
    let connect = move || -> Vec<_> {
        let connections = (0..300).map(|_| TcpStream::connect(address));
        connections.collect::<Result<_, _>>().expect("connections")
    };
    let silent = tokio::task::spawn_blocking(connect).await;
    let silent = silent.expect("no panic");
    let asked = timeout(Duration::from_secs(4), async {
        let mut client = grpc_client(address).await;
        client.check(named("")).await.expect("an answer")
    });
    let answer = asked.await.expect("in time");
    assert_eq!(answer.into_inner().status(), ServingStatus::Serving);
    drop(silent);
    health.stop().await;
}

#[tokio::test]
async fn a_connection_that_asks_nothing_is_closed() {
    let health = Health::builder("cart")
        .listen_grpc(any_port())
        .start()
        .expect("it starts");
    let address = health.grpc_addr().expect("it listens");
    let closed = tokio::task::spawn_blocking(move || {
        let mut silent = TcpStream::connect(address).expect("a connection");
        silent
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a limit");
        let mut said = Vec::new();
        silent.read_to_end(&mut said)
    });
    closed.await.expect("no panic").expect("closed, not silent");
    health.stop().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error_and_nothing_runs() {
    let taken = std::net::TcpListener::bind(any_port()).expect("a free port");
    let address = taken.local_addr().expect("its address");
    let error = Health::builder("cart")
        .listen_grpc(address)
        .start()
        .expect_err("somebody listens there");
    assert!(error.is_address_in_use());
    assert_eq!(
        error.to_string(),
        format!("failed to listen on {address}: address already in use")
    );
}
