//! Diagnosis: which faults explain what has been seen.
//!
//! A pure function of an immutable [`Input`] with its own reference time, and of what [`crate::localise`] finds at the
//! same time; asking twice gives the same answer. The localisation weighs; here its findings are put beside what the
//! screen shows, and into words.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::map::{EdgeIndex, Map, NodeIndex};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::status::{CheckStatus, Criticality, ErrorCategory};

mod cause;
mod conclude;
mod hold;
mod impact;
mod own;
mod reasons;
mod scene;

pub use conclude::diagnose;
pub use impact::impact_of;

/// Everything a diagnosis is made from, as of one moment.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The reference time.
    pub now: Moment,
    /// Who depends on whom.
    pub map: &'a Map,
    /// The label in force for each edge, by [`EdgeIndex`] order.
    pub labels: &'a [Criticality],
    /// The fresh checks of dependencies, good and bad, by observer; at most one for each observer and dependency.
    pub checks: &'a [Check],
    /// What instances report about themselves, good and bad.
    pub local: &'a [LocalCheck],
    /// Every instance that should be seen.
    pub instances: &'a [InstanceSeen],
    /// Every instance by the name that [`crate::localise`] has for it.
    pub ids: &'a BTreeMap<Arc<str>, InstanceId>,
    /// How long a symptom may wait for the rest of the picture before it is named anyway.
    pub hold_limit: Duration,
}

/// One instance's newest check of one dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Who checked.
    pub observer: InstanceId,
    /// The edge it speaks about; its callee is what was checked.
    pub edge: EdgeIndex,
    /// The damped result; never `Unknown`: without evidence there is no check.
    pub status: CheckStatus,
    /// The last result as it came.
    pub raw_status: CheckStatus,
    /// Why it failed.
    pub category: Option<ErrorCategory>,
    /// Why, in a safe sentence.
    pub error: Option<Box<str>>,
    /// When the check was made.
    pub checked_at: Moment,
    /// When the damped status began.
    pub since: Moment,
}

/// What an instance says about itself: a local component, or an error status instead of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalCheck {
    /// Who it is about.
    pub instance: InstanceId,
    /// The service it belongs to.
    pub service: NodeIndex,
    /// The component, or what else it is about.
    pub component: Name,
    /// The damped result.
    pub status: CheckStatus,
    /// What it means to the instance.
    pub criticality: Criticality,
    /// Why it failed.
    pub category: Option<ErrorCategory>,
    /// Why, in a safe sentence.
    pub error: Option<Box<str>>,
    /// When it was checked.
    pub checked_at: Moment,
    /// When the status began.
    pub since: Moment,
}

/// Whether an instance was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceSeen {
    /// Which.
    pub id: InstanceId,
    /// The service it belongs to.
    pub service: NodeIndex,
    /// What the newest polls gave.
    pub sight: Sight,
    /// When its newest poll ended, whatever came of it.
    pub polled_at: Option<Moment>,
    /// The machine it runs on, if it says so.
    pub host: Option<Name>,
    /// The zone it runs in, if it says so.
    pub zone: Option<Name>,
    /// The release it runs, if it says so.
    pub version: Option<Name>,
}

/// What is known of an instance's presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It answers with reports.
    Answers,
    /// It answers, but not with a report.
    AnswersWithoutReport,
    /// It does not answer: unknown, which is not down.
    Silent,
    /// The aggregator could not ask it: unknown, and nothing about it.
    NotAsked,
    /// No poll has ended yet.
    NotPolledYet,
}

/// What the fault is, written as in scenario files: `node:db`, `edge:api->db`, …
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseId {
    /// A service or resource as a whole.
    Node(Name),
    /// One instance.
    Instance(InstanceId),
    /// The way from a service to what it depends on.
    Edge {
        /// The service.
        from: Name,
        /// What it depends on.
        to: Name,
    },
    /// The way from one instance to what it depends on.
    InstanceEdge {
        /// The instance.
        from: InstanceId,
        /// What it depends on.
        to: Name,
    },
    /// A machine, with all that runs on it.
    Host(Name),
    /// A zone, cut off from the others.
    Zone(Name),
    /// The way between the aggregator and a zone: the view is broken, the services are not.
    Poller(Name),
    /// A release of a service.
    Version {
        /// The service.
        service: Name,
        /// The release.
        version: Name,
    },
}

impl CauseId {
    /// The word for what kind of thing is at fault.
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

    /// The nodes on the map that it is about; a place is about none in particular.
    #[must_use]
    pub fn subjects(&self) -> Vec<&Name> {
        match self {
            Self::Node(name) => vec![name],
            Self::Instance(id) => vec![&id.service],
            Self::Edge { from, to } => vec![from, to],
            Self::InstanceEdge { from, to } => vec![&from.service, to],
            Self::Version { service, .. } => vec![service],
            Self::Host(_) | Self::Zone(_) | Self::Poller(_) => Vec::new(),
        }
    }
}

impl fmt::Display for CauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind())?;
        match self {
            Self::Node(name) => write!(f, "{name}"),
            Self::Instance(id) => write!(f, "{id}"),
            Self::Edge { from, to } => write!(f, "{from}->{to}"),
            Self::InstanceEdge { from, to } => write!(f, "{from}->{to}"),
            Self::Host(name) | Self::Zone(name) | Self::Poller(name) => write!(f, "{name}"),
            Self::Version { service, version } => write!(f, "{service}@{version}"),
        }
    }
}

/// How bad the fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseState {
    /// It works, but worse than it should.
    Degraded,
    /// It works now and then.
    Intermittent,
    /// It cannot be seen; nothing is known to be wrong with it.
    Cut,
    /// It does not work.
    Down,
}

impl CauseState {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Degraded => "degraded",
            Self::Intermittent => "intermittent",
            Self::Cut => "cut",
            Self::Down => "down",
        }
    }
}

/// A fact that speaks for or against a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Who saw it: an instance, or `poll` for the aggregator itself.
    pub observer: String,
    /// What it is about: a node, or a local component of the observer.
    pub target: Name,
    /// What was seen.
    pub status: CheckStatus,
    /// Whether its observer is sure; if not, it was measured, and is not shown as a status yet.
    pub decided: bool,
    /// Why it failed.
    pub category: Option<ErrorCategory>,
    /// Why, in a safe sentence.
    pub error: Option<Box<str>>,
    /// When it was seen.
    pub at: Moment,
    /// When the status began.
    pub since: Moment,
}

impl Fact {
    /// Why it failed, in the shortest words there are.
    #[must_use]
    pub fn why(&self) -> &str {
        match (&self.error, self.category) {
            (Some(error), _) => error,
            (None, Some(category)) => category.phrase(),
            (None, None) => self.status.as_str(),
        }
    }
}

/// A named cause with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct RootCause {
    /// What is at fault.
    pub id: CauseId,
    /// How bad it is.
    pub state: CauseState,
    /// The probability that this is right, between 0 and 1; from the margin.
    pub confidence: f64,
    /// How much worse the best explanation without it is, in nats.
    pub margin: f64,
    /// When the first fact behind it began.
    pub since: Moment,
    /// One sentence: what is wrong.
    pub summary: String,
    /// The failing checks that it explains directly, first failing first.
    pub evidence: Vec<Fact>,
    /// Instances whose silence it explains as well.
    pub silent: Vec<InstanceId>,
    /// Good checks that speak against it, newest first; bounded.
    pub against: Vec<Fact>,
    /// How many there are.
    pub against_count: usize,
    /// What would be believed instead if it were ruled out; the first is the runner-up.
    pub alternatives: Vec<CauseId>,
    /// Others of its circle of dependencies that cannot be told from it; it failed first.
    pub group: Vec<CauseId>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// Why it is not named yet, if it still waits for the rest of the picture.
    pub held: Option<String>,
}

/// What a cause does to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImpactEffect {
    /// It works with reduced features: a soft edge.
    Degraded,
    /// It cannot work: hard edges all the way.
    Impacted,
}

impl ImpactEffect {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Degraded => "degraded",
            Self::Impacted => "impacted",
        }
    }
}

/// A service that a cause reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impact {
    /// Who is reached.
    pub service: Name,
    /// By what.
    pub cause: CauseId,
    /// How.
    pub effect: ImpactEffect,
    /// The way, from the service to the cause.
    pub path: Vec<Name>,
}

/// A candidate, named or not, with its margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// What it would be.
    pub id: CauseId,
    /// How much better (positive) or worse (negative) than the best other explanation, in nats.
    pub margin: f64,
}

/// An instance that is not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Which.
    pub instance: InstanceId,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnosis {
    /// Named causes, first failing first.
    pub root_causes: Vec<RootCause>,
    /// Causes that still wait for the rest of the picture.
    pub suspected: Vec<RootCause>,
    /// Services that named causes reach, by name.
    pub impacted: Vec<Impact>,
    /// Failing checks that no cause accounts for.
    pub unexplained: Vec<Fact>,
    /// Instances that are not seen.
    pub unknown: Vec<Unseen>,
    /// All candidates by margin, best first.
    pub rank: Vec<Ranked>,
}
