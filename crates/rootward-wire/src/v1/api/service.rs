//! `GET /api/v1/services/{name}`: one service, its instances and both directions of its dependencies.

use rootward_core::{
    CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope, ServiceStatus,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1::api::{Impact, Label, LabelSource, NodeKind, PollOutcome};
use crate::{Time, Word};

/// A service in a list.
///
/// `status` is what was observed; `impacted_by` is what the diagnosis concludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceRow {
    /// Its name.
    pub name: String,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What was observed.
    pub status: Word<ServiceStatus>,
    /// When `status` last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Age of the newest evidence, in milliseconds. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Why it has this status, in a sentence.
    pub reason: String,
    /// Whether nobody on the map calls it.
    pub entry_point: bool,
    /// Whether it is at fault itself.
    pub root_cause: bool,
    /// Whether a change of status is under way.
    pub pending: bool,
    /// The causes that reach it.
    #[serde(default)]
    pub impacted_by: Vec<Impact>,
    /// Its instances by status.
    pub instances: InstanceCounts,
}

/// Instances of one service by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceCounts {
    /// All of them.
    pub total: u64,
    /// Nothing that matters is wrong.
    pub healthy: u64,
    /// Serving, with something wrong.
    pub degraded: u64,
    /// Something hard is down.
    pub unhealthy: u64,
    /// Booting.
    pub starting: u64,
    /// Not seen.
    pub unknown: u64,
    /// Draining or removed.
    pub gone: u64,
}

/// One service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceDetail {
    /// What the list says, field by field at the same level.
    #[serde(flatten)]
    pub row: ServiceRow,
    /// The moment of the answer; all ages were taken then.
    pub generated_at: Time,
    /// How many instances must serve.
    pub at_least: u64,
    /// Its instances.
    #[serde(default)]
    pub detail: Vec<Instance>,
    /// What it calls.
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
    /// Who calls it; `name` is the caller.
    #[serde(default)]
    pub callers: Vec<Dependency>,
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Instance {
    /// `service#instance`.
    pub id: String,
    /// What was observed; `unknown` when it is not seen.
    pub status: Word<ServiceStatus>,
    /// What it last said, if that is too old to count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_known: Option<Word<InstanceStatus>>,
    /// When `status` last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Why it has this status, in a sentence.
    pub reason: String,
    /// When the newest evidence arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_at: Option<Time>,
    /// Milliseconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// What the last poll brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_poll: Option<LastPoll>,
    /// Whether it wants traffic, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Whether it is on its way out, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draining: Option<bool>,
    /// Whether its own local conditions and resources let it work, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    /// Release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Availability zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What it reports.
    #[serde(default)]
    pub components: Vec<Component>,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LastPoll {
    /// When it ended.
    pub at: Time,
    /// Milliseconds since then.
    pub age_ms: u64,
    /// In a word.
    pub outcome: Word<PollOutcome>,
    /// In a sentence.
    pub text: String,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
}

/// One entry of an instance's report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    /// Unique in the report.
    pub name: String,
    /// The damped result.
    pub status: Word<CheckStatus>,
    /// The last result as it came.
    pub raw_status: Word<CheckStatus>,
    /// Agreeing results still needed to change `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u8>,
    /// What it means to the service.
    pub criticality: Word<Criticality>,
    /// One instance or everybody.
    pub scope: Word<Scope>,
    /// How deep the check looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Word<Depth>>,
    /// `postgresql`, `redis`, `http` and so on; `service` for another service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Canonical identity of what is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why it failed, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<Word<ErrorCategory>>,
    /// Why it failed, in a short sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Duration of the last check, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// When the last check completed. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Time>,
    /// Milliseconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// When `status` last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Whether the instance is not ready while this is down.
    pub gates_readiness: bool,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// One edge of the map, seen from one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// The other end.
    pub name: String,
    /// What the other end is.
    pub kind: Word<NodeKind>,
    /// What it means to the caller.
    pub criticality: Word<Label>,
    /// Who says so.
    pub label_source: Word<LabelSource>,
    /// What the caller's checks see.
    pub status: Word<CheckStatus>,
    /// Why they fail, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<Word<ErrorCategory>>,
    /// Instances of the caller whose check fails.
    pub failing_instances: u64,
    /// Instances of the caller that check it at all.
    pub observing_instances: u64,
    /// Why the edge is as it is, as the map declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who answers for the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}
