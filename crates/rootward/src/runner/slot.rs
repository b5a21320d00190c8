//! One check in the runner: where its run is, what its results amount to, and when something is due.

use std::mem;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rootward_core::{CheckStatus, Damping, Evidence, Name};
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::events::Transition;
use crate::shared::{CheckFacts, CheckState, Entry, LastRun, Shared, Trouble};
use crate::telemetry::{CheckStats, Completed};

use super::Plan;
use super::run::{self, Ended, Finished, Verdict};
use super::schedule::Schedule;

/// How long a cancelled run may take to end before it counts as one that ignores cancellation.
const CANCEL_GRACE: Duration = Duration::from_millis(50);

/// How late the runner may wake up without suspecting that the runtime was held up.
const LATE: Duration = Duration::from_millis(100);

/// How long a run that the runtime held up may take to hand in what it has.
const HELD_UP_GRACE: Duration = Duration::from_millis(100);

/// How soon to look again at a run that was not given a thread yet.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One check.
pub(super) struct Slot {
    facts: Arc<CheckFacts>,
    plan: Plan,
    schedule: Schedule,
    stats: Arc<CheckStats>,
    damping: Damping,
    state: Arc<CheckState>,
    born: Instant,
    changed: bool,
    activity: Activity,
}

enum Activity {
    /// Nothing runs until then.
    Waiting { due: Instant },
    /// A run is under way.
    Running {
        run: Run,
        look: Instant,
        /// The runtime was found to have been held up, and the run was given time for that.
        held_up: bool,
    },
    /// The run has passed its time limit and was cancelled.
    Cancelling { run: Run, until: Instant },
    /// The run ignores that. It counts as one more timeout whenever a run would be due.
    Abandoned { run: Run, due: Instant },
}

struct Run {
    task: AbortHandle,
    asked: Instant,
    began: Arc<OnceLock<Instant>>,
}

impl Run {
    fn took(&self, now: Instant) -> Duration {
        let began = self.began.get().copied().unwrap_or(self.asked);
        now.saturating_duration_since(began)
    }
}

impl Slot {
    /// A check that has not run; `epoch` is what the phases of all checks are counted from.
    pub(super) fn new(entry: Entry, plan: Plan, epoch: Instant) -> Self {
        let Entry {
            facts,
            stats,
            state,
            born,
        } = entry;
        Self {
            damping: Damping::new(facts.thresholds),
            // At once, because until then nothing is known.
            activity: Activity::Waiting { due: born },
            schedule: Schedule::new(&plan.context, facts.interval, epoch),
            facts,
            plan,
            stats,
            state,
            born,
            changed: false,
        }
    }

    pub(super) fn name(&self) -> &Name {
        &self.facts.name
    }

    /// Ends whatever runs. What ignores that ends unheard.
    pub(super) fn give_up(self) {
        match self.activity {
            Activity::Waiting { .. } => {}
            Activity::Running { run, .. }
            | Activity::Cancelling { run, .. }
            | Activity::Abandoned { run, .. } => run.task.abort(),
        }
    }

    /// When something is due.
    pub(super) const fn wake(&self) -> Instant {
        match &self.activity {
            Activity::Waiting { due } | Activity::Abandoned { due, .. } => *due,
            Activity::Running { look, .. } => *look,
            Activity::Cancelling { until, .. } => *until,
        }
    }

    /// How many results there were.
    pub(super) fn seq(&self) -> u64 {
        self.state.seq
    }

    /// Its run ignores its time limit, and no other is begun beside it.
    pub(super) const fn is_abandoned(&self) -> bool {
        matches!(self.activity, Activity::Abandoned { .. })
    }

    /// A run is due now, if none is under way.
    pub(super) fn run_now(&mut self, now: Instant) {
        if let Activity::Waiting { due } = &mut self.activity {
            *due = now.min(*due);
        }
    }

    /// What is shown of it.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            facts: Arc::clone(&self.facts),
            stats: Arc::clone(&self.stats),
            state: Arc::clone(&self.state),
            born: self.born,
        }
    }

    /// Whether the state was changed since the last time this was asked.
    pub(super) const fn take_changed(&mut self) -> bool {
        mem::replace(&mut self.changed, false)
    }

    pub(super) fn name_of_running(&self) -> Option<&str> {
        match &self.activity {
            Activity::Waiting { .. } => None,
            Activity::Running { run, .. }
            | Activity::Cancelling { run, .. }
            | Activity::Abandoned { run, .. } => {
                (!run.task.is_finished()).then_some(self.facts.name.as_str())
            }
        }
    }

    /// Does what is due. The task of a run that was started.
    pub(super) fn handle_time(
        &mut self,
        now: Instant,
        shared: &Shared,
        running: &mut JoinSet<Finished>,
    ) -> Option<task::Id> {
        if now < self.wake() {
            return None;
        }
        let idle = Activity::Waiting { due: now };
        match mem::replace(&mut self.activity, idle) {
            Activity::Waiting { .. } => {
                let began = Arc::new(OnceLock::new());
                let task = run::start(&self.plan, &began, running);
                let id = task.id();
                self.activity = Activity::Running {
                    look: now + self.facts.timeout,
                    held_up: false,
                    run: Run {
                        task,
                        asked: now,
                        began,
                    },
                };
                return Some(id);
            }
            Activity::Running { run, held_up, .. } => {
                self.activity = self.look_at(run, held_up, now);
            }
            Activity::Cancelling { run, .. } => {
                self.still_running(run, now, shared);
            }
            Activity::Abandoned { run, .. } => {
                self.still_running(run, now, shared);
            }
        }
        None
    }

    /// Is the run over its time limit, and is that its own doing?
    fn look_at(&self, run: Run, held_up: bool, now: Instant) -> Activity {
        // A run that was never given a thread says nothing about what it would have asked. If that lasts, the
        // evidence turns stale.
        let Some(began) = run.began.get() else {
            return Activity::Running {
                run,
                held_up,
                look: now + LOOK_AGAIN,
            };
        };
        let limit = *began + self.facts.timeout;
        if now < limit {
            return Activity::Running {
                run,
                held_up,
                look: limit,
            };
        }
        // The runner itself was held up, so the run was too: its answer may be waiting to be read. Once only: a slow
        // runtime must not hide a dependency that hangs.
        if now - limit > LATE && !held_up {
            return Activity::Running {
                run,
                held_up: true,
                look: now + HELD_UP_GRACE,
            };
        }
        run.task.abort();
        Activity::Cancelling {
            run,
            until: now + CANCEL_GRACE,
        }
    }

    fn still_running(&mut self, run: Run, now: Instant, shared: &Shared) {
        let took = run.took(now);
        self.record(
            Verdict::timed_out(self.facts.timeout),
            true,
            took,
            now,
            shared,
        );
        let due = self.due_after(now, now);
        self.activity = Activity::Abandoned { run, due };
    }

    /// Takes what a run has to say when it has ended.
    pub(super) fn handle_ended(&mut self, ended: Ended, shared: &Shared) {
        let now = Instant::now();
        let idle = Activity::Waiting { due: now };
        let (run, cancelled) = match mem::replace(&mut self.activity, idle) {
            Activity::Running { run, .. } => (run, false),
            Activity::Cancelling { run, .. } => (run, true),
            Activity::Abandoned { due, .. } => {
                // Whatever it says comes too late: it was counted as timeouts already.
                let check = self.facts.name.as_str();
                tracing::debug!(target: "rootward", check, "a result came too late and was dropped");
                self.activity = Activity::Waiting { due };
                self.abandoned_ended();
                return;
            }
            Activity::Waiting { due } => {
                self.activity = Activity::Waiting { due };
                return;
            }
        };
        let timeout = self.facts.timeout;
        let (verdict, took, at) = match ended {
            Ended::Finished(finished) if finished.took() <= timeout => {
                (self.judged(&finished), finished.took(), finished.ended)
            }
            Ended::Finished(finished)
                if cancelled || finished.held_thread >= timeout || self.gave_up(&finished) =>
            {
                let timed_out = Verdict::timed_out(timeout);
                (timed_out, finished.took(), finished.ended)
            }
            Ended::Finished(finished) => {
                // The runtime was held up while it ran. That says nothing about what was asked.
                let due = self.schedule.retry(finished.ended, self.state.seq);
                self.activity = Activity::Waiting { due };
                return;
            }
            Ended::Panicked(verdict) => (verdict, run.took(now), now),
            Ended::Cancelled => (Verdict::timed_out(timeout), run.took(now), now),
        };
        self.record(verdict, false, took, at, shared);
        let due = self.due_after(run.asked, now);
        self.activity = Activity::Waiting { due };
    }

    fn judged(&self, finished: &Finished) -> Verdict {
        let took = finished.took();
        match self.facts.slow_above {
            Some(limit) if finished.verdict.evidence == Evidence::Up && took > limit => {
                Verdict::slow(took, limit)
            }
            Some(_) | None => finished.verdict.clone(),
        }
    }

    /// Its own client gave up when we would have, in the same moment, and was first to be seen.
    fn gave_up(&self, finished: &Finished) -> bool {
        finished.verdict.evidence != Evidence::Up && finished.took() <= self.facts.timeout + LATE
    }

    fn due_after(&self, asked: Instant, now: Instant) -> Instant {
        if self.damping.pending().is_some() {
            self.schedule.retry(now, self.state.seq)
        } else {
            self.schedule.next(asked).max(now)
        }
    }

    fn abandoned_ended(&mut self) {
        let mut state = CheckState::clone(&self.state);
        if let Some(trouble) = &mut state.trouble {
            trouble.still_running = false;
        }
        self.set(state);
    }

    fn set(&mut self, state: CheckState) {
        self.state = Arc::new(state);
        self.changed = true;
    }

    /// Counts one result.
    fn record(
        &mut self,
        verdict: Verdict,
        still_running: bool,
        took: Duration,
        ended: Instant,
        shared: &Shared,
    ) {
        let before = &self.state;
        let ended = shared.at(ended);
        // A result after evidence that had turned stale is a first result: nothing is left that it could be damped
        // against.
        let stale = before.last.is_some_and(|last| {
            ended.instant.saturating_duration_since(last.ended.instant) > self.facts.stale_after
        });
        if stale {
            self.damping = Damping::new(self.facts.thresholds);
        }
        let from = if stale {
            CheckStatus::Unknown
        } else {
            before.status
        };
        self.damping.observe(verdict.evidence);
        let status = self.damping.status();
        let seq = before.seq + 1;
        let changed = status != from;
        self.stats.completed(Completed {
            evidence: verdict.evidence,
            category: verdict.category,
            took: (!still_running).then_some(took),
            from,
            to: status,
        });

        let known = before.trouble.as_ref().filter(|_| !stale);
        let trouble = if verdict.evidence != Evidence::Up {
            let same = known.filter(|known| known.category == verdict.category);
            let is_new = changed || (status != CheckStatus::Up && same.is_none());
            let reference = if is_new {
                Some(Arc::from(format!("{}-{seq}", self.facts.name)))
            } else {
                same.and_then(|known| known.reference.clone())
            };
            if is_new {
                let transition = Transition {
                    check: &self.facts.name,
                    from,
                    to: status,
                    category: verdict.category,
                    reason: &verdict.text,
                    error_ref: reference.as_deref(),
                    detail: verdict.detail.as_deref(),
                };
                shared.telemetry.changed(&transition, ended);
            }
            Some(Trouble {
                category: verdict.category,
                text: verdict.text,
                still_running,
                reference,
            })
        } else {
            if changed {
                let transition = Transition::to(&self.facts.name, from, status);
                shared.telemetry.changed(&transition, ended);
            }
            // While a better status is pending, the trouble explains the worse one that still counts.
            known.filter(|_| status != CheckStatus::Up).cloned()
        };
        let state = CheckState {
            status,
            raw_status: self.damping.raw_status(),
            pending: self.damping.pending(),
            seq,
            last: Some(LastRun { ended, took }),
            since: if changed { Some(ended) } else { before.since },
            trouble,
        };
        self.set(state);
    }
}
