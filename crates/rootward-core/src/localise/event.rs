//! What the engine is told: reports, polls without an answer, changes.
//!
//! Reports may be late, overtake each other, or come twice. Every time is on one clock; the engine orders what it hears
//! by when it was observed, never by when it arrived.

use std::sync::Arc;
use std::time::Duration;

use crate::moment::Moment;

/// One thing that became known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An instance answered a poll.
    Report(Report),
    /// An instance did not answer a poll. It is unknown, which is not down.
    NoAnswer(NoAnswer),
    /// Something was changed on purpose. It may raise the prior of a fault.
    Change(Change),
}

/// What an instance says about its dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// When the instance was polled.
    pub sent: Moment,
    /// Who answered.
    pub instance: Arc<str>,
    /// The release it runs, if it says so.
    pub version: Option<Arc<str>>,
    /// Its checks, one entry for each dependency.
    pub dependencies: Vec<DependencyCheck>,
}

/// A poll without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// When the instance was polled.
    pub sent: Moment,
    /// Who did not answer.
    pub instance: Arc<str>,
}

/// A deploy, or a change of configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When it was made known.
    pub at: Moment,
    /// What was changed.
    pub service: Arc<str>,
}

/// The newest result of one check, as a report carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyCheck {
    /// What was looked at.
    pub to: Arc<str>,
    /// What was seen.
    pub seen: Seen,
    /// How old the result was when the poll was sent: services answer from a cache.
    pub age: Duration,
    /// How many times the check has completed. The same cached result counts once, whatever the rounding of ages.
    pub seq: Option<u64>,
}

/// What a check saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It works.
    Up,
    /// It works poorly.
    Degraded(ErrorClass),
    /// It does not work.
    Down(ErrorClass),
    /// Not known. Says nothing, neither good nor bad.
    Unknown,
}

/// How a check failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// No answer in time.
    Timeout,
    /// Nobody listens.
    Refused,
    /// The name does not resolve.
    Dns,
    /// No secure channel.
    Tls,
    /// Not let in.
    Auth,
    /// An answer that says the server failed.
    Http5xx,
    /// An answer, too slow.
    Slow,
    /// Anything else, or not told.
    Other,
}

impl ErrorClass {
    /// All classes, in the order of the tables in [`Model`](super::Model).
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::Refused,
        Self::Dns,
        Self::Tls,
        Self::Auth,
        Self::Http5xx,
        Self::Slow,
        Self::Other,
    ];

    /// The word used in evidence.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Auth => "auth",
            Self::Http5xx => "http_5xx",
            Self::Slow => "slow",
            Self::Other => "other",
        }
    }

    /// Place in [`Self::ALL`].
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Whether a sick or overloaded process can show as any of these.
    pub(super) const fn is_of_a_sick_process(self) -> bool {
        match self {
            Self::Timeout | Self::Refused | Self::Http5xx | Self::Slow => true,
            Self::Dns | Self::Tls | Self::Auth | Self::Other => false,
        }
    }
}
