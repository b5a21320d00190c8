//! The HTTP API of the aggregator, version 1: shapes only, in the order of the specification (`docs/spec/api-v1.md`).
//!
//! Written by the server, read by the page and the command line. Words are tolerant when read ([`Word`](crate::Word)),
//! absent lists are empty, unknown fields are ignored. Times are for people; ages are milliseconds, taken at the
//! moment of the answer. Nothing here decides anything.

mod diagnosis;
mod incident;
mod overview;
mod resource;
mod service;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use diagnosis::{Cause, Diagnosis, Evidence, Impact, Ranked, UnknownInstance};
pub use incident::{CausePeriod, Incident, Incidents, TimelineEntry, Transition, Transitions};
pub use overview::{
    Configuration, Counts, Cycle, Epoch, Finding, Group, Observer, Overview, RefusedConfiguration,
    ResourceCounts, ServiceCounts,
};
pub use resource::{ResourceDetail, ResourceRow};
pub use service::{
    Component, Dependency, Instance, InstanceCounts, LastPoll, ServiceDetail, ServiceRow,
};
pub use words::{
    CauseKind, CauseState, ImpactEffect, IncidentState, Label, LabelSource, NodeKind,
    ObserverState, PollOutcome,
};

/// What the field `api` of the overview says.
pub const API: &str = "rootward-api/1";

/// The body of every answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The error.
    pub error: ProblemBody,
}

impl Problem {
    /// An error with a word and a sentence.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            error: ProblemBody {
                code: code.into(),
                message: message.into(),
            },
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemBody {
    /// For the machine: `not_found`.
    pub code: String,
    /// For a person, with what would be right.
    pub message: String,
}
