//! Which faults explain what has been seen: fault localisation on the dependency graph.
//!
//! In one sentence: choose the set of faults that best pays for itself. Each failing check is explained by the one fault
//! (or by noise) that explains it best; each fault costs its prior plus what the good checks say against it. This is
//! maximum a posteriori inference in a noisy-OR network in which the best explanation counts (QMR-DT, Shwe et al. 1991;
//! Sherlock, SIGCOMM 2007, has the same semantics for networks), and as an optimisation problem it is uncapacitated
//! facility location. Good checks never couple two causes (Quickscore, Heckerman 1989), so the anomaly falls apart into
//! small independent parts; searching flips of single causes with kept gains is what Flock (CoNEXT 2023) does for
//! data-centre networks.
//!
//! In reading order: [`graph`] and [`event`] are what comes in, [`model`] the numbers, `history` what is kept,
//! `anomaly` and `timeline` what it says at one instant, `readiness` what a service's own checks say about its being
//! ready, `candidate`, `places`, `flicker` and `cascade` which faults could explain it, `problem`, `component`, `solution`,
//! `enumerate` and `greedy` which of them do, `verdict`, `naming`, `reasons`, `impact` and [`answer`] what is said.
//!
//! # Properties
//!
//! The answer is a function of the set of events and the instant asked about: order, lateness and duplicates change
//! nothing, nor does whether the engine has run for long or is fresh. What is older than the window of eight checks (of
//! sixteen, where a single check of a node comes and goes), and 48 intervals for the noise of an edge, has no influence. Unknown and stale results contribute nothing.
//!
//! # Cost
//!
//! A report costs a few look-ups for each dependency it names. An answer costs as much as the failing checks, the silent
//! instances and their neighbours: a healthy part of the map is never visited. It is computed anew when asked for; nothing
//! of an earlier answer is kept. `cargo run --profile bench -p rootward-core --example localise` measures both.
//!
//! Memory is bounded by the graph: 280 bytes for each pair of instance and dependency, 136 for each instance's polls,
//! and the graph itself; nothing grows with time.
//!
//! # Known weak points
//!
//! Flapping that a single instance sees, an application that is sick on a host that is dead, services of one circle, a
//! third fault beside two others: `docs/design/diagnosis-accuracy.md` has figures.
//!
//! # Who uses it
//!
//! The aggregator's live engine ([`crate::engine`]) and the replay of recorded scenarios. It takes its own plain input
//! types, because a recorded incident must be read without a configuration.

pub mod answer;
pub mod cause;
pub mod engine;
pub mod event;
pub mod graph;
pub mod model;

mod anomaly;
mod candidate;
mod cascade;
mod component;
mod enumerate;
mod flicker;
mod greedy;
mod history;
mod impact;
mod naming;
mod places;
mod problem;
mod readiness;
mod reasons;
mod solution;
mod timeline;
mod topology;
mod verdict;

pub use answer::{
    Answer, Evidence, Explanation, GOOD_LIMIT, GoodCheck, RANK_LIMIT, Ranked, RootCause, State,
};
pub use cause::CauseId;
pub use engine::{Engine, Settings};
pub use event::{Change, DependencyCheck, ErrorClass, Event, NoAnswer, Report, Seen};
pub use graph::{CheckKind, Edge, Graph, Host, Instance, Label, Node, NodeKind, Redundancy};
pub use history::LEARNING_WINDOW;
pub use impact::{Impact, Impacted};
pub use model::{ClassTable, Model};
pub use topology::GraphError;
