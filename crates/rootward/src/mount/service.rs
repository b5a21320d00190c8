//! The endpoints as tower services, for any server that speaks `http::Request`.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};
use http_body_util::Full;
use tokio::time::Instant;
use tower_service::Service;

use crate::access::Caller;
use crate::health::Health;
use crate::probe::{Answering, Answers};

use super::peer::peer_of;
use super::seen::marked;

const LIVEZ: &str = "/livez";

impl Health {
    /// All endpoints as a tower service over requests with any body, for a server of the application's: the same
    /// answers as on the own port ([`Builder::listen`](crate::Builder::listen)), from the same snapshot. It needs no
    /// own port beside it.
    ///
    /// It goes by the path of the request, so whoever mounts it under a prefix takes the prefix away. What is no path
    /// of ours is answered 404. Its requests are in no log of ours; mount it outside the layers that log and count for
    /// the application, or ask [`is_probe`](crate::is_probe) there.
    ///
    /// The detailed report goes to callers whom [`Access`](crate::Access) allows, judged by [`Peer`](crate::Peer).
    ///
    /// It answers as long as the runtime that serves it runs its tasks. When that is blocked, so is the probe, and
    /// nobody reads why: give an orchestrator the own port for readiness. After [`Health::stop`] it answers on, not
    /// ready.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tower_service::Service;
    ///
    /// let health = rootward::Health::builder("cart").start()?;
    /// let mut service = health.service();
    /// let request = http::Request::get("/readyz").body(())?;
    /// assert_eq!(service.call(request).await?.status(), 200);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn service(&self) -> HealthService {
        HealthService {
            answers: answers(self),
        }
    }

    /// Liveness only, as a tower service over requests with any body: whatever the path, it answers what `/livez` does.
    ///
    /// For one path on the main port, beside the own port. An answer there came through the application's own accept
    /// loop and its own runtime, so a pool that is stuck is seen, which no port of its own can see. Ask it rarely and
    /// with patience: overload alone must not restart a fleet.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tower_service::Service;
    ///
    /// let health = rootward::Health::builder("cart").start()?;
    /// let mut service = health.liveness_service();
    /// let request = http::Request::get("/alive").body(())?;
    /// assert_eq!(service.call(request).await?.status(), 200);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn liveness_service(&self) -> LivenessService {
        LivenessService {
            answers: answers(self),
        }
    }
}

/// All endpoints; see [`Health::service`]. Clones answer alike, and it is always ready.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// let health = rootward::Health::builder("cart").start()?;
/// // All of them below a prefix, which axum takes away: /internal/readyz.
/// let app: axum::Router = axum::Router::new().nest_service("/internal", health.service());
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HealthService {
    answers: Arc<Answers>,
}

impl<B> Service<Request<B>> for HealthService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        answered(&self.answers, &request)
    }
}

impl fmt::Debug for HealthService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthService").finish_non_exhaustive()
    }
}

/// Liveness at whatever path; see [`Health::liveness_service`]. Clones answer alike, and it is always ready.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// let health = rootward::Health::builder("cart").start()?;
/// let app: axum::Router = axum::Router::new().route_service("/alive", health.liveness_service());
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LivenessService {
    answers: Arc<Answers>,
}

impl<B> Service<Request<B>> for LivenessService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> ResponseFuture {
        *request.uri_mut() = livez(request.uri());
        answered(&self.answers, &request)
    }
}

impl fmt::Debug for LivenessService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivenessService").finish_non_exhaustive()
    }
}

/// The path of liveness, with the query that was asked.
fn livez(asked: &Uri) -> Uri {
    let with_query = asked
        .query()
        .and_then(|query| PathAndQuery::try_from(format!("{LIVEZ}?{query}")).ok());
    with_query
        .unwrap_or_else(|| PathAndQuery::from_static(LIVEZ))
        .into()
}

/// Not those of the own port: its thread shares no lock with the application's.
fn answers(health: &Health) -> Arc<Answers> {
    Arc::new(Answers::new(Arc::clone(health.shared())))
}

fn answered<B>(answers: &Arc<Answers>, request: &Request<B>) -> ResponseFuture {
    let peer = peer_of(request.extensions());
    ResponseFuture(answers.answer(request, &Caller::from(peer), Instant::now()))
}

/// The answer of a mounted service.
#[must_use = "it is a future"]
pub struct ResponseFuture(Answering);

impl Future for ResponseFuture {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|reply| Ok(marked(reply)))
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
