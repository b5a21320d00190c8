//! `GET /api/v1/resources/{name}`: one resource, and who sees it how.

use rootward_core::CheckStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1::api::Dependency;
use crate::{Time, Word};

/// A resource in a list: something that is not polled, but checked by those who call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRow {
    /// Its name.
    pub name: String,
    /// `postgresql`, `redis`, `http` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What its callers see.
    pub status: Word<CheckStatus>,
    /// When `status` last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Age of the newest evidence, in milliseconds. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Why it has this status, in a sentence.
    pub reason: String,
    /// Whether it is at fault itself.
    pub root_cause: bool,
    /// Services that call it.
    pub callers: u64,
    /// Services whose checks of it fail.
    pub failing_callers: u64,
}

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceDetail {
    /// What the list says, field by field at the same level.
    #[serde(flatten)]
    pub row: ResourceRow,
    /// The moment of the answer; all ages were taken then.
    pub generated_at: Time,
    /// Canonical identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Who calls it; `name` is the caller.
    #[serde(default)]
    pub callers_detail: Vec<Dependency>,
}
