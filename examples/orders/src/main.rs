//! A small service that is deployed without losing a request.
//!
//! It answers orders over HTTP/1.1 and HTTP/2, and probes on a port of its own. A SIGTERM begins its drain: readiness
//! fails at once, orders are answered on, and it ends when nobody sends any more. Where it listens and how long its
//! drain takes comes from the environment (see README.md).

use std::env;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rootward::Health;
use tokio::net::TcpListener;
use tokio::time::sleep;

type Error = Box<dyn std::error::Error>;

/// What an order takes, so that there is always one in flight.
const WORK: Duration = Duration::from_millis(10);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("orders: {error}"));
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Error> {
    let orders = address("ORDERS_LISTEN", 8080)?;
    let probes = address("ORDERS_PROBES", 8790)?;
    // Bound first: who is ready can be connected to.
    let listener = TcpListener::bind(orders)
        .await
        .map_err(|error| format!("cannot listen on {orders}: {error}"))?;
    let health = Health::builder("orders")
        .version(env!("CARGO_PKG_VERSION"))
        .listen(probes)
        .drain_on_sigterm()
        .drain_delay(millis("ORDERS_DRAIN_DELAY_MS", 10_000)?)
        .drain_grace(millis("ORDERS_DRAIN_GRACE_MS", 10_000)?)
        .start()?;
    let app = Router::new().route("/order", get(order));
    let served = rootward::serve(listener, app, health.drain()).await;
    // Last, so that probes are answered until the end.
    health.stop().await;
    say(&format!(
        "orders: {} connections in all; of the last ones {} finished and {} were cut off",
        served.accepted, served.finished, served.cut_off
    ));
    Ok(())
}

async fn order() -> &'static str {
    sleep(WORK).await;
    "an order\n"
}

fn address(variable: &str, port: u16) -> Result<SocketAddr, Error> {
    match env::var(variable) {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("{variable} is no address with a port: {text:?}").into()),
        Err(_) => Ok(([127, 0, 0, 1], port).into()),
    }
}

fn millis(variable: &str, default: u64) -> Result<Duration, Error> {
    let millis = match env::var(variable) {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("{variable} is no number of milliseconds: {text:?}"))?,
        Err(_) => default,
    };
    Ok(Duration::from_millis(millis))
}

fn say(text: &str) {
    // Without standard error there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}
