//! Takes a sample every 100 ms, on a thread of its own: neither a blocked runtime nor a flood of probes delays it. It is a
//! plain thread that sleeps in the kernel, because it wakes up ten times a second for as long as the service lives: a timer
//! of an asynchronous runtime would wake it twice as often.
//!
//! A runtime whose workers all wait for work is not woken up for it: it has nothing to be late with. It is asked
//! every five seconds all the same, in case its own counters are wrong.
//!
//! Time here is the sampler's own: it advances by what a look was expected to take and at most [`SLACK`] more. When the
//! whole process was stopped (a suspended machine, a debugger, `SIGSTOP`), nobody could answer, and that says nothing
//! about the application; when this thread itself was starved, what it measured is its own lateness.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::error::Kind;
use crate::shared::Shared;
use crate::telemetry::Glance;

use super::lag::LagRule;
use super::pulse::{Pulse, Question};
use super::workers::{Reading, Workers, half_held};
use super::{Alive, Seen, Vital};

/// How often the runtime is asked.
const PERIOD: Duration = Duration::from_millis(100);

/// How often a runtime at rest is looked at. What blocks it from then on is to be seen within twice the default budget:
/// after this, the budget, and two looks.
const AT_REST: Duration = Duration::from_millis(150);

/// How soon to look again at a question that was not answered within the period.
const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// How many looks in a row a runtime at rest is left alone.
const LEFT_ALONE: u8 = 32;

/// How much later than meant a look may come and still count in full.
const SLACK: Duration = Duration::from_millis(50);

/// From which length on a stop of the whole process is worth an event.
const STOPPED: Duration = Duration::from_secs(2);

/// The thread that takes the samples. It ends when this is dropped.
pub(crate) struct SamplerThread {
    stop: mpsc::Sender<Never>,
    thread: JoinHandle<()>,
    ended: oneshot::Receiver<()>,
}

/// Nothing is ever sent: the end of the channel is the message.
enum Never {}

impl SamplerThread {
    /// Ends the thread, and waits for that.
    pub(crate) async fn end(self) {
        drop(self.stop);
        // A sender that is gone says the same as one that has sent.
        let _ = self.ended.await;
        if self.thread.join().is_err() {
            tracing::error!(target: "rootward", "the sampler of the runtime panicked");
        }
    }
}

/// The sampler of one instance.
pub(crate) struct Sampler {
    shared: Arc<Shared>,
    pulse: Arc<Pulse>,
    runtime: Handle,
    rule: LagRule,
    budget: Duration,
    workers: Workers,
    /// The sampler's own time.
    now: Duration,
    /// The question under way and when it was asked, in the sampler's own time.
    question: Option<(Question, Duration)>,
    glance: Glance,
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
            budget: limits.lag_budget,
            workers: Workers::default(),
            now: Duration::ZERO,
            question: None,
            glance: Glance::default(),
            at_rest: false,
            left_alone: 0,
            shared,
            pulse,
            runtime,
        }
    }

    /// Starts the thread that takes samples until it is told to end.
    pub(crate) fn start(self) -> Result<SamplerThread, Kind> {
        let (stop, stopped) = mpsc::channel();
        let (ending, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("rootward-vitals".to_owned())
            .spawn(move || {
                self.run(&stopped);
                // Whoever waits for it gives up only with its own thread.
                let _ = ending.send(());
            })
            .map_err(|source| Kind::Thread {
                what: "the sampler of the runtime",
                source,
            })?;
        Ok(SamplerThread {
            stop,
            thread,
            ended,
        })
    }

    fn run(mut self, stopped: &mpsc::Receiver<Never>) {
        loop {
            let wait = self.prepare();
            let began = Instant::now();
            match stopped.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
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
            return AT_REST;
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
            self.shared.telemetry.journal.say(move || {
                tracing::info!(target: "rootward", seconds, "this process was stopped, and goes on");
            });
        }
    }

    /// Takes one sample.
    fn look(&mut self) {
        let whole = self.lag_of_the_whole();
        let look = self.workers.observe(self.now, readings(&self.runtime));
        let workers = look.held;
        self.at_rest = look.at_rest;
        let half = half_held(&workers);
        // A question that waits for less than the budget says nothing yet.
        if whole.is_answered() || whole.lag().max(half) > self.budget {
            let answered = matches!(whole, Whole::Answered(_));
            self.rule.observe(self.now, whole.lag().max(half), answered);
        }
        let worst = workers.iter().copied().fold(whole.lag(), Duration::max);
        let verdict = self.rule.verdict(self.now);
        let alive = self.alive(whole);
        self.publish(Seen {
            lag: Some(worst),
            verdict,
            alive,
            workers,
        });
    }

    /// How long the answer took, or is taking.
    fn lag_of_the_whole(&mut self) -> Whole {
        let Some((question, asked)) = &self.question else {
            return Whole::AtRest;
        };
        let waited = self.now.saturating_sub(*asked);
        match self.pulse.took(question) {
            Some(took) => {
                self.question = None;
                Whole::Answered(took.min(waited))
            }
            None => Whole::Waiting(waited),
        }
    }

    fn alive(&self, whole: Whole) -> Alive {
        let vitals = &self.shared.vitals;
        let limit = vitals.limits.wedge_limit;
        let wedged = match whole {
            Whole::Waiting(waited) if waited >= limit => Some(Vital::Wedged { limit }),
            Whole::Waiting(_) | Whole::Answered(_) | Whole::AtRest => None,
        };
        let silent = vitals.heartbeats.silent(self.now);
        // Tasks end one after the other while the instance leaves. Restarted for that, it would lose what is in flight.
        let leaving = self.shared.drain.is_under_way();
        let silent = silent.into_iter().filter(|_| !leaving);
        let given_up = vitals.heartbeats.fatal().map(Vital::GivenUp);
        let silent = silent.map(Vital::Silent);
        Alive {
            against: wedged.into_iter().chain(silent).chain(given_up).collect(),
        }
    }

    fn publish(&mut self, seen: Seen) {
        let before = self.shared.vitals.seen();
        let changed = before.verdict != seen.verdict || before.alive != seen.alive;
        self.shared.vitals.publish(&before, seen);
        if changed {
            self.shared.touch();
        }
        self.glance.look(&self.shared, changed);
    }
}

/// What the runtime as a whole does with the question.
#[derive(Debug, Clone, Copy)]
enum Whole {
    /// It was not asked.
    AtRest,
    /// It took so long.
    Answered(Duration),
    /// It has taken so long already.
    Waiting(Duration),
}

impl Whole {
    const fn lag(self) -> Duration {
        match self {
            Self::AtRest => Duration::ZERO,
            Self::Answered(lag) | Self::Waiting(lag) => lag,
        }
    }

    /// Nothing is waited for.
    const fn is_answered(self) -> bool {
        match self {
            Self::AtRest | Self::Answered(_) => true,
            Self::Waiting(_) => false,
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
