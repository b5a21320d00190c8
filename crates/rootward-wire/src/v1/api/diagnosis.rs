//! `GET /api/v1/diagnosis`: which faults explain what was seen, and what speaks for and against them.

use rootward_core::{CheckStatus, ErrorCategory, InstanceStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1::api::{CauseKind, CauseState, ImpactEffect};
use crate::{Time, Word};

/// The conclusions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// The moment of the answer; all ages were taken then.
    pub generated_at: Time,
    /// Named causes, first failing first.
    #[serde(default)]
    pub root_causes: Vec<Cause>,
    /// Causes that still wait for the rest of the picture; each says for what in `held`.
    #[serde(default)]
    pub suspected: Vec<Cause>,
    /// Services that named causes reach.
    #[serde(default)]
    pub impacted: Vec<Impact>,
    /// Failing checks that no cause accounts for.
    #[serde(default)]
    pub unexplained: Vec<Evidence>,
    /// Instances that are not seen.
    #[serde(default)]
    pub unknown: Vec<UnknownInstance>,
    /// All candidates, best first.
    #[serde(default)]
    pub rank: Vec<Ranked>,
}

/// A fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// What is at fault: `node:orders-db`, `instance:cart#0`, `edge:checkout->orders-db`, `instance_edge:cart#0->rates`,
    /// `host:h7`, `zone:eu-1a`, `poller:eu-1a` (the view of a zone), `version:cart@1.4.2`.
    pub id: String,
    /// The part of `id` before the colon.
    pub kind: Word<CauseKind>,
    /// How bad it is.
    pub state: Word<CauseState>,
    /// The probability that this is right, between 0 and 1.
    pub confidence: f64,
    /// How much better it explains what is seen than the best explanation without it, in nats.
    #[serde(default)]
    pub margin: f64,
    /// When the first evidence began.
    pub since: Time,
    /// What is wrong, in a sentence.
    pub summary: String,
    /// Failing checks that it explains; bounded.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// How many there are.
    pub evidence_count: u64,
    /// Instances whose silence it explains as well.
    #[serde(default)]
    pub silent: Vec<String>,
    /// Good checks that speak against it; bounded.
    #[serde(default)]
    pub against: Vec<Evidence>,
    /// How many there are.
    #[serde(default)]
    pub against_count: u64,
    /// Others of its circle of dependencies that cannot be told from it; it failed first.
    #[serde(default)]
    pub group: Vec<String>,
    /// What would be believed instead if it were ruled out; the first is the runner-up. Nothing: only chance is left.
    #[serde(default)]
    pub alternatives: Vec<String>,
    /// Why it is this one, in sentences.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// What it still waits for. Only in `suspected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Who saw it: an instance, or `poll` for the aggregator itself.
    pub observer: String,
    /// What it is about.
    pub target: String,
    /// What was seen.
    pub status: Word<CheckStatus>,
    /// Why it failed, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<Word<ErrorCategory>>,
    /// Why it failed, in a short sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// It was measured, but its observer is not sure yet, so no status shows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// When the status began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Milliseconds since it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// All of it, in a line.
    pub text: String,
}

/// A cause that reaches a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// Who is reached. Absent where the list is about one service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// By what.
    pub cause: String,
    /// How.
    pub effect: Word<ImpactEffect>,
    /// The way, from the service to the cause.
    #[serde(default)]
    pub path: Vec<String>,
}

/// An instance that is not seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownInstance {
    /// Which: `service#instance`.
    pub instance: String,
    /// Why it is not seen, in a sentence.
    pub reason: String,
    /// What it last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_known: Option<Word<InstanceStatus>>,
    /// Age of that, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// What it would be.
    pub id: String,
    /// How much better (positive) or worse (negative) than the best other explanation, in nats.
    pub margin: f64,
}
