//! Why there is no answer: a word for the machine, a sentence of our own for anybody, the chain for the log.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rootward_core::{Doubt, ErrorCategory, Side};

use crate::TlsFault;

/// No complete answer within the limits.
///
/// The text is composed from our own words and numbers and is safe for outsiders; `source` has the rest.
#[derive(Debug)]
pub struct FetchError {
    kind: Box<Kind>,
    remote: Option<SocketAddr>,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The kind has said its sentence already; the chain goes on behind it.
        self.kind.source()
    }
}

impl FetchError {
    pub(crate) fn new(kind: Kind, remote: Option<SocketAddr>) -> Self {
        Self {
            kind: Box::new(kind),
            remote,
        }
    }

    /// The failure in a word.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match &*self.kind {
            Kind::TimedOut { .. } => ErrorCategory::Timeout,
            Kind::Lookup(_) | Kind::LinkLocal => ErrorCategory::Dns,
            Kind::Refused(_) => ErrorCategory::ConnectionRefused,
            Kind::Exhausted(_) => ErrorCategory::ResourceExhausted,
            Kind::NoRoute(_) | Kind::Connect(_) => ErrorCategory::Unknown,
            Kind::Broken { .. } => ErrorCategory::ConnectionReset,
            Kind::Tls { .. } => ErrorCategory::Tls,
            Kind::NotHttp(_)
            | Kind::LongHead(_)
            | Kind::BadBody(_)
            | Kind::LongBody { .. }
            | Kind::Encoded => ErrorCategory::Protocol,
            #[cfg(feature = "grpc")]
            Kind::NotHttp2(_) | Kind::BadMessage => ErrorCategory::Protocol,
        }
    }

    /// On which side it failed, as far as can be told from here.
    #[must_use]
    pub fn side(&self) -> Side {
        match &*self.kind {
            Kind::Exhausted(_) => Side::Here,
            Kind::Lookup(_)
            | Kind::TimedOut {
                phase: Phase::Resolving,
                ..
            } => Side::Unclear(Doubt::Name),
            Kind::NoRoute(_) => Side::Unclear(Doubt::Route),
            Kind::TimedOut { .. } => Side::Unclear(Doubt::Silence),
            Kind::LinkLocal
            | Kind::Refused(_)
            | Kind::Connect(_)
            | Kind::Broken { .. }
            | Kind::Tls { .. }
            | Kind::NotHttp(_)
            | Kind::LongHead(_)
            | Kind::BadBody(_)
            | Kind::LongBody { .. }
            | Kind::Encoded => Side::There,
            #[cfg(feature = "grpc")]
            Kind::NotHttp2(_) | Kind::BadMessage => Side::There,
        }
    }

    /// The deadline passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(*self.kind, Kind::TimedOut { .. })
    }

    /// How long was waited, if the deadline passed.
    #[must_use]
    pub fn timed_out_after(&self) -> Option<Duration> {
        match *self.kind {
            Kind::TimedOut { after, .. } => Some(after),
            _ => None,
        }
    }

    /// What was being waited for when the deadline passed or the connection broke.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        match *self.kind {
            Kind::TimedOut { phase, .. } | Kind::Broken { phase, .. } => Some(phase),
            _ => None,
        }
    }

    /// What is wrong with the server's certificate or with the handshake, if it is that.
    #[must_use]
    pub fn tls_fault(&self) -> Option<TlsFault> {
        match *self.kind {
            Kind::Tls { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// The body or the headers are larger than allowed.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(*self.kind, Kind::LongHead(_) | Kind::LongBody { .. })
    }

    /// The address that was tried last, if it came to that.
    #[must_use]
    pub fn remote(&self) -> Option<SocketAddr> {
        self.remote
    }
}

/// The parts of an exchange, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Phase {
    /// Looking up the name.
    #[default]
    Resolving,
    /// Making the connection.
    Connecting,
    /// Agreeing on keys and looking at the server's certificate.
    Securing,
    /// Waiting for the headers.
    Waiting,
    /// Reading the body.
    Reading,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolving => "resolving the name",
            Self::Connecting => "connecting",
            Self::Securing => "making the TLS handshake",
            Self::Waiting => "waiting for the answer",
            Self::Reading => "reading the body",
        })
    }
}

/// How far an exchange has come.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) phase: Phase,
    pub(crate) remote: Option<SocketAddr>,
    /// An address that answered with a refusal: more telling than the silence of the others.
    pub(crate) refused: Option<io::Error>,
    /// The name did not resolve, and addresses of before were tried.
    pub(crate) remembered: bool,
}

/// What a library or the system said; for the log.
pub(crate) type Foreign = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("timed out after {} while {phase}", Span(*after))]
    TimedOut { after: Duration, phase: Phase },
    #[error("the name does not resolve")]
    Lookup(#[source] io::Error),
    #[error("the name resolves to a link-local address, which is not asked")]
    LinkLocal,
    #[error("connection refused")]
    Refused(#[source] io::Error),
    #[error("no file descriptor or local port left here to connect with")]
    Exhausted(#[source] io::Error),
    #[error("no route to the host")]
    NoRoute(#[source] io::Error),
    #[error("the connection could not be made")]
    Connect(#[source] io::Error),
    #[error("the connection broke while {phase}")]
    Broken { phase: Phase, source: Foreign },
    #[error("{fault}")]
    Tls { fault: TlsFault, source: Foreign },
    #[error("the answer is not HTTP")]
    NotHttp(#[source] hyper::Error),
    #[error(
        "the headers of the answer are longer than {}",
        Size(crate::MAX_HEAD_BYTES)
    )]
    LongHead(#[source] hyper::Error),
    #[error("the body is not framed as its headers say")]
    BadBody(#[source] hyper::Error),
    #[error("the body is larger than {}", Size(*max))]
    LongBody { max: usize },
    #[error("the body has a content encoding, which was not asked for")]
    Encoded,
    #[cfg(feature = "grpc")]
    #[error("the answer is not HTTP/2 within its bounds")]
    NotHttp2(#[source] Foreign),
    #[cfg(feature = "grpc")]
    #[error("the body is not one message of gRPC")]
    BadMessage,
}

/// A duration for a sentence: `500 ms`, `2 s`, `1.5 s`.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match (millis / 1000, millis % 1000) {
            (seconds @ 1.., 0) => write!(f, "{seconds} s"),
            (seconds @ 1.., rest) if rest % 100 == 0 => write!(f, "{seconds}.{} s", rest / 100),
            _ => write!(f, "{millis} ms"),
        }
    }
}

/// A size for a sentence: `64 KiB`, `1 MiB`, `1000 bytes`.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: usize = 1024;
        const MIB: usize = 1024 * KIB;
        match self.0 {
            bytes if bytes >= MIB && bytes % MIB == 0 => write!(f, "{} MiB", bytes / MIB),
            bytes if bytes >= KIB && bytes % KIB == 0 => write!(f, "{} KiB", bytes / KIB),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, Span};
    use std::time::Duration;

    #[test]
    fn numbers_in_sentences_are_short_and_exact() {
        let spans = [0, 500, 1000, 1500, 1234, 90_000]
            .map(|millis| Span(Duration::from_millis(millis)).to_string());
        assert_eq!(spans, ["0 ms", "500 ms", "1 s", "1.5 s", "1234 ms", "90 s"]);
        let sizes = [0, 1000, 1024, 1025, 1024 * 1024].map(|bytes| Size(bytes).to_string());
        assert_eq!(
            sizes,
            ["0 bytes", "1000 bytes", "1 KiB", "1025 bytes", "1 MiB"]
        );
    }
}
