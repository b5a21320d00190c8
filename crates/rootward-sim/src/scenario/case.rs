//! A small scenario with the answers that are wanted of it.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::graph::Graph;
use super::problem::Problem;
use super::read::parse;
use super::word::CauseState;

/// A case: what was seen, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name.
    pub case: String,
    /// What it shows.
    pub why: String,
    /// What depends on what.
    pub graph: Graph,
    /// What was received.
    pub events: Vec<Event>,
    /// What is to be said, and when.
    pub expect: Vec<Expectation>,
}

/// What is to be said at one instant. Names that are not listed are free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Seconds.
    pub t: f64,
    /// The exact set: one entry a cause, and any id of the entry is right.
    pub root_causes: Vec<Vec<String>>,
    /// Ids that must not be named.
    #[serde(default)]
    pub not_root: Vec<String>,
    /// Services that must be listed as impacted.
    #[serde(default)]
    pub impacted: Vec<String>,
    /// Services that must not.
    #[serde(default)]
    pub not_impacted: Vec<String>,
    /// Instances that must be listed as unknown.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// Where given: exactly what is unexplained.
    #[serde(default)]
    pub unexplained: Option<Vec<String>>,
    /// Where given: the state of every cause.
    #[serde(default)]
    pub state: Option<CauseState>,
}

/// Reads a case file.
///
/// # Errors
/// When it is not one, with the place.
pub fn read_case(text: &str) -> Result<Case, Problem> {
    let case: Case = parse(text).map_err(|what| Problem::whole(&what))?;
    let problems = case.graph.problems();
    if problems.is_empty() {
        Ok(case)
    } else {
        Err(Problem::whole(&problems.join("; ")))
    }
}
