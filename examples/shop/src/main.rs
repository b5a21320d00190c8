//! One service of the shop: `shop orders` runs the service `orders` and serves its probes.
//!
//! Each service is a process of its own. What it depends on stands in [`build`]; where the others are comes from the
//! environment (see README.md). A real service would start its own HTTP server where `serve_until_stopped` waits.

use std::process::ExitCode;
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use deadpool_postgres::{Manager, Pool, Runtime, Timeouts};
use rootward::{Builder, Health};
use rootward_checks::{postgresql, redis, service};
use tokio::signal::unix::{SignalKind, signal};

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match run(&name).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("shop {name}: {error}"));
            ExitCode::from(2)
        }
    }
}

async fn run(name: &str) -> Result<(), Error> {
    let port = port_of(name)?;
    let mut builder = build(name)?
        .listen(([127, 0, 0, 1], port).into())
        .interval(interval()?);
    let warm = builder.latch("warm up");
    let health = builder.start()?;
    drop(warm);
    serve_until_stopped().await?;
    health.stop().await;
    Ok(())
}

/// Who depends on what. This is all that a service says about its health.
fn build(name: &str) -> Result<Builder, Error> {
    let shop = Health::builder(name).version(env!("CARGO_PKG_VERSION"));
    Ok(match name {
        "front" => shop
            .check(peer("cart")?.hard())
            .check(peer("checkout")?.hard()),
        "cart" => shop.check(peer("catalogue")?.hard()).check(cache()?.soft()),
        "checkout" => shop
            .check(peer("orders")?.hard())
            .check(peer("payments")?.hard()),
        "orders" => shop.check(orders_db()?.hard()).check(cache()?.soft()),
        "invoices" => shop.check(orders_db()?.hard()),
        "catalogue" => shop.check(orders_db()?.soft()).check(cache()?.soft()),
        "payments" => shop,
        other => return Err(format!("there is no service named {other:?} in this shop").into()),
    })
}

/// Another service's readiness: cheap, and never a walk through the shop.
fn peer(name: &str) -> Result<rootward::Check<rootward::Unlabelled>, Error> {
    Ok(service(
        name,
        &format!("http://127.0.0.1:{}/readyz", port_of(name)?),
    ))
}

/// The database, over the pool that the service's own queries would use.
fn orders_db() -> Result<rootward::Check<rootward::Unlabelled>, Error> {
    let config: tokio_postgres::Config = variable("SHOP_ORDERS_DB")?.parse()?;
    let manager = Manager::new(config, tokio_postgres::NoTls);
    let wait = Some(Duration::from_secs(2));
    let timeouts = Timeouts {
        wait,
        create: wait,
        recycle: wait,
    };
    let pool = Pool::builder(manager)
        .max_size(4)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .build()?;
    Ok(postgresql("orders-db", pool))
}

/// The cache. Its connection is made when it is first needed, so that a dead cache keeps no service from starting.
fn cache() -> Result<rootward::Check<rootward::Unlabelled>, Error> {
    let client = ::redis::Client::open(variable("SHOP_CACHE")?)?;
    let settings = ConnectionManagerConfig::new();
    let manager = ConnectionManager::new_lazy_with_config(client.clone(), settings)?;
    Ok(redis("cache", (manager, client)))
}

/// Probes on 8801, 8802, … ; `SHOP_ORDERS_PORT` moves those of orders.
fn port_of(name: &str) -> Result<u16, Error> {
    const SERVICES: [&str; 7] = [
        "front",
        "cart",
        "checkout",
        "orders",
        "invoices",
        "catalogue",
        "payments",
    ];
    let at = SERVICES
        .iter()
        .position(|service| *service == name)
        .ok_or_else(|| {
            format!(
                "{name:?} is not a service of this shop; there are {}",
                SERVICES.join(", ")
            )
        })?;
    let variable = format!("SHOP_{}_PORT", name.to_uppercase());
    match std::env::var(&variable) {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("{variable} is {text:?}, not a port").into()),
        Err(_) => Ok(8801 + u16::try_from(at)?),
    }
}

/// How often checks run: every 10 s, or as many milliseconds as `SHOP_INTERVAL_MS` says.
fn interval() -> Result<Duration, Error> {
    match std::env::var("SHOP_INTERVAL_MS") {
        Ok(text) => {
            let millis = text
                .parse()
                .map_err(|_| format!("SHOP_INTERVAL_MS is {text:?}, not a number"))?;
            Ok(Duration::from_millis(millis))
        }
        Err(_) => Ok(rootward::DEFAULT_INTERVAL),
    }
}

fn variable(name: &str) -> Result<String, Error> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

/// Until Ctrl-C or SIGTERM.
async fn serve_until_stopped() -> Result<(), Error> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        stopped = tokio::signal::ctrl_c() => stopped?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "only main prints")]
fn complain(text: &str) {
    eprintln!("{text}");
}
