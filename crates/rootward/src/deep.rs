//! `/health/deep`: all checks run now, for everybody who asks while they do.
//!
//! Whoever asks joins the run under way or begins one. A run begins at most every five seconds, so that a health endpoint
//! cannot be used to load what the service depends on. The runner does the running; this is the door to it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::duration;

/// The least time between the beginnings of two runs of all checks: 5 s. [`TooMany`] says how much of it is left.
pub const DEEP_PERIOD: Duration = Duration::from_secs(5);

/// The most callers that wait for one run of all checks: 16. One more gets [`TooMany`], and may ask again after 1 s.
pub const MAX_DEEP_WAITING: usize = 16;

/// How much longer than the longest time limit a caller waits. Cancelling a run takes a moment; a runtime that is blocked
/// takes longer, and the answer then says what is missing.
const SLACK: Duration = Duration::from_millis(400);

/// Who wants all checks to run now, and how far that is.
#[derive(Debug)]
pub(crate) struct Deep {
    door: Mutex<Door>,
    /// Wakes the runner.
    wanted: Notify,
    /// How many runs have been completed.
    completed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Door {
    /// How many runs have begun.
    begun: u64,
    last_began: Option<Instant>,
    waiting: usize,
}

/// The checks do not run now: the last run of all checks began less than [`DEEP_PERIOD`] ago and is over, or
/// [`MAX_DEEP_WAITING`] callers wait for the one under way.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use rootward::{DEEP_PERIOD, Health};
///
/// let health = Health::builder("cart").start()?;
/// health.check_now().await?;
/// let too_many = health.check_now().await.expect_err("one was begun a moment ago");
/// assert!(too_many.retry_after() <= DEEP_PERIOD);
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the checks were run a moment ago, or too many wait for them: again after {}", duration::text(*retry_after))]
pub struct TooMany {
    retry_after: Duration,
}

impl TooMany {
    /// After how long asking again may help.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        self.retry_after
    }
}

impl Deep {
    pub(crate) fn new() -> Self {
        Self {
            door: Mutex::default(),
            wanted: Notify::new(),
            completed: watch::Sender::new(0),
        }
    }

    /// Joins the run under way, or begins one.
    ///
    /// # Errors
    /// When the last run began less than [`DEEP_PERIOD`] ago and is over, or too many wait already.
    pub(crate) fn ask(&self, now: Instant) -> Result<Waiting<'_>, TooMany> {
        let mut door = self.door();
        let under_way = *self.completed.borrow() < door.begun;
        if !under_way {
            let next = door.last_began.map_or(now, |began| began + DEEP_PERIOD);
            let retry_after = next.saturating_duration_since(now);
            if !retry_after.is_zero() {
                return Err(TooMany { retry_after });
            }
        }
        if door.waiting >= MAX_DEEP_WAITING {
            return Err(TooMany {
                retry_after: Duration::from_secs(1),
            });
        }
        door.waiting += 1;
        if !under_way {
            door.begun += 1;
            door.last_began = Some(now);
            self.wanted.notify_one();
        }
        Ok(Waiting {
            deep: self,
            run: door.begun,
        })
    }

    /// Until somebody wants a run. The side of the runner.
    pub(crate) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// The run that was wanted is over.
    pub(crate) fn complete(&self) {
        let begun = self.door().begun;
        self.completed.send_replace(begun);
    }

    fn door(&self) -> std::sync::MutexGuard<'_, Door> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller that waits for a run. Dropping it leaves the run to the others.
#[derive(Debug)]
pub(crate) struct Waiting<'d> {
    deep: &'d Deep,
    run: u64,
}

impl Waiting<'_> {
    /// Until every check has a result of this run, at most for the longest time limit of a check and a moment. Whether
    /// every check has.
    pub(crate) async fn completed(self, longest_timeout: Duration) -> bool {
        let mut completed = self.deep.completed.subscribe();
        let done = completed.wait_for(|completed| *completed >= self.run);
        let waited = tokio::time::timeout(longest_timeout + SLACK, done).await;
        matches!(waited, Ok(Ok(_)))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.deep.door().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_run_is_shared_by_all_who_ask_while_it_lasts_and_the_next_begins_five_seconds_later()
    {
        let deep = Deep::new();
        let began = Instant::now();
        let first = deep.ask(began).expect("it begins");
        let second = deep.ask(began).expect("it joins");
        assert_eq!(deep.door().begun, 1);
        deep.complete();
        assert!(first.completed(Duration::ZERO).await);
        assert!(second.completed(Duration::ZERO).await);
        let too_soon = deep.ask(began + Duration::from_secs(2)).err();
        assert_eq!(
            too_soon.map(|too_many| too_many.retry_after),
            Some(Duration::from_secs(3))
        );
        assert!(deep.ask(began + DEEP_PERIOD).is_ok());
        assert_eq!(deep.door().begun, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_callers_wait_than_may_and_who_gives_up_makes_room() {
        let deep = Deep::new();
        let now = Instant::now();
        let waiting: Vec<_> = (0..MAX_DEEP_WAITING)
            .filter_map(|_| deep.ask(now).ok())
            .collect();
        assert_eq!(waiting.len(), MAX_DEEP_WAITING);
        assert!(deep.ask(now).is_err());
        drop(waiting);
        assert!(deep.ask(now).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_nobody_does_is_not_waited_for_without_end() {
        let deep = Deep::new();
        let began = Instant::now();
        let waiting = deep.ask(began).expect("it begins");
        assert!(!waiting.completed(Duration::from_millis(500)).await);
        assert_eq!(began.elapsed(), Duration::from_millis(900));
    }
}
