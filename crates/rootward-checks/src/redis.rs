//! Redis through the application's own connection.

use std::pin::pin;
use std::sync::Arc;

use redis::aio::{ConnectionManager, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ErrorKind, RedisError, ServerErrorKind,
};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::io_error;

/// What a check of Redis speaks through.
///
/// Made from what the application has; which of them tells how much the check can say:
///
/// - A [`ConnectionManager`]: the path of real traffic. While the manager reconnects, commands wait for it, so a server
///   that refuses connections shows as a timeout.
/// - A manager and its [`Client`], as a pair: the same, but when the manager gives no answer within half of the time
///   limit, the server is asked once on a connection of its own, to learn why.
/// - A [`Client`] alone: the check keeps one connection of its own, and replaces it when it fails.
///
/// ```no_run
/// use rootward_checks::redis;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ::redis::Client::open("redis://cache:6379/0")?;
/// let manager = client.get_connection_manager().await?; // what the application uses
/// let check = redis("cache", (manager.clone(), client)).soft();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RedisConnection(Path);

#[derive(Debug, Clone)]
enum Path {
    Manager(ConnectionManager),
    ManagerAndClient(ConnectionManager, Client),
    Own(Client, Arc<Mutex<Option<MultiplexedConnection>>>),
}

impl From<ConnectionManager> for RedisConnection {
    fn from(manager: ConnectionManager) -> Self {
        Self(Path::Manager(manager))
    }
}

impl From<(ConnectionManager, Client)> for RedisConnection {
    fn from((manager, client): (ConnectionManager, Client)) -> Self {
        Self(Path::ManagerAndClient(manager, client))
    }
}

impl From<Client> for RedisConnection {
    fn from(client: Client) -> Self {
        Self(Path::Own(client, Arc::default()))
    }
}

/// A ping. Valkey speaks the same protocol.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused or missing | `auth` |
/// | the server is loading its data | `starting` |
/// | its master or its cluster is down | `not_ready` |
///
/// With a [`Client`] the report shows its host, port and database as the target, never its user or password; with a
/// manager alone it shows none unless it is given one.
///
/// ```
/// let client = ::redis::Client::open("redis://:secret@cache:6379/0")?;
/// let check = rootward_checks::redis("cache", client).soft(); // shown as redis://cache:6379/0
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn redis(name: impl Into<String>, connection: impl Into<RedisConnection>) -> Check<Unlabelled> {
    let path = connection.into().0;
    let target = match &path {
        Path::Manager(_) => None,
        Path::ManagerAndClient(_, client) | Path::Own(client, _) => target(client),
    };
    let check = Check::with_context(name, move |context| {
        let path = path.clone();
        async move { ask(path, &context).await }
    });
    let check = check.kind("redis").depth(Depth::Ping);
    match target {
        Some(target) => check.target(target),
        None => check,
    }
}

fn target(client: &Client) -> Option<String> {
    let info = client.get_connection_info();
    // A socket file is no identity that others share.
    let (ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. }) = info.addr()
    else {
        return None;
    };
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    Some(format!(
        "redis://{host}:{port}/{}",
        info.redis_settings().db()
    ))
}

async fn ask(path: Path, context: &CheckContext) -> Result<(), Failure> {
    match path {
        Path::Manager(mut manager) => ping(&mut manager).await,
        Path::ManagerAndClient(mut manager, client) => {
            let mut waited = pin!(ping(&mut manager));
            match timeout(context.timeout() / 2, &mut waited).await {
                Ok(answer) => answer,
                Err(_) => {
                    tokio::select! {
                        answer = &mut waited => answer,
                        Err(failure) = on_a_new_connection(&client) => Err(failure),
                    }
                }
            }
        }
        Path::Own(client, own) => {
            let mut own = own.lock().await;
            // Taken out: only a good answer puts it back, so that one that hangs is not used again.
            let mut connection = match own.take() {
                Some(connection) => connection,
                None => connect(&client).await?,
            };
            ping(&mut connection).await?;
            *own = Some(connection);
            Ok(())
        }
    }
}

async fn on_a_new_connection(client: &Client) -> Result<(), Failure> {
    ping(&mut connect(client).await?).await
}

pub(crate) async fn connect(client: &Client) -> Result<MultiplexedConnection, Failure> {
    // The check's own time limit is the only one.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None);
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
        .map_err(of_driver)
}

async fn ping(connection: &mut impl redis::aio::ConnectionLike) -> Result<(), Failure> {
    let answer: String = redis::cmd("PING")
        .query_async(connection)
        .await
        .map_err(of_driver)?;
    if answer == "PONG" {
        Ok(())
    } else {
        Err(Failure::new(ErrorCategory::Protocol))
    }
}

pub(crate) fn of_driver(error: RedisError) -> Failure {
    of_kind(&error).caused_by(error)
}

fn of_kind(error: &RedisError) -> Failure {
    match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
            Failure::new(ErrorCategory::Auth)
        }
        ErrorKind::Server(ServerErrorKind::BusyLoading) => Failure::new(ErrorCategory::Starting),
        ErrorKind::Server(
            ServerErrorKind::MasterDown | ServerErrorKind::ClusterDown | ServerErrorKind::TryAgain,
        ) => Failure::new(ErrorCategory::NotReady),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => Failure::new(ErrorCategory::Protocol),
        ErrorKind::Io => of_io(error),
        // Why not, the driver does not say.
        ErrorKind::ClusterConnectionNotFound => Failure::new(ErrorCategory::Unknown)
            .because("the client reaches no node of the cluster"),
        // An open set, and codes of the server that the driver does not know.
        _ => match error.code() {
            Some("NOAUTH" | "WRONGPASS") => Failure::new(ErrorCategory::Auth),
            _ => Failure::new(ErrorCategory::Unknown),
        },
    }
}

fn of_io(error: &RedisError) -> Failure {
    type Shared = Arc<dyn std::error::Error + Send + Sync>;
    let source = std::error::Error::source(error);
    let source = source.and_then(|source| source.downcast_ref::<Shared>());
    match source.and_then(|source| source.downcast_ref::<std::io::Error>()) {
        Some(error) => io_error::failure(error),
        None if error.is_connection_dropped() => Failure::new(ErrorCategory::ConnectionReset),
        None => Failure::new(ErrorCategory::Unknown),
    }
}
