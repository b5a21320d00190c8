//! `GET /api/v1/incidents`, `/api/v1/incidents/{id}` and `/api/v1/transitions`: what happened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1::api::{CauseKind, CauseState, Evidence, Impact, IncidentState};
use crate::{Time, Word};

/// The incidents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incidents {
    /// The moment of the answer.
    pub generated_at: Time,
    /// Newest first.
    #[serde(default)]
    pub open: Vec<Incident>,
    /// Newest first; bounded.
    #[serde(default)]
    pub resolved: Vec<Incident>,
}

/// An episode with one key. Its cause may be revised while it is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// Its key: `inc-1`.
    pub id: String,
    /// Whether it is over.
    pub state: Word<IncidentState>,
    /// One sentence.
    pub title: String,
    /// What it is about now, as the `id` of a cause; `unseen:front` for an entry point that is not seen.
    pub cause: String,
    /// The part of `cause` before the colon.
    pub kind: Word<CauseKind>,
    /// How bad the cause is; absent for an entry point that is not seen, of which nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_state: Option<Word<CauseState>>,
    /// How sure the diagnosis is, between 0 and 1.
    pub confidence: f64,
    /// Whether a person would be called.
    pub pages: bool,
    /// Who answers for the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When the first evidence began.
    pub began_at: Time,
    /// When it was opened.
    pub opened_at: Time,
    /// When it was resolved. Absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Time>,
    /// From `began_at` to its end or to the moment of the answer, in milliseconds.
    pub duration_ms: u64,
    /// Why it was resolved, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// Why it is still open though its cause is not seen any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<String>,
    /// The causes it had, in order.
    #[serde(default)]
    pub cause_history: Vec<CausePeriod>,
    /// Whom it reaches.
    #[serde(default)]
    pub impacted: Vec<Impact>,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Why it is this cause, in sentences.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// What else it could be.
    #[serde(default)]
    pub alternatives: Vec<String>,
    /// What happened, oldest first; bounded.
    #[serde(default)]
    pub timeline: Vec<TimelineEntry>,
}

/// A cause that an incident had for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CausePeriod {
    /// Which.
    pub cause: String,
    /// From when.
    pub from: Time,
    /// Until when. Absent for the one it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// When.
    pub at: Time,
    /// To whom.
    pub subject: String,
    /// What, in a sentence.
    pub text: String,
}

/// Changes of status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transitions {
    /// The moment of the answer.
    pub generated_at: Time,
    /// Newest first; bounded.
    #[serde(default)]
    pub transitions: Vec<Transition>,
}

/// A change of status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transition {
    /// When.
    pub at: Time,
    /// Whose: `service:cart`, `instance:cart#0`, `resource:orders-db`.
    pub subject: String,
    /// The status before.
    pub from: String,
    /// The status after.
    pub to: String,
    /// Why, in a sentence.
    pub reason: String,
}
