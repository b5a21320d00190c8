//! Startup: an instance has started when nobody holds a latch any more.
//!
//! Started is the absence of a reason not to be: there is no flag that somebody can forget to set. Once started it
//! never becomes un-started.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use rootward_wire::text::shown;

/// The longest name of a latch that is kept, in bytes. What is longer is cut.
const MAX_LATCH_BYTES: usize = 128;

/// Holds the start of an instance until it is dropped: a cache that is warming, a migration that runs.
///
/// See [`Health::latch`](crate::Health::latch).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// let health = rootward::Health::builder("cart").start()?;
/// let warm = health.latch("cache warm");
/// assert_eq!(warm.name(), "cache warm"); // /startupz: {"started":false,"held":["cache warm"]}
/// assert!(!health.is_started() && !health.is_ready());
/// drop(warm);
/// assert!(health.is_started() && health.is_ready());
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "a latch that is dropped at once holds nothing"]
pub struct Latch {
    id: u64,
    name: Arc<str>,
    startup: Arc<Startup>,
}

impl Latch {
    /// What is waited for; at most 128 bytes, the rest is cut.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Latch {
    fn drop(&mut self) {
        self.startup.release(self.id);
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Latch").field(&self.name).finish()
    }
}

/// Who still holds the start. Read by the probe thread, which never waits: no locks.
pub(crate) struct Startup {
    held: ArcSwap<Vec<Held>>,
    started: AtomicBool,
    next_id: AtomicU64,
    /// Grows with every change, so that an answer made before it is not given after it.
    changes: AtomicU64,
}

#[derive(Clone)]
struct Held {
    id: u64,
    name: Arc<str>,
}

impl Startup {
    pub(crate) fn new() -> Self {
        Self {
            held: ArcSwap::default(),
            started: AtomicBool::new(false),
            next_id: AtomicU64::new(0),
            changes: AtomicU64::new(0),
        }
    }

    /// A latch. After the start it holds nothing.
    pub(crate) fn hold(startup: &Arc<Self>, name: impl Into<String>) -> Latch {
        let name: String = name.into();
        let latch = Latch {
            id: startup.next_id.fetch_add(1, Ordering::Relaxed),
            name: shown(&name, MAX_LATCH_BYTES).into(),
            startup: Arc::clone(startup),
        };
        if startup.is_over() {
            tracing::warn!(
                target: "rootward",
                latch = latch.name(),
                "a latch was taken after the start was over and holds nothing"
            );
            return latch;
        }
        startup.held.rcu(|held| {
            let mut held = Vec::clone(held);
            held.push(Held {
                id: latch.id,
                name: Arc::clone(&latch.name),
            });
            held
        });
        startup.changes.fetch_add(1, Ordering::Release);
        latch
    }

    fn release(&self, id: u64) {
        self.held.rcu(|held| {
            let mut held = Vec::clone(held);
            held.retain(|latch| latch.id != id);
            held
        });
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Whether the start was seen to be over.
    fn is_over(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }

    /// Whether the start is over: it was seen to be over before, or nobody holds it now and nothing else is waited
    /// for. Seeing it makes it last.
    pub(crate) fn observe(&self, nothing_else: impl FnOnce() -> bool) -> bool {
        if self.is_over() {
            return true;
        }
        if self.held.load().is_empty() && nothing_else() {
            self.started.store(true, Ordering::Release);
            return true;
        }
        false
    }

    /// The same, without making it last: for whoever looks on without being a probe.
    pub(crate) fn peek(&self, nothing_else: impl FnOnce() -> bool) -> bool {
        self.is_over() || (self.held.load().is_empty() && nothing_else())
    }

    /// What is still held, in the order in which it was taken.
    pub(crate) fn held(&self) -> Vec<Arc<str>> {
        let held = self.held.load();
        held.iter().map(|latch| Arc::clone(&latch.name)).collect()
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_over_when_the_last_latch_is_dropped_and_never_begins_again() {
        let startup = Arc::new(Startup::new());
        let cache = Startup::hold(&startup, "cache warm");
        let models = Startup::hold(&startup, "models loaded");
        assert!(!startup.observe(|| true));
        drop(cache);
        assert_eq!(startup.held(), [Arc::from("models loaded")]);
        drop(models);
        assert!(!startup.observe(|| false), "checks are still waited for");
        assert!(startup.observe(|| true));
        let late = Startup::hold(&startup, "late");
        assert!(startup.observe(|| false));
        assert!(startup.held().is_empty());
        drop(late);
    }

    #[test]
    fn a_stage_after_a_stage_holds_the_start_if_nobody_looked_in_between() {
        let startup = Arc::new(Startup::new());
        drop(Startup::hold(&startup, "first"));
        let second = Startup::hold(&startup, "second");
        assert!(!startup.observe(|| true));
        drop(second);
        assert!(startup.observe(|| true));
    }
}
