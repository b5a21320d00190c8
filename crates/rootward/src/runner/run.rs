//! One run of a check, in a task of its own. All foreign code runs here: the check, the formatting of its error, and
//! the dropping of both.

use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use rootward_core::{ErrorCategory, Evidence};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use crate::check::Body;
use crate::duration;
use crate::failure::{Failure, Outcome};
use crate::redact::redact;

use super::Plan;

/// A run that has ended by itself.
pub(super) struct Finished {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    /// The longest time for which the check held its thread. It tells a check that blocks from a runtime that was
    /// held up by somebody else.
    pub(super) held_thread: Duration,
    pub(super) verdict: Verdict,
}

impl Finished {
    pub(super) fn took(&self) -> Duration {
        self.ended.saturating_duration_since(self.began)
    }
}

/// How a run ended.
pub(super) enum Ended {
    /// By itself.
    Finished(Finished),
    /// It panicked, in the check or in the dropping of it.
    Panicked(Verdict),
    /// It was cancelled, as we asked for.
    Cancelled,
}

impl From<Result<Finished, JoinError>> for Ended {
    fn from(joined: Result<Finished, JoinError>) -> Self {
        match joined {
            Ok(finished) => Self::Finished(finished),
            Err(error) => match error.try_into_panic() {
                Ok(payload) => Self::Panicked(Verdict::panicked(payload)),
                Err(_) => Self::Cancelled,
            },
        }
    }
}

/// What a run says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) evidence: Evidence,
    /// Why it is not up; none for a slow answer, which has no error.
    pub(super) category: Option<ErrorCategory>,
    /// What anybody may see; empty if it is up.
    pub(super) text: String,
    /// What only the log may see.
    pub(super) detail: Option<String>,
}

impl Verdict {
    const UP: Self = Self {
        evidence: Evidence::Up,
        category: None,
        text: String::new(),
        detail: None,
    };

    fn of(result: Result<Outcome, Failure>) -> Self {
        let (evidence, failure) = match result {
            Ok(Outcome::Up) => return Self::UP,
            Ok(Outcome::Degraded(failure)) => (Evidence::Degraded, failure),
            Err(failure) => (Evidence::Down, failure),
        };
        Self {
            evidence,
            category: Some(failure.category()),
            text: failure.to_string(),
            detail: failure.detail(),
        }
    }

    pub(super) fn timed_out(timeout: Duration) -> Self {
        Self {
            evidence: Evidence::Down,
            category: Some(ErrorCategory::Timeout),
            text: format!("timed out after {}", duration::text(timeout)),
            detail: None,
        }
    }

    pub(super) fn slow(took: Duration, limit: Duration) -> Self {
        Self {
            evidence: Evidence::Degraded,
            category: None,
            text: format!(
                "answered after {}, expected within {}",
                duration::text(took),
                duration::text(limit)
            ),
            detail: None,
        }
    }

    fn panicked(payload: Box<dyn Any + Send>) -> Self {
        Self {
            evidence: Evidence::Down,
            category: Some(ErrorCategory::Panic),
            text: ErrorCategory::Panic.phrase().to_owned(),
            detail: panic_text(payload),
        }
    }
}

/// The message of a panic. What is not a message is foreign code that may panic again when it is dropped, and is
/// forgotten.
pub(crate) fn panic_text(payload: Box<dyn Any + Send>) -> Option<String> {
    let payload = match payload.downcast::<String>() {
        Ok(text) => return Some(redact(&text)),
        Err(payload) => payload,
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => Some(redact(&text)),
        Err(payload) => {
            std::mem::forget(payload);
            None
        }
    }
}

/// Starts a run. `began` is set when it is first given a thread.
pub(super) fn start(
    plan: &Plan,
    began: &Arc<OnceLock<Instant>>,
    running: &mut JoinSet<Finished>,
) -> AbortHandle {
    let began = Arc::clone(began);
    match &plan.body {
        Body::Async(check) => {
            let (check, context) = (Arc::clone(check), plan.context.clone());
            running.spawn(async move {
                let began = *began.get_or_init(Instant::now);
                let mut held_thread = Duration::ZERO;
                let mut run = None;
                let result = poll_fn(|cx| {
                    // Real time, also where the clock of the runtime stands still.
                    let given = std::time::Instant::now();
                    let run = run.get_or_insert_with(|| check(context.clone()));
                    let polled = run.as_mut().poll(cx);
                    held_thread = held_thread.max(given.elapsed());
                    match polled {
                        Poll::Ready(result) => Poll::Ready(result),
                        Poll::Pending => Poll::Pending,
                    }
                })
                .await;
                let ended = Instant::now();
                Finished {
                    began,
                    ended,
                    held_thread,
                    verdict: Verdict::of(result),
                }
            })
        }
        Body::Blocking(check) => {
            let check = Arc::clone(check);
            running.spawn_blocking(move || {
                let began = *began.get_or_init(Instant::now);
                let result = check();
                let ended = Instant::now();
                Finished {
                    began,
                    ended,
                    held_thread: ended - began,
                    verdict: Verdict::of(result),
                }
            })
        }
    }
}
