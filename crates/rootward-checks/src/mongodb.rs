//! MongoDB through the application's own client.

use mongodb::Client;
use mongodb::bson::doc;
use mongodb::error::{Error, ErrorKind};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::time::timeout;

use crate::io_error;

/// The command `ping` on the application's own client, answered by the primary.
///
/// | what happens | category |
/// | --- | --- |
/// | no server is found, or none answers, or the pool gives no connection, within the time limit | `timeout` |
/// | user or password refused, or the user may not | `auth` |
/// | the server is no primary, or is becoming one | `not_ready` |
/// | the server is shutting down, or the client was shut down here | `shutting_down` |
/// | the server limits the rate of requests | `rate_limited` |
/// | the connection breaks while the answer is awaited | `connection_reset` |
/// | the answer cannot be read | `protocol` |
///
/// The driver goes on looking for a server as long as it may, and does not say meanwhile what it finds: with the
/// application's client a server that is not there is a `timeout`, and so is a pool of which all connections are in use,
/// since the driver does not say how full it is. A check from settings says why ([`crate::open::mongodb`]).
///
/// A run that the time limit cuts off closes its connection; a connection that was being made for it is closed by the
/// driver after its `connect_timeout`. `ping` answers on a server whose locks are all held: it proves that a primary is
/// there and takes a connection and a login, and not that it reads or writes.
///
/// The report shows no target unless it is given one: a replica set has many hosts and one name.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = mongodb::Client::with_uri_str("mongodb://cart:secret@orders-db/?authSource=admin").await?;
/// let check = rootward_checks::mongodb("orders-db", client.clone())
///     .target("mongodb://orders-db:27017")
///     .hard();
/// # Ok(())
/// # }
/// ```
pub fn mongodb(name: impl Into<String>, client: Client) -> Check<Unlabelled> {
    let check = Check::with_context(name, move |context: CheckContext| {
        let client = client.clone();
        async move {
            // A little less than all, so that it is the check that says what was waited for.
            match timeout(context.timeout() * 9 / 10, ping(&client)).await {
                Ok(answer) => answer,
                Err(_) => Err(nothing()),
            }
        }
    });
    check.kind("mongodb").depth(Depth::Ping)
}

/// No answer in time, and no word about why.
pub(crate) fn nothing() -> Failure {
    Failure::new(ErrorCategory::Timeout).because("no server was found that answers in time")
}

pub(crate) async fn ping(client: &Client) -> Result<(), Failure> {
    let answer = client
        .database("admin")
        .run_command(doc! { "ping": 1 })
        .await;
    answer
        .map(drop)
        .map_err(|error| of_driver(&error).caused_by(error))
}

/// Without the error: its texts name hosts and users, and the caller decides whether the log may have them.
pub(crate) fn of_driver(error: &Error) -> Failure {
    let failure = Failure::new;
    match &*error.kind {
        ErrorKind::Authentication { .. } => failure(ErrorCategory::Auth),
        ErrorKind::Command(said) => of_code(said.code),
        ErrorKind::DnsResolve { .. } => failure(ErrorCategory::Dns),
        ErrorKind::Io(error) => io_error::failure(error),
        ErrorKind::ConnectionPoolCleared { .. } => failure(ErrorCategory::ConnectionReset),
        ErrorKind::InvalidResponse { .. } | ErrorKind::Bson(_) => failure(ErrorCategory::Protocol),
        ErrorKind::IncompatibleServer { .. } => failure(ErrorCategory::Protocol)
            .because("the server is of a version that the driver does not speak to"),
        ErrorKind::InvalidTlsConfig { .. } => failure(ErrorCategory::Tls),
        ErrorKind::ServerSelection { .. } => nothing(),
        ErrorKind::Shutdown => {
            failure(ErrorCategory::ShuttingDown).because("the client is shut down here")
        }
        _ => failure(ErrorCategory::Unknown),
    }
}

/// What the server itself said (<https://www.mongodb.com/docs/manual/reference/error-codes/>).
fn of_code(code: i32) -> Failure {
    let (category, reason) = match code {
        // UserNotFound, AuthenticationFailed.
        11 | 18 => return Failure::new(ErrorCategory::Auth),
        13 => (ErrorCategory::Auth, "the user may not ask"),
        // PrimarySteppedDown, NotWritablePrimary, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk,
        // NotPrimaryOrSecondary; FailedToSatisfyReadPreference is a router's word for it.
        133 | 189 | 10107 | 11602 | 13435 | 13436 => {
            (ErrorCategory::NotReady, "the server is no primary now")
        }
        // ShutdownInProgress, InterruptedAtShutdown.
        91 | 11600 => (ErrorCategory::ShuttingDown, "the server is shutting down"),
        // IngressRequestRateLimitExceeded.
        462 => (
            ErrorCategory::RateLimited,
            "the server limits the rate of requests",
        ),
        // MaxTimeMSExpired, NetworkTimeout, NetworkInterfaceExceededTimeLimit, ExceededTimeLimit.
        50 | 89 | 202 | 262 => (ErrorCategory::Timeout, "the server gave up in time"),
        _ => (ErrorCategory::Unknown, "the server refused the command"),
    };
    Failure::new(category).because(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_has_our_words() {
        let cases = [
            (18, "credentials refused"),
            (13, "the user may not ask"),
            (10107, "the server is no primary now"),
            (91, "the server is shutting down"),
            (462, "the server limits the rate of requests"),
            (50, "the server gave up in time"),
            (59, "the server refused the command"),
        ];
        for (code, words) in cases {
            assert_eq!(of_code(code).to_string(), words, "{code}");
        }
    }

    #[test]
    fn what_the_driver_meets_is_told_from_its_kind() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let failure = of_driver(&Error::from(refused));
        assert_eq!(failure.category(), ErrorCategory::ConnectionRefused);
    }
}
