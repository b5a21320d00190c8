//! Tasks that the application declares to be its life: a consumer, a scheduler, the holder of a lock. One that stops
//! beating is what a restart is for, even while the process answers HTTP.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rootward_wire::text::shown;

use crate::failure::Reason;

/// The most tasks that are watched at a time: 64. What is declared beyond is not watched, and an error event says so.
///
/// ```
/// // A consumer for each partition; watch each, or one task that watches over all.
/// let partitions = 12;
/// assert!(partitions <= rootward::MAX_HEARTBEATS);
/// ```
pub const MAX_HEARTBEATS: usize = 64;

/// The longest name that is kept, in bytes. What is longer is cut.
const MAX_NAME_BYTES: usize = 128;

/// The sign of life of one critical task. See [`Health::watch`](crate::Health::watch).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// # async fn next_message() {}
/// use std::time::Duration;
/// # let health = rootward::Health::builder("cart").instance("cart-0").start()?;
/// let heartbeat = health.watch("order consumer", Duration::from_secs(60));
/// let consumer = tokio::spawn(async move {
///     for _ in 0..3 {
///         // Wait for work with a limit below the window, so that an idle consumer beats as well.
///         let _ = tokio::time::timeout(Duration::from_secs(10), next_message()).await;
///         heartbeat.beat();
///     }
///     heartbeat.finish(); // it is meant to end here
/// });
/// # consumer.await.expect("it does not panic");
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it without [`Heartbeat::finish`] is silence: a task that panicked is dead. While the instance drains silence
/// does not count, because tasks end then; it counts again when the drain's grace is over and the process still runs.
pub struct Heartbeat(Arc<Task>);

struct Task {
    name: String,
    window: Duration,
    beats: AtomicU64,
    finished: AtomicBool,
}

impl Heartbeat {
    /// Says that the task is alive. Costs one atomic addition: call it as often as is convenient.
    pub fn beat(&self) {
        self.0.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// The task ends, as it should. It is not watched any more.
    pub fn finish(self) {
        self.0.finished.store(true, Ordering::Relaxed);
    }

    /// What the task is called; at most 128 bytes, the rest is cut.
    ///
    /// ```
    /// # fn log(heartbeat: &rootward::Heartbeat) {
    /// println!("{} begins", heartbeat.name());
    /// # }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl fmt::Debug for Heartbeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heartbeat")
            .field("name", &self.0.name)
            .field("window", &self.0.window)
            .finish_non_exhaustive()
    }
}

/// All watched tasks.
#[derive(Default)]
pub(crate) struct Heartbeats {
    /// Taken for a moment by the sampler and by whoever declares a task; never across anything that waits.
    watched: Mutex<Vec<Watched>>,
    /// The application found out by itself that only a restart helps.
    fatal: ArcSwapOption<Reason>,
}

struct Watched {
    task: Arc<Task>,
    beats: u64,
    /// When it was last seen to have beaten, in the sampler's time; none before the first look.
    heard: Option<Duration>,
}

/// A task that was silent for longer than its window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Silent {
    pub(crate) name: String,
    pub(crate) window: Duration,
}

impl Heartbeats {
    pub(crate) fn watch(&self, name: &str, window: Duration) -> Heartbeat {
        let task = Arc::new(Task {
            name: shown(name, MAX_NAME_BYTES).into_owned(),
            window: window.max(Duration::from_millis(1)),
            beats: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        });
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|watched| !watched.task.finished.load(Ordering::Relaxed));
        if watched.len() < MAX_HEARTBEATS {
            watched.push(Watched {
                task: Arc::clone(&task),
                beats: 0,
                heard: None,
            });
        } else {
            tracing::error!(
                target: "rootward",
                task = task.name,
                most = MAX_HEARTBEATS,
                "too many tasks are watched, this one is not"
            );
        }
        Heartbeat(task)
    }

    pub(crate) fn give_up(&self, reason: Reason) {
        self.fatal.store(Some(Arc::new(reason)));
    }

    pub(super) fn fatal(&self) -> Option<Arc<Reason>> {
        self.fatal.load_full()
    }

    /// Looks at all tasks. Those that were silent for longer than their window, in the order of their declaration.
    pub(super) fn silent(&self, now: Duration) -> Vec<Silent> {
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|watched| !watched.task.finished.load(Ordering::Relaxed));
        let mut silent = Vec::new();
        for watched in all.iter_mut() {
            let beats = watched.task.beats.load(Ordering::Relaxed);
            let heard = match watched.heard {
                Some(heard) if beats == watched.beats => heard,
                Some(_) | None => now,
            };
            watched.beats = beats;
            watched.heard = Some(heard);
            if now.saturating_sub(heard) > watched.task.window {
                silent.push(Silent {
                    name: watched.task.name.clone(),
                    window: watched.task.window,
                });
            }
        }
        silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn names(silent: &[Silent]) -> Vec<&str> {
        silent.iter().map(|silent| silent.name.as_str()).collect()
    }

    #[test]
    fn a_task_is_silent_after_its_window_and_heard_again_with_its_next_beat() {
        let heartbeats = Heartbeats::default();
        let consumer = heartbeats.watch("consumer", secs(10));
        assert!(heartbeats.silent(secs(100)).is_empty());
        assert!(heartbeats.silent(secs(110)).is_empty());
        assert_eq!(names(&heartbeats.silent(secs(111))), ["consumer"]);
        consumer.beat();
        assert!(heartbeats.silent(secs(112)).is_empty());
        assert!(heartbeats.silent(secs(122)).is_empty());
        assert_eq!(names(&heartbeats.silent(secs(123))), ["consumer"]);
    }

    #[test]
    fn a_task_that_was_dropped_is_silent_and_one_that_finished_is_not_watched() {
        let heartbeats = Heartbeats::default();
        let (dropped, finished) = (
            heartbeats.watch("dropped", secs(10)),
            heartbeats.watch("finished", secs(10)),
        );
        assert!(heartbeats.silent(secs(0)).is_empty());
        drop(dropped);
        finished.finish();
        assert_eq!(names(&heartbeats.silent(secs(11))), ["dropped"]);
    }

    #[test]
    fn no_more_tasks_are_watched_than_may_be() {
        let heartbeats = Heartbeats::default();
        let kept: Vec<_> = (0..=MAX_HEARTBEATS)
            .map(|n| heartbeats.watch(&n.to_string(), secs(1)))
            .collect();
        assert!(heartbeats.silent(secs(0)).is_empty());
        assert_eq!(heartbeats.silent(secs(2)).len(), MAX_HEARTBEATS);
        drop(kept);
    }
}
