//! A configuration that was checked: what the aggregator runs on.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use rootward_core::{InstanceId, Map, Name, Thresholds};
use rootward_formats::Choice;

use crate::credential::Credential;
use crate::date::Date;
use crate::problem::{Problem, render};

/// Where the detailed API listens unless the configuration says otherwise.
pub const DEFAULT_LISTEN_INTERNAL: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8791);
/// From one poll of an instance to the next.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);
/// The whole exchange of one poll. It does not depend on the interval.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);
/// From the first evidence to the page, whatever is still held back.
pub const DEFAULT_PAGE_WITHIN: Duration = Duration::from_secs(45);
/// From the silence of an entry point to the page.
pub const DEFAULT_PAGE_UNKNOWN_AFTER: Duration = Duration::from_secs(120);

/// Addresses that `aggregator.self_checks` may hold: all of them are tried at once.
pub const MAX_SELF_CHECKS: usize = 8;

/// A configuration in which everything fits together.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The aggregator itself.
    pub aggregator: AggregatorSpec,
    /// Where the detailed API listens: an address of this machine alone.
    pub listen_internal: SocketAddr,
    /// Services, resources, and who depends on whom.
    pub map: Map,
    /// What is polled, in the order in which it was written. No two have the same identity or the same URL.
    pub targets: Vec<TargetSpec>,
    /// Services whose instances are the addresses of a name, in the order in which they were written.
    pub dns: Vec<DnsSpec>,
    /// Services that send their reports by themselves, in the order in which they were written.
    pub pushed: Vec<PushSpec>,
    /// The groups, in the order in which they were written.
    pub groups: Vec<GroupSpec>,
    /// The namespace of each service that has one, by the service's name.
    pub namespaces: BTreeMap<Name, Name>,
    /// When labels were looked at last, and when they should be again.
    pub reviews: Vec<LabelReview>,
    /// What is allowed and yet probably not meant, by file and position.
    pub warnings: Vec<Problem>,
}

impl Checked {
    /// The warnings for a terminal: a headline that counts, then a line for each. Empty if there are none.
    #[must_use]
    pub fn warnings_text(&self) -> String {
        render("warning", &self.warnings)
    }
}

/// The aggregator itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregatorSpec {
    /// `production`, `demo`, …
    pub environment: Option<Name>,
    /// Where this observer stands.
    pub zone: Option<Name>,
    /// From the first evidence of a failure to the page, whatever is still held back.
    pub page_within: Duration,
    /// From the silence of an entry point to the page.
    pub page_unknown_after: Duration,
    /// Who is asked when it has to be told whether the aggregator itself can see: host and port of each, at most
    /// [`MAX_SELF_CHECKS`].
    pub self_checks: Vec<String>,
}

/// One instance that is polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetSpec {
    /// Which instance of which service.
    pub id: InstanceId,
    /// The `http` or `https` URL of its report, without user or password.
    pub url: String,
    /// The file of the certificates that are believed when it is asked over TLS; those that this machine trusts if there
    /// is none. Always `None` with `http`.
    pub roots: Option<PathBuf>,
    /// What is shown with each poll; with `None` it is asked as anybody.
    pub auth: Option<Credential>,
    /// From one poll to the next.
    pub interval: Duration,
    /// The whole exchange; below the interval.
    pub timeout: Duration,
    /// The age from which a report counts as unknown; at least interval plus timeout.
    pub stale_after: Duration,
    /// How many poll outcomes in a row change a status.
    pub thresholds: Thresholds,
    /// How its answers are read.
    pub format: Choice,
}

/// A service whose instances are found by a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsSpec {
    /// Which service.
    pub service: Name,
    /// The `http` or `https` URL whose host is looked up. Every address it has is an instance, asked for the path of this
    /// URL under its host.
    pub url: String,
    /// As in [`TargetSpec`], like all below.
    pub roots: Option<PathBuf>,
    /// What is shown with each poll.
    pub auth: Option<Credential>,
    /// From one poll of an instance to the next.
    pub interval: Duration,
    /// The whole exchange.
    pub timeout: Duration,
    /// The age from which a report counts as unknown.
    pub stale_after: Duration,
    /// How many poll outcomes in a row change a status.
    pub thresholds: Thresholds,
    /// How its answers are read.
    pub format: Choice,
}

/// A service whose instances send their reports by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSpec {
    /// Which service.
    pub service: Name,
    /// For how long a report is good that says nothing about that.
    pub stale_after: Duration,
    /// As in [`TargetSpec`].
    pub thresholds: Thresholds,
}

/// Services that are shown as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSpec {
    /// Unique among groups.
    pub name: Name,
    /// Services on the map, each once, at least one.
    pub members: Vec<Name>,
    /// What the public is told instead of the name.
    pub public_name: Option<String>,
}

/// When the label of an edge was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelReview {
    /// The service that depends.
    pub caller: Name,
    /// On what.
    pub callee: Name,
    /// The last look.
    pub reviewed: Date,
    /// The time to the next, in whole days or parts of them; `None` if none was promised.
    pub every: Option<Duration>,
}
