//! What a hook is told.

use std::time::SystemTime;

use rootward_core::{CheckStatus, ErrorCategory, InstanceStatus, Name};

use crate::events::Transition;
use crate::shared::At;

/// Something about this instance has changed. See [`Builder::on_change`](crate::Builder::on_change).
///
/// Whatever it says may be shown to whoever may read the detailed report: it holds no text of a foreign error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The damped status of a check.
    Check(CheckChange),
    /// Whether the instance wants traffic.
    Readiness(ReadinessChange),
    /// The status that its checks add up to.
    Status(StatusChange),
}

/// The damped status of a check has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckChange {
    /// The name of the check.
    pub check: Name,
    /// Until now. `unknown` before the first result, and after a silence that was too long.
    pub from: CheckStatus,
    /// From now on.
    pub to: CheckStatus,
    /// Why it is not up; none if it is up or only slow.
    pub category: Option<ErrorCategory>,
    /// The same as a sentence, as the report shows it; empty if it is up.
    pub reason: String,
    /// Finds the full error in the service's log; none if it is up.
    pub error_ref: Option<String>,
    /// When the result came, by the wall clock.
    pub at: SystemTime,
}

impl CheckChange {
    pub(super) fn of(transition: &Transition<'_>, at: At) -> Self {
        Self {
            check: transition.check.clone(),
            from: transition.from,
            to: transition.to,
            category: transition.category,
            reason: transition.reason.to_owned(),
            error_ref: transition.error_ref.map(str::to_owned),
            at: at.wall,
        }
    }
}

/// The instance has become ready, or stopped being it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadinessChange {
    /// From now on.
    pub ready: bool,
    /// Why not, each in a sentence, as `/readyz` says them; empty if ready.
    pub reasons: Vec<String>,
    /// When it was seen, by the wall clock.
    pub at: SystemTime,
}

/// The status of the instance has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusChange {
    /// Until now; `starting` at first.
    pub from: InstanceStatus,
    /// From now on.
    pub to: InstanceStatus,
    /// When it was seen, by the wall clock.
    pub at: SystemTime,
}
