//! Decides: status, damping, rollup, map, diagnosis, incidents, schedule.
//!
//! What is absent: input and output, clocks, serialisation, async, logging, environment, randomness. Time is an
//! argument ([`Moment`]); whoever drives the core does what it returns. The same inputs in the same order give the
//! same answer, down to the order of lists.
//!
//! In reading order: [`status`] has the words, [`damping`] and [`rollup`] the rules, [`map`] the graph, [`report`]
//! what comes in, [`diagnosis`] and [`incident`] the conclusions, [`engine`] the one thing that changes, [`snapshot`]
//! what readers get. [`localise`] finds root causes by probability.

pub mod damping;
pub mod diagnosis;
pub mod engine;
pub mod freshness;
pub mod incident;
pub mod localise;
pub mod map;
pub mod moment;
pub mod name;
pub mod observer;
pub mod report;
pub mod rollup;
pub mod schedule;
pub mod snapshot;
pub mod status;

pub use damping::{Damped, Damping, Evidence, Thresholds};
pub use engine::{Action, Engine, Poll, PollOutcome, Replaced, Settings, Source, Target};
pub use freshness::stale_after;
pub use map::{
    Cycle, Edge, EdgeIndex, EdgeParts, Map, MapParts, MapProblem, Node, NodeIndex, NodeKind,
};
pub use moment::Moment;
pub use name::{InstanceId, Name, NameError};
pub use observer::{Doubt, ObserverState, ObserverView, SelfCheck, SelfChecks, Side};
pub use report::{Component, Report};
pub use rollup::{
    Effect, InstanceVote, MapRollup, Pass, effect, roll_up_components, roll_up_instances,
};
pub use schedule::Schedule;
pub use snapshot::Snapshot;
pub use status::{
    CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope, ServiceStatus,
};
