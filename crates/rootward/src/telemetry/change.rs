//! What a hook is told.

use std::time::SystemTime;

use rootward_core::{CheckStatus, ErrorCategory, InstanceStatus, Name};

use crate::events::Transition;
use crate::shared::At;

/// Something about this instance has changed. See [`Builder::on_change`](crate::Builder::on_change).
///
/// Whatever it says may be shown to whoever may read the detailed report: it holds no text of a foreign error.
///
/// ```
/// use rootward::Change;
///
/// fn line(change: &Change) -> Option<String> {
///     match change {
///         Change::Check(change) => Some(format!("{}: {} -> {}", change.check, change.from, change.to)),
///         Change::Readiness(change) if change.ready => Some("ready".to_owned()),
///         Change::Readiness(change) => Some(format!("not ready: {}", change.reasons.join("; "))),
///         Change::Status(change) => Some(format!("{} -> {}", change.from, change.to)),
///         _ => None, // what later versions may tell
///     }
/// }
/// ```
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
///
/// ```
/// use rootward::{CheckChange, CheckStatus};
///
/// /// What is worth a word in the team's channel.
/// fn message(change: &CheckChange) -> Option<String> {
///     let log = change.error_ref.as_deref().unwrap_or("-");
///     (change.to == CheckStatus::Down)
///         .then(|| format!("{} is down: {} (log: {log})", change.check, change.reason))
/// }
/// ```
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
///
/// ```
/// /// Whether a queue consumer goes on taking work.
/// fn goes_on(change: &rootward::ReadinessChange) -> bool {
///     change.ready
/// }
/// ```
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
///
/// ```
/// use rootward::{InstanceStatus, StatusChange};
///
/// fn got_worse(change: &StatusChange) -> bool {
///     change.from == InstanceStatus::Healthy && change.to != InstanceStatus::Healthy
/// }
/// ```
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
