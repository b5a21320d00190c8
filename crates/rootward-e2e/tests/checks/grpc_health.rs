//! gRPC health, against a real server of tonic with its health service.

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::grpc_health;
use rootward_checks::open::{self, GrpcHealthSettings};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::Routes;
use tonic::transport::{Endpoint, Identity, Server, ServerTlsConfig};
use tonic::{Request, Status};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::every::{
    LONG, PASSWORD, SHORT, alone, beside_others, leaves_nothing, run, run_until, survives_refusal,
    survives_silence,
};

fn own(address: SocketAddr, service: &str) -> Check<Unlabelled> {
    let settings = GrpcHealthSettings {
        service: service.to_owned(),
        ..GrpcHealthSettings::new(format!("http://{address}"))
    };
    open::grpc_health("stock", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    own(address, "")
}

fn on_a_channel(address: SocketAddr, service: &str) -> Check<Unlabelled> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URL");
    grpc_health("stock", endpoint.connect_lazy(), service)
}

/// A server, and what it says about itself.
pub(crate) struct Stock {
    pub(crate) address: SocketAddr,
    reporter: HealthReporter,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Stock {
    async fn start(address: SocketAddr) -> Self {
        let (reporter, service) = tonic_health::server::health_reporter();
        let mut stock = Self::serving(address, Routes::new(service)).await;
        stock.reporter = reporter;
        stock
    }

    /// With this certificate and its key.
    pub(crate) async fn secured(certificate: &str, key: &str) -> Self {
        let (reporter, service) = tonic_health::server::health_reporter();
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        let server = Server::builder().tls_config(tls).expect("a certificate");
        let mut stock = Self::on(server, any(), Routes::new(service)).await;
        stock.reporter = reporter;
        stock
    }

    async fn serving(address: SocketAddr, routes: Routes) -> Self {
        Self::on(Server::builder(), address, routes).await
    }

    async fn on(mut server: Server, address: SocketAddr, routes: Routes) -> Self {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let serving = server.add_routes(routes);
        let (stop, stopped) = oneshot::channel::<()>();
        let incoming = TcpListenerStream::new(listener);
        let serving = serving.serve_with_incoming_shutdown(incoming, async {
            let _ = stopped.await;
        });
        let task = tokio::spawn(async move {
            let _ = serving.await;
        });
        Self {
            address,
            reporter: HealthReporter::new(),
            stop,
            task,
        }
    }

    /// It says farewell on its connections, and nobody listens any more.
    pub(crate) async fn end(self) {
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

#[tokio::test]
async fn a_grpc_server_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

/// The connection is the application's, and stays.
#[tokio::test]
async fn a_grpc_server_that_says_nothing_costs_one_time_limit_on_a_channel_too() {
    let _turn = beside_others().await;
    let silent = TcpListener::bind(any()).await.expect("a port");
    let address = silent.local_addr().expect("its address");
    let accepting = tokio::spawn(async move {
        let mut accepted = Vec::new();
        while let Ok((stream, _)) = silent.accept().await {
            accepted.push(stream);
        }
    });
    let check = on_a_channel(address, "");
    for _ in 0..2 {
        let began = Instant::now();
        let seen = run(&check, SHORT).await;
        assert!(
            seen == "cut off" || seen.starts_with("down, timeout, "),
            "{seen}"
        );
        assert!(began.elapsed() < SHORT * 20, "{:?}", began.elapsed());
    }
    accepting.abort();
}

#[tokio::test]
async fn a_grpc_server_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
    survives_refusal(async |address| on_a_channel(address, "")).await;
}

#[tokio::test]
async fn a_grpc_server_says_whether_it_serves_both_ways_in() {
    let _turn = beside_others().await;
    let stock = Stock::start(any()).await;
    let name = "shop.v1.Stock";
    stock
        .reporter
        .set_service_status(name, ServingStatus::Serving)
        .await;
    let checks = [own(stock.address, name), on_a_channel(stock.address, name)];
    for check in &checks {
        assert_eq!(run(check, LONG).await, "up");
    }
    stock
        .reporter
        .set_service_status(name, ServingStatus::NotServing)
        .await;
    for check in &checks {
        let seen = run(check, LONG).await;
        assert_eq!(seen, "down, not_serving, the server says NOT_SERVING");
    }
    stock
        .reporter
        .set_service_status(name, ServingStatus::Unknown)
        .await;
    for check in &checks {
        let seen = run(check, LONG).await;
        assert_eq!(
            seen,
            "down, protocol, the server says neither SERVING nor NOT_SERVING"
        );
    }
    for check in [
        own(stock.address, "planted"),
        on_a_channel(stock.address, "planted"),
    ] {
        let seen = run(&check, LONG).await;
        assert_eq!(seen, "down, not_found, the server knows no such service");
    }
    // The server as a whole.
    assert_eq!(run(&own(stock.address, ""), LONG).await, "up");
}

#[tokio::test]
async fn a_grpc_server_without_a_health_service_is_said_to_have_none() {
    let _turn = beside_others().await;
    let stock = Stock::serving(any(), Routes::default()).await;
    assert_eq!(
        run(&own(stock.address, ""), LONG).await,
        "down, protocol, the server has no health service (UNIMPLEMENTED)"
    );
}

#[tokio::test]
async fn a_grpc_server_that_refuses_is_said_to_without_its_words() {
    let _turn = beside_others().await;
    for (status, expected) in [
        (
            Status::unauthenticated(PASSWORD),
            "down, auth, credentials refused",
        ),
        (
            Status::permission_denied(PASSWORD),
            "down, auth, credentials refused",
        ),
        (
            Status::resource_exhausted(PASSWORD),
            "down, rate_limited, rate limited",
        ),
        (
            Status::unavailable(PASSWORD),
            "down, not_ready, the server says UNAVAILABLE",
        ),
        (Status::internal(PASSWORD), "down, unknown, gRPC status 13"),
    ] {
        let (_, service) = tonic_health::server::health_reporter();
        let refusing = move |_: Request<()>| Err::<Request<()>, _>(status.clone());
        let service = tonic::service::interceptor::InterceptedService::new(service, refusing);
        let stock = Stock::serving(any(), Routes::new(service)).await;
        assert_eq!(run(&own(stock.address, ""), LONG).await, expected);
        assert_eq!(run(&on_a_channel(stock.address, ""), LONG).await, expected);
    }
}

#[tokio::test]
async fn a_grpc_server_that_ends_comes_back_to_the_same_check() {
    let _turn = beside_others().await;
    let stock = Stock::start(any()).await;
    let address = stock.address;
    let checks = [own(address, ""), on_a_channel(address, "")];
    for check in &checks {
        run_until(check, LONG, "up").await;
    }
    stock.end().await;
    for check in &checks {
        run_until(check, LONG, "down, connection_refused, ").await;
    }
    let again = Stock::start(address).await;
    for check in &checks {
        run_until(check, LONG, "up").await;
    }
    again.end().await;
}

#[tokio::test]
async fn a_thousand_runs_against_a_grpc_server_leave_nothing() {
    let _turn = alone().await;
    let stock = Stock::start(any()).await;
    leaves_nothing(&own(stock.address, ""), "up").await;
    leaves_nothing(&on_a_channel(stock.address, ""), "up").await;
}

#[test]
fn a_url_of_no_grpc_server_gets_a_sentence_without_it() {
    for url in [
        "grpc://planted:1",
        "http://planted",
        "http://planted:1/path",
        "http://planted-user-alice:planted@host:1",
    ] {
        let error = open::grpc_health("stock", GrpcHealthSettings::new(url)).err();
        let sentence = error
            .map(|error| error.to_string())
            .unwrap_or_else(|| panic!("{url} was taken"));
        assert!(!sentence.contains("planted"), "{sentence}");
    }
}
