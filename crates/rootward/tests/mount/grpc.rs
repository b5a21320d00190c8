//! grpc.health.v1: what `Check` says, asked with tonic-health's own client over real sockets.

use std::time::Duration;

use http::Request;
use rootward::{Check, Health, is_probe_answer};
use tonic::body::Body;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tower::ServiceExt;

use crate::servers_of_ours::{grpc_client, tonic_server};
use crate::support::{Dependency, any_port, cart, until};

pub(crate) fn named(name: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: name.to_owned(),
    }
}

async fn check(client: &mut HealthClient<Channel>, name: &str) -> Result<ServingStatus, Status> {
    let answer = client.check(named(name)).await?;
    Ok(answer.into_inner().status())
}

/// One component of each status: `disk` is up, `mail` degraded, `db` down, `search` not known yet.
async fn one_of_each() -> Health {
    let health = cart()
        .interval(Duration::from_secs(3600))
        .listen_grpc(any_port())
        .check(Dependency::default().check("disk").hard().local())
        .check(
            Check::new("mail", || async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(())
            })
            .slow_above(Duration::from_millis(1))
            .soft(),
        )
        .check(Dependency::broken().check("db").hard())
        .check(
            Check::new(
                "search",
                std::future::pending::<Result<(), rootward::Failure>>,
            )
            .timeout(Duration::from_secs(60))
            .informational(),
        )
        .start()
        .expect("it starts");
    until(Duration::from_secs(5), || {
        let report = health.report();
        let mut components = report.components.iter();
        components.all(|component| component.name == "search" || component.seq.is_some())
    })
    .await;
    health
}

async fn names_are_answered_by_their_components() {
    let health = one_of_each().await;
    let server = tonic_server(health.grpc()).await;
    let own = health.grpc_addr().expect("it listens");
    for address in [own, server.address] {
        let mut client = grpc_client(address).await;
        let statuses = [
            ("disk", ServingStatus::Serving),
            ("mail", ServingStatus::Serving),
            ("db", ServingStatus::NotServing),
            ("search", ServingStatus::Unknown),
        ];
        for (name, expected) in statuses {
            assert_eq!(check(&mut client, name).await.expect(name), expected);
        }
        let unknown = check(&mut client, "Disk").await.expect_err("no such name");
        assert_eq!(unknown.code(), Code::NotFound);
        assert_eq!(unknown.message(), "no service and no check has this name");
    }
    health.stop().await;
}

#[tokio::test]
async fn names_are_answered_by_their_components_on_one_thread() {
    names_are_answered_by_their_components().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_answered_by_their_components_on_several_threads() {
    names_are_answered_by_their_components().await;
}

/// The shared database is down and the instance unhealthy for it; that is no reason to send nobody to it.
#[tokio::test]
async fn the_empty_name_and_the_services_own_follow_readiness_and_never_the_rollup() {
    let database = Dependency::broken();
    let health = cart()
        .listen_grpc(any_port())
        .check(database.check("db").hard())
        .start()
        .expect("it starts");
    let mut client = grpc_client(health.grpc_addr().expect("it listens")).await;
    let latch = health.latch("cache warm");
    for name in ["", "cart"] {
        let status = check(&mut client, name).await.expect("an answer");
        assert_eq!(status, ServingStatus::NotServing, "it has not started");
    }
    drop(latch);
    until(Duration::from_secs(5), || health.is_started()).await;
    assert_eq!(health.report().status.to_string(), "unhealthy");
    for name in ["", "cart"] {
        let status = check(&mut client, name).await.expect("an answer");
        assert_eq!(status, ServingStatus::Serving);
    }
    health.set_not_ready("closed for the night");
    for name in ["", "cart"] {
        let status = check(&mut client, name).await.expect("an answer");
        assert_eq!(status, ServingStatus::NotServing);
    }
    health.stop().await;
}

#[tokio::test]
async fn a_check_that_is_called_as_the_service_is_has_the_name() {
    let health = cart()
        .listen_grpc(any_port())
        .check(Dependency::broken().check("cart").hard())
        .start()
        .expect("it starts");
    until(Duration::from_secs(5), || health.is_started()).await;
    let mut client = grpc_client(health.grpc_addr().expect("it listens")).await;
    let check = |name| {
        let mut client = client.clone();
        async move { check(&mut client, name).await.expect("an answer") }
    };
    assert_eq!(check("cart").await, ServingStatus::NotServing);
    assert_eq!(check("").await, ServingStatus::Serving);
    client.check(named("")).await.expect("an answer");
    health.stop().await;
}

#[tokio::test]
async fn many_instances_in_one_process_have_each_their_own_grpc_health() {
    let one = cart().listen_grpc(any_port()).start().expect("it starts");
    let other = Health::builder("orders")
        .lag_budget(Duration::from_secs(10))
        .listen_grpc(any_port())
        .start()
        .expect("it starts");
    other.set_not_ready("closed for the night");
    let mut one_client = grpc_client(one.grpc_addr().expect("it listens")).await;
    let mut other_client = grpc_client(other.grpc_addr().expect("it listens")).await;
    until(Duration::from_secs(5), || one.is_ready()).await;
    let status = check(&mut one_client, "").await.expect("an answer");
    assert_eq!(status, ServingStatus::Serving);
    let status = check(&mut other_client, "").await.expect("an answer");
    assert_eq!(status, ServingStatus::NotServing);
    one.stop().await;
    other.stop().await;
}

/// The names of the components are not for everybody; and a name that is too long to be one is not read.
#[tokio::test]
async fn names_are_not_listed() {
    let health = one_of_each().await;
    let request = Request::post("/grpc.health.v1.Health/List")
        .header("content-type", "application/grpc")
        .body(Body::empty())
        .expect("a request");
    let answer = health.grpc().oneshot(request).await;
    let answer = answer.expect("it cannot fail");
    assert_eq!(answer.headers()["grpc-status"], "12", "UNIMPLEMENTED");
    assert!(is_probe_answer(&answer), "none for an access log");

    let mut client = grpc_client(health.grpc_addr().expect("it listens")).await;
    let long = check(&mut client, &"x".repeat(2000)).await;
    assert_eq!(long.expect_err("too long").code(), Code::OutOfRange);
    health.stop().await;
}

/// Paused time, and no socket: old evidence is no evidence.
#[tokio::test(start_paused = true)]
async fn old_evidence_is_unknown_over_grpc() {
    let health = cart()
        .check(Dependency::default().check("disk").hard().local())
        .start()
        .expect("it starts");
    until(Duration::from_secs(5), || health.is_started()).await;
    let mut client = HealthClient::new(health.grpc());
    let status = client.check(named("disk")).await.expect("an answer");
    assert_eq!(status.into_inner().status(), ServingStatus::Serving);
    health.stop().await;
    // Two intervals of 10 s and a limit of 500 ms.
    tokio::time::advance(Duration::from_millis(20_600)).await;
    let status = client.check(named("disk")).await.expect("an answer");
    assert_eq!(status.into_inner().status(), ServingStatus::Unknown);
    let status = client.check(named("")).await.expect("an answer");
    assert_eq!(status.into_inner().status(), ServingStatus::NotServing);
}
