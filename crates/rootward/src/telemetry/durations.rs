//! How long something took, in buckets. Written and read without waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds in microseconds: from 1 ms to the longest time limit that a check may have.
const BOUNDS: [u64; 15] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// The bounds for a service in which nothing may take longer than `longest`: one list for all its checks, so that
/// their buckets can be added.
pub(super) fn bounds(longest: Duration) -> &'static [u64] {
    let longest = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
    let end = BOUNDS.iter().position(|bound| *bound >= longest);
    &BOUNDS[..end.map_or(BOUNDS.len(), |end| end + 1)]
}

/// Bounds in seconds.
#[cfg(feature = "otel")]
pub(super) fn seconds_of(bounds: &[u64]) -> Vec<f64> {
    bounds.iter().map(|bound| seconds(*bound)).collect()
}

/// A histogram of durations.
#[derive(Debug)]
pub(crate) struct Durations {
    bounds: &'static [u64],
    /// One for each bound, and one for what is longer.
    buckets: Box<[AtomicU64]>,
    sum_micros: AtomicU64,
}

/// What a histogram held at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Distribution {
    pub(crate) sum_seconds: f64,
    pub(crate) count: u64,
    /// Upper bound in seconds, and how many are in this bucket and in none before; the last bound is infinite.
    pub(crate) buckets: Vec<(f64, u64)>,
}

impl Durations {
    pub(crate) fn new(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            buckets: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum_micros: AtomicU64::new(0),
        }
    }

    pub(crate) fn observe(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = self.bounds.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The count is the sum of the buckets, also while somebody writes.
    pub(crate) fn read(&self) -> Distribution {
        let bounds = self.bounds.iter().map(|bound| seconds(*bound));
        let counts = self
            .buckets
            .iter()
            .map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(counts).collect();
        Distribution {
            sum_seconds: seconds(self.sum_micros.load(Ordering::Relaxed)),
            count: buckets.iter().map(|(_, count)| count).sum(),
            buckets,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds fit the 53 bits of the mantissa for 285 years"
)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_buckets_end_at_the_longest_time_limit() {
        let last = |limit| bounds(Duration::from_millis(limit)).last().copied();
        assert_eq!(last(500), Some(500_000));
        assert_eq!(last(501), Some(1_000_000));
        assert_eq!(last(60_000), Some(60_000_000));
        assert_eq!(last(600_000), Some(60_000_000));
        assert_eq!(last(0), Some(1_000));
    }

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        let durations = Durations::new(bounds(Duration::from_millis(2)));
        for micros in [0, 1_000, 1_001, 2_500, 2_501] {
            durations.observe(Duration::from_micros(micros));
        }
        let read = durations.read();
        assert_eq!(read.buckets, [(0.001, 2), (0.0025, 2), (f64::INFINITY, 1)]);
        assert_eq!(read.count, 5);
    }

    proptest! {
        #[test]
        fn every_duration_is_in_exactly_one_bucket(took in proptest::collection::vec(0_u64..100_000_000, 0..50)) {
            let durations = Durations::new(&BOUNDS);
            for micros in &took {
                durations.observe(Duration::from_micros(*micros));
            }
            let read = durations.read();
            prop_assert_eq!(read.count, took.len() as u64);
            let mut below = f64::NEG_INFINITY;
            for (bound, count) in read.buckets {
                let inside = took.iter().map(|micros| seconds(*micros));
                let inside = inside.filter(|took| *took > below && *took <= bound).count();
                prop_assert_eq!(count, inside as u64);
                below = bound;
            }
        }
    }
}
