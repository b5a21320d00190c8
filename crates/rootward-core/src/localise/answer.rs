//! What the engine says: causes with reasons, who is impacted, what is left over, what is not known.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cause::CauseId;
use super::event::ErrorClass;
use super::impact::Impact;
use crate::moment::Moment;

/// Which faults explain what has been seen, at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The instant it is for.
    pub at: Moment,
    /// The named causes, most certain first.
    pub root_causes: Vec<RootCause>,
    /// Every candidate by margin, best first, also below the naming threshold; at most [`RANK_LIMIT`].
    pub rank: Vec<Ranked>,
    /// Services that depend on a root cause through hard edges and are not root causes themselves.
    pub impacted: Impact,
    /// Failing checks that no named cause accounts for.
    pub unexplained: Vec<Evidence>,
    /// Instances whose newest poll got no answer.
    pub unknown: Vec<Arc<str>>,
}

/// Candidates listed in [`Answer::rank`].
pub const RANK_LIMIT: usize = 64;
/// Good checks listed in [`Explanation::good_checks`]; all of them are counted.
pub const GOOD_LIMIT: usize = 16;

/// A named cause.
#[derive(Debug, Clone, PartialEq)]
pub struct RootCause {
    /// What is at fault.
    pub id: CauseId,
    /// How.
    pub state: State,
    /// Probability that this is right.
    pub confidence: f64,
    /// The failing checks it accounts for.
    pub evidence: Vec<Evidence>,
    /// Instances whose silence it accounts for.
    pub silent: Vec<Arc<str>>,
    /// What would be believed instead if it were ruled out.
    pub alternatives: Vec<CauseId>,
    /// Inside a circle of dependencies: the others that cannot be told from it. The named one failed first.
    pub group: Vec<CauseId>,
    /// Why.
    pub explanation: Explanation,
}

/// How a cause is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Does not work.
    Down,
    /// Works poorly.
    Degraded,
    /// Works now and then.
    Intermittent,
    /// The view is cut.
    Cut,
}

impl State {
    /// The word used in answers.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Degraded => "degraded",
            Self::Intermittent => "intermittent",
            Self::Cut => "cut",
        }
    }
}

/// A failing check. Its text form is `api#0->db down refused`.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Who looked.
    pub instance: Arc<str>,
    /// At what.
    pub to: Arc<str>,
    /// Failed only partly.
    pub degraded: bool,
    /// How it failed, the newest time it did.
    pub class: ErrorClass,
    /// The first failure of the present run.
    pub since: Moment,
    /// How old the newest check is.
    pub age: Duration,
    /// How much better the cause explains it than noise, in nats; zero when unexplained.
    pub gain: f64,
    /// Set when the cause lies deeper and was passed on by the readiness of this node.
    pub through: Option<Arc<str>>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = if self.degraded { "degraded" } else { "down" };
        write!(f, "{}->{} {status}", self.instance, self.to)?;
        match self.class {
            ErrorClass::Other => Ok(()),
            ErrorClass::Timeout
            | ErrorClass::Refused
            | ErrorClass::Dns
            | ErrorClass::Tls
            | ErrorClass::Auth
            | ErrorClass::Http5xx
            | ErrorClass::Slow => write!(f, " {}", self.class.word()),
        }
    }
}

/// The account of a cause, in nats: what it costs to believe in it, and what that buys.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Since when the fault explains the checks best.
    pub onset: Moment,
    /// Cost of the fault before anything was seen, after recent changes.
    pub prior: f64,
    /// The error class of the fault, and the cost of seeing this class from a fault of this kind. Paid once.
    pub class: Option<(ErrorClass, f64)>,
    /// Services whose readiness is taken to pass the fault on, and the cost of each. Paid once per service.
    pub passed_on: Vec<(Arc<str>, f64)>,
    /// Good checks since the onset that speak against it, newest first; at most [`GOOD_LIMIT`].
    pub good_checks: Vec<GoodCheck>,
    /// How many there are.
    pub good_count: usize,
    /// What they cost.
    pub good_cost: f64,
    /// How much worse the best answer without this cause is.
    pub margin: f64,
    /// The first of what would be believed instead.
    pub runner_up: Option<CauseId>,
}

/// A good check that speaks against a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoodCheck {
    /// Who looked.
    pub instance: Arc<str>,
    /// At what.
    pub to: Arc<str>,
    /// How long ago.
    pub age: Duration,
}

/// A candidate in the ranked list.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// What may be at fault.
    pub id: CauseId,
    /// The best answer with it minus the best answer without it, in nats. Positive: part of the answer.
    pub margin: f64,
}
