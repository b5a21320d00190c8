//! PostgreSQL through the application's own pool.
//!
//! A pool that has no connection left says nothing about the database. So when no connection comes within half of the
//! time limit and all of them are in use, the database is asked once on a connection beside the pool. If that answers,
//! the shortage is this instance's own; if it does not, the database is what is wrong, and the full pool follows from
//! it.

use std::pin::pin;

use deadpool::managed::Manager as _;
use deadpool_postgres::{ClientWrapper, Manager, Object, Pool, PoolError, TimeoutType};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Reason, Unlabelled};
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::NoTlsError;
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage};

use crate::io_error;

/// As cheap as a query can be, and understood by every pooler on the way.
pub(crate) const QUERY: &str = "SELECT 1";

/// A trivial query on the application's own pool.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused | `auth` |
/// | the database does not exist | `not_found` |
/// | the server is starting up, recovering or shutting down | `not_ready`, `shutting_down` |
/// | the server has no connection left for anybody | `rate_limited` |
/// | the certificate of the server is not to be trusted (seen with the feature `postgresql-tls`) | `tls` |
/// | all connections of the pool are in use, and the database answers beside it | `resource_exhausted` |
///
/// A run takes one connection from the pool and gives it back. If the time limit cuts it off, it closes that
/// connection instead. A connection beside the pool is made only while the pool is used up, and closed again.
///
/// The report shows no target unless it is given one: [`postgresql_target`] makes it from a configuration.
///
/// ```
/// use rootward_checks::{postgresql, postgresql_target};
/// use deadpool_postgres::{Manager, Pool};
/// use tokio_postgres::{Config, NoTls};
///
/// let config: Config = "postgresql://cart:secret@orders-db/orders".parse()?;
/// let target = postgresql_target(&config).expect("one host, by name");
/// let pool = Pool::builder(Manager::new(config, NoTls)).max_size(20).build()?;
/// let check = postgresql("orders-db", pool.clone()).target(target).hard();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn postgresql(name: impl Into<String>, pool: Pool) -> Check<Unlabelled> {
    let check = Check::with_context(name, move |context| {
        let pool = pool.clone();
        async move { ask(&pool, &context).await }
    });
    check.kind("postgresql").depth(Depth::Query)
}

/// The identity of a database for [`Check::target`], without user and password: `postgresql://orders-db:5432/orders`.
///
/// `None` for a socket file and for several hosts: those are no identity that others share.
///
/// ```
/// use rootward_checks::postgresql_target;
/// let config = "postgresql://alice:secret@orders-db/orders".parse()?;
/// assert_eq!(postgresql_target(&config).as_deref(), Some("postgresql://orders-db:5432/orders"));
/// # Ok::<(), tokio_postgres::Error>(())
/// ```
#[must_use]
pub fn postgresql_target(config: &Config) -> Option<String> {
    let [Host::Tcp(host)] = config.get_hosts() else {
        return None;
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    let database = config.get_dbname().or_else(|| config.get_user())?;
    Some(format!("postgresql://{host}:{port}/{database}"))
}

async fn ask(pool: &Pool, context: &CheckContext) -> Result<(), Failure> {
    let mut lent = pin!(pool.get());
    let lent = match timeout(context.timeout() / 2, &mut lent).await {
        Ok(lent) => lent,
        Err(_) if is_used_up(pool) => return Err(used_up(pool).await),
        // It is connecting, and may take the rest of the time.
        Err(_) => lent.await,
    };
    match lent {
        Ok(client) => Lent(Some(client)).ask().await,
        Err(PoolError::Timeout(TimeoutType::Wait)) => Err(used_up(pool).await),
        Err(error) => Err(of_pool(error)),
    }
}

/// Whether all connections are in use and somebody waits, as this check does when it asks.
fn is_used_up(pool: &Pool) -> bool {
    let status = pool.status();
    status.size >= status.max_size && status.waiting > 0
}

/// Why there is no connection: the pool's fault if the database answers beside it, else the database's.
async fn used_up(pool: &Pool) -> Failure {
    let beside = async {
        let client = pool.manager().create().await?;
        let beside = Beside {
            manager: pool.manager(),
            client,
        };
        beside.client.simple_query(QUERY).await
    };
    match beside
        .await
        .map_err(of_driver)
        .and_then(|rows| judge(&rows))
    {
        Ok(()) => Failure::new(ErrorCategory::ResourceExhausted).because(
            Reason::new("all")
                .number(pool.status().max_size)
                .text("connections of the pool are in use"),
        ),
        Err(failure) => failure,
    }
}

/// A connection beside the pool; closed when it is dropped.
struct Beside<'p> {
    manager: &'p Manager,
    client: ClientWrapper,
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        self.manager.detach(&mut self.client);
    }
}

/// A connection of the pool. It goes back when it has answered; otherwise it is closed.
struct Lent(Option<Object>);

impl Lent {
    async fn ask(mut self) -> Result<(), Failure> {
        let client: &Client = self.0.as_ref().expect("it is taken out only below");
        let rows = client.simple_query(QUERY).await.map_err(of_driver)?;
        // Whatever it said, the connection works.
        drop(self.0.take());
        judge(&rows)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

pub(crate) fn judge(rows: &[SimpleQueryMessage]) -> Result<(), Failure> {
    let answered = rows
        .iter()
        .any(|message| matches!(message, SimpleQueryMessage::Row(_)));
    if answered {
        Ok(())
    } else {
        Err(Failure::new(ErrorCategory::Protocol).because("the query gave no row"))
    }
}

fn of_pool(error: PoolError) -> Failure {
    match error {
        PoolError::Backend(error) => of_driver(error),
        PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
            Failure::new(ErrorCategory::Timeout)
                .because("timed out while connecting")
                .caused_by(error)
        }
        PoolError::Closed => {
            Failure::new(ErrorCategory::ShuttingDown).because("the pool is closed here")
        }
        PoolError::Timeout(TimeoutType::Wait)
        | PoolError::NoRuntimeSpecified
        | PoolError::PostCreateHook(_) => Failure::new(ErrorCategory::Unknown)
            .because("the pool gave no connection")
            .caused_by(error),
    }
}

pub(crate) fn of_driver(error: Error) -> Failure {
    let failure = match error.code() {
        Some(code) => of_state(code),
        None if error.is_closed() => Failure::new(ErrorCategory::ConnectionReset),
        None => of_source(&error),
    };
    failure.caused_by(error)
}

/// What the server itself said.
fn of_state(code: &SqlState) -> Failure {
    let (category, reason) = match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            return Failure::new(ErrorCategory::Auth);
        }
        SqlState::INVALID_CATALOG_NAME => (ErrorCategory::NotFound, "the database does not exist"),
        SqlState::CANNOT_CONNECT_NOW => (
            ErrorCategory::NotReady,
            "the server accepts no connections now",
        ),
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => (
            ErrorCategory::ShuttingDown,
            "the server ended the connection",
        ),
        SqlState::TOO_MANY_CONNECTIONS => (
            ErrorCategory::RateLimited,
            "the server has no connection left",
        ),
        SqlState::QUERY_CANCELED => (ErrorCategory::Timeout, "the server cancelled the query"),
        SqlState::PROTOCOL_VIOLATION => return Failure::new(ErrorCategory::Protocol),
        _ => (ErrorCategory::Unknown, "the server refused the query"),
    };
    Failure::new(category).because(reason)
}

/// What happened before the server said anything.
fn of_source(error: &Error) -> Failure {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            #[cfg(feature = "postgresql-tls")]
            if let Some(fault) = rootward_fetch::TlsFault::of(error) {
                return Failure::new(ErrorCategory::Tls).because(fault.phrase());
            }
            return io_error::failure(error);
        }
        if error.is::<NoTlsError>() {
            return Failure::new(ErrorCategory::Tls).because("the server wants TLS");
        }
        source = error.source();
    }
    Failure::new(ErrorCategory::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_identity_without_credentials() {
        let cases = [
            (
                "postgresql://alice:hunter2@orders-db:6432/orders?connect_timeout=2",
                Some("postgresql://orders-db:6432/orders"),
            ),
            (
                "host=orders-db user=alice password=hunter2",
                Some("postgresql://orders-db:5432/alice"),
            ),
            (
                "host=::1 user=alice dbname=orders",
                Some("postgresql://[::1]:5432/orders"),
            ),
            ("host=/var/run/postgresql dbname=orders", None),
            ("host=a,b dbname=orders", None),
        ];
        for (config, expected) in cases {
            let config = config.parse().expect("a configuration");
            assert_eq!(postgresql_target(&config).as_deref(), expected);
        }
    }
}
