//! A service with a hyper server of its own: probes on another port, checks of what it runs out of, and a drain that
//! its accept loop hears. What it needs comes from the environment (see README.md).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::env;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rootward::Health;
use rootward_checks::{DescriptorsSettings, DiskSettings, MemorySettings};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

type Error = Box<dyn std::error::Error>;

/// What the service answers from: without it, it has no answer.
type Rates = Arc<BTreeMap<&'static str, f64>>;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 1_000;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "example-hyper: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Error> {
    let drain = Duration::from_millis(variable("EXAMPLE_DRAIN_MS", "10000").parse()?);
    let address: SocketAddr = variable("EXAMPLE_LISTEN", "127.0.0.1:8080").parse()?;
    // Bound first: who is ready can be connected to.
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let rates: Rates = Arc::new(BTreeMap::from([("EUR", 1.0), ("USD", 1.09)]));
    let known = Arc::clone(&rates);
    let data = DiskSettings::new(variable("EXAMPLE_DATA", "."));
    let health = Health::builder("rates")
        .version(env!("CARGO_PKG_VERSION"))
        .check(rootward_checks::disk("data", data).hard())
        .check(rootward_checks::table("rates", move || known.len()).hard())
        .check(rootward_checks::memory("memory", MemorySettings::new()).soft())
        .check(rootward_checks::descriptors("descriptors", DescriptorsSettings::new()).soft())
        .listen(variable("EXAMPLE_PROBES", "127.0.0.1:8790").parse()?)
        .drain_on_sigterm()
        .drain_delay(drain)
        .drain_grace(drain)
        .start()?;
    serve(listener, &health, &rates).await;
    // Last, so that probes are answered until the end.
    health.stop().await;
    Ok(())
}

/// Until the drain says to stop accepting, and then until nothing is in flight or its grace is over.
async fn serve(listener: TcpListener, health: &Health, rates: &Rates) {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(health.drain().stop_accepting());
    loop {
        let has_room = connections.len() < MAX_CONNECTIONS;
        let stream = tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // No descriptor is left: others will be closed.
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            },
        };
        let rates = Arc::clone(rates);
        let answer = service_fn(move |request| {
            let response = answer(&request, &rates);
            async move { Ok::<_, Infallible>(response) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), answer));
        connections.spawn(async move {
            // A client that went away is its own affair.
            let _ = connection.await;
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = health.drain().grace_over() => {}
    }
}

fn answer(request: &Request<Incoming>, rates: &Rates) -> Response<Full<Bytes>> {
    let currency = request.uri().path().strip_prefix("/rates/");
    let rate = currency.and_then(|currency| rates.get(currency));
    let text = rate.map_or("no such rate\n".to_owned(), |rate| format!("{rate}\n"));
    let mut response = Response::new(Full::from(text));
    if rate.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

fn variable(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}
