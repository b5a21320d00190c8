//! PostgreSQL through a pool of bb8.
//!
//! bb8 makes its connections in tasks of its own and tries again until its `connection_timeout`, so a server that
//! refuses shows as one that is slow. And a connection that was lent goes back to the pool whatever happens. So when no
//! connection comes soon, the database is asked on a connection beside the pool, which says why.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bb8::{Pool, RunError};
use bb8_postgres::PostgresConnectionManager;
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Reason, Unlabelled};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Socket};

use crate::postgresql::{QUERY, judge, of_driver};

/// How long the pool alone may take before the database is asked beside it: this, or half of the time limit.
const PATIENCE: Duration = Duration::from_secs(1);

/// A trivial query on the application's own pool of bb8.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused, no such database, starting up, shutting down, no connection left for anybody | as `postgresql()` |
/// | no connection for half of the time limit, all are in use, and the database answers beside the pool | `resource_exhausted` |
///
/// A run takes one connection from the pool and gives it back. bb8 has no way to close a connection that it lent: if the
/// time limit cuts a run off, the connection goes back with its query under way, as it does for any request that
/// gives up, and it is bb8's own test before the next use that finds it (`test_on_check_out`, on by default).
///
/// A connection beside the pool is made when the pool has given none for half of the time limit or a second, whichever
/// is shorter. There is at most one: it is closed when it has answered, and asked again when it has not.
///
/// The report shows no target unless it is given one: `postgresql_target()` makes it from a configuration.
///
/// ```
/// use bb8_postgres::PostgresConnectionManager;
/// use tokio_postgres::NoTls;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let manager = PostgresConnectionManager::new("postgresql://cart:secret@orders-db/orders".parse()?, NoTls);
/// let pool = bb8::Pool::builder().max_size(20).build_unchecked(manager);
/// let check = rootward_checks::postgresql_bb8("orders-db", pool.clone()).hard();
/// # Ok(())
/// # }
/// ```
pub fn postgresql_bb8<Tls>(
    name: impl Into<String>,
    pool: Pool<PostgresConnectionManager<Tls>>,
) -> Check<Unlabelled>
where
    Tls: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    Tls::Stream: Send + Sync,
    Tls::TlsConnect: Send,
    <Tls::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let beside = Arc::new(Mutex::new(None));
    let check = Check::with_context(name, move |context| {
        let (pool, beside) = (pool.clone(), Arc::clone(&beside));
        async move { ask(&pool, &beside, &context).await }
    });
    check.kind("postgresql").depth(Depth::Query)
}

async fn ask<Tls>(
    pool: &Pool<PostgresConnectionManager<Tls>>,
    beside: &Mutex<Option<Client>>,
    context: &CheckContext,
) -> Result<(), Failure>
where
    Tls: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    Tls::Stream: Send + Sync,
    Tls::TlsConnect: Send,
    <Tls::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let half = Instant::now() + context.timeout() / 2;
    let mut lent = pin!(pool.get());
    let lent = match timeout(PATIENCE.min(context.timeout() / 2), &mut lent).await {
        Ok(lent) => lent,
        Err(_) => {
            ask_beside(pool, beside).await?;
            match timeout_at(half, &mut lent).await {
                Ok(lent) => lent,
                Err(_) if is_used_up(pool) => return Err(used_up(pool)),
                Err(_) => lent.await,
            }
        }
    };
    match lent {
        Ok(client) => judge(&client.simple_query(QUERY).await.map_err(of_driver)?),
        Err(RunError::User(error)) => Err(of_driver(error)),
        Err(RunError::TimedOut) => {
            ask_beside(pool, beside).await?;
            if is_used_up(pool) {
                return Err(used_up(pool));
            }
            Err(Failure::new(ErrorCategory::Timeout).because("timed out while connecting"))
        }
    }
}

/// Whether all connections are in use.
fn is_used_up<M: bb8::ManageConnection>(pool: &Pool<M>) -> bool {
    let state = pool.state();
    state.idle_connections == 0 && state.connections >= pool.config().max_size
}

fn used_up<M: bb8::ManageConnection>(pool: &Pool<M>) -> Failure {
    Failure::new(ErrorCategory::ResourceExhausted).because(
        Reason::new("all")
            .number(pool.config().max_size)
            .text("connections of the pool are in use"),
    )
}

/// Whether the database answers. The connection stays while it owes an answer: dropped, its task would wait for that
/// with nobody to end it, and each run would leave another.
async fn ask_beside<Tls>(
    pool: &Pool<PostgresConnectionManager<Tls>>,
    beside: &Mutex<Option<Client>>,
) -> Result<(), Failure>
where
    Tls: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    Tls::Stream: Send + Sync,
    Tls::TlsConnect: Send,
    <Tls::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let mut beside = beside.lock().await;
    if beside.as_ref().is_none_or(Client::is_closed) {
        let client = pool.dedicated_connection().await.map_err(of_driver)?;
        *beside = Some(client);
    }
    let Some(client) = beside.as_ref() else {
        return Err(Failure::new(ErrorCategory::Unknown));
    };
    let answer = client.simple_query(QUERY).await;
    *beside = None;
    judge(&answer.map_err(of_driver)?)
}
