//! The dependency graph the engine is given: who depends on whom, how it is looked at, where it runs.
//!
//! Plain data, as a reader of recorded incidents or a map produces it. Order matters in one way only: where two
//! explanations are equally good, the one whose parts come first in these lists is preferred. Names are never compared
//! with each other, so renaming everything renames the answer and changes nothing else.

use std::sync::Arc;
use std::time::Duration;

/// Everything that is known about the system before anything is observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// How often instances are polled, where nothing else is said of them. Ages are judged in this unit.
    pub interval: Duration,
    /// Services and resources.
    pub nodes: Vec<Node>,
    /// Dependencies. They may form circles.
    pub edges: Vec<Edge>,
    /// Running instances of services.
    pub instances: Vec<Instance>,
    /// Hosts whose zone is known. Hosts that only nodes and instances name need no entry.
    pub hosts: Vec<Host>,
}

/// A service or a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name, unique among nodes.
    pub id: Arc<str>,
    /// Whether it has instances that report.
    pub kind: NodeKind,
    /// Whether anybody polls it. A resource, or a service that is not instrumented, is not polled.
    pub polled: bool,
    /// The host a resource runs on, if known.
    pub host: Option<Arc<str>>,
    /// The zone a resource runs in, if known and not told by the host.
    pub zone: Option<Arc<str>>,
    /// Instances a service needs to serve. Faults of single instances impact nobody while as many are left.
    pub quorum: u32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Has instances and makes reports.
    Service,
    /// A database, cache, queue or foreign system: only looked at by others.
    Resource,
}

/// `from` depends on `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The service that depends.
    pub from: Arc<str>,
    /// What it depends on.
    pub to: Arc<str>,
    /// What a failure does to `from`.
    pub label: Label,
    /// What `from` looks at.
    pub check: CheckKind,
    /// How often it is looked at, where that is less often than instances are polled. Such a check stays evidence longer.
    pub every: Option<Duration>,
    /// Set when `to` is one of several that can stand in for each other.
    pub redundancy: Option<Redundancy>,
}

/// What a failing dependency does to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// A request fails without it.
    Hard,
    /// Served poorer without it.
    Soft,
    /// Nothing waits for it.
    Informational,
}

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    /// A connection: sees a dead or unreachable process, not a sick application.
    Ping,
    /// The dependency's own cheap readiness.
    Readiness,
}

/// Membership in a group of dependencies of one service, of which `need` have to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redundancy {
    /// The group's name, unique within the depending service.
    pub group: Arc<str>,
    /// How many members have to work.
    pub need: u32,
}

/// A running instance of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Its name, unique among instances; usually `service#n`.
    pub id: Arc<str>,
    /// The service it belongs to.
    pub service: Arc<str>,
    /// Where it runs, if known.
    pub host: Option<Arc<str>>,
    /// The zone it runs in, if known and not told by the host.
    pub zone: Option<Arc<str>>,
    /// How often it is polled, where that is less often than usual. What it said stays evidence longer.
    pub every: Option<Duration>,
    /// The release it runs, if known.
    pub version: Option<Arc<str>>,
}

/// A host whose zone is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub id: Arc<str>,
    /// Its zone.
    pub zone: Option<Arc<str>>,
}
