//! When a check runs: at once, then on its own phase of the interval, and sooner while its status is about to change.
//!
//! The phase comes from a hash of service, instance and check. So forty instances that were started together do not
//! ask the database together, and the same instance asks at the same phase in every run of a test.

use std::time::Duration;

use tokio::time::Instant;

use crate::check::CheckContext;
use crate::spread;

/// About how long until the next run while a flip is pending: damping costs seconds, not intervals.
const RETRY: Duration = Duration::from_secs(1);

/// The schedule of one check.
pub(super) struct Schedule {
    born: Instant,
    interval: Duration,
    hash: u64,
}

impl Schedule {
    pub(super) fn new(context: &CheckContext, interval: Duration, born: Instant) -> Self {
        Self {
            born,
            interval,
            hash: spread::hash([context.service(), context.instance(), context.check()]),
        }
    }

    /// The next run on the phase that is at least half an interval after `after`.
    pub(super) fn next(&self, after: Instant) -> Instant {
        let earliest = after + self.interval / 2;
        let since = (earliest.saturating_duration_since(self.born)).as_nanos();
        let interval = self.interval.as_nanos().max(1);
        let phase = u128::from(self.hash) % interval;
        let rounds = since.saturating_sub(phase).div_ceil(interval);
        let nanos = u64::try_from(rounds * interval + phase).unwrap_or(u64::MAX);
        self.born + Duration::from_nanos(nanos)
    }

    /// The next run while a flip is pending: one second after `after`, a quarter more or less. Which of them follows
    /// from the number of the result.
    pub(super) fn retry(&self, after: Instant, seq: u64) -> Instant {
        let millis = spread::mixed(self.hash ^ seq) % 501;
        let jittered = RETRY * 3 / 4 + Duration::from_millis(millis);
        after + jittered.min(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootward_core::Name;

    const INTERVAL: Duration = Duration::from_secs(10);

    fn schedule(instance: &str, born: Instant) -> Schedule {
        let name = |text: &str| Name::parse(text).expect("a name");
        let context = CheckContext::new(
            name("cart"),
            name(instance),
            name("orders-db"),
            Duration::from_millis(500),
        );
        Schedule::new(&context, INTERVAL, born)
    }

    #[test]
    fn runs_keep_their_phase_and_are_never_nearer_than_half_an_interval() {
        let born = Instant::now();
        for instance in 0..200 {
            let schedule = schedule(&instance.to_string(), born);
            let second = schedule.next(born);
            let gap = second - born;
            assert!(gap >= INTERVAL / 2 && gap < INTERVAL * 3 / 2, "{gap:?}");
            let third = schedule.next(second + Duration::from_millis(3));
            assert_eq!(third - second, INTERVAL);
            // A runner that was held up does not catch up with a burst.
            let late = schedule.next(third + INTERVAL * 7);
            assert_eq!(late, third + INTERVAL * 8);
        }
    }

    #[test]
    fn instances_that_start_together_spread_over_the_interval() {
        let born = Instant::now();
        let mut tenths = [0; 10];
        for instance in 0..1000 {
            let next = schedule(&instance.to_string(), born).next(born + INTERVAL);
            let phase = (next - born).as_millis() % INTERVAL.as_millis();
            tenths[usize::try_from(phase / 1000).expect("small")] += 1;
        }
        assert!(
            tenths.iter().all(|count| (60..=140).contains(count)),
            "{tenths:?}"
        );
    }

    #[test]
    fn a_retry_comes_after_about_a_second_and_is_the_same_in_every_run() {
        let born = Instant::now();
        let delay = |instance: &str, seq| schedule(instance, born).retry(born, seq) - born;
        let delays: Vec<_> = (0..100).map(|seq| delay("0", seq)).collect();
        let band = Duration::from_millis(750)..=Duration::from_millis(1250);
        assert!(delays.iter().all(|delay| band.contains(delay)));
        assert!(
            delays
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len()
                > 50
        );
        assert_eq!(
            delays,
            (0..100).map(|seq| delay("0", seq)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_retry_is_never_slower_than_the_interval() {
        let born = Instant::now();
        let mut schedule = schedule("0", born);
        schedule.interval = Duration::from_millis(100);
        assert_eq!(schedule.retry(born, 1) - born, Duration::from_millis(100));
    }
}
