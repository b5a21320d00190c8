//! When evidence is too old to be used.

use std::time::Duration;

/// The age from which evidence counts as unknown: two intervals and one time limit.
///
/// One interval and one time limit is the worst age that a working checker produces
/// (`staleness = interval + timeout`); one more interval forgives a single missed round.
///
/// ```
/// use rootward_core::stale_after;
/// use std::time::Duration;
/// assert_eq!(stale_after(Duration::from_secs(10), Duration::from_secs(2)), Duration::from_secs(22));
/// ```
#[must_use]
pub fn stale_after(interval: Duration, timeout: Duration) -> Duration {
    interval.saturating_mul(2).saturating_add(timeout)
}
