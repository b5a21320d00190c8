//! AMQP through the application's own connection, of the driver lapin.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lapin::{Connection, ConnectionState, ErrorKind};
use rootward::{Check, Depth, ErrorCategory, Failure, Outcome, Unlabelled};
use tokio::time::sleep;

use crate::{amqp_words, io_error};

/// How often is looked whether the broker has stopped the connection while its answer is waited for: it does not read
/// any more then, and the answer would not come.
const LOOK: Duration = Duration::from_millis(20);

/// What a check of AMQP speaks through: the connection of the application.
///
/// ```no_run
/// use std::sync::{Arc, RwLock};
/// use lapin::Connection;
/// use rootward_checks::AmqpConnection;
///
/// # async fn run(connection: Connection) {
/// // One that the application keeps for its life, or that recovers by itself:
/// let connection = Arc::new(connection);
/// let one = AmqpConnection::from(Arc::clone(&connection));
/// // One that the application replaces when it is lost:
/// let current = Arc::new(RwLock::new(Some(connection)));
/// let latest = AmqpConnection::current(move || current.read().ok()?.clone());
/// # }
/// ```
#[derive(Clone)]
pub struct AmqpConnection(Arc<dyn Fn() -> Option<Arc<Connection>> + Send + Sync>);

impl AmqpConnection {
    /// Whatever connection the application has at the moment; `None` while it has none.
    pub fn current(current: impl Fn() -> Option<Arc<Connection>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(current))
    }
}

impl From<Arc<Connection>> for AmqpConnection {
    fn from(connection: Arc<Connection>) -> Self {
        Self::current(move || Some(Arc::clone(&connection)))
    }
}

impl fmt::Debug for AmqpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AmqpConnection").finish_non_exhaustive()
    }
}

/// A channel, opened and closed on the application's own connection.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | the connection is lost, or is being made again | `connection_reset`, at once |
/// | the application has no connection, or one that is still being made | `not_ready`, at once |
/// | the connection is closed here, or the broker ends connections because it is stopping | `shutting_down` |
/// | the broker has stopped what this connection publishes because memory or disk are short | degraded, `resource_exhausted` |
/// | the connection has as many channels as it may have | `resource_exhausted` |
///
/// A run costs the broker a channel for a moment: two methods and their answers. Nothing is declared, published or
/// consumed. Why a connection cannot be made is not known here; the check from settings
/// ([`open::amqp`](crate::open::amqp)) tells.
///
/// It does not prove that your queues and exchanges are there, nor that the channels which the application holds are
/// open: a channel that an error has closed stays closed while others on the connection work. The report shows no target
/// unless it is given one.
///
/// ```no_run
/// use std::sync::Arc;
/// use lapin::{Connection, ConnectionProperties};
/// use rootward_checks::amqp;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = Connection::connect("amqp://broker/%2F", ConnectionProperties::default()).await?;
/// let connection = Arc::new(connection); // what the application uses
/// let check = amqp("broker", Arc::clone(&connection)).target("amqp://broker:5672/%2F").hard();
/// # Ok(())
/// # }
/// ```
pub fn amqp(name: impl Into<String>, connection: impl Into<AmqpConnection>) -> Check<Unlabelled> {
    let AmqpConnection(current) = connection.into();
    let check = Check::new(name, move || {
        let connection = current();
        async move {
            match connection {
                Some(connection) => ask(&connection).await,
                None => Err(Failure::new(ErrorCategory::NotReady)
                    .because("the application has no connection")),
            }
        }
    });
    check.kind("amqp").depth(Depth::Ping)
}

async fn ask(connection: &Connection) -> Result<Outcome, Failure> {
    let status = connection.status();
    if status.blocked() {
        return Ok(Outcome::Degraded(amqp_words::short_of_resources()));
    }
    let round_trip = async {
        let channel = connection.create_channel().await?;
        channel.close(200, "OK".into()).await
    };
    let stopped = async {
        while !status.blocked() {
            sleep(LOOK).await;
        }
    };
    tokio::select! {
        answer = round_trip => answer.map(|()| Outcome::Up).map_err(|error| of_driver(&error)),
        () = stopped => Ok(Outcome::Degraded(amqp_words::short_of_resources())),
    }
}

/// The driver's own texts are not kept: they hold what the broker said, and that names users and virtual hosts.
fn of_driver(error: &lapin::Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidConnectionState(state) => of_state(*state),
        ErrorKind::ChannelsLimitReached => Failure::new(ErrorCategory::ResourceExhausted)
            .because("the connection has no channel left"),
        ErrorKind::IOError(error) => io_error::failure(error),
        ErrorKind::MissingHeartbeatError => Failure::new(ErrorCategory::ConnectionReset)
            .because("the broker has not been heard of for long"),
        ErrorKind::ProtocolError(error) => amqp_words::closed(error.get_id()),
        ErrorKind::InvalidProtocolVersion(_)
        | ErrorKind::ParsingError(_)
        | ErrorKind::SerialisationError(_) => amqp_words::no_amqp(),
        ErrorKind::InvalidChannelState(..) | ErrorKind::InvalidChannel(_) => {
            Failure::new(ErrorCategory::ConnectionReset).because("the broker closed the channel")
        }
        // An open set.
        _ => Failure::new(ErrorCategory::Unknown),
    }
}

fn of_state(state: ConnectionState) -> Failure {
    let (category, reason) = match state {
        ConnectionState::Initial | ConnectionState::Connecting => (
            ErrorCategory::NotReady,
            "the connection is still being made",
        ),
        ConnectionState::Reconnecting => (
            ErrorCategory::ConnectionReset,
            "the connection is lost and being made again",
        ),
        ConnectionState::Closing | ConnectionState::Closed => {
            (ErrorCategory::ShuttingDown, "the connection is closed")
        }
        ConnectionState::Error => (ErrorCategory::ConnectionReset, "the connection is lost"),
        // It was connected when it was asked, and is again.
        ConnectionState::Connected => return Failure::new(ErrorCategory::ConnectionReset),
    };
    Failure::new(category).because(reason)
}
