//! Liveness alone, on the main port.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use http::Request;
use http_body_util::BodyExt;
use rootward::Health;
use tower::ServiceExt;

use crate::servers_of_ours::axum_app;
use crate::support::{self, any_port, cart};

#[tokio::test]
async fn liveness_is_answered_whatever_the_path_and_nothing_else_is() {
    let health = cart().start().expect("it starts");
    health.set_not_ready("closed for the night");
    for path in ["/livez", "/alive", "/readyz", "/health", "/", "/alive?x=1"] {
        let request = Request::get(path).body(()).expect("a request");
        let answer = health.liveness_service().oneshot(request).await;
        let answer = answer.expect("it cannot fail");
        assert_eq!(answer.status(), 200, "{path}");
        let body = answer.into_body().collect().await.expect("it cannot fail");
        assert_eq!(&*body.to_bytes(), br#"{"alive":true}"#, "{path}");
    }
    let request = Request::post("/alive").body(()).expect("a request");
    let answer = health.liveness_service().oneshot(request).await;
    assert_eq!(answer.expect("it cannot fail").status(), 405);
    health.stop().await;
}

#[tokio::test]
async fn a_liveness_router_serves_its_path_and_leaves_the_others_to_the_application() {
    let health = cart().start().expect("it starts");
    let app = Router::new()
        .route("/readyz", get(async || "the application's own"))
        .merge(health.liveness_router("/alive"));
    let app = axum_app(app).await;
    let asked = tokio::task::spawn_blocking(move || {
        ["/alive", "/readyz", "/livez"].map(|path| support::get(app.address, path))
    });
    let [alive, readyz, livez] = asked.await.expect("answers");
    assert_eq!(
        (alive.code, alive.body.as_str()),
        (200, r#"{"alive":true}"#)
    );
    assert_eq!(readyz.body, "the application's own");
    assert_eq!(livez.code, 404);
    health.stop().await;
}

/// The reason for a path on the main port: the own port answers for a runtime that answers nobody.
#[test]
fn a_stuck_main_runtime_is_seen_on_the_main_port_and_not_on_the_own_port() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (health, app) = runtime.block_on(async {
        let health = Health::builder("cart")
            .listen(any_port())
            .start()
            .expect("it starts");
        let app = axum_app(health.liveness_router("/livez")).await;
        (health, app)
    });
    // Nobody drives the runtime now: as stuck as one can be.
    let own = support::get(health.listen_addr().expect("it listens"), "/livez");
    assert_eq!(own.code, 200);
    let mut main = TcpStream::connect(app.address).expect("the kernel accepts");
    let request = b"GET /livez HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n";
    std::io::Write::write_all(&mut main, request).expect("the kernel takes it");
    main.set_read_timeout(Some(Duration::from_millis(200)))
        .expect("a limit");
    let silence = main.read(&mut [0; 1]).expect_err("no answer");
    assert_eq!(silence.kind(), std::io::ErrorKind::WouldBlock);
    // It moves again, and the same request is answered.
    main.set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a limit");
    let answer = runtime.block_on(async {
        let read = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            main.read_to_string(&mut text).expect("an answer");
            text
        });
        let answer = read.await.expect("an answer");
        health.stop().await;
        answer
    });
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
