//! Why the demo could not start.

use std::io;

/// Why there is no demo. What was started for it was stopped again.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Kind);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("failed to start the stand-in for {name}")]
    StandIn {
        name: &'static str,
        source: io::Error,
    },
    #[error("failed to make a client of {name}")]
    Client {
        name: &'static str,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("failed to start the service {name}")]
    Service {
        name: &'static str,
        source: rootward::Error,
    },
    #[error("{name} has no address")]
    NoAddress { name: &'static str },
    #[error("failed to lay the wire to {name}")]
    Wire {
        name: &'static str,
        source: io::Error,
    },
    #[error("the configuration that the demo wrote is refused")]
    Configuration(#[source] rootward_config::Problems),
    #[error("failed to start the aggregator")]
    Aggregator(#[source] rootward_server::Error),
    #[error("the demo made an address that cannot be asked")]
    Address(#[source] rootward_fetch::TargetError),
}

impl Error {
    /// Whether the address for the page could not be had, most likely because somebody else listens there.
    #[must_use]
    pub fn is_listen(&self) -> bool {
        matches!(&self.0, Kind::Aggregator(error) if error.is_listen())
    }
}
