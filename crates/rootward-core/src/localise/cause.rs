//! The faults that can be named, inside by position and outside by name.

use std::fmt;
use std::sync::Arc;

use super::topology::Topology;

/// A fault, by position in the graph. The order is the order of preference among equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Node(usize),
    Instance(usize),
    Edge(usize),
    InstanceEdge(usize),
    Host(usize),
    Zone(usize),
    Poller(usize),
    /// A release, by service and place among its releases sorted by name.
    Version(usize, usize),
    /// A service that was not ready for a moment. Explains, and is never named.
    Flicker(usize),
}

/// The name of a fault. Its text form is that of recorded scenarios: `node:db`, `edge:api->db`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseId {
    /// A service or resource as a whole.
    Node(Arc<str>),
    /// One instance: dead, hung, or unable to reach anything.
    Instance(Arc<str>),
    /// The way from a service, with all its instances, to a dependency.
    Edge {
        /// The service.
        from: Arc<str>,
        /// The dependency.
        to: Arc<str>,
    },
    /// The way from one instance to a dependency.
    InstanceEdge {
        /// The instance.
        from: Arc<str>,
        /// The dependency.
        to: Arc<str>,
    },
    /// A host.
    Host(Arc<str>),
    /// A zone, cut off from the others.
    Zone(Arc<str>),
    /// The way between the aggregator and a zone: the view is broken, the services are not.
    Poller(Arc<str>),
    /// A release of a service.
    Version {
        /// The service.
        service: Arc<str>,
        /// The release.
        version: Arc<str>,
    },
}

impl CauseId {
    /// The first part of the text form.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Node(_) => "node",
            Self::Instance(_) => "instance",
            Self::Edge { .. } => "edge",
            Self::InstanceEdge { .. } => "instance_edge",
            Self::Host(_) => "host",
            Self::Zone(_) => "zone",
            Self::Poller(_) => "poller",
            Self::Version { .. } => "version",
        }
    }

    /// `None` for what is never named.
    pub(super) fn new(fault: Fault, topology: &Topology, versions: &[Arc<str>]) -> Option<Self> {
        let node = |node: usize| topology.nodes[node].id.clone();
        Some(match fault {
            Fault::Node(number) => Self::Node(node(number)),
            Fault::Instance(number) => Self::Instance(topology.instances[number].id.clone()),
            Fault::Edge(number) => Self::Edge {
                from: node(topology.edges[number].from),
                to: node(topology.edges[number].to),
            },
            Fault::InstanceEdge(link) => Self::InstanceEdge {
                from: topology.instances[topology.observer(link)].id.clone(),
                to: node(topology.target(link)),
            },
            Fault::Host(number) => Self::Host(topology.hosts[number].id.clone()),
            Fault::Zone(number) => Self::Zone(topology.zones[number].id.clone()),
            Fault::Poller(number) => Self::Poller(topology.zones[number].id.clone()),
            Fault::Version(service, number) => Self::Version {
                service: node(service),
                version: versions.get(number).cloned().unwrap_or_else(|| "".into()),
            },
            Fault::Flicker(_) => return None,
        })
    }
}

impl fmt::Display for CauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Node(id)
            | Self::Instance(id)
            | Self::Host(id)
            | Self::Zone(id)
            | Self::Poller(id) => write!(f, "{kind}:{id}"),
            Self::Edge { from, to } | Self::InstanceEdge { from, to } => {
                write!(f, "{kind}:{from}->{to}")
            }
            Self::Version { service, version } => write!(f, "{kind}:{service}@{version}"),
        }
    }
}
