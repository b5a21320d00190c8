//! A service that embeds `rootward`, with a database, a cache and another service, for the test of conformance: it keeps
//! every promise that can be seen from outside.
//!
//! What it needs comes from the environment; a missing variable ends it with a sentence.

use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use deadpool_postgres::{Manager, Pool, Runtime, Timeouts};
use rootward::{Access, Health, Tokens};
use rootward_checks::{postgresql, redis, service};

type Error = Box<dyn std::error::Error>;

/// Long enough to be looked at.
const DRAIN: Duration = Duration::from_millis(1_500);

/// Long enough that a busy machine is not a timeout.
const TIMEOUT: Duration = Duration::from_secs(1);

/// What the clients of the pools wait for: longer than the checks, whose limit is the one that counts.
const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("dependable: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let database = format!(
        "postgresql://orders@127.0.0.1:{}/orders",
        port("DEPENDABLE_DATABASE")?
    );
    let manager = Manager::new(database.parse()?, tokio_postgres::NoTls);
    let timeouts = Timeouts {
        wait: Some(PATIENCE),
        create: Some(PATIENCE),
        recycle: Some(PATIENCE),
    };
    let pool = Pool::builder(manager)
        .max_size(4)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .build()?;

    let client =
        ::redis::Client::open(format!("redis://127.0.0.1:{}/", port("DEPENDABLE_CACHE")?))?;
    let settings = ConnectionManagerConfig::new()
        .set_response_timeout(Some(PATIENCE))
        .set_connection_timeout(Some(PATIENCE));
    let cache = ConnectionManager::new_lazy_with_config(client.clone(), settings)?;

    let rates = format!("http://127.0.0.1:{}/readyz", port("DEPENDABLE_RATES")?);
    let token = variable("DEPENDABLE_TOKEN")?;
    let interval = Duration::from_millis(variable("DEPENDABLE_INTERVAL_MS")?.parse()?);
    let health = Health::builder("dependable")
        .interval(interval)
        .timeout(TIMEOUT)
        .access(Access::loopback().tokens(Tokens::secrets([token])))
        // By explicit choice: without its database this service wants no traffic.
        .check(
            postgresql("orders-db", pool)
                .hard()
                .shared()
                .gates_readiness(true),
        )
        .check(redis("cache", (cache, client)).soft().shared())
        .check(service("rates", &rates).hard())
        .listen((Ipv4Addr::LOCALHOST, port("DEPENDABLE_PORT")?).into())
        .listen_grpc((Ipv4Addr::LOCALHOST, port("DEPENDABLE_GRPC")?).into())
        .drain_on_sigterm()
        .drain_delay(DRAIN)
        .start()?;
    health.drain().stop_accepting().await;
    health.stop().await;
    Ok(())
}

fn port(name: &str) -> Result<u16, Error> {
    Ok(variable(name)?.parse()?)
}

fn variable(name: &str) -> Result<String, Error> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

#[expect(
    clippy::print_stderr,
    reason = "its log is what a test shows when it fails"
)]
fn complain(text: &str) {
    eprintln!("{text}");
}
