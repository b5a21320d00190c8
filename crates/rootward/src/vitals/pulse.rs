//! The question and the answer: the sampler asks, a task on the application's runtime answers as soon as the
//! runtime gives it a thread.
//!
//! The task has no timer: it is woken from outside. So it measures the scheduler and not the clock, and it does nothing
//! to tests whose time is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use crate::runner::stopped;

/// What the two sides share.
#[derive(Debug)]
pub(crate) struct Pulse {
    question: Notify,
    origin: Instant,
    /// When the newest question was answered, in nanoseconds since `origin`; 0 before the first answer.
    answered: AtomicU64,
}

impl Pulse {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            question: Notify::new(),
            origin: Instant::now(),
            answered: AtomicU64::new(0),
        })
    }

    /// The side of the application's runtime. Ends with stop.
    pub(crate) async fn answer(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                biased;
                () = stopped(&mut stop) => return,
                () = self.question.notified() => {
                    let nanos = self.origin.elapsed().as_nanos();
                    let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
                    self.answered.store(nanos, Ordering::Release);
                }
            }
        }
    }

    /// Asks.
    pub(super) fn ask(&self) -> Question {
        let asked = self.origin.elapsed();
        self.question.notify_one();
        Question { asked }
    }

    /// How long the answer took, if it is there.
    pub(super) fn took(&self, question: &Question) -> Option<Duration> {
        let answered = Duration::from_nanos(self.answered.load(Ordering::Acquire));
        answered.checked_sub(question.asked)
    }
}

/// A question under way.
#[derive(Debug)]
pub(super) struct Question {
    asked: Duration,
}
