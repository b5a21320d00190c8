//! How an application's access log and request metrics leave probes out.
//!
//! The better way is a place outside the layers that log and count. Where layers wrap the whole server, they ask here.

use http::{Request, Response};

use crate::probe::Endpoint;

/// The calls of the gRPC health service.
const GRPC_HEALTH: &str = "/grpc.health.v1.Health/";

/// Whether a request is a probe by its path: one that [`Health::service`](crate::Health::service) answers, or a call of
/// the gRPC health service.
///
/// For layers that wrap the whole server, the probes included: an access log and request metrics that count them
/// measure how often somebody asks for health, and hide the traffic of a quiet service. It knows neither a prefix under
/// which a router is nested nor a path chosen for liveness; [`is_probe_answer`] does. An application that answers one
/// of these paths itself must not ask it.
///
/// ```
/// let request = http::Request::get("/readyz").body(())?;
/// assert!(rootward::is_probe(&request));
/// let request = http::Request::get("/orders").body(())?;
/// assert!(!rootward::is_probe(&request));
/// # Ok::<_, http::Error>(())
/// ```
#[must_use]
pub fn is_probe<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    Endpoint::of(path).is_some() || path.starts_with(GRPC_HEALTH)
}

/// Whether a response was made by something of this crate that is mounted, wherever it is mounted.
///
/// Exact, unlike [`is_probe`], but known only when the response is there, which is when an access log writes its line.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tower_service::Service;
///
/// let health = rootward::Health::builder("cart").start()?;
/// let request = http::Request::get("/alive").body(())?;
/// let response = health.liveness_service().call(request).await?;
/// assert!(rootward::is_probe_answer(&response));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn is_probe_answer<B>(response: &Response<B>) -> bool {
    response.extensions().get::<ProbeAnswer>().is_some()
}

/// Stands in the extensions of what we answer.
#[derive(Debug, Clone, Copy)]
struct ProbeAnswer;

pub(super) fn marked<B>(mut response: Response<B>) -> Response<B> {
    response.extensions_mut().insert(ProbeAnswer);
    response
}
