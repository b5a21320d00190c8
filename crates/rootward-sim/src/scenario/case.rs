//! A small scenario with the answers that are wanted of it.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
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

impl Expectation {
    /// What of an answer is not as wanted, each as a sentence. Empty when all is.
    #[must_use]
    pub fn differences(&self, answer: &Answer) -> Vec<String> {
        let mut found = Vec::new();
        let named: Vec<&str> = answer
            .root_causes
            .iter()
            .map(|cause| cause.id.as_str())
            .collect();
        for wanted in &self.root_causes {
            let hits = named
                .iter()
                .filter(|id| wanted.iter().any(|want| want == *id));
            match hits.count() {
                0 => found.push(format!("none of {wanted:?} is named")),
                1 => {}
                _ => found.push(format!("more than one of {wanted:?} is named")),
            }
        }
        for id in named {
            let wanted = self
                .root_causes
                .iter()
                .any(|ids| ids.iter().any(|want| want == id));
            if !wanted || self.not_root.iter().any(|unwanted| unwanted == id) {
                found.push(format!("{id} is named"));
            }
        }
        let lists = [
            ("impacted", &self.impacted, &answer.impacted),
            ("unknown", &self.unknown, &answer.unknown),
        ];
        for (what, wanted, given) in lists {
            for name in wanted.iter().filter(|name| !given.contains(name)) {
                found.push(format!("{name} is not {what}"));
            }
        }
        for name in answer
            .impacted
            .iter()
            .filter(|name| self.not_impacted.contains(name))
        {
            found.push(format!("{name} is impacted"));
        }
        if let Some(wanted) = &self.unexplained {
            let (mut wanted, mut given) = (wanted.clone(), answer.unexplained.clone());
            wanted.sort();
            given.sort();
            if wanted != given {
                found.push(format!("unexplained is {given:?}, not {wanted:?}"));
            }
        }
        if let Some(wanted) = self.state {
            for cause in answer
                .root_causes
                .iter()
                .filter(|cause| cause.state != wanted)
            {
                found.push(format!("{} is {}, not {wanted}", cause.id, cause.state));
            }
        }
        found
    }
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
