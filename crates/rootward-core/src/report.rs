//! What one instance says about itself, as the core sees it: typed, bounded, with times on our own axis.
//!
//! `rootward-wire` makes it from bytes. The times were computed from ages at the moment of arrival, so a wrong clock
//! at the other end does not matter.

use std::time::Duration;

use crate::moment::Moment;
use crate::name::Name;
use crate::status::{CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope};

/// The detailed report of one instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The service that the report says it comes from.
    pub service: Name,
    /// The instance that the report says it is.
    pub instance: Name,
    /// Release, if it says so.
    pub version: Option<Name>,
    /// Availability zone, if it says so.
    pub zone: Option<Name>,
    /// Machine, if it says so.
    pub host: Option<Name>,
    /// The instance's own rollup.
    pub status: InstanceStatus,
    /// Whether it wants traffic.
    pub ready: bool,
    /// Whether it is on its way out.
    pub draining: bool,
    /// Whether its own hard local conditions and resources allow it to do its work; `None` if it does not say.
    pub serving: Option<bool>,
    /// Its view of each dependency and local condition.
    pub components: Vec<Component>,
}

/// One entry of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Unique in the report; joins the map by this name first.
    pub name: Name,
    /// The damped result.
    pub status: CheckStatus,
    /// The last result as it came.
    pub raw_status: CheckStatus,
    /// Agreeing results still needed to change `status`.
    pub pending: Option<u8>,
    /// What the dependency means to the service.
    pub criticality: Criticality,
    /// One instance or everybody.
    pub scope: Scope,
    /// How deep the check looks.
    pub depth: Option<Depth>,
    /// `postgresql`, `redis`, `http`, … ; `service` for another service.
    pub kind: Option<Name>,
    /// Canonical identity of what is checked, without user or password.
    pub target: Option<Box<str>>,
    /// Why the last check failed, in a word.
    pub error_category: Option<ErrorCategory>,
    /// Why it failed, in a short sentence without foreign text.
    pub error: Option<Box<str>>,
    /// Duration of the last completed check, in microseconds.
    pub latency_us: Option<u64>,
    /// When the last check completed; `None` before the first.
    pub checked_at: Option<Moment>,
    /// When the damped status last changed.
    pub since: Option<Moment>,
    /// How many times the check has completed: the same check, reported again, counts once.
    pub seq: Option<u64>,
    /// From which age its result counts for nothing, if the report says how often the check runs.
    pub stale_after: Option<Duration>,
    /// Whether this component takes the instance out of rotation when it is down.
    pub gates_readiness: bool,
    /// Who answers for it.
    pub owner: Option<Box<str>>,
}

impl Component {
    /// A component about which only name, status and criticality are known; the starting point of readers and tests.
    #[must_use]
    pub fn new(name: Name, status: CheckStatus, criticality: Criticality) -> Self {
        Self {
            name,
            status,
            raw_status: status,
            pending: None,
            criticality,
            scope: Scope::Shared,
            depth: None,
            kind: None,
            target: None,
            error_category: None,
            error: None,
            latency_us: None,
            checked_at: None,
            since: None,
            seq: None,
            stale_after: None,
            gates_readiness: false,
            owner: None,
        }
    }
}
