//! MySQL and MariaDB through the application's own pool.
//!
//! The pool rule is that of PostgreSQL: when no connection comes within half of the time limit and all of them are in
//! use, the database is asked once on a connection beside the pool, to learn whose fault that is.

use std::future::Future as _;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Waker};

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, Pool, Row};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Reason, Unlabelled};
use tokio::time::timeout;

use crate::io_error;

/// As cheap as a query can be. A proxy passes it on; the protocol's own ping it answers itself.
const QUERY: &str = "SELECT 1";

/// A trivial query on the application's own pool, with the options that the pool was made of.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user, password or host refused, the account locked or its password expired | `auth` |
/// | the database does not exist | `not_found` |
/// | the server is offline for users, or shutting down | `not_ready`, `shutting_down` |
/// | the server has no connection left for anybody, or for this user | `rate_limited` |
/// | the server wants TLS, or has none | `tls` |
/// | all connections of the pool are in use, and the database answers beside it | `resource_exhausted` |
///
/// A run takes one connection from the pool and gives it back. If the time limit cuts it off, it closes that connection
/// instead: the driver would give it back to the pool with the answer still to come, and the next request would read
/// that. A connection beside the pool is made only while the pool is used up, and closed again; the database is asked
/// beside the pool as `options` say, so they must be those of the pool.
///
/// It costs the server one statement, and proves that it takes a connection, a user and a statement. It does not prove
/// that a table can be read, that there is room to write, or that a replica is current.
///
/// The target is taken from the options, without user and password; a socket file is no identity that others share, and
/// gives none.
///
/// ```
/// use mysql_async::{Opts, Pool};
///
/// let options = Opts::from_url("mysql://cart:secret@orders-db/orders")?;
/// let pool = Pool::new(options.clone()); // what the application uses
/// let check = rootward_checks::mysql("orders-db", pool, options).hard(); // shown as mysql://orders-db:3306/orders
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn mysql(name: impl Into<String>, pool: Pool, options: impl Into<Opts>) -> Check<Unlabelled> {
    let options = options.into();
    let target = target(&options);
    let check = Check::with_context(name, move |context| {
        let (pool, options) = (pool.clone(), options.clone());
        async move { ask(&pool, &options, &context).await }
    });
    let check = check.kind("mysql").depth(Depth::Query);
    match target {
        Some(target) => check.target(target),
        None => check,
    }
}

fn target(options: &Opts) -> Option<String> {
    if options.socket().is_some() {
        return None;
    }
    let host = options.ip_or_hostname();
    let host = match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    };
    let (slash, database) = options.db_name().map_or(("", ""), |name| ("/", name));
    let port = options.tcp_port();
    Some(format!("mysql://{host}:{port}{slash}{database}"))
}

async fn ask(pool: &Pool, options: &Opts, context: &CheckContext) -> Result<(), Failure> {
    let mut lent = pin!(pool.get_conn());
    let lent = match timeout(context.timeout() / 2, &mut lent).await {
        Ok(lent) => lent,
        Err(_) if is_used_up(pool) => return Err(used_up(pool, options).await),
        // It is connecting, and may take the rest of the time.
        Err(_) => lent.await,
    };
    let answered = Asked::of(lent.map_err(of_driver)?).ask().await?;
    // Back to the pool.
    drop(answered);
    Ok(())
}

/// Whether all connections are in use and somebody waits, as this check does when it asks.
fn is_used_up(pool: &Pool) -> bool {
    let metrics = pool.metrics();
    let in_use = metrics.connections_in_use.load(Relaxed);
    in_use > 0 && in_use >= metrics.connection_count.load(Relaxed)
}

/// Why there is no connection: the pool's fault if the database answers beside it, else the database's.
async fn used_up(pool: &Pool, options: &Opts) -> Failure {
    match connect(options).await {
        Ok(beside) => {
            close(beside);
            let in_use = pool.metrics().connections_in_use.load(Relaxed);
            Failure::new(ErrorCategory::ResourceExhausted).because(
                Reason::new("all")
                    .number(in_use)
                    .text("connections of the pool are in use"),
            )
        }
        Err(failure) => failure,
    }
}

/// A new connection that has answered.
pub(crate) async fn connect(options: &Opts) -> Result<Conn, Failure> {
    let connection = Conn::new(options.clone()).await.map_err(of_driver)?;
    Asked::of(connection).ask().await
}

/// A connection that is being asked. It is closed unless it answers.
pub(crate) struct Asked(Option<Conn>);

impl Asked {
    pub(crate) fn of(connection: Conn) -> Self {
        Self(Some(connection))
    }

    /// The connection, when it has answered.
    pub(crate) async fn ask(mut self) -> Result<Conn, Failure> {
        let connection = self.0.as_mut().expect("it is taken out only below");
        let row: Option<Row> = connection.query_first(QUERY).await.map_err(of_driver)?;
        if row.is_none() {
            return Err(Failure::new(ErrorCategory::Protocol).because("the query gave no row"));
        }
        Ok(self.0.take().expect("it was asked a moment ago"))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            close(connection);
        }
    }
}

/// Closes it here and now. Dropped as it is, the driver would read what is left of the answer first, in the pool's task
/// or in one that nobody owns, and there may never be one.
fn close(connection: Conn) {
    let mut closing = pin!(connection.disconnect());
    // The first step marks it as closed and says goodbye; the rest is waiting.
    let _ = closing
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
}

fn of_driver(error: Error) -> Failure {
    let failure = match &error {
        Error::Server(said) => of_server(said.code),
        Error::Io(error) => of_io(error),
        Error::Driver(error) => of_protocol(error),
        // It may repeat parts of the URL; there is one only where options are read.
        Error::Url(_) => return Failure::new(ErrorCategory::Unknown),
        Error::Other(_) => Failure::new(ErrorCategory::Unknown),
    };
    failure.caused_by(error)
}

/// What the server itself said, by the numbers that MySQL and MariaDB share, and a few of one of them
/// (<https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html>,
/// <https://mariadb.com/kb/en/mariadb-error-code-reference/>).
fn of_server(code: u16) -> Failure {
    let (category, reason) = match code {
        // Access denied: for the user, without a password, to the database.
        1044 | 1045 | 1698 => return Failure::new(ErrorCategory::Auth),
        1129 => (
            ErrorCategory::Auth,
            "the server refuses this host after too many broken connections",
        ),
        1130 => (ErrorCategory::Auth, "the server refuses this host"),
        1820 | 1862 => (ErrorCategory::Auth, "the password has expired"),
        // MySQL, MariaDB.
        3118 | 4151 => (ErrorCategory::Auth, "the account is locked"),
        1049 => (ErrorCategory::NotFound, "the database does not exist"),
        1040 => (
            ErrorCategory::RateLimited,
            "the server has no connection left",
        ),
        1203 | 1226 => (
            ErrorCategory::RateLimited,
            "the server allows this user no more",
        ),
        1053 => (
            ErrorCategory::ShuttingDown,
            "the server ended the connection",
        ),
        1152 | 1184 | 1927 => (
            ErrorCategory::ConnectionReset,
            "the server ended the connection",
        ),
        3032 => (ErrorCategory::NotReady, "the server is offline for users"),
        3159 => (ErrorCategory::Tls, "the server wants TLS"),
        1205 | 1317 | 1969 | 3024 => (ErrorCategory::Timeout, "the server cancelled the query"),
        1043 | 1047 | 1156..=1158 => return Failure::new(ErrorCategory::Protocol),
        _ => (ErrorCategory::Unknown, "the server refused the query"),
    };
    Failure::new(category).because(reason)
}

fn of_io(error: &IoError) -> Failure {
    match error {
        #[cfg(feature = "_tls")]
        IoError::Io(error) if rootward_fetch::TlsFault::of(error).is_some() => {
            io_error::failure(error)
        }
        // What the driver could not read; the resolver's errors have no such kind.
        IoError::Io(error) if error.kind() == std::io::ErrorKind::Other => {
            Failure::new(ErrorCategory::Protocol)
        }
        IoError::Io(error) => io_error::failure(error),
        #[cfg_attr(
            not(feature = "mysql-tls"),
            expect(
                unreachable_patterns,
                reason = "TLS is a feature of the driver, which the application may turn on"
            )
        )]
        _ => Failure::new(ErrorCategory::Tls),
    }
}

fn of_protocol(error: &DriverError) -> Failure {
    let failure = Failure::new;
    match error {
        DriverError::PoolDisconnected => {
            failure(ErrorCategory::ShuttingDown).because("the pool is closed here")
        }
        DriverError::ConnectionClosed => failure(ErrorCategory::ConnectionReset),
        DriverError::NoClientSslFlagFromServer => {
            failure(ErrorCategory::Tls).because("the server has no TLS")
        }
        DriverError::UnknownAuthPlugin { .. }
        | DriverError::MysqlOldPasswordDisabled
        | DriverError::CleartextPluginDisabled
        | DriverError::NoKeyFound
        | DriverError::InvalidParsecSalt => failure(ErrorCategory::Auth)
            .because("the server wants a way to log in that is not offered here"),
        DriverError::CantParseServerVersion { .. }
        | DriverError::PacketOutOfOrder
        | DriverError::UnexpectedPacket { .. }
        | DriverError::PacketTooLarge
        | DriverError::BadCompressedPacketHeader => failure(ErrorCategory::Protocol),
        _ => failure(ErrorCategory::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_identity_without_credentials() {
        let cases = [
            (
                "mysql://alice:hunter2@orders-db:3307/orders",
                "mysql://orders-db:3307/orders",
            ),
            ("mysql://alice:hunter2@orders-db", "mysql://orders-db:3306"),
            ("mysql://alice@[::1]/orders", "mysql://[::1]:3306/orders"),
        ];
        for (url, expected) in cases {
            let options = Opts::from_url(url).expect("options");
            assert_eq!(target(&options).as_deref(), Some(expected));
        }
        let options = Opts::from_url("mysql://alice@localhost/orders?socket=%2Frun%2Fmysqld.sock");
        assert_eq!(target(&options.expect("options")), None);
    }

    #[test]
    fn what_the_server_says_has_our_words() {
        let cases = [
            (1045, "credentials refused"),
            (1130, "the server refuses this host"),
            (1049, "the database does not exist"),
            (1040, "the server has no connection left"),
            (1203, "the server allows this user no more"),
            (1053, "the server ended the connection"),
            (3032, "the server is offline for users"),
            (3159, "the server wants TLS"),
            (4151, "the account is locked"),
            (1064, "the server refused the query"),
        ];
        for (code, words) in cases {
            assert_eq!(of_server(code).to_string(), words, "{code}");
        }
    }

    #[test]
    fn what_is_no_mysql_is_said_to_be_none() {
        let failure = of_driver(std::io::Error::other("hunter2").into());
        assert_eq!(failure.category(), ErrorCategory::Protocol);
        let unexpected = DriverError::UnexpectedPacket {
            payload: b"hunter2".to_vec(),
        };
        assert_eq!(
            of_driver(unexpected.into()).category(),
            ErrorCategory::Protocol
        );
    }
}
