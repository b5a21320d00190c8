//! What is mounted lives longer than the health behind it, and says so. Time passes for it, too.

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use rootward::{HealthService, Peer};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower::ServiceExt;

use crate::support::{Dependency, any_port, cart, until};

async fn ask(service: &HealthService, path: &str) -> (StatusCode, Value) {
    let mut request = Request::get(path).body(()).expect("a request");
    request.extensions_mut().insert(Peer(any_port()));
    let answer = service.clone().oneshot(request).await;
    let answer = answer.expect("it cannot fail");
    let code = answer.status();
    let body = answer.into_body().collect().await.expect("it cannot fail");
    let body = serde_json::from_slice(&body.to_bytes()).expect("a JSON body");
    (code, body)
}

#[tokio::test]
async fn after_a_stop_it_is_alive_and_not_ready() {
    let health = cart().start().expect("it starts");
    let service = health.service();
    assert_eq!(ask(&service, "/readyz").await.0, 200);
    health.stop().await;
    let (code, body) = ask(&service, "/readyz").await;
    assert_eq!(code, 503);
    assert_eq!(
        body["reasons"],
        json!(["shutting down: health is checked no longer"])
    );
    assert_eq!(ask(&service, "/livez").await.0, 200);
    assert_eq!(ask(&service, "/startupz").await.0, 200);
}

/// Nobody runs the checks, so nobody is kept waiting for them, and the server that hosts the mount can end.
#[tokio::test]
async fn after_a_stop_a_deep_report_comes_at_once_and_says_that_nothing_was_run() {
    let disk = Dependency::default();
    let health = cart()
        .interval(Duration::from_secs(120))
        .timeout(Duration::from_secs(60))
        .check(disk.check("disk").hard().local())
        .start()
        .expect("it starts");
    let service = health.service();
    until(Duration::from_secs(5), || health.is_started()).await;
    health.stop().await;
    let asked = tokio::time::timeout(Duration::from_secs(5), ask(&service, "/health/deep"));
    let (_, body) = asked.await.expect("it is not waited for");
    assert_eq!(body["ready"], false);
    assert_eq!(body["findings"][0]["kind"], "incomplete_run");
}

#[tokio::test]
async fn a_handle_that_was_dropped_by_mistake_does_not_leave_a_ready_instance_behind() {
    let service = {
        let health = cart().start().expect("it starts");
        health.service()
    };
    assert_eq!(ask(&service, "/readyz").await.0, 503);
}

/// Paused time: evidence that nobody renews turns unknown at a mount as on the own port.
#[tokio::test(start_paused = true)]
async fn old_evidence_is_unknown_at_a_mount() {
    let disk = Dependency::default();
    let health = cart()
        .check(disk.check("disk").hard().local())
        .start()
        .expect("it starts");
    let service = health.service();
    until(Duration::from_secs(5), || health.is_started()).await;
    let (_, body) = ask(&service, "/health").await;
    assert_eq!(body["components"][0]["status"], "up");
    health.stop().await;
    // Two intervals of 10 s and a limit of 500 ms.
    tokio::time::advance(Duration::from_millis(20_600)).await;
    let (_, body) = ask(&service, "/health").await;
    assert_eq!(body["components"][0]["status"], "unknown");
    assert_eq!(body["components"][0]["error_category"], "stale");
}

#[tokio::test]
async fn a_stop_with_mounts_leaves_no_task() {
    let tasks = Handle::current().metrics().num_alive_tasks();
    let health = cart().start().expect("it starts");
    let service = health.service();
    let router = health.router();
    assert_eq!(ask(&service, "/livez").await.0, 200);
    health.stop().await;
    until(Duration::from_secs(5), || {
        Handle::current().metrics().num_alive_tasks() == tasks
    })
    .await;
    drop((service, router));
}
