//! Whether polling keeps up: what readiness, the headline and the metrics say about the aggregator itself.

use std::time::Duration;

use rootward_core::Moment;
use rootward_core::snapshot::Snapshot;

use crate::words;

/// Rounds that may pass without one being completed before the aggregator says that it is behind.
pub(crate) const ROUNDS_BEFORE_BEHIND: u32 = 3;

/// Whether the picture is older than a working aggregator's can be.
pub(crate) fn is_behind(snapshot: &Snapshot, now: Moment) -> bool {
    now - snapshot.at > allowed(snapshot)
}

/// Why the aggregator is not ready to be believed; `None` if it is.
pub(crate) fn not_ready(snapshot: &Snapshot, now: Moment) -> Option<String> {
    let Some(epoch) = snapshot.epoch else {
        return Some(format!(
            "no polling round was completed yet; one is due every {}",
            words::duration(snapshot.epoch_interval)
        ));
    };
    let age = now - epoch.completed_at;
    if age > allowed(snapshot) {
        return Some(format!(
            "the last polling round was completed {} ago; one is due every {}",
            words::duration(age),
            words::duration(snapshot.epoch_interval)
        ));
    }
    None
}

fn allowed(snapshot: &Snapshot) -> Duration {
    snapshot.epoch_interval.saturating_mul(ROUNDS_BEFORE_BEHIND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn after(snapshot: &Snapshot, millis: u64) -> String {
        let now = sample::NOW + Duration::from_millis(millis);
        not_ready(snapshot, now).unwrap_or_else(|| "ready".into())
    }

    #[test]
    fn it_is_ready_while_rounds_are_completed() {
        // The last round of the sample was completed 3 s before it; three rounds take 30 s.
        assert_eq!(after(&sample::healthy(), 0), "ready");
        assert_eq!(after(&sample::healthy(), 27_000), "ready");
        insta::assert_snapshot!(after(&sample::healthy(), 27_001), @"the last polling round was completed 30 s ago; one is due every 10 s");
    }

    #[test]
    fn before_the_first_round_it_is_not_ready() {
        insta::assert_snapshot!(after(&sample::unseen(), 0), @"no polling round was completed yet; one is due every 10 s");
    }
}
