//! What is true at one moment: the newest state of each check, judged by its age now.
//!
//! Everything that is answered comes from here, and the age is taken when the question is asked. So evidence turns
//! stale on time even if the application's runtime is blocked and nobody writes any more.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::{CheckStatus, Criticality, Effect, ErrorCategory, InstanceStatus, Name};
use rootward_core::{effect, roll_up_components};
use tokio::time::Instant;

use crate::duration;
use crate::shared::{CheckFacts, CheckState, Checks, Entry, Shared};
use crate::telemetry::CheckStats;
use crate::vitals::Lag;

/// How long after its time limit the first result of a check is still waited for: the runner needs a moment to
/// record it.
const FIRST_RESULT_SLACK: Duration = Duration::from_millis(250);

/// The kind of a check of another service.
const SERVICE: &str = "service";

/// One moment.
pub(crate) struct View<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) now: Instant,
    checks: Arc<Checks>,
    pub(crate) started: bool,
}

/// One check at that moment.
pub(crate) struct Seen<'v> {
    pub(crate) facts: &'v CheckFacts,
    pub(crate) stats: &'v CheckStats,
    pub(crate) state: &'v CheckState,
    /// The status, with evidence that is too old counted as none.
    pub(crate) status: CheckStatus,
    /// How old the evidence is; none before the first result.
    pub(crate) age: Option<Duration>,
    /// The evidence is too old.
    pub(crate) stale: bool,
}

impl Seen<'_> {
    pub(crate) fn effect(&self) -> Effect {
        effect(self.status, self.facts.criticality)
    }

    /// Why it is not up, as it is shown; none if there is nothing to say.
    pub(crate) fn error(&self) -> Option<String> {
        if self.stale {
            return Some(format!(
                "no result for {}, at most {} may pass",
                duration::text(self.age.unwrap_or_default()),
                duration::text(self.facts.stale_after)
            ));
        }
        let trouble = self.state.trouble.as_ref()?;
        Some(if trouble.still_running {
            format!("{}, still running", trouble.text)
        } else {
            trouble.text.clone()
        })
    }

    pub(crate) fn error_category(&self) -> Option<ErrorCategory> {
        if self.stale {
            return Some(ErrorCategory::Stale);
        }
        self.state.trouble.as_ref()?.category
    }
}

impl<'a> View<'a> {
    /// What a probe is told: a start that it sees to be over stays over.
    pub(crate) fn of(shared: &'a Shared, now: Instant) -> Self {
        let checks = shared.checks();
        let nothing_else = || awaited(&checks, now).next().is_none();
        let started = shared.startup.observe(nothing_else);
        Self::with(shared, now, checks, started)
    }

    /// The same, for whoever looks on without being a probe: it may end no start.
    pub(crate) fn peek(shared: &'a Shared, now: Instant) -> Self {
        let checks = shared.checks();
        let nothing_else = || awaited(&checks, now).next().is_none();
        let started = shared.startup.peek(nothing_else);
        Self::with(shared, now, checks, started)
    }

    fn with(shared: &'a Shared, now: Instant, checks: Arc<Checks>, started: bool) -> Self {
        Self {
            shared,
            now,
            checks,
            started,
        }
    }

    pub(crate) fn checks(&self) -> impl Iterator<Item = Seen<'_>> {
        let now = self.now;
        self.checks.iter().map(move |check| {
            let Entry {
                facts,
                stats,
                state,
                ..
            } = check;
            let age = state
                .last
                .map(|last| now.saturating_duration_since(last.ended.instant));
            let stale = age.is_some_and(|age| age > facts.stale_after);
            Seen {
                facts,
                stats,
                state,
                status: if stale {
                    CheckStatus::Unknown
                } else {
                    state.status
                },
                age,
                stale,
            }
        })
    }

    pub(crate) fn status(&self) -> InstanceStatus {
        let checks = self.checks();
        roll_up_components(
            self.started,
            checks.map(|check| (check.status, check.facts.criticality)),
        )
    }

    /// False when a hard component of this instance's own, local or a resource, is down. A service that it calls does
    /// not count: two services that call each other could otherwise hold each other down.
    pub(crate) fn serving(&self) -> bool {
        !self.checks().any(|check| {
            check.status == CheckStatus::Down
                && check.facts.criticality == Criticality::Hard
                && check.facts.kind.as_ref().map(Name::as_str) != Some(SERVICE)
        })
    }

    /// What the start is still held by: latches, and checks without a first result.
    pub(crate) fn held(&self) -> Vec<String> {
        if self.started {
            return Vec::new();
        }
        let latches = self.shared.startup.held();
        let latches = latches.iter().map(|name| name.to_string());
        let checks =
            awaited(&self.checks, self.now).map(|facts| format!("first result of {}", facts.name));
        latches.chain(checks).collect()
    }

    /// Why this instance does not want traffic; empty if it does. The words that begin a reason are the phrases of
    /// the error categories, so that a caller's check can tell a booting instance from a failing one.
    pub(crate) fn reasons_not_ready(&self) -> Vec<String> {
        let conditions = self.readiness().into_iter();
        conditions
            .flat_map(|condition| {
                let Condition {
                    name,
                    against,
                    is_check,
                } = condition;
                let reasons = against.into_iter();
                reasons.map(move |reason| {
                    if is_check {
                        format!("{name} is down: {reason}")
                    } else {
                        reason
                    }
                })
            })
            .collect()
    }

    /// The conditions of readiness, all of which must hold.
    pub(crate) fn readiness(&self) -> Vec<Condition<'_>> {
        let mut conditions = vec![
            // First, since the small answers are cut to size: whoever leaves says so.
            Condition::new("shutdown", self.against_shutdown()),
            Condition::new("startup", self.against_startup()),
            Condition::new(
                "application",
                self.shared.not_ready().map(|reason| reason.to_string()),
            ),
            Condition::new("loop-lag", self.against_lag()),
        ];
        let gating = self.checks().filter(|check| check.facts.gates_readiness);
        conditions.extend(gating.map(|check| {
            Condition {
                name: check.facts.name.as_str().into(),
                against: (check.status == CheckStatus::Down)
                    .then(|| check.error().unwrap_or_default())
                    .into_iter()
                    .collect(),
                is_check: true,
            }
        }));
        conditions
    }

    fn against_startup(&self) -> Vec<String> {
        if self.started {
            return Vec::new();
        }
        let starting = ErrorCategory::Starting.phrase();
        let held = self.held();
        if held.is_empty() {
            return vec![starting.to_owned()];
        }
        held.iter()
            .map(|what| format!("{starting}: {what}"))
            .collect()
    }

    fn against_shutdown(&self) -> impl Iterator<Item = String> {
        let stopped = ErrorCategory::ShuttingDown.phrase();
        let ended = self
            .shared
            .is_ended()
            .then(|| format!("{stopped}: health is checked no longer"));
        self.shared.drain.reason(self.now).into_iter().chain(ended)
    }

    fn against_lag(&self) -> Option<String> {
        let vitals = self.shared.vitals.seen();
        // Lag that lasts fails open, because an overloaded instance still serves; one that answers nobody does not.
        if let Some(wedged) = vitals.alive.wedged() {
            return Some(wedged.sentence());
        }
        match vitals.verdict {
            Lag::Within | Lag::FailedOpen { .. } => None,
            Lag::Over => {
                let budget = self.shared.vitals.limits.lag_budget;
                let now = vitals.lag.filter(|lag| *lag > budget);
                let when = now.map_or_else(
                    || "answered late a moment ago".to_owned(),
                    |lag| format!("answers after {}", duration::text(lag)),
                );
                Some(format!(
                    "the application's runtime {when}, at most {} may pass",
                    duration::text(budget)
                ))
            }
        }
    }
}

/// One condition of a probe.
pub(crate) struct Condition<'a> {
    pub(crate) name: Cow<'a, str>,
    /// What speaks against it, each in a sentence; it holds if nothing does.
    pub(crate) against: Vec<String>,
    /// It is a check, of which strangers know only that it failed; what speaks against it is its error.
    pub(crate) is_check: bool,
}

impl<'a> Condition<'a> {
    pub(crate) fn new(
        name: impl Into<Cow<'a, str>>,
        against: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            name: name.into(),
            against: against.into_iter().collect(),
            is_check: false,
        }
    }

    pub(crate) const fn holds(&self) -> bool {
        self.against.is_empty()
    }
}

/// Lag in milliseconds, as it is written.
pub(crate) fn lag_millis(lag: Duration) -> f64 {
    let micros = u32::try_from(lag.as_micros()).unwrap_or(u32::MAX);
    f64::from(micros) / 1000.0
}

/// Checks whose first result is still waited for. A failed first result is a result, and a first time limit that has
/// passed is as good: a dead database does not hold a start.
fn awaited(checks: &Checks, now: Instant) -> impl Iterator<Item = &CheckFacts> {
    checks.iter().filter_map(move |check| {
        let age = now.saturating_duration_since(check.born);
        let waits = check.state.seq == 0 && age < check.facts.timeout + FIRST_RESULT_SLACK;
        waits.then_some(&*check.facts)
    })
}
