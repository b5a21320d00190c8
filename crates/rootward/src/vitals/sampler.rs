//! Takes a sample every 100 ms, on the probe thread.
//!
//! A runtime whose workers all wait for work is not woken up for it: it has nothing to be late with. It is asked once a
//! second all the same, in case its own counters are wrong.
//!
//! Time here is the sampler's own: it advances by what a look was expected to take and at most [`SLACK`] more. When the
//! whole process was stopped (a suspended machine, a debugger, `SIGSTOP`), nobody could answer, and that says nothing
//! about the application; when this thread itself was starved, what it measured is its own lateness.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::duration::millis;
use crate::runner::stopped;
use crate::shared::Shared;

use super::lag::{Lag, LagRule};
use super::pulse::{Pulse, Question};
use super::workers::{Reading, Workers, half_held};
use super::{Alive, Seen, Vital};

/// How often the runtime is asked.
const PERIOD: Duration = Duration::from_millis(100);

/// How soon to look again at a question that was not answered within the period: a blocked runtime is to be seen
/// within twice the budget.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How many looks in a row a runtime at rest is left alone.
const LEFT_ALONE: u8 = 9;

/// How much later than meant a look may come and still count in full.
const SLACK: Duration = Duration::from_millis(50);

/// From which length on a stop of the whole process is worth an event.
const STOPPED: Duration = Duration::from_secs(2);

/// The sampler of one instance.
pub(crate) struct Sampler {
    shared: Arc<Shared>,
    pulse: Arc<Pulse>,
    runtime: Handle,
    rule: LagRule,
    workers: Workers,
    /// The sampler's own time.
    now: Duration,
    /// The question under way and when it was asked, in the sampler's own time.
    question: Option<(Question, Duration)>,
    at_rest: bool,
    /// Looks since a runtime at rest was last asked.
    left_alone: u8,
}

impl Sampler {
    /// Of the runtime in which `pulse` answers.
    pub(crate) fn new(shared: Arc<Shared>, pulse: Arc<Pulse>, runtime: Handle) -> Self {
        let limits = shared.vitals.limits;
        Self {
            rule: LagRule::new(limits.lag_budget, limits.fail_open_after),
            workers: Workers::default(),
            now: Duration::ZERO,
            question: None,
            at_rest: false,
            left_alone: 0,
            shared,
            pulse,
            runtime,
        }
    }

    /// Until stop is heard.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let wait = self.prepare();
            let began = Instant::now();
            tokio::select! {
                () = stopped(&mut stop) => return,
                () = tokio::time::sleep(wait) => {}
            }
            self.advance(began.elapsed(), wait);
            self.look();
        }
    }

    /// Asks if no question is under way and there is reason to. How long to wait before the look.
    fn prepare(&mut self) -> Duration {
        if self.question.is_some() {
            return LOOK_AGAIN;
        }
        if self.at_rest && self.left_alone < LEFT_ALONE {
            self.left_alone += 1;
            return PERIOD;
        }
        self.left_alone = 0;
        self.question = Some((self.pulse.ask(), self.now));
        PERIOD
    }

    fn advance(&mut self, elapsed: Duration, meant: Duration) {
        let counted = elapsed.min(meant + SLACK);
        self.now += counted;
        let lost = elapsed.saturating_sub(counted);
        if lost > STOPPED {
            let seconds = lost.as_secs();
            tracing::info!(target: "rootward", seconds, "this process was stopped, and goes on");
        }
    }

    /// Takes one sample.
    fn look(&mut self) {
        let whole = self.lag_of_the_whole();
        let look = self.workers.observe(self.now, readings(&self.runtime));
        let workers = look.held;
        self.at_rest = look.at_rest;
        let gating = whole.max(half_held(&workers));
        let worst = workers.iter().copied().fold(whole, Duration::max);
        let verdict = self.rule.observe(self.now, gating);
        let alive = self.alive(whole);
        self.publish(Seen {
            lag: Some(worst),
            verdict,
            alive,
            workers,
        });
    }

    /// How long the answer took, or is taking.
    fn lag_of_the_whole(&mut self) -> Duration {
        let Some((question, asked)) = &self.question else {
            return Duration::ZERO;
        };
        let waited = self.now.saturating_sub(*asked);
        match self.pulse.took(question) {
            Some(took) => {
                self.question = None;
                took.min(waited)
            }
            None => waited,
        }
    }

    fn alive(&self, lag: Duration) -> Alive {
        let vitals = &self.shared.vitals;
        let limit = vitals.limits.wedge_limit;
        let wedged = (self.question.is_some() && lag >= limit).then_some(Vital::Wedged { limit });
        let silent = vitals.heartbeats.silent(self.now);
        let given_up = vitals.heartbeats.fatal().map(Vital::GivenUp);
        let silent = silent.into_iter().map(Vital::Silent);
        Alive {
            against: wedged.into_iter().chain(silent).chain(given_up).collect(),
        }
    }

    fn publish(&self, seen: Seen) {
        let before = self.shared.vitals.seen();
        let changed = before.verdict != seen.verdict || before.alive != seen.alive;
        log(&before, &seen);
        self.shared.vitals.publish(seen);
        if changed {
            self.shared.touch();
        }
    }
}

/// One event for each transition, none for a sample.
fn log(before: &Seen, after: &Seen) {
    let lag_ms = after.lag.map(millis);
    if before.verdict != after.verdict {
        match after.verdict {
            Lag::Within => {
                tracing::info!(target: "rootward", lag_ms, "the application's runtime answers in time again");
            }
            Lag::Over => {
                tracing::warn!(target: "rootward", lag_ms, "the application's runtime answers late: not ready");
            }
            Lag::FailedOpen { .. } => {
                tracing::warn!(target: "rootward", lag_ms, "the application's runtime still answers late: ready in spite of it");
            }
        }
    }
    if before.alive != after.alive {
        match after.alive.reason() {
            Some(reason) => tracing::error!(target: "rootward", reason, "only a restart helps"),
            None => tracing::info!(target: "rootward", "alive again"),
        }
    }
}

/// What the runtime says of its workers.
#[cfg(target_has_atomic = "64")]
fn readings(runtime: &Handle) -> impl Iterator<Item = Reading> {
    let metrics = runtime.metrics();
    (0..metrics.num_workers()).map(move |worker| Reading {
        turns: metrics.worker_park_unpark_count(worker),
        busy: metrics.worker_total_busy_duration(worker),
    })
}

/// Where the runtime cannot count: the whole is measured all the same.
#[cfg(not(target_has_atomic = "64"))]
fn readings(_: &Handle) -> impl Iterator<Item = Reading> {
    std::iter::empty()
}
