//! The only place that reads a clock for a decision or for people: the monotonic axis of the engine, and the wall time.
//! (How long a poll took is measured where it is made.)
//!
//! Everything is decided on the monotonic axis. Wall time is computed from it through one anchor, so that the time of
//! an event reads the same in every answer; a wall clock that is stepped moves the anchor ([`Clock::follow_wall`]) and
//! no decision.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use rootward_core::Moment;
use rootward_wire::Time;
use tokio::time::Instant;

/// How far the wall clock may run away from the anchor before the anchor follows. Small corrections are not worth
/// times that change between two answers.
const ANCHOR_TOLERANCE: Duration = Duration::from_millis(500);

/// How much of the axis lies before the start. A report may speak of checks that are older than this process; with the
/// start at zero they would seem to be no older than it, and old evidence would look fresh after a restart.
const BEFORE_THE_START: Duration = Duration::from_secs(365 * 86_400);

/// The monotonic axis, and where its zero lies in wall time.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// Where on the axis the start lies.
    before: Duration,
    /// Unix milliseconds of the axis' zero by the wall clock.
    anchor: AtomicI64,
}

impl Clock {
    /// An axis that has begun already.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            before: BEFORE_THE_START,
            anchor: AtomicI64::new(unix_millis().saturating_sub(millis(BEFORE_THE_START))),
        }
    }

    /// An axis that begins now, at a wall time that is made up.
    #[cfg(test)]
    pub(crate) fn start_at(unix_millis: i64) -> Self {
        Self {
            start: Instant::now(),
            before: Duration::ZERO,
            anchor: AtomicI64::new(unix_millis),
        }
    }

    /// Where the axis stands.
    pub(crate) fn now(&self) -> Moment {
        Moment::ZERO + self.passed()
    }

    /// The same point for timers.
    pub(crate) fn instant(&self, moment: Moment) -> Instant {
        let offset = moment - (Moment::ZERO + self.before);
        // Out of range only beyond centuries; a timer that far away is as good as none.
        self.start
            .checked_add(offset)
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400))
    }

    /// Both times at once, for one answer.
    pub(crate) fn read(&self) -> Reading {
        Reading {
            now: self.now(),
            anchor: self.anchor.load(Ordering::Relaxed),
        }
    }

    fn passed(&self) -> Duration {
        self.before + self.start.elapsed()
    }

    /// Moves the anchor if the wall clock was stepped; returns by how many milliseconds.
    pub(crate) fn follow_wall(&self) -> Option<i64> {
        let true_anchor = unix_millis().saturating_sub(millis(self.passed()));
        let step = true_anchor.saturating_sub(self.anchor.load(Ordering::Relaxed));
        if step.unsigned_abs() <= u64::try_from(ANCHOR_TOLERANCE.as_millis()).unwrap_or(u64::MAX) {
            return None;
        }
        self.anchor.store(true_anchor, Ordering::Relaxed);
        Some(step)
    }
}

/// One look at the clock: every time and age of an answer is taken from the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    now: Moment,
    /// Unix milliseconds of the origin of the axis.
    anchor: i64,
}

impl Reading {
    /// A reading that was not taken from a clock: `now` on the axis, whose origin was at `origin_unix_millis`.
    #[cfg(test)]
    pub(crate) const fn fixed(now: Moment, origin_unix_millis: i64) -> Self {
        Self {
            now,
            anchor: origin_unix_millis,
        }
    }

    /// What the clock read at an earlier moment.
    pub(crate) const fn back_at(self, moment: Moment) -> Self {
        Self {
            now: moment,
            anchor: self.anchor,
        }
    }

    /// The moment of the reading.
    #[must_use]
    pub const fn now(self) -> Moment {
        self.now
    }

    /// A moment as wall time.
    #[must_use]
    pub fn time(self, moment: Moment) -> Time {
        let offset = i64::try_from(moment.as_millis()).unwrap_or(i64::MAX);
        Time::from_unix_millis(self.anchor.saturating_add(offset))
    }

    /// How long ago a moment was.
    #[must_use]
    pub fn age(self, moment: Moment) -> Duration {
        self.now - moment
    }

    /// How long ago a moment was, in milliseconds.
    #[must_use]
    pub fn age_ms(self, moment: Moment) -> u64 {
        self.now.as_millis().saturating_sub(moment.as_millis())
    }
}

fn unix_millis() -> i64 {
    Time::from(SystemTime::now()).as_unix_millis()
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_from_before_the_start_keeps_its_age() {
        let clock = Clock::start();
        let now = clock.now();
        let an_hour = Duration::from_secs(3_600);
        assert_eq!(now - now.saturating_sub(an_hour), an_hour);
        let (then, there) = (
            clock.read().time(now.saturating_sub(an_hour)),
            clock.read().time(now),
        );
        assert_eq!(there.as_unix_millis() - then.as_unix_millis(), 3_600_000);
    }

    #[tokio::test(start_paused = true)]
    async fn the_axis_follows_the_runtime_and_its_points_come_back_as_timers() {
        let clock = Clock::start();
        tokio::time::advance(Duration::from_millis(1_500)).await;
        assert_eq!(
            clock.now(),
            Moment::ZERO + BEFORE_THE_START + Duration::from_millis(1_500)
        );
        assert_eq!(clock.instant(clock.now()), Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stepped_wall_clock_moves_displayed_times_and_nothing_else() {
        let clock = Clock::start();
        let before = clock.read();
        assert_eq!(clock.follow_wall(), None);
        // Pretends that the wall clock was an hour ahead when the anchor was taken.
        clock.anchor.fetch_add(3_600_000, Ordering::Relaxed);
        let step = clock.follow_wall().expect("an hour is a step");
        assert!((step + 3_600_000).abs() < 1_000, "stepped by {step} ms");
        assert_eq!(clock.read().now(), before.now());
        let (was, is) = (before.time(Moment::ZERO), clock.read().time(Moment::ZERO));
        assert!((was.as_unix_millis() - is.as_unix_millis()).abs() < 1_000);
    }

    #[test]
    fn a_moment_reads_the_same_in_every_answer() {
        let early = Reading::fixed(Moment::from_millis(10_000), 1_796_008_360_000);
        let late = Reading::fixed(Moment::from_millis(99_000), 1_796_008_360_000);
        let event = Moment::from_millis(9_120);
        assert_eq!(early.time(event).to_string(), "2026-11-30T03:12:49.120Z");
        assert_eq!(late.time(event), early.time(event));
        assert_eq!((early.age_ms(event), late.age_ms(event)), (880, 89_880));
    }
}
