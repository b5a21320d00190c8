//! What the agent of one service runs, once nothing is wrong with its file.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use rootward_core::{Criticality, Name, Scope};

use crate::problem::Problem;

use super::Spot;
use super::settings::Settings;

/// Where the agent listens unless its file says otherwise.
pub const DEFAULT_BIND: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8790);

/// How long one run of a check may take unless the file says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(500);

/// The file of an agent, but for its checks, which are made from the draft.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// Whom the agent speaks for.
    pub service: ServiceSpec,
    /// Where it answers, and whom.
    pub listen: ListenSpec,
    /// The application beside it.
    pub application: ApplicationSpec,
    /// What is allowed and yet probably not meant.
    pub warnings: Vec<Problem>,
}

/// `service`. What is not written the platform may say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceSpec {
    /// Its name.
    pub name: Name,
    /// The release that runs.
    pub version: Option<Name>,
    /// The instance.
    pub instance: Option<Name>,
    /// The environment.
    pub environment: Option<Name>,
    /// The namespace.
    pub namespace: Option<Name>,
    /// The zone.
    pub zone: Option<Name>,
    /// The machine.
    pub host: Option<Name>,
}

/// `listen`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListenSpec {
    /// The address of the probe endpoints.
    pub bind: SocketAddr,
    /// Who may read the detailed routes.
    pub detail: DetailSpec,
}

/// `listen.detail`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DetailSpec {
    /// The tokens by their digests, if they stand in the file.
    pub tokens: Option<Vec<TokenSpec>>,
    /// The file of tokens, which is read again when it changes.
    pub tokens_file: Option<PathBuf>,
    /// Whether callers on this machine need no token; they do not unless it is `Some(false)`.
    pub loopback: Option<bool>,
    /// Whether everybody may read `/metrics`.
    pub open_metrics: Option<bool>,
}

/// One of `listen.detail.auth.tokens`.
#[derive(Debug, Clone)]
pub struct TokenSpec {
    /// What people call it.
    pub id: Name,
    /// The digest, as `rootward token` prints it.
    pub digest: String,
    /// Where the digest stands.
    pub spot: Spot,
}

impl PartialEq for TokenSpec {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.digest) == (&other.id, &other.digest)
    }
}

/// `application`.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSpec {
    /// How it is known that the application lives; nothing is said about it otherwise.
    pub liveness: Option<Liveness>,
    /// How long the agent serves on after SIGTERM, if the file says it.
    pub drain: Option<Duration>,
    /// How often the application is looked at.
    pub interval: Duration,
    /// How long one look may take.
    pub timeout: Duration,
    /// How many looks in a row make it worse.
    pub fall: Option<u8>,
    /// How many looks in a row make it better.
    pub rise: Option<u8>,
}

/// How it is known that the application lives.
#[derive(Debug, Clone)]
pub enum Liveness {
    /// Its own cheap endpoint.
    Url {
        /// The address, as it is written.
        url: String,
        /// Where it stands.
        spot: Spot,
    },
    /// A file that it touches.
    Heartbeat {
        /// The file.
        file: PathBuf,
        /// How old it may be.
        within: Duration,
    },
}

impl PartialEq for Liveness {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Url { url, .. }, Self::Url { url: other, .. }) => url == other,
            (
                Self::Heartbeat { file, within },
                Self::Heartbeat {
                    file: other_file,
                    within: other_within,
                },
            ) => (file, within) == (other_file, other_within),
            (Self::Url { .. }, Self::Heartbeat { .. })
            | (Self::Heartbeat { .. }, Self::Url { .. }) => false,
        }
    }
}

/// What a check is. Two that are equal are the same check: a reload keeps what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Name,
    /// The name of its kind.
    pub kind: &'static str,
    /// What its kind takes.
    pub settings: Settings,
    /// What its failure means.
    pub criticality: Criticality,
    /// Whom its failure concerns; what its kind says otherwise.
    pub scope: Option<Scope>,
    /// How often it runs.
    pub interval: Duration,
    /// How long one run may take.
    pub timeout: Duration,
    /// How many results in a row make it worse; the crate's default otherwise.
    pub fall: Option<u8>,
    /// How many results in a row make it better; the crate's default otherwise.
    pub rise: Option<u8>,
    /// A good answer that takes longer is degraded.
    pub slow_above: Option<Duration>,
    /// Whether the instance is not ready while it is down; what criticality and scope say otherwise.
    pub gates_readiness: Option<bool>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The canonical identity of what is checked; what its kind makes of its settings otherwise.
    pub target: Option<String>,
}
