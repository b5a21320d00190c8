//! Progress of a worker: a service that lives on a queue has no requests to watch, so it is judged by what it completes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rootward_core::ErrorCategory;
use tokio::time::Instant;

use crate::failure::{Failure, Outcome, Reason};

use super::{Check, Unlabelled};

/// What a worker has to do and what it has done. Cheap to clone; all clones count together.
///
/// ```
/// use rootward::{Check, Health, Progress};
/// use std::time::Duration;
///
/// let progress = Progress::new();
/// let check = Check::progress("mail-worker", &progress, Duration::from_secs(60));
/// Health::builder("mailer").check(check.hard());
///
/// progress.set_backlog(12); // what waits, as often as it is known
/// progress.completed(); // after each piece of work
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    backlog: AtomicU64,
    completed: AtomicU64,
}

impl Progress {
    /// Nothing to do and nothing done.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many pieces of work wait or are being worked on.
    pub fn set_backlog(&self, waiting: u64) {
        self.0.backlog.store(waiting, Ordering::Relaxed);
    }

    /// One piece of work was completed.
    pub fn completed(&self) {
        self.0.completed.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the last look saw.
struct Last {
    completed: u64,
    /// Since when there has been a backlog and nothing was completed; none without a backlog.
    at: Option<Instant>,
}

impl Check<Unlabelled> {
    /// Down when there is a backlog and nothing was completed for longer than `within`. Without a backlog it is up,
    /// however long ago the last work was.
    ///
    /// The check is local: make it hard, and an instance whose worker is stuck leaves the rotation. If only a restart
    /// helps against a stuck worker, declare it with [`Health::watch`](crate::Health::watch) as well; but a worker that
    /// waits for a slow database is not helped by one.
    ///
    /// `within` is longer than the longest piece of work. Looked at once an interval, as any check.
    ///
    /// ```
    /// use std::time::Duration;
    /// use rootward::{Check, Health, Progress};
    ///
    /// let progress = Progress::new();
    /// // The longest import takes two minutes.
    /// let importing = Check::progress("importer", &progress, Duration::from_secs(300));
    /// Health::builder("catalogue").check(importing.hard());
    /// ```
    pub fn progress(name: impl Into<String>, progress: &Progress, within: Duration) -> Self {
        let progress = progress.clone();
        let last = Arc::new(Mutex::new(Last {
            completed: 0,
            at: None,
        }));
        let check = Self::new(name, move || {
            let result = judge(&progress.0, &last, within, Instant::now());
            std::future::ready(result)
        });
        check.local().kind("progress")
    }
}

fn judge(
    counts: &Counts,
    last: &Mutex<Last>,
    within: Duration,
    now: Instant,
) -> Result<Outcome, Failure> {
    let completed = counts.completed.load(Ordering::Relaxed);
    let backlog = counts.backlog.load(Ordering::Relaxed);
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let at = match last.at {
        Some(at) if backlog > 0 && completed == last.completed => at,
        Some(_) | None => now,
    };
    *last = Last {
        completed,
        at: (backlog > 0).then_some(at),
    };
    let since = now.saturating_duration_since(at);
    if since <= within {
        return Ok(Outcome::Up);
    }
    Err(Failure::new(ErrorCategory::Timeout).because(
        Reason::new("nothing was completed for")
            .number(since)
            .text("with a backlog of")
            .number(backlog),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_without_completions_is_down_and_an_idle_worker_is_not() {
        let progress = Progress::new();
        let last = Mutex::new(Last {
            completed: 0,
            at: None,
        });
        let began = Instant::now();
        let at = |second: u64| {
            let now = began + Duration::from_secs(second);
            let result = judge(&progress.0, &last, Duration::from_secs(30), now);
            result.err().map(|failure| failure.to_string())
        };
        assert_eq!(at(0), None);
        assert_eq!(at(3_600), None, "idle for an hour");
        progress.set_backlog(12);
        assert_eq!(at(3_610), None, "the backlog is new");
        assert_eq!(at(3_640), None);
        assert_eq!(
            at(3_641).as_deref(),
            Some("nothing was completed for 31 s with a backlog of 12")
        );
        progress.completed();
        assert_eq!(at(3_642), None);
        progress.set_backlog(0);
        assert_eq!(at(4_000), None);
    }
}
