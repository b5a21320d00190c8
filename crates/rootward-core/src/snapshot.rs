//! The immutable view that the rest of the system reads: one consistent picture as of one moment.

use std::sync::Arc;
use std::time::Duration;

use crate::diagnosis::Diagnosis;
use crate::incident::Incident;
use crate::map::Map;
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::observer::ObserverView;
use crate::report::Report;
use crate::status::{CheckStatus, Criticality, ErrorCategory, InstanceStatus, ServiceStatus};

/// Everything known at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The moment it was drawn.
    pub at: Moment,
    /// The map it was judged on.
    pub map: Arc<Map>,
    /// The last polling round that is complete, if one is.
    pub epoch: Option<Epoch>,
    /// How long a round takes.
    pub epoch_interval: Duration,
    /// The newest evidence of all.
    pub newest_evidence: Option<Moment>,
    /// Services in map order (by name).
    pub services: Vec<Arc<ServiceView>>,
    /// Resources in map order (by name).
    pub resources: Vec<Arc<ResourceView>>,
    /// What explains what is seen.
    pub diagnosis: Arc<Diagnosis>,
    /// Open incidents, oldest first.
    pub open_incidents: Vec<Arc<Incident>>,
    /// Resolved incidents, newest first; bounded.
    pub resolved_incidents: Vec<Arc<Incident>>,
    /// Where map and reports disagree.
    pub findings: Vec<Finding>,
    /// Whether the aggregator itself can see.
    pub observer: ObserverView,
}

/// One polling round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// Counted from 0 since the start.
    pub number: u64,
    /// Polls begun in it.
    pub started: usize,
    /// Polls of it that ended, however.
    pub finished: usize,
    /// Polls of it that brought a report.
    pub answered: usize,
    /// When its last poll ended and its time was over.
    pub completed_at: Moment,
}

/// A service as the aggregator sees it.
#[derive(Debug, Clone)]
pub struct ServiceView {
    /// Its name.
    pub name: Name,
    /// Rolled up from its instances.
    pub status: ServiceStatus,
    /// When the status last changed; `None` before the first evidence.
    pub since: Option<Moment>,
    /// Why it has this status, in a sentence.
    pub reason: String,
    /// Its newest evidence.
    pub evidence_at: Option<Moment>,
    /// Whether a component of it is about to flip, or its newest poll failed.
    pub pending: bool,
    /// Its instances, by name.
    pub instances: Vec<InstanceView>,
    /// What it depends on, as declared and as seen.
    pub dependencies: Vec<DependencyView>,
}

/// An instance as the aggregator sees it.
#[derive(Debug, Clone)]
pub struct InstanceView {
    /// Which.
    pub id: InstanceId,
    /// What is known now.
    pub status: ServiceStatus,
    /// What its last report said, if there was one.
    pub last_known: Option<InstanceStatus>,
    /// When the status last changed.
    pub since: Option<Moment>,
    /// Why.
    pub reason: String,
    /// When its last report came.
    pub evidence_at: Option<Moment>,
    /// Its newest poll.
    pub last_poll: Option<PollView>,
    /// Its last report, kept also when it is unknown now.
    pub report: Option<Arc<Report>>,
}

/// The newest poll of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollView {
    /// When it ended.
    pub at: Moment,
    /// What came of it.
    pub outcome: PollWord,
    /// In a sentence.
    pub text: String,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// What came of a poll, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollWord {
    /// A report.
    Report,
    /// Nothing.
    NoAnswer,
    /// An error status without a report.
    ErrorStatus,
    /// An answer that is no report.
    Malformed,
}

impl PollWord {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::NoAnswer => "no_answer",
            Self::ErrorStatus => "error_status",
            Self::Malformed => "malformed",
        }
    }
}

/// One edge, from the caller's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyView {
    /// Who depends.
    pub caller: Name,
    /// On what.
    pub callee: Name,
    /// The label in force; `None` is unlabelled and treated as soft.
    pub criticality: Option<Criticality>,
    /// Where the label comes from.
    pub label_source: LabelSource,
    /// What the caller's instances see, worst first; unknown without a fresh check.
    pub status: CheckStatus,
    /// Why, if it is bad.
    pub category: Option<ErrorCategory>,
    /// Instances that see it failing.
    pub failing_instances: usize,
    /// Instances with a fresh check of it.
    pub observing_instances: usize,
    /// The declared reason of the label.
    pub reason: Option<String>,
    /// Who answers for the label.
    pub owner: Option<String>,
}

/// Where a label comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    /// The caller's report.
    Report,
    /// The map.
    Map,
    /// Nowhere: unlabelled.
    None,
}

impl LabelSource {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Map => "map",
            Self::None => "none",
        }
    }
}

/// A resource, known through its callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceView {
    /// Its name.
    pub name: Name,
    /// Inferred from its callers' checks.
    pub status: CheckStatus,
    /// When the status last changed; `None` before the first evidence.
    pub since: Option<Moment>,
    /// Why, in a sentence.
    pub reason: String,
    /// The newest check of it.
    pub evidence_at: Option<Moment>,
    /// Services that depend on it, as declared.
    pub callers: usize,
    /// Those that see it failing.
    pub failing_callers: usize,
}

/// Where map and reports disagree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The kind, as a snake_case word.
    pub kind: FindingKind,
    /// Whom it concerns.
    pub subject: Name,
    /// A sentence.
    pub text: String,
}

/// The kinds of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A report checks something that the map does not declare.
    UndeclaredDependency,
    /// The map declares a dependency that no report of the caller checks.
    UncheckedDependency,
    /// Report and map have different labels.
    CriticalityDiffers,
    /// An address answers in another service's name.
    IdentityDiffers,
    /// A report calls its instance better than its own components say.
    StatusContradicted,
}

impl FindingKind {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UndeclaredDependency => "undeclared_dependency",
            Self::UncheckedDependency => "unchecked_dependency",
            Self::CriticalityDiffers => "criticality_differs",
            Self::IdentityDiffers => "identity_differs",
            Self::StatusContradicted => "status_contradicted",
        }
    }
}

/// A change of status, with its reason: nothing changes without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// When.
    pub at: Moment,
    /// Of what.
    pub subject: Subject,
    /// The status until then.
    pub from: &'static str,
    /// The status from then on.
    pub to: &'static str,
    /// Why, in a sentence.
    pub reason: String,
}

/// What has a status.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A service.
    Service(Name),
    /// An instance of a service.
    Instance(InstanceId),
    /// A resource.
    Resource(Name),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Service(name) => write!(f, "service:{name}"),
            Self::Instance(id) => write!(f, "instance:{id}"),
            Self::Resource(name) => write!(f, "resource:{name}"),
        }
    }
}
