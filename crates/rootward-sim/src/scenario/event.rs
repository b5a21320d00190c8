//! The other lines of a scenario: what the aggregator received, and when.

use serde::{Deserialize, Serialize};

use super::word::{CheckStatus, ErrorClass};

/// Something that reached the aggregator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// An instance said how its dependencies are.
    Report(Report),
    /// An instance did not answer.
    NoAnswer(NoAnswer),
    /// A deploy or a change of configuration.
    Change(Change),
}

impl Event {
    /// Seconds, when the aggregator got it.
    #[must_use]
    pub fn recv(&self) -> f64 {
        match self {
            Self::Report(report) => report.recv,
            Self::NoAnswer(silence) => silence.recv,
            Self::Change(change) => change.recv,
        }
    }
}

/// What an instance said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Seconds, when the aggregator got it. May be late.
    pub recv: f64,
    /// Seconds, when the instance was asked.
    pub sent: f64,
    /// Counts the polls; the same poll delivered twice has the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Who reports.
    pub instance: String,
    /// What it runs, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// One entry for each of its dependencies.
    pub deps: Vec<DepReport>,
}

/// What an instance said about one dependency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DepReport {
    /// Which.
    pub to: String,
    /// How its newest check ended.
    pub status: CheckStatus,
    /// How long that check took.
    #[serde(default)]
    pub latency_ms: Option<f64>,
    /// How it failed, if it did.
    #[serde(default)]
    pub error: Option<ErrorClass>,
    /// Seconds since that check was made; absent when there was none.
    #[serde(default)]
    pub age_s: Option<f64>,
    /// How many times that check has been completed, if the instance says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// A poll that got nothing: the instance is unknown, which is not down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoAnswer {
    /// Seconds, when the aggregator gave up.
    pub recv: f64,
    /// Seconds, when it asked.
    pub sent: f64,
    /// Whom.
    pub instance: String,
    /// What the silence looked like: a hint only.
    #[serde(default)]
    pub error: Option<ErrorClass>,
}

/// A deploy or a change of configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Seconds, when the aggregator heard of it.
    pub recv: f64,
    /// Of which service.
    pub service: String,
    /// What changed, for people.
    pub what: String,
}
