//! One unary call, against a real server of tonic with its health service.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::net::SocketAddr;
use std::time::Duration;

use rootward_fetch::{GrpcAnswer, GrpcCall, GrpcCaller, Limits, Target};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::{HealthReporter, health_reporter};

const CHECK: &str = "/grpc.health.v1.Health/Check";
const LIMITS: Limits = Limits {
    deadline: Duration::from_secs(20),
    max_body_bytes: 64 * 1024,
};

async fn stock() -> (SocketAddr, HealthReporter) {
    let (reporter, service) = health_reporter();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = Server::builder().add_routes(Routes::new(service));
    tokio::spawn(serving.serve_with_incoming(TcpListenerStream::new(listener)));
    (address, reporter)
}

async fn ask(caller: &mut GrpcCaller, message: &[u8]) -> GrpcAnswer {
    let call = GrpcCall {
        method: CHECK,
        message,
        headers: &[],
    };
    caller.call(call, &LIMITS).await.unwrap()
}

#[tokio::test]
async fn a_real_server_is_asked_again_and_again_and_its_codes_are_answers() {
    let (address, reporter) = stock().await;
    let mut caller = GrpcCaller::new(Target::parse(&format!("http://{address}")).unwrap());
    let of_stock = b"\x0a\x0dshop.v1.Stock";

    let whole = ask(&mut caller, b"").await;
    assert_eq!((whole.http_status, whole.code), (200, Some(0)));
    assert_eq!(whole.message.as_deref(), Some(&[8, 1][..]), "SERVING");
    assert_eq!(whole.remote, address);

    // NOT_FOUND, in trailers alone.
    let unknown = ask(&mut caller, of_stock).await;
    assert_eq!((unknown.code, unknown.message), (Some(5), None));

    for (status, word) in [(ServingStatus::NotServing, 2), (ServingStatus::Serving, 1)] {
        reporter.set_service_status("shop.v1.Stock", status).await;
        let told = ask(&mut caller, of_stock).await;
        assert_eq!(
            (told.code, told.message.as_deref()),
            (Some(0), Some(&[8, word][..]))
        );
    }

    // UNIMPLEMENTED.
    let call = GrpcCall {
        method: "/grpc.health.v1.Health/NoSuchMethod",
        message: b"",
        headers: &[],
    };
    assert_eq!(caller.call(call, &LIMITS).await.unwrap().code, Some(12));
}
