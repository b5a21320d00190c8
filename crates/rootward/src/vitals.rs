//! Whether this process can still do its work: the heartbeat of the application's runtime, seen from a thread that
//! does not depend on it.
//!
//! A thread of its own asks a task on the application's runtime for a sign of life every 100 ms and measures how long it
//! takes. That is the loop lag. It also looks at the runtime's own counters, which tell a blocked worker from a busy
//! one. Liveness and the lag rule of readiness are made from this and from nothing else: no check, no dependency and
//! no address can be put in.

mod alive;
mod heartbeat;
mod lag;
mod pulse;
mod sampler;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;

pub(crate) use alive::{Alive, Vital};
pub(crate) use heartbeat::Heartbeats;
pub use heartbeat::{Heartbeat, MAX_HEARTBEATS};
pub(crate) use lag::Lag;
pub(crate) use pulse::Pulse;
pub(crate) use sampler::{Sampler, SamplerThread};

/// How long the application's runtime may take to answer before the instance stops being ready, where nothing else is
/// said: 250 ms. See [`Builder::lag_budget`](crate::Builder::lag_budget).
pub const DEFAULT_LAG_BUDGET: Duration = Duration::from_millis(250);

/// How long the application's runtime may stay silent before only a restart helps, where nothing else is said: 30 s.
/// See [`Builder::wedge_limit`](crate::Builder::wedge_limit).
pub const DEFAULT_WEDGE_LIMIT: Duration = Duration::from_secs(30);

/// After about how long lag alone no longer keeps an instance out of rotation, where nothing else is said: 30 s, a
/// quarter more or less. See [`Builder::fail_open_after`](crate::Builder::fail_open_after).
pub const DEFAULT_FAIL_OPEN_AFTER: Duration = Duration::from_secs(30);

/// The numbers of the rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) lag_budget: Duration,
    pub(crate) wedge_limit: Duration,
    /// Jitter included.
    pub(crate) fail_open_after: Duration,
}

/// What was seen at the last sample. Immutable; replaced as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// How long the runtime takes to answer, or has taken so far: the worst of the whole and of each worker. None
    /// before the first sample.
    pub(crate) lag: Option<Duration>,
    /// What the lag rule says.
    pub(crate) verdict: Lag,
    /// Whether only a restart helps.
    pub(crate) alive: Alive,
    /// For how long each worker of the runtime has been in one step; zero for one that waits.
    pub(crate) workers: Box<[Duration]>,
}

impl Seen {
    fn nothing() -> Self {
        Self {
            lag: None,
            verdict: Lag::Within,
            alive: Alive::default(),
            workers: Box::default(),
        }
    }
}

/// What the sampler writes and the answers read.
pub(crate) struct Vitals {
    pub(crate) limits: Limits,
    pub(crate) heartbeats: Heartbeats,
    seen: ArcSwap<Seen>,
    history: History,
}

impl Vitals {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            heartbeats: Heartbeats::default(),
            seen: ArcSwap::from_pointee(Seen::nothing()),
            history: History::default(),
        }
    }

    pub(crate) fn seen(&self) -> Arc<Seen> {
        self.seen.load_full()
    }

    fn publish(&self, before: &Seen, seen: Seen) {
        if let Some(lag) = seen.lag {
            self.history.observe(lag);
        }
        // Most of the time a service is at rest, and this costs ten allocations a second for as long as it lives.
        if *before != seen {
            self.seen.store(Arc::new(seen));
        }
    }

    /// How the lag was, since the start.
    pub(crate) const fn history(&self) -> &History {
        &self.history
    }
}

/// Upper bounds of the classes in which samples of the lag are counted, in milliseconds. The default budget is one of
/// them, so that the share of samples over it can be read off.
pub(crate) const LAG_CLASSES_MS: [u64; 10] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

/// All samples of the lag, counted by class. Written by the sampler only.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// One more than there are bounds: the last class has none.
    classes: [AtomicU64; LAG_CLASSES_MS.len() + 1],
    sum_micros: AtomicU64,
    max_micros: AtomicU64,
}

impl History {
    fn observe(&self, lag: Duration) {
        let class = LAG_CLASSES_MS
            .iter()
            .position(|bound| lag <= Duration::from_millis(*bound))
            .unwrap_or(LAG_CLASSES_MS.len());
        let micros = u64::try_from(lag.as_micros()).unwrap_or(u64::MAX);
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
        self.max_micros.fetch_max(micros, Ordering::Relaxed);
    }

    /// How many samples there were in each class, in the order of [`LAG_CLASSES_MS`], the unbounded one last.
    pub(crate) fn counts(&self) -> [u64; LAG_CLASSES_MS.len() + 1] {
        std::array::from_fn(|class| self.classes[class].load(Ordering::Relaxed))
    }

    /// The sum of all samples.
    pub(crate) fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_micros.load(Ordering::Relaxed))
    }

    /// The worst sample since the start.
    pub(crate) fn max(&self) -> Duration {
        Duration::from_micros(self.max_micros.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_of_the_lag_is_in_one_class() {
        let history = History::default();
        for millis in [0, 1, 2, 250, 251, 60_000] {
            history.observe(Duration::from_millis(millis));
        }
        assert_eq!(history.counts(), [2, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!(history.sum(), Duration::from_millis(60_504));
        assert_eq!(history.max(), Duration::from_secs(60));
    }
}
