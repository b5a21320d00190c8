//! What goes to the service's own log: one event for each transition of a check and of readiness, and none for a
//! request.
//!
//! This is the only place where the text of a foreign error appears, without what looks like a secret.

use std::time::Duration;

use rootward_core::{CheckStatus, ErrorCategory, Name};

use crate::duration::millis;
use crate::vitals::{Alive, Lag};

/// A check's status has changed, or the reason why it is not up.
#[derive(Debug)]
pub(crate) struct Transition<'a> {
    pub(crate) check: &'a Name,
    pub(crate) from: CheckStatus,
    pub(crate) to: CheckStatus,
    pub(crate) category: Option<ErrorCategory>,
    /// The text that the report shows.
    pub(crate) reason: &'a str,
    /// What the report refers to this event by.
    pub(crate) error_ref: Option<&'a str>,
    pub(crate) detail: Option<&'a str>,
}

impl<'a> Transition<'a> {
    /// A change for the better, which needs no reason.
    pub(crate) const fn to(check: &'a Name, from: CheckStatus, to: CheckStatus) -> Self {
        Self {
            check,
            from,
            to,
            category: None,
            reason: "",
            error_ref: None,
            detail: None,
        }
    }

    pub(crate) fn emit(&self) {
        let check = self.check.as_str();
        let (from, to) = (self.from.as_str(), self.to.as_str());
        let category = self.category.map(ErrorCategory::as_str);
        let (reason, error_ref, detail) = (self.reason, self.error_ref, self.detail);
        match self.to {
            CheckStatus::Up => {
                tracing::info!(target: "rootward", check, from, to, "check changed");
            }
            CheckStatus::Degraded | CheckStatus::Down | CheckStatus::Unknown => {
                tracing::warn!(
                    target: "rootward", check, from, to, category, reason, error_ref, detail,
                    "check changed"
                );
            }
        }
    }
}

/// What the lag of the application's runtime means for readiness has changed.
pub(crate) fn lag(verdict: Lag, lag: Option<Duration>) {
    let lag_ms = lag.map(millis);
    match verdict {
        Lag::Within => {
            tracing::info!(target: "rootward", lag_ms, "the application's runtime answers in time again");
        }
        Lag::Over => {
            tracing::warn!(target: "rootward", lag_ms, "the application's runtime answers late: not ready");
        }
        Lag::FailedOpen { .. } => {
            tracing::warn!(
                target: "rootward", lag_ms,
                "the application's runtime still answers late: lag counts no longer"
            );
        }
    }
}

/// Whether only a restart helps has changed.
pub(crate) fn liveness(alive: &Alive) {
    match alive.reason() {
        Some(reason) => tracing::error!(target: "rootward", reason, "only a restart helps"),
        None => tracing::info!(target: "rootward", "alive again"),
    }
}

/// The instance has become ready, or stopped being it, for these reasons.
pub(crate) fn readiness(ready: bool, reasons: &[String]) {
    if ready {
        tracing::info!(target: "rootward", "ready");
    } else {
        let reasons = reasons.join("; ");
        tracing::warn!(target: "rootward", reasons, "not ready");
    }
}
