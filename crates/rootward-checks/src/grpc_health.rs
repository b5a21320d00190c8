//! What a gRPC server says about itself, through `grpc.health.v1`.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use rootward::{Check, Depth, ErrorCategory, Failure, Reason, Unlabelled};
use tokio::sync::Mutex;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::io_error;

/// The health of a service (`grpc.health.v1`), through the application's own channel. The empty name asks for the
/// server as a whole.
///
/// | what happens | category |
/// | --- | --- |
/// | `SERVING` | up |
/// | `NOT_SERVING` | `not_serving` |
/// | `NOT_FOUND`, `SERVICE_UNKNOWN`: the server knows no service of that name | `not_found` |
/// | `UNIMPLEMENTED`: the server has no health service; `UNKNOWN` | `protocol` |
/// | `UNAUTHENTICATED`, `PERMISSION_DENIED` | `auth` |
/// | `RESOURCE_EXHAUSTED` | `rate_limited` |
/// | `UNAVAILABLE` from the server itself | `not_ready` |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
///
/// A run costs the server one request on a connection that is there. It proves what the server says about itself; most
/// servers say `SERVING` until somebody tells them otherwise.
///
/// The report shows no target unless it is given one.
///
/// ```
/// use rootward_checks::grpc_health;
/// use tonic::transport::Endpoint;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let channel = Endpoint::from_static("http://stock:50051").connect_lazy(); // what the application uses
/// let check = grpc_health("stock", channel, "shop.v1.Stock").target("grpc://stock:50051").hard();
/// # Ok(())
/// # }
/// ```
pub fn grpc_health(
    name: impl Into<String>,
    channel: Channel,
    service: impl Into<String>,
) -> Check<Unlabelled> {
    let service: Arc<str> = service.into().into();
    let check = Check::new(name, move || {
        let (channel, service) = (channel.clone(), Arc::clone(&service));
        async move { ask(channel, &service).await.map_err(of_status) }
    });
    check.kind("grpc").depth(Depth::Readiness)
}

/// On a connection of the check's own, to this server.
pub(crate) fn own(
    name: impl Into<String>,
    endpoint: Endpoint,
    service: String,
) -> Check<Unlabelled> {
    let endpoint = Arc::new(endpoint);
    let service: Arc<str> = service.into();
    let kept: Arc<Mutex<Option<Channel>>> = Arc::default();
    let check = Check::new(name, move || {
        let (endpoint, service) = (Arc::clone(&endpoint), Arc::clone(&service));
        let kept = Arc::clone(&kept);
        async move {
            let mut kept = kept.lock().await;
            // Taken out: only an answer of the server puts it back. Dropped, the connection is closed.
            let channel = match kept.take() {
                Some(channel) => channel,
                None => endpoint.connect().await.map_err(not_connected)?,
            };
            let answer = ask(channel.clone(), &service).await;
            let answered = match &answer {
                Ok(()) | Err(Wrong::Said(_)) => true,
                Err(Wrong::Refused(status)) => status.source().is_none(),
            };
            if answered {
                *kept = Some(channel);
            }
            answer.map_err(of_status)
        }
    });
    check.kind("grpc").depth(Depth::Readiness)
}

/// An answer that is not `SERVING`.
enum Wrong {
    /// The health service says so.
    Said(Option<ServingStatus>),
    /// There is no answer of the health service.
    Refused(Status),
}

async fn ask(channel: Channel, service: &str) -> Result<(), Wrong> {
    let question = HealthCheckRequest {
        service: service.to_owned(),
    };
    let answer = HealthClient::new(channel).check(question).await;
    let said = answer.map_err(Wrong::Refused)?.into_inner().status;
    match ServingStatus::try_from(said) {
        Ok(ServingStatus::Serving) => Ok(()),
        Ok(other) => Err(Wrong::Said(Some(other))),
        Err(_) => Err(Wrong::Said(None)),
    }
}

fn of_status(wrong: Wrong) -> Failure {
    let status = match wrong {
        Wrong::Said(Some(ServingStatus::NotServing)) => {
            return Failure::new(ErrorCategory::NotServing).because("the server says NOT_SERVING");
        }
        Wrong::Said(Some(ServingStatus::ServiceUnknown)) => return unknown_service(),
        Wrong::Said(Some(ServingStatus::Unknown | ServingStatus::Serving) | None) => {
            return Failure::new(ErrorCategory::Protocol)
                .because("the server says neither SERVING nor NOT_SERVING");
        }
        Wrong::Refused(status) => status,
    };
    if let Some(failure) = of_source(&status) {
        return failure;
    }
    // What the server wrote beside the code is its own text, and may hold anything: it is not kept.
    let failure = |category, reason: &'static str| Failure::new(category).because(reason);
    match status.code() {
        Code::NotFound => unknown_service(),
        Code::Unimplemented => failure(
            ErrorCategory::Protocol,
            "the server has no health service (UNIMPLEMENTED)",
        ),
        Code::Unauthenticated | Code::PermissionDenied => Failure::new(ErrorCategory::Auth),
        Code::ResourceExhausted => Failure::new(ErrorCategory::RateLimited),
        Code::Unavailable => failure(ErrorCategory::NotReady, "the server says UNAVAILABLE"),
        Code::DeadlineExceeded => Failure::new(ErrorCategory::Timeout),
        code => {
            let reason = Reason::new("gRPC status").number(i32::from(code));
            Failure::new(ErrorCategory::Unknown).because(reason)
        }
    }
}

fn unknown_service() -> Failure {
    Failure::new(ErrorCategory::NotFound).because("the server knows no such service")
}

/// A status that tonic made up, because there was no answer.
fn of_source(status: &Status) -> Option<Failure> {
    let source = status.source()?;
    let failure = find_io(source).map_or_else(
        // The connection broke in a way that HTTP/2 has words for.
        || Failure::new(ErrorCategory::ConnectionReset),
        io_error::failure,
    );
    Some(failure.caused_by(status.clone()))
}

fn not_connected(error: tonic::transport::Error) -> Failure {
    let failure = find_io(&error).map_or_else(
        || Failure::new(ErrorCategory::ConnectionReset),
        io_error::failure,
    );
    failure.caused_by(error)
}

fn find_io<'e>(mut error: &'e (dyn std::error::Error + 'static)) -> Option<&'e io::Error> {
    loop {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        error = error.source()?;
    }
}
