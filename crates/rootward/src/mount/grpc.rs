//! grpc.health.v1 from the same snapshot: `Check` and `Watch`.
//!
//! The messages and the service's outline are those of the crate tonic-health; what is said is ours. `List` is not
//! answered (UNIMPLEMENTED): it would give the names of all components to everybody, and names are for those who may
//! read the detailed report. Whoever knows a name already may ask for it.

mod board;
mod port;
mod watching;

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{self, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower_service::Service;

use crate::builder::Builder;
use crate::health::Health;
use crate::shared::Shared;

use super::seen::marked;
use board::Whom;
use watching::Watching;

pub(crate) use board::{Board, follow};
pub(crate) use port::serve;

pub use board::MAX_WATCHES;

/// The largest request that is read, in bytes. A name is far shorter.
const MAX_REQUEST_BYTES: usize = 1024;

impl Health {
    /// `grpc.health.v1.Health`, for the application's tonic server, from the same snapshot as everything else. Feature
    /// `grpc`.
    ///
    /// | name asked for | answer |
    /// | --- | --- |
    /// | empty, or the name of the service | readiness: `SERVING`, or `NOT_SERVING` while it starts, drains or is not ready |
    /// | the name of a check | that check: up and degraded are `SERVING`, down is `NOT_SERVING`, unknown is `UNKNOWN` |
    /// | any other | `Check`: status `NOT_FOUND`; `Watch`: `SERVICE_UNKNOWN`, and it stays open |
    ///
    /// Never the rollup: a shared database that is down makes `NOT_SERVING` of the component that has its name and of
    /// nothing else. Where a check is called as the service is, the name means the check.
    ///
    /// `Watch` says at once what is so, then each change: at once where something changed, within 100 ms where only
    /// time passed. At most [`MAX_WATCHES`] are open at a time, on all servers together; one more is refused with
    /// `RESOURCE_EXHAUSTED`. [`Health::stop`] ends them with `UNAVAILABLE`. `List` is not answered, because names are
    /// not for everybody. (Rules of `Check` and `Watch`:
    /// <https://github.com/grpc/grpc/blob/master/doc/health-checking.md>.)
    ///
    /// Never point a liveness probe at it: it says readiness, and an instance that is not ready must not be restarted.
    /// Here it answers as long as the application's runtime does; for an answer in spite of that see
    /// [`Builder::listen_grpc`].
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let health = rootward::Health::builder("cart").start()?;
    /// tonic::transport::Server::builder()
    ///     .add_service(health.grpc())
    ///     .serve("0.0.0.0:50051".parse()?)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn grpc(&self) -> GrpcService {
        GrpcService::new(Arc::clone(self.shared()))
    }

    /// Where grpc.health.v1 is served on a port of its own; none without [`Builder::listen_grpc`]. Feature `grpc`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart").listen_grpc(([127, 0, 0, 1], 0).into()).start()?;
    /// let address = health.grpc_addr().expect("it listens");
    /// println!("grpc_health_probe -addr={address}");
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn grpc_addr(&self) -> Option<SocketAddr> {
        self.probe().grpc_address()
    }
}

impl Builder {
    /// Where grpc.health.v1 is served on a port of its own, without TLS; port 0 takes a free one
    /// ([`Health::grpc_addr`]). Feature `grpc`.
    ///
    /// It runs on the probe thread, so it answers while the application's runtime is blocked, and says `NOT_SERVING`
    /// then. What it answers stands at [`Health::grpc`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart")
    ///     .listen_grpc(([127, 0, 0, 1], 0).into())
    ///     .start()?;
    /// assert!(health.grpc_addr().is_some());
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn listen_grpc(mut self, address: SocketAddr) -> Self {
        self.listen_grpc = Some(address);
        self
    }
}

/// grpc.health.v1 as a tower service; see [`Health::grpc`]. Clones answer alike, and it is always ready.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// let health = rootward::Health::builder("cart").start()?;
/// let service: rootward::GrpcService = health.grpc();
/// // On two servers, one for each network.
/// let inside = tonic::transport::Server::builder().add_service(service.clone());
/// let outside = tonic::transport::Server::builder().add_service(service);
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GrpcService {
    inner: HealthServer<Answering>,
}

impl GrpcService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let inner = HealthServer::new(Answering { shared });
        Self {
            inner: inner.max_decoding_message_size(MAX_REQUEST_BYTES),
        }
    }
}

impl NamedService for GrpcService {
    const NAME: &'static str = health_server::SERVICE_NAME;
}

impl<B> Service<Request<B>> for GrpcService
where
    B: hyper::body::Body + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let answer = self.inner.call(request);
        Box::pin(async move { answer.await.map(marked) })
    }
}

impl fmt::Debug for GrpcService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcService").finish_non_exhaustive()
    }
}

/// Answers the calls.
struct Answering {
    shared: Arc<Shared>,
}

#[tonic::async_trait]
impl health_server::Health for Answering {
    type WatchStream = Watching;

    async fn check(
        &self,
        request: tonic::Request<HealthCheckRequest>,
    ) -> Result<tonic::Response<HealthCheckResponse>, Status> {
        let whom = Whom::called(&self.shared, &request.get_ref().service);
        match board::statuses(&self.shared).of(&whom) {
            ServingStatus::ServiceUnknown => {
                Err(Status::not_found("no service and no check has this name"))
            }
            known @ (ServingStatus::Unknown
            | ServingStatus::Serving
            | ServingStatus::NotServing) => Ok(tonic::Response::new(response(known))),
        }
    }

    async fn watch(
        &self,
        request: tonic::Request<HealthCheckRequest>,
    ) -> Result<tonic::Response<Watching>, Status> {
        let whom = Whom::called(&self.shared, &request.get_ref().service);
        Watching::begin(&self.shared, whom).map(tonic::Response::new)
    }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse {
        status: status.into(),
    }
}
