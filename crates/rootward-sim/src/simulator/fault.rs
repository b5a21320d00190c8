//! What goes wrong: where, how it looks, in which rhythm, from when on.

use crate::random::Random;
use crate::scenario::{ErrorClass, NodeKind};
use crate::simulator::World;

/// Where a fault is. Numbers are indices into the world's nodes, instances, hosts, zones and releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// All processes of a service, or a resource itself.
    Node(usize),
    /// The application of a service: its processes live and answer polls, its readiness does not hold.
    App(usize),
    /// One instance: its process is dead or hung.
    Instance(usize),
    /// One instance: it reaches nothing.
    Egress(usize),
    /// The way from a service to a node.
    Edge(usize, usize),
    /// The way from one instance to a node.
    InstanceEdge(usize, usize),
    /// A host and everything on it.
    Host(usize),
    /// A zone, cut off from everything outside.
    Zone(usize),
    /// The way from the aggregator to a zone.
    Poller(usize),
    /// A release whose instances are sick, as [`Place::App`].
    SickRelease(usize),
    /// A release whose instances cannot use one dependency.
    WayOfRelease(usize, usize),
}

/// In which rhythm a fault bites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// Always.
    Steady,
    /// A while on, a while off, in milliseconds.
    Flapping {
        /// How long it bites.
        on: u64,
        /// How long it does not.
        off: u64,
    },
    /// Now and then, with this chance at each check.
    Sometimes(f64),
    /// It answers, but slowly, with this chance at each check.
    Slow(f64),
}

impl Pattern {
    /// The share of checks that it bites in the long run.
    #[must_use]
    pub fn rate(self) -> f64 {
        match self {
            Self::Steady => 1.0,
            Self::Flapping { on, off } => seconds(on) / seconds(on + off),
            Self::Sometimes(rate) | Self::Slow(rate) => rate,
        }
    }

    /// Whether it bites `since` milliseconds after it began.
    pub(super) fn bites(self, since: u64, random: &mut Random) -> bool {
        match self {
            Self::Steady => true,
            Self::Flapping { on, off } => since % (on + off) < on,
            Self::Sometimes(rate) | Self::Slow(rate) => random.chance(rate),
        }
    }

    /// Whether processes die of it: then polls get no answer either.
    pub(super) fn kills(self) -> bool {
        match self {
            Self::Steady | Self::Flapping { .. } => true,
            Self::Sometimes(_) | Self::Slow(_) => false,
        }
    }

    /// Whether a check that it bites is bad, and not only slow.
    pub(super) fn fails(self) -> bool {
        match self {
            Self::Steady | Self::Flapping { .. } | Self::Sometimes(_) => true,
            Self::Slow(_) => false,
        }
    }
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// How its failures look, mostly.
    pub class: ErrorClass,
    /// In which rhythm.
    pub pattern: Pattern,
    /// From when on, in milliseconds.
    pub start: u64,
}

impl Fault {
    /// How failures of such a place can look, and how often each way.
    #[must_use]
    pub fn classes(world: &World, place: Place, pattern: Pattern) -> &'static [(ErrorClass, f64)] {
        use ErrorClass::{Auth, Dns, Http5xx, Refused, Slow, Timeout, Tls};
        if !pattern.fails() {
            return &[(Slow, 1.0)];
        }
        match place {
            Place::Node(node) if world.graph().nodes[node].kind == NodeKind::External => {
                &[(Timeout, 0.5), (Http5xx, 0.3), (Refused, 0.2)]
            }
            Place::Node(_) | Place::Instance(_) => &[(Refused, 0.6), (Timeout, 0.4)],
            Place::App(_) | Place::SickRelease(_) => &[(Http5xx, 0.75), (Timeout, 0.25)],
            Place::Egress(_) => &[(Timeout, 0.6), (Dns, 0.4)],
            Place::Edge(..) | Place::InstanceEdge(..) => &[
                (Timeout, 0.4),
                (Refused, 0.15),
                (Dns, 0.15),
                (Tls, 0.15),
                (Auth, 0.15),
            ],
            Place::Host(_) => &[(Timeout, 0.9), (Refused, 0.1)],
            Place::Zone(_) | Place::Poller(_) => &[(Timeout, 1.0)],
            Place::WayOfRelease(..) => &[(Auth, 0.4), (Tls, 0.25), (Timeout, 0.35)],
        }
    }

    /// The id under which an answer names it.
    #[must_use]
    pub fn id(&self, world: &World) -> String {
        let graph = world.graph();
        let node = |node: usize| graph.nodes[node].id.as_str();
        let instance = |one: usize| graph.instances[one].id.as_str();
        match self.place {
            Place::Node(at) | Place::App(at) => format!("node:{}", node(at)),
            Place::Instance(at) | Place::Egress(at) => format!("instance:{}", instance(at)),
            Place::Edge(from, to) => format!("edge:{}->{}", node(from), node(to)),
            Place::InstanceEdge(from, to) => {
                format!("instance_edge:{}->{}", instance(from), node(to))
            }
            Place::Host(at) => format!("host:{}", graph.hosts[at].id),
            Place::Zone(at) => format!("zone:{}", world.zones()[at]),
            Place::Poller(at) => format!("poller:{}", world.zones()[at]),
            Place::SickRelease(at) | Place::WayOfRelease(at, _) => {
                let release = &world.releases()[at];
                format!("version:{}@{}", node(release.service), release.version)
            }
        }
    }
}

/// Milliseconds as seconds.
pub(super) fn seconds(milliseconds: u64) -> f64 {
    f64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)) / 1000.0
}
