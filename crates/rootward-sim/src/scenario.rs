//! A scenario: a map of dependencies and what an aggregator received, in the order it received it.
//!
//! The format is specified in `fixtures/rootcause/README.md`. [`Graph`] and [`Event`] are its lines, [`Answer`] is what
//! a diagnosis says at an instant, [`Case`] is a small scenario with the answers that are wanted. [`LineReader`] reads
//! lines, [`write_line`] writes them.

mod answer;
mod case;
mod event;
mod graph;
mod problem;
mod read;
mod word;

pub use answer::{Answer, Ranked, RootCause};
pub use case::{Case, Expectation, read_case};
pub use event::{Change, DepReport, Event, NoAnswer, Report};
pub use graph::{Edge, Graph, Host, Instance, Node};
pub use problem::Problem;
pub use read::{Line, LineReader, MAX_EVENT_BYTES, MAX_GRAPH_BYTES, Scenario, read_scenario};
pub use word::{
    CauseKind, CauseState, CheckDepth, CheckStatus, Criticality, EdgeLabel, ErrorClass, NodeKind,
};

use serde::Serialize;

/// The line from which on another map holds, without the line break.
///
/// # Errors
/// As [`write_line`].
pub fn write_map(map: &Graph) -> Result<String, Problem> {
    let mut line = serde_json::to_value(map).map_err(|_| Problem::unwritable())?;
    line["type"] = "map".into();
    write_line(&line)
}

/// One line of a scenario or an answer, without the line break.
///
/// # Errors
/// When a number is not one that JSON has (an infinite time).
pub fn write_line<T: Serialize>(line: &T) -> Result<String, Problem> {
    serde_json::to_string(line).map_err(|_| Problem::unwritable())
}
