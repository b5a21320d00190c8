//! What is tested, and what stands in for the dependencies.

use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::time::Duration;

use rootward_fetch::Target;

use crate::launch::Launch;

/// The most stubs of one run.
pub const MAX_STUBS: usize = 16;

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The address of the probes; paths are added to its own.
    pub base: Target,
    /// Shown as `Authorization: Bearer`.
    pub token: Option<String>,
    /// What this process stands in for, at most [`MAX_STUBS`].
    pub stubs: Vec<Stub>,
    /// Where grpc.health.v1 is answered, without TLS; of the target, host and port count.
    pub grpc: Option<Target>,
    /// The program that is the service, to be started and ended; without it, it runs already and goes on.
    pub launch: Option<Launch>,
    /// Failures in a row until a component is down.
    pub fall: u64,
    /// Successes in a row until it is back.
    pub rise: u64,
    /// Whether to ask more than a limit of rate allows, which locks the tester out for seconds.
    pub limits: bool,
    /// When it is over, whatever is left; without it, when all that the service's own time limits allow is over.
    pub at_most: Option<Duration>,
}

impl Plan {
    /// Without token and stubs, with the fall and rise of the contract.
    #[must_use]
    pub const fn new(base: Target) -> Self {
        Self {
            base,
            token: None,
            stubs: Vec::new(),
            grpc: None,
            launch: None,
            fall: 3,
            rise: 2,
            limits: false,
            at_most: None,
        }
    }
}

/// A dependency of the service under test that this process stands in for.
///
/// ```
/// use rootward_conform::{Stub, StubKind};
/// let stub: Stub = "orders-db=postgresql://127.0.0.1:15432".parse()?;
/// assert_eq!((stub.component.as_str(), stub.kind, stub.port), ("orders-db", StubKind::Postgresql, 15432));
/// # Ok::<(), rootward_conform::StubError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stub {
    /// The component of the report that checks it.
    pub component: String,
    /// What it speaks.
    pub kind: StubKind,
    /// Where on 127.0.0.1 the service under test expects it.
    pub port: u16,
}

/// What a stub speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StubKind {
    /// Accepts and says nothing: for checks that only connect. It can refuse, and not hang.
    Tcp,
    /// Answers every path with readiness.
    Http,
    /// Start-up without a password, and `SELECT 1`.
    Postgresql,
    /// `PING` and what clients send before it.
    Redis,
}

impl StubKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Tcp, Self::Http, Self::Postgresql, Self::Redis];

    /// The scheme by which it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Http => "http",
            Self::Postgresql => "postgresql",
            Self::Redis => "redis",
        }
    }

    /// Whether it is asked something, so that it can be late with the answer.
    pub(crate) const fn can_hang(self) -> bool {
        match self {
            Self::Tcp => false,
            Self::Http | Self::Postgresql | Self::Redis => true,
        }
    }
}

/// What is wrong with a stub as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StubError {
    /// There is no name, or no address.
    #[error("write it NAME=KIND://127.0.0.1:PORT, such as orders-db=postgresql://127.0.0.1:15432")]
    Shape,
    /// There is no stub of that kind.
    #[error("the kinds are tcp, http, postgresql and redis")]
    Kind,
    /// The address is not of this machine.
    #[error("stubs listen on 127.0.0.1 only")]
    Address,
    /// The port is none.
    #[error("the port is not a number from 1 to 65535")]
    Port,
}

impl FromStr for Stub {
    type Err = StubError;

    fn from_str(text: &str) -> Result<Self, StubError> {
        let (component, address) = text.split_once('=').ok_or(StubError::Shape)?;
        let (scheme, rest) = address.split_once("://").ok_or(StubError::Shape)?;
        let (host, port) = rest
            .trim_end_matches('/')
            .rsplit_once(':')
            .ok_or(StubError::Shape)?;
        if component.is_empty() {
            return Err(StubError::Shape);
        }
        let kind = StubKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == scheme)
            .ok_or(StubError::Kind)?;
        let local = host == "localhost" || host.parse() == Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
        if !local {
            return Err(StubError::Address);
        }
        match port.parse() {
            Ok(port) if port != 0 => Ok(Self {
                component: component.to_owned(),
                kind,
                port,
            }),
            _ => Err(StubError::Port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Stub, StubError};

    #[test]
    fn a_stub_that_cannot_be_gets_a_sentence() {
        for (text, error) in [
            ("", StubError::Shape),
            ("a", StubError::Shape),
            ("a=127.0.0.1:1", StubError::Shape),
            ("=tcp://127.0.0.1:1", StubError::Shape),
            ("a=tcp://127.0.0.1", StubError::Shape),
            ("a=mongodb://127.0.0.1:1", StubError::Kind),
            ("a=tcp://0.0.0.0:1", StubError::Address),
            ("a=tcp://db:1", StubError::Address),
            ("a=tcp://127.0.0.1:0", StubError::Port),
            ("a=tcp://127.0.0.1:65536", StubError::Port),
        ] {
            assert_eq!(text.parse::<Stub>(), Err(error), "{text}");
        }
        assert!("a=redis://localhost:6379/".parse::<Stub>().is_ok());
    }
}
