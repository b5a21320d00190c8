//! What can go wrong with the aggregator as a whole.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rootward_fetch::{TargetError, TlsError};

/// The aggregator could not start, or had to end.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Kind);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("failed to listen on {address}")]
    Listen {
        address: SocketAddr,
        source: Refusal,
    },
    #[error("cannot poll {who}")]
    Target { who: String, source: TargetError },
    #[error("cannot poll {who} over TLS with {from}")]
    Roots {
        who: String,
        /// Whose certificates were to be believed.
        from: String,
        source: TlsError,
    },
    #[error("failed to record into {}", directory.display())]
    Record {
        directory: PathBuf,
        source: io::Error,
    },
    #[error("the {0} ended by itself")]
    Ended(&'static str),
}

impl Error {
    /// Whether the address to listen on could not be had: in use, not of this machine, not allowed.
    #[must_use]
    pub const fn is_listen(&self) -> bool {
        matches!(self.0, Kind::Listen { .. })
    }
}

/// Why the system did not give an address.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) io::Error);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            io::ErrorKind::AddrInUse => f.write_str("address already in use"),
            io::ErrorKind::AddrNotAvailable => f.write_str("this machine has no such address"),
            io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
            _ => self.0.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}
