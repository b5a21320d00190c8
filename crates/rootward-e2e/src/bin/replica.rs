//! One replica of a small service, for the proof of the restart storm: takes orders on a PostgreSQL, and answers
//! probes in one of two ways.
//!
//! `naive`: liveness and readiness run `SELECT 1` on the application's pool while the prober waits, on the
//! application's own port. `rootward`: the service embeds the crate with the ready-made check of the same pool. All
//! else is the same. What it needs comes from the environment; a missing variable ends it with a sentence.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deadpool_postgres::{Manager, Pool, Runtime, Timeouts};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rootward::Health;
use rootward_checks::{postgresql, postgresql_target};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

type Error = Box<dyn std::error::Error>;

/// Connections of the pool: few, so that twenty replicas fit on a test machine.
const POOL: usize = 2;

/// How long a request may wait for a connection of the pool.
const POOL_WAIT: Duration = Duration::from_secs(20);

/// The most connections of clients at a time.
const MAX_CONNECTIONS: usize = 256;

/// An order of one article: its transaction keeps the row of that article for 50 ms. The row is locked and not changed:
/// waiters for a lock are served in the order in which they came, while those for a row that has changed start again.
fn order(article: u32) -> String {
    format!(
        "SELECT in_stock FROM stock WHERE article = {article} FOR UPDATE;
         INSERT INTO orders VALUES ({article});
         SELECT pg_sleep(0.05)"
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Probes {
    Naive,
    Rootward,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("replica: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let probes = match variable("REPLICA_PROBES")?.as_str() {
        "naive" => Probes::Naive,
        "rootward" => Probes::Rootward,
        other => return Err(format!("REPLICA_PROBES is {other:?}").into()),
    };
    let config: tokio_postgres::Config = variable("REPLICA_DATABASE")?.parse()?;
    let target = postgresql_target(&config).ok_or("REPLICA_DATABASE names no single host")?;
    let start_up = Duration::from_millis(variable("REPLICA_START_UP_MS")?.parse()?);
    // What a runtime needs to get warm, or a cache to be filled.
    tokio::time::sleep(start_up).await;
    let timeouts = Timeouts {
        wait: Some(POOL_WAIT),
        create: Some(POOL_WAIT),
        recycle: Some(POOL_WAIT),
    };
    let pool = Pool::builder(Manager::new(config, tokio_postgres::NoTls))
        .max_size(POOL)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .build()?;
    // As most pools do: all connections are made at the start, and without them the process ends.
    let (one, two) = tokio::try_join!(pool.get(), pool.get())?;
    drop((one, two));
    let app = TcpListener::bind(local("REPLICA_PORT")?).await?;
    let _health = match probes {
        Probes::Naive => None,
        Probes::Rootward => {
            let check = postgresql("orders-db", pool.clone())
                .target(target)
                .hard()
                .shared();
            let health = Health::builder("orders")
                .instance(variable("REPLICA_NAME")?)
                .check(check)
                .listen(local("REPLICA_PROBE_PORT")?)
                .start()?;
            Some(health)
        }
    };
    serve(app, &Arc::new(App { pool, probes })).await
}

struct App {
    pool: Pool,
    probes: Probes,
}

impl App {
    async fn answer(&self, path: &str) -> Result<StatusCode, Error> {
        if let Some(article) = path.strip_prefix("/order/") {
            return self.run(&order(article.parse()?)).await;
        }
        match path {
            "/cheap" => Ok(StatusCode::OK),
            "/select-1" => self.run("SELECT 1").await,
            // The naive way: what so many services do.
            "/livez" | "/readyz" if self.probes == Probes::Naive => self.run("SELECT 1").await,
            _ => Ok(StatusCode::NOT_FOUND),
        }
    }

    async fn run(&self, query: &str) -> Result<StatusCode, Error> {
        self.pool.get().await?.batch_execute(query).await?;
        Ok(StatusCode::OK)
    }
}

async fn serve(listener: TcpListener, app: &Arc<App>) -> Result<(), Error> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                let (stream, _) = accepted?;
                connections.spawn(converse(stream, Arc::clone(app)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One connection. When the client hangs up, what it waited for is dropped.
async fn converse(stream: TcpStream, app: Arc<App>) {
    let service = service_fn(|request: Request<Incoming>| {
        let app = Arc::clone(&app);
        async move {
            let answer = app.answer(request.uri().path()).await;
            let mut response = Response::new(Full::<Bytes>::default());
            *response.status_mut() = answer.unwrap_or_else(|error| {
                complain(&format!("{}: {error}", request.uri().path()));
                StatusCode::INTERNAL_SERVER_ERROR
            });
            Ok::<_, Infallible>(response)
        }
    });
    // Whatever broke the connection is the client's business.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

fn local(name: &str) -> Result<SocketAddr, Error> {
    Ok((Ipv4Addr::LOCALHOST, variable(name)?.parse()?).into())
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
