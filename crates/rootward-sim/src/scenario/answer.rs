//! What a diagnosis says at an instant.

use serde::{Deserialize, Serialize};

use super::word::{CauseKind, CauseState};

/// What explains everything seen until `t`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Seconds, the instant asked about.
    pub t: f64,
    /// The faults that are named, most certain first.
    pub root_causes: Vec<RootCause>,
    /// Services that need a root cause through hard edges and are none themselves.
    pub impacted: Vec<String>,
    /// Bad checks (`instance->dependency`) that no root cause accounts for.
    pub unexplained: Vec<String>,
    /// Instances whose newest poll got no answer.
    pub unknown: Vec<String>,
    /// The candidates by margin, best first, also those that are not certain enough to be named.
    #[serde(default)]
    pub rank: Vec<Ranked>,
}

/// A fault that is named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RootCause {
    /// `kind:what`, such as `node:db`, `edge:api->db`, `instance:api#1`.
    pub id: String,
    /// What it is a fault of.
    pub kind: CauseKind,
    /// How it shows.
    pub state: CauseState,
    /// A probability: of the answers given with 0.8, about 80 of 100 should be right.
    pub confidence: f64,
    /// Checks that it explains, as sentences of a few words. May be cut.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// How many checks it explains, all of them.
    #[serde(default)]
    pub evidence_count: u64,
    /// What would be the cause if this were not.
    #[serde(default)]
    pub alternatives: Vec<String>,
}

/// A candidate in the ranked list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// As the id of a root cause.
    pub id: String,
    /// By how much it explains what was seen better than the best explanation without it, in nats.
    pub margin: f64,
}
