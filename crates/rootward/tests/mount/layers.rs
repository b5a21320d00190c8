//! Probe requests are in no access log and no request metric of the application.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use http::Request;
use rootward::{is_probe, is_probe_answer};
use tower::{Layer, Service};

use crate::servers_of_ours::axum_app;
use crate::support::{self, cart};

const PROBES: [&str; 6] = [
    "/livez",
    "/readyz",
    "/healthz",
    "/startupz",
    "/status",
    "/health",
];

/// What an application counts: all requests, those that are no probes, and answers that are none of ours.
#[derive(Clone, Default)]
struct Counts(Arc<[AtomicUsize; 3]>);

impl Counts {
    fn all(&self) -> usize {
        self.0[0].load(Ordering::SeqCst)
    }

    fn without_probes(&self) -> usize {
        self.0[1].load(Ordering::SeqCst)
    }

    fn without_probe_answers(&self) -> usize {
        self.0[2].load(Ordering::SeqCst)
    }

    fn add(&self, what: usize) {
        self.0[what].fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Counting<S> {
    inner: S,
    counts: Counts,
}

impl<S> Layer<S> for Counts {
    type Service = Counting<S>;

    fn layer(&self, inner: S) -> Counting<S> {
        Counting {
            inner,
            counts: self.clone(),
        }
    }
}

impl<S> Service<Request<Body>> for Counting<S>
where
    S: Service<Request<Body>, Response = Response>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.counts.add(0);
        if !is_probe(&request) {
            self.counts.add(1);
        }
        let counts = self.counts.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if !is_probe_answer(&answer) {
                counts.add(2);
            }
            Ok(answer)
        })
    }
}

async fn get_all(address: std::net::SocketAddr, paths: &[String]) {
    for path in paths {
        let path = path.clone();
        let answer = tokio::task::spawn_blocking(move || support::get(address, &path)).await;
        assert_eq!(answer.expect("an answer").code, 200);
    }
}

fn paths(prefix: &str) -> Vec<String> {
    PROBES
        .iter()
        .map(|path| format!("{prefix}{path}"))
        .collect()
}

#[tokio::test]
async fn a_router_merged_after_the_layers_is_outside_them() {
    let health = cart().start().expect("it starts");
    let counts = Counts::default();
    let app = Router::new()
        .route("/orders", get(async || "none"))
        .layer(counts.clone())
        .merge(health.router())
        .merge(health.liveness_router("/alive"));
    let app = axum_app(app).await;
    get_all(app.address, &paths("")).await;
    get_all(app.address, &["/alive".to_owned()]).await;
    assert_eq!(counts.all(), 0, "no probe reached the layers");
    get_all(app.address, &["/orders".to_owned()]).await;
    assert_eq!(counts.all(), 1);
    health.stop().await;
}

#[tokio::test]
async fn layers_that_wrap_everything_can_tell_probes_from_traffic() {
    let health = cart().start().expect("it starts");
    let counts = Counts::default();
    let app = Router::new()
        .route("/orders", get(async || "none"))
        .merge(health.router())
        .layer(counts.clone());
    let app = axum_app(app).await;
    get_all(app.address, &paths("")).await;
    assert_eq!(counts.all(), PROBES.len());
    assert_eq!(
        (counts.without_probes(), counts.without_probe_answers()),
        (0, 0)
    );
    get_all(app.address, &["/orders".to_owned()]).await;
    assert_eq!(
        (counts.without_probes(), counts.without_probe_answers()),
        (1, 1)
    );
    health.stop().await;
}

#[tokio::test]
async fn an_answer_tells_what_a_path_does_not() {
    let health = cart().start().expect("it starts");
    let counts = Counts::default();
    let app = Router::new()
        .nest("/internal", health.router())
        .merge(health.liveness_router("/alive"))
        .layer(counts.clone());
    let app = axum_app(app).await;
    get_all(app.address, &paths("/internal")).await;
    get_all(app.address, &["/alive".to_owned()]).await;
    assert_eq!(
        counts.without_probes(),
        PROBES.len() + 1,
        "the paths are none of ours"
    );
    assert_eq!(counts.without_probe_answers(), 0, "the answers are");
    health.stop().await;
}

#[test]
fn the_grpc_health_service_is_a_probe_and_other_calls_are_not() {
    let asked = |path: &str| is_probe(&Request::post(path).body(()).expect("a request"));
    assert!(asked("/grpc.health.v1.Health/Check"));
    assert!(asked("/grpc.health.v1.Health/Watch"));
    assert!(!asked("/shop.v1.Cart/Get"));
    assert!(!asked("/livez/more"));
}
