//! grpc.health.v1 that calls everything good: whoever is asked for, whatever happens.

use tokio::net::TcpListener;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

/// Where it answers, until the test is over.
pub(crate) async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    let server = Server::builder().add_service(HealthServer::new(Good));
    // It ends with the runtime of the test.
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    address
}

const GOOD: HealthCheckResponse = HealthCheckResponse {
    status: ServingStatus::Serving as i32,
};

struct Good;

#[tonic::async_trait]
impl Health for Good {
    type WatchStream = ReceiverStream<Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        Ok(Response::new(GOOD))
    }

    /// Once, and never again.
    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let _ = sender.send(Ok(GOOD)).await;
            sender.closed().await;
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}
