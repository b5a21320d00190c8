//! `GET /api/v1/overview`: everything that the first screen shows.

use rootward_core::ServiceStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1::api::{Incident, ObserverState, ResourceRow, ServiceRow};
use crate::{Time, Word};

/// How everything is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    /// Which API this is: `rootward-api/1`.
    pub api: String,
    /// Which environment is watched.
    pub environment: String,
    /// The moment of the answer; all ages were taken then.
    pub generated_at: Time,
    /// The newest evidence of all. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_evidence_at: Option<Time>,
    /// How things are, in a sentence.
    pub headline: String,
    /// The newest round of polls.
    pub epoch: Epoch,
    /// How many are in which status.
    pub counts: Counts,
    /// Open incidents, newest first.
    #[serde(default)]
    pub incidents: Vec<Incident>,
    /// Services, those that deserve a look first.
    #[serde(default)]
    pub services: Vec<ServiceRow>,
    /// Resources, those that deserve a look first.
    #[serde(default)]
    pub resources: Vec<ResourceRow>,
    /// How the configuration of the aggregator stands. Absent from one that cannot say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// How the aggregator itself stands. Absent from one that cannot say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observer: Option<Observer>,
    /// Services that are shown as one.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Services that depend on each other in a circle.
    #[serde(default)]
    pub cycles: Vec<Cycle>,
    /// Where the map and the reports disagree.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// How the aggregator itself stands: whether what it does not see is its own trouble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observer {
    /// In a word.
    pub state: Word<ObserverState>,
    /// Since when it is anything but seeing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Milliseconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Why, in a sentence. Absent while it sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Instances that it could not ask.
    pub blind_instances: u64,
    /// Instances that it polls.
    pub instances: u64,
    /// The services of those that it could not ask, at most 200.
    #[serde(default)]
    pub blind_to: Vec<String>,
}

/// A round of polls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Epoch {
    /// Counted from the start of the process.
    pub number: u64,
    /// The time from one round to the next, in milliseconds.
    pub interval_ms: u64,
    /// When the last complete round was complete. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Time>,
    /// Milliseconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Whether every poll of it has ended.
    pub complete: bool,
    /// Polls of it that were begun.
    pub polls: u64,
    /// Polls of it that brought a report.
    pub answered: u64,
}

/// How the configuration of the aggregator stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// When the one in force was taken up.
    pub loaded_at: Time,
    /// Milliseconds since then.
    pub age_ms: u64,
    /// How often another one was taken up since the start.
    pub reloads: u64,
    /// What the files held last, if that was refused: then it is not what is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedConfiguration>,
}

/// A configuration that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedConfiguration {
    /// When.
    pub at: Time,
    /// Milliseconds since then.
    pub age_ms: u64,
    /// What is wrong with it, each in a sentence; at most 20.
    #[serde(default)]
    pub problems: Vec<String>,
    /// How many more there are.
    #[serde(default)]
    pub left_out: u64,
}

/// How many are in which status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Services.
    pub services: ServiceCounts,
    /// Resources.
    pub resources: ResourceCounts,
}

/// Services by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceCounts {
    /// All that is needed serves.
    pub healthy: u64,
    /// Enough serves, not all of it well.
    pub degraded: u64,
    /// Too little was seen.
    pub unknown: u64,
    /// Booting.
    pub starting: u64,
    /// Less serves than is needed.
    pub unhealthy: u64,
}

/// Resources by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceCounts {
    /// Good.
    pub up: u64,
    /// Worse than it should be.
    pub degraded: u64,
    /// Failing.
    pub down: u64,
    /// Nobody says.
    pub unknown: u64,
}

/// Services that are shown as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What outsiders call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_name: Option<String>,
    /// The worst of its members.
    pub status: Word<ServiceStatus>,
    /// Whether a cause reaches one of its members.
    pub impacted: bool,
    /// The services in it.
    #[serde(default)]
    pub members: Vec<String>,
}

/// Services that depend on each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cycle {
    /// Once around.
    #[serde(default)]
    pub chain: Vec<String>,
    /// The same to read: `a -> b -> a`.
    pub text: String,
}

/// Something about the map that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is, in a word: `undeclared_dependency`, `unchecked_dependency`, `criticality_differs`, `identity_differs`, `status_contradicted` and more to come.
    pub kind: String,
    /// Whom it is about.
    pub subject: String,
    /// What it is, in a sentence.
    pub text: String,
}
