//! Small servers of an application, on real sockets.

use std::net::SocketAddr;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rootward::{GrpcService, HealthService, Peer};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_health::pb::health_client::HealthClient;
use tower_service::Service;

use crate::support::any_port;

/// A server that ends with its guard.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    task: AbortHandle,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An axum application that knows its peers.
pub(crate) async fn axum_app(app: Router) -> Served {
    let (listener, address) = bound().await;
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    let serve = async move { axum::serve(listener, service).await };
    let task = tokio::spawn(serve).abort_handle();
    Served { address, task }
}

/// A server without a framework, which says who the peer is with the type of this crate.
pub(crate) async fn bare(service: HealthService) -> Served {
    let (listener, address) = bound().await;
    let serve = async move {
        while let Ok((stream, peer)) = listener.accept().await {
            let service = service.clone();
            let handler = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(Peer(peer));
                service.clone().call(request)
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), handler));
        }
    };
    let task = tokio::spawn(serve).abort_handle();
    Served { address, task }
}

/// A tonic server with health beside what else it may serve.
pub(crate) async fn tonic_server(service: GrpcService) -> Served {
    let (listener, address) = bound().await;
    let incoming = TcpIncoming::from(listener);
    let server = Server::builder().add_service(service);
    let serve = async move { server.serve_with_incoming(incoming).await };
    let task = tokio::spawn(serve).abort_handle();
    Served { address, task }
}

/// The client that tonic-health brings, over a new connection.
pub(crate) async fn grpc_client(address: SocketAddr) -> HealthClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URL");
    HealthClient::new(endpoint.connect().await.expect("a connection"))
}

async fn bound() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(any_port()).await.expect("a free port");
    let address = listener.local_addr().expect("its address");
    (listener, address)
}
