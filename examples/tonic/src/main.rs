//! A gRPC server that answers grpc.health.v1 from the same snapshot as the probes over HTTP. What it needs comes from
//! the environment (see README.md).

use std::env;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use rootward::Health;
use rootward_checks::{FreshnessSettings, freshness};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

type Error = Box<dyn std::error::Error>;

/// How old the index may be.
const INDEX_AGE: Duration = Duration::from_secs(60 * 60);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "example-tonic: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Error> {
    let index = env::var("EXAMPLE_INDEX").map_err(|_| "EXAMPLE_INDEX names no file")?;
    let drain = Duration::from_millis(variable("EXAMPLE_DRAIN_MS", "10000").parse()?);
    let address: SocketAddr = variable("EXAMPLE_LISTEN", "127.0.0.1:50051").parse()?;
    // Bound first: who is ready can be connected to.
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let index = FreshnessSettings::new(index, INDEX_AGE);
    let health = Health::builder("search")
        .version(env!("CARGO_PKG_VERSION"))
        .check(
            freshness("index", index)
                .interval(Duration::from_secs(2))
                .hard(),
        )
        .listen(variable("EXAMPLE_PROBES", "127.0.0.1:8790").parse()?)
        .drain_on_sigterm()
        .drain_delay(drain)
        .drain_grace(drain)
        .start()?;
    let served = Server::builder()
        .add_service(health.grpc())
        .serve_with_incoming_shutdown(
            TcpListenerStream::new(listener),
            health.drain().stop_accepting(),
        );
    // It waits for calls in flight, and a watch of health never ends by itself.
    tokio::select! {
        served = served => served?,
        () = health.drain().grace_over() => {}
    }
    // Last, so that probes are answered until the end.
    health.stop().await;
    Ok(())
}

fn variable(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}
