//! What is counted as it happens, and who is told when something changes.
//!
//! Counters are atomics: the runner writes them when it records a result, the probe thread when it answers, and
//! whoever asks for metrics reads them. Nobody waits for anybody.

mod change;
mod durations;
mod hooks;
mod journal;
mod observer;
#[cfg(feature = "otel")]
mod otel;
mod probes;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rootward_core::{CheckStatus, ErrorCategory, Evidence};

use crate::events::Transition;
use crate::shared::{At, CheckFacts};

pub use change::{Change, CheckChange, ReadinessChange, StatusChange};
pub(crate) use durations::{Distribution, Durations};
pub(crate) use hooks::{Hooks, Listeners, MAX_HOOKS};
pub(crate) use journal::Journal;
pub(crate) use observer::{Glance, Observer};
pub(crate) use probes::Probes;

/// Everything that is counted in one service.
pub(crate) struct Telemetry {
    pub(crate) probes: Probes,
    pub(crate) hooks: Hooks,
    pub(crate) journal: Journal,
    #[cfg(feature = "otel")]
    pub(crate) recorder: Arc<otel::Recorder>,
}

impl Telemetry {
    /// All at zero.
    pub(crate) fn new(journal: Journal) -> Self {
        Self {
            #[cfg(feature = "otel")]
            recorder: Arc::default(),
            probes: Probes::default(),
            hooks: Hooks::default(),
            journal,
        }
    }

    /// The counters of a check, at zero; `longest` is the longest time limit of a check of the service.
    pub(crate) fn stats(&self, facts: &CheckFacts, longest: Duration) -> Arc<CheckStats> {
        let stats = CheckStats::new(durations::bounds(longest));
        #[cfg(feature = "otel")]
        let stats = stats.recorded(otel::attributes(facts), &self.recorder);
        #[cfg(not(feature = "otel"))]
        let _ = facts;
        Arc::new(stats)
    }

    /// Tells nobody any more. The threads of those who are told end when they know all that is queued.
    fn close(&self) {
        self.hooks.close();
        #[cfg(feature = "otel")]
        self.recorder.close();
    }

    /// Says in the log what a check's result changed, and tells the hooks if that is its status.
    pub(crate) fn changed(&self, transition: &Transition<'_>, at: At) {
        transition.emit();
        if transition.from != transition.to {
            self.hooks
                .tell(|| Change::Check(CheckChange::of(transition, at)));
        }
    }
}

/// What a check's results amount to since the start.
pub(crate) struct CheckStats {
    up: AtomicU64,
    degraded: AtomicU64,
    down: AtomicU64,
    flips: AtomicU64,
    /// In the order of [`ErrorCategory::ALL`].
    categories: [AtomicU64; ErrorCategory::ALL.len()],
    pub(crate) durations: Durations,
    /// What the check is in the words of OpenTelemetry, and who else wants to know.
    #[cfg(feature = "otel")]
    recorder: Option<(otel::Attributes, Arc<otel::Recorder>)>,
}

/// One result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed {
    pub(crate) evidence: Evidence,
    pub(crate) category: Option<ErrorCategory>,
    /// None if the run has passed its time limit and still goes on.
    pub(crate) took: Option<Duration>,
    /// The damped status, before and after it.
    pub(crate) from: CheckStatus,
    pub(crate) to: CheckStatus,
}

impl CheckStats {
    fn new(bounds: &'static [u64]) -> Self {
        Self {
            up: AtomicU64::new(0),
            degraded: AtomicU64::new(0),
            down: AtomicU64::new(0),
            flips: AtomicU64::new(0),
            categories: [const { AtomicU64::new(0) }; ErrorCategory::ALL.len()],
            durations: Durations::new(bounds),
            #[cfg(feature = "otel")]
            recorder: None,
        }
    }

    #[cfg(feature = "otel")]
    fn recorded(mut self, attributes: otel::Attributes, recorder: &Arc<otel::Recorder>) -> Self {
        self.recorder = Some((attributes, Arc::clone(recorder)));
        self
    }

    /// What the check is in the words of OpenTelemetry.
    #[cfg(feature = "otel")]
    fn attributes(&self) -> &[opentelemetry::KeyValue] {
        self.recorder
            .as_ref()
            .map_or(&[], |(attributes, _)| attributes)
    }

    /// Counts one result.
    pub(crate) fn completed(&self, completed: Completed) {
        self.of(completed.evidence).fetch_add(1, Ordering::Relaxed);
        if let Some(category) = completed.category {
            self.categories[category as usize].fetch_add(1, Ordering::Relaxed);
        }
        if let Some(took) = completed.took {
            self.durations.observe(took);
            #[cfg(feature = "otel")]
            if let Some((attributes, recorder)) = &self.recorder {
                recorder.ran(otel::Ran {
                    attributes: Arc::clone(attributes),
                    took,
                    category: completed.category,
                });
            }
        }
        // The first evidence, and the first after a silence, flips nothing.
        if completed.from != completed.to && completed.from != CheckStatus::Unknown {
            self.flips.fetch_add(1, Ordering::Relaxed);
        }
    }

    const fn of(&self, evidence: Evidence) -> &AtomicU64 {
        match evidence {
            Evidence::Up => &self.up,
            Evidence::Degraded => &self.degraded,
            Evidence::Down => &self.down,
        }
    }

    /// How many results were so.
    pub(crate) fn results(&self, evidence: Evidence) -> u64 {
        self.of(evidence).load(Ordering::Relaxed)
    }

    /// How many results had this category.
    pub(crate) fn category(&self, category: ErrorCategory) -> u64 {
        self.categories[category as usize].load(Ordering::Relaxed)
    }

    /// How often the damped status has changed.
    pub(crate) fn flips(&self) -> u64 {
        self.flips.load(Ordering::Relaxed)
    }
}
