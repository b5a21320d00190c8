//! Asks one HTTP question: one deadline over the whole exchange, one byte cap, no redirects, typed outcomes.
//!
//! Used by the poller, by checks of other services and by the command line. HTTP/1.1 over plain
//! TCP; with the feature `tls` also over TLS, for targets made with `Target::parse_with`; with the feature `grpc` one unary call over
//! HTTP/2. There is no pool, no proxy, no environment, no decompression and no background task: a connection is
//! driven by whoever waits for its answer, and dropping the future closes the socket.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use rootward_fetch::{Limits, Request, Target, fetch};
//! use std::time::Duration;
//!
//! let target = Target::parse("http://orders:8790/readyz")?;
//! let limits = Limits { deadline: Duration::from_secs(2), max_body_bytes: 64 * 1024 };
//! let answer = fetch(&Request::get(&target), &limits).await?;
//! println!("{} from {}", answer.status, answer.remote);
//! # Ok(())
//! # }
//! ```

mod connect;
mod connection;
mod dial;
mod error;
mod exchange;
mod fault;
#[cfg(feature = "grpc")]
mod grpc;
mod reach;
mod seen;
mod target;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

pub use connect::{MAX_ADDRESSES, MAX_LOOKUPS};
pub use connection::{Connection, MAX_CONNECTION_AGE};
pub use dial::{Dialed, dial};
pub use error::{FetchError, Phase};
pub use exchange::{MAX_HEAD_BYTES, MAX_HEADERS};
pub use fault::TlsFault;
#[cfg(feature = "grpc")]
pub use grpc::{GrpcAnswer, GrpcCall, GrpcCaller};
pub use reach::{Reached, reach, resolve};
pub use target::{Target, TargetError};
#[cfg(feature = "tls")]
pub use tls::{MAX_ROOTS_BYTES, Tls, TlsError};

use connect::connect;
use error::{Kind, Trace};
use exchange::{Live, message};
use seen::Io;
use tls::Speaks;

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Whom to ask for what.
    pub target: &'a Target,
    /// With or without a body in the answer.
    pub method: Method,
    /// Sent in addition to `host`, `user-agent` and `accept-encoding: identity`; a name given here replaces those.
    pub headers: &'a [(HeaderName, HeaderValue)],
}

impl<'a> Request<'a> {
    /// A GET without further headers.
    #[must_use]
    pub const fn get(target: &'a Target) -> Self {
        Self {
            target,
            method: Method::Get,
            headers: &[],
        }
    }
}

/// The methods that change nothing at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Headers and body.
    Get,
    /// Headers only.
    Head,
}

/// What an exchange may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the whole exchange: name, connection, TLS, headers, body.
    pub deadline: Duration,
    /// Larger bodies are refused, as soon as that is known.
    pub max_body_bytes: usize,
}

/// An answer, whatever its status: a redirect and a server error are answers too.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The address that answered.
    pub remote: SocketAddr,
    /// When the certificate that the server showed ends; `None` where no TLS was spoken.
    pub certificate_expires: Option<SystemTime>,
    /// Time until the connection was there, name lookup and handshake included; `None` if an open one was used.
    pub connected: Option<Duration>,
    /// Time of the whole exchange.
    pub took: Duration,
}

/// Asks once, on a connection of its own.
///
/// # Errors
/// When there is no complete answer within the limits.
pub async fn fetch(request: &Request<'_>, limits: &Limits) -> Result<Answer, FetchError> {
    let begun = Instant::now();
    let deadline = begun + limits.deadline;
    let mut trace = Trace::default();
    let asked = async {
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Head => http::Method::HEAD,
        };
        let mut message = message(request.target, method, request.headers, Bytes::new());
        message
            .headers_mut()
            .insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        let mut live = opened(request.target, deadline, &mut trace).await?;
        let connected = begun.elapsed();
        let (head, body) = live
            .exchange(message, limits.max_body_bytes, &mut trace)
            .await?;
        Ok(Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            remote: live.remote,
            certificate_expires: live.certificate_expires,
            connected: Some(connected),
            took: begun.elapsed(),
        })
    };
    let outcome = timeout_at(deadline, asked).await;
    settle(outcome, limits.deadline, trace)
}

/// A connection over which HTTP can be spoken.
async fn opened(target: &Target, deadline: Instant, trace: &mut Trace) -> Result<Live, Kind> {
    let (stream, remote) = connect(target, deadline, trace).await?;
    live(target, stream, remote, trace).await
}

/// HTTP over a connection that was made.
async fn live(
    target: &Target,
    stream: TcpStream,
    remote: SocketAddr,
    trace: &mut Trace,
) -> Result<Live, Kind> {
    let (stream, certificate_expires): (Box<dyn Io>, _) = match target.secured() {
        None => (Box::new(stream), None),
        Some(secured) => {
            trace.phase = Phase::Securing;
            secured.handshake(stream, Speaks::Http1).await?
        }
    };
    Live::new(stream, remote, certificate_expires).await
}

/// One result out of the ways to fail.
fn settle<T>(
    outcome: Result<Result<T, Kind>, tokio::time::error::Elapsed>,
    deadline: Duration,
    trace: Trace,
) -> Result<T, FetchError> {
    let kind = match (outcome, trace.phase, trace.refused) {
        (Ok(Ok(answer)), _, _) => return Ok(answer),
        (Ok(Err(kind)), _, _) => kind,
        (Err(_), Phase::Connecting, Some(refused)) => Kind::Refused(refused),
        (Err(_), phase, _) => Kind::TimedOut {
            after: deadline,
            phase,
        },
    };
    Err(FetchError::new(kind, trace.remote))
}
