//! What is kept of each check and each poll: the newest sixteen and eight, and which of the last 48 intervals were good or
//! bad.
//!
//! Most faults are judged by the newest eight checks. What comes and goes needs a longer memory: between two runs of
//! failures there may be as many good checks again. It is used only while one of the newest eight failed, so everything
//! has recovered after eight good ones.
//!
//! Everything here is a function of the set of observations, not of their order: a ring keeps the newest by the time
//! of the check, and the same cached check reported again is one check. The one exception is bounded and said here: a
//! ring forgets what is older than sixteen newer checks, so two checks closer together than twice [`SAME_CHECK`] that a
//! third reading later shows to be one may have pushed out a seventeenth.

use super::event::{ErrorClass, Seen};

/// Checks that most faults are judged by, and polls kept per instance.
pub(super) const RECENT: usize = 8;
/// Checks kept per instance and dependency.
const RING: usize = 16;
/// Readings without a sequence number that are at most this many milliseconds apart, and a quarter of an interval, are of
/// the same check: ages are rounded.
pub(super) const SAME_CHECK: u64 = 250;
/// Intervals after which a result says nothing any more.
pub(super) const STALE_AFTER: f64 = 4.0;
/// Intervals of the window in which the noise of an edge is learned.
pub const LEARNING_WINDOW: u32 = 48;

/// One check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Check {
    /// When it was made, in milliseconds; the latest reading, where readings differ by rounding.
    pub(super) at: u64,
    seq: u32,
    /// Milliseconds between the earliest and the latest reading.
    spread: u16,
    code: u8,
}

/// The bits of [`LEARNING_WINDOW`].
const LEARNED: u64 = (1 << LEARNING_WINDOW) - 1;
/// Intervals that are weighed themselves: nothing is learned from them.
const WEIGHED: u32 = 16;

const GOOD: u8 = 0;
const DEGRADED: u8 = 16;
const NUMBERED: u8 = 32;

impl Check {
    /// `None` if nothing was seen.
    pub(super) fn new(at: u64, seen: Seen, seq: Option<u64>) -> Option<Self> {
        let class = |class: ErrorClass| u8::try_from(class.index() + 1).unwrap_or(u8::MAX);
        let code = match seen {
            Seen::Up => GOOD,
            Seen::Degraded(error) => class(error) | DEGRADED,
            Seen::Down(error) => class(error),
            Seen::Unknown => return None,
        };
        // Only near neighbours are compared, so the low bits of a sequence number are enough.
        let low = seq.map(|seq| u32::try_from(seq & u64::from(u32::MAX)).unwrap_or(0));
        Some(Self {
            at,
            seq: low.unwrap_or(0),
            spread: 0,
            code: code | if low.is_some() { NUMBERED } else { 0 },
        })
    }

    /// How it failed, or `None` if it was good.
    pub(super) fn failure(self) -> Option<ErrorClass> {
        let class = usize::from(self.code & 15);
        class
            .checked_sub(1)
            .and_then(|index| ErrorClass::ALL.get(index).copied())
    }

    /// Failed only partly.
    pub(super) fn is_degraded(self) -> bool {
        self.code & DEGRADED != 0
    }

    fn earliest(self) -> u64 {
        self.at - u64::from(self.spread)
    }

    fn is_same_as(self, other: Self, interval: u64) -> bool {
        if self.code & other.code & NUMBERED != 0 {
            // The counter of a restarted service starts again: equal numbers far apart are two checks.
            self.seq == other.seq && self.at.abs_diff(other.at) <= interval / 2
        } else {
            // Where checks are that close together, closer readings have to be told apart.
            let apart = SAME_CHECK.min(interval / 4);
            self.earliest() <= other.at.saturating_add(apart)
                && other.earliest() <= self.at.saturating_add(apart)
        }
    }

    fn merged(self, other: Self) -> Self {
        let at = self.at.max(other.at);
        let earliest = self.earliest().min(other.earliest());
        Self {
            at,
            seq: self.seq.max(other.seq),
            spread: u16::try_from(at - earliest).unwrap_or(u16::MAX),
            code: self.code.max(other.code),
        }
    }
}

/// The newest checks of one dependency by one instance.
///
/// In this order, because most questions need the newest few only, and thousands of links are asked in one answer.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Checks {
    count: u8,
    newest_slot: u32,
    good: u64,
    bad: u64,
    ring: [Check; RING],
}

impl Checks {
    /// Newest first.
    pub(super) fn newest_first(&self) -> &[Check] {
        &self.ring[..usize::from(self.count)]
    }

    /// Takes a reading, new or known.
    pub(super) fn take(&mut self, reading: Check, interval: u64) {
        self.learn(reading, interval);
        let mut check = reading;
        // A reading may show that two checks are one, so look again after each merge.
        while let Some(place) = self
            .newest_first()
            .iter()
            .position(|known| known.is_same_as(check, interval))
        {
            check = check.merged(self.ring[place]);
            let end = usize::from(self.count);
            self.ring.copy_within(place + 1..end, place);
            self.count -= 1;
        }
        let end = usize::from(self.count);
        let place = self.newest_first().partition_point(|known| *known > check);
        if place == RING {
            return;
        }
        let kept = end.min(RING - 1);
        self.ring.copy_within(place..kept, place + 1);
        self.ring[place] = check;
        self.count = u8::try_from(kept + 1).unwrap_or(0);
    }

    /// Marks the interval of the reading. Setting a bit twice, or in another order, gives the same bits.
    fn learn(&mut self, reading: Check, interval: u64) {
        let slot = u32::try_from(reading.at / interval).unwrap_or(u32::MAX);
        if slot > self.newest_slot {
            let by = slot - self.newest_slot;
            self.good = self.good.checked_shl(by).unwrap_or(0) & LEARNED;
            self.bad = self.bad.checked_shl(by).unwrap_or(0) & LEARNED;
            self.newest_slot = slot;
        }
        let back = self.newest_slot - slot;
        if back < LEARNING_WINDOW {
            match reading.failure() {
                Some(_) => self.bad |= 1 << back,
                None => self.good |= 1 << back,
            }
        }
    }

    /// Forgets what was learned: it was counted in intervals of another length.
    pub(super) const fn learn_anew(&mut self) {
        (self.newest_slot, self.good, self.bad) = (0, 0, 0);
    }

    /// Isolated failures and checks in the learning window, without what the ring still weighs.
    pub(super) fn isolated(&self) -> (u32, u32) {
        let weighed: u64 = (1 << RING) - 1;
        let seen = (self.good | self.bad) & !weighed;
        let mut isolated = 0;
        let mut earlier_good = false;
        let mut pending = false;
        for slot in (0..LEARNING_WINDOW).rev() {
            if (self.good | self.bad) >> slot & 1 == 0 {
                continue;
            }
            if self.bad >> slot & 1 == 1 {
                pending = earlier_good && slot >= WEIGHED;
                earlier_good = false;
            } else {
                isolated += u32::from(pending);
                pending = false;
                earlier_good = true;
            }
        }
        (isolated, seen.count_ones())
    }

    /// The newest checks that belong together: a long silence cuts off what was before it.
    pub(super) fn window(&self, interval: u64) -> &[Check] {
        self.newest(RECENT, 8 * interval)
    }

    /// The same with twice the memory, for what comes and goes.
    pub(super) fn long_window(&self, interval: u64) -> &[Check] {
        self.newest(RING, 16 * interval)
    }

    fn newest(&self, count: usize, span: u64) -> &[Check] {
        let all = self.newest_first();
        let all = &all[..all.len().min(count)];
        let newest = all.first().map_or(0, |check| check.at);
        let end = all
            .iter()
            .position(|check| newest - check.at >= span)
            .unwrap_or(all.len());
        &all[..end]
    }

    /// Failing now, or failing again and again. One ended run of failures has recovered, and so has everything after
    /// eight good checks.
    pub(super) fn is_anomalous(&self, interval: u64) -> bool {
        let bad = |check: &Check| check.failure().is_some();
        let recent = self.window(interval);
        recent.first().is_some_and(bad) || recent.iter().any(bad) && self.comes_and_goes(interval)
    }

    /// Two runs of failures or more.
    pub(super) fn comes_and_goes(&self, interval: u64) -> bool {
        let mut runs = 0;
        let mut in_run = false;
        for check in self.long_window(interval) {
            let bad = check.failure().is_some();
            runs += usize::from(bad && !in_run);
            in_run = bad;
        }
        runs >= 2
    }
}

/// The newest polls of one instance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Polls {
    ring: [(u64, bool); RECENT],
    count: u8,
}

impl Polls {
    /// When sent and whether answered, newest first.
    pub(super) fn newest_first(&self) -> &[(u64, bool)] {
        &self.ring[..usize::from(self.count)]
    }

    /// Takes the outcome of the poll sent at `sent`. An answer that comes after all wins.
    pub(super) fn take(&mut self, sent: u64, answered: bool) {
        let end = usize::from(self.count);
        let place = self.newest_first().partition_point(|poll| poll.0 > sent);
        if place == RECENT {
            return;
        }
        if place < end && self.ring[place].0 == sent {
            self.ring[place].1 |= answered;
            return;
        }
        let kept = end.min(RECENT - 1);
        self.ring.copy_within(place..kept, place + 1);
        self.ring[place] = (sent, answered);
        self.count = u8::try_from(kept + 1).unwrap_or(0);
    }

    /// The newest poll got no answer.
    pub(super) fn is_silent(&self) -> bool {
        self.newest_first().first().is_some_and(|poll| !poll.1)
    }

    /// Polls without an answer since the last answer.
    pub(super) fn silent_run(&self) -> &[(u64, bool)] {
        let all = self.newest_first();
        let end = all.iter().position(|poll| poll.1).unwrap_or(all.len());
        &all[..end]
    }
}

/// How much a result counts whose age is so many intervals: all up to two, nothing from four on.
pub(super) fn freshness(age: u64, interval: u64) -> f64 {
    let intervals = age as f64 / interval as f64;
    ((STALE_AFTER - intervals) / 2.0).clamp(0.0, 1.0)
}

/// How much an earlier check counts for what comes and goes: all up to eight intervals before the newest, nothing from
/// sixteen on.
pub(super) fn long_fading(distance: u64, interval: u64) -> f64 {
    freshness(distance / 4, interval)
}

/// How much an earlier check counts whose distance to the newest is so many intervals: ageing at half the speed.
pub(super) fn fading(distance: u64, interval: u64) -> f64 {
    freshness(distance / 2, interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: u64 = 10_000;

    fn check(at: u64, seen: Seen) -> Check {
        Check::new(at, seen, None).unwrap()
    }

    #[test]
    fn memory_per_check_and_per_instance_is_what_the_docs_say() {
        assert_eq!(size_of::<Checks>(), 280);
        assert_eq!(size_of::<Polls>(), 136);
    }

    #[test]
    fn the_same_cached_check_counts_once_whatever_the_rounding_of_its_age() {
        let mut checks = Checks::default();
        for at in [20_100, 20_000, 20_200] {
            checks.take(check(at, Seen::Down(ErrorClass::Timeout)), INTERVAL);
        }
        assert_eq!(checks.newest_first().len(), 1);
    }

    #[test]
    fn numbered_checks_are_told_apart_however_close_they_are() {
        let mut checks = Checks::default();
        for (at, seq) in [(20_000, 4), (20_100, 5), (20_150, 4)] {
            let check = Check::new(at, Seen::Up, Some(seq)).unwrap();
            checks.take(check, INTERVAL);
        }
        assert_eq!(checks.newest_first().len(), 2);
    }

    #[test]
    fn isolated_failures_raise_the_noise_of_an_edge_once_the_ring_has_forgotten_them() {
        let mut checks = Checks::default();
        for round in 0..28 {
            let seen = if round % 5 == 2 {
                Seen::Down(ErrorClass::Timeout)
            } else {
                Seen::Up
            };
            checks.take(check(round * INTERVAL, seen), INTERVAL);
        }
        let (isolated, seen) = checks.isolated();
        assert_eq!((isolated, seen), (2, 12));
    }

    /// A number of an interval is another moment where intervals have another length.
    #[test]
    fn what_is_looked_at_less_often_from_now_on_is_learned_anew() {
        let mut checks = Checks::default();
        for round in 0..360 {
            checks.take(check(round * INTERVAL, Seen::Up), INTERVAL);
        }
        checks.learn_anew();
        for round in 0..28 {
            let seen = if round % 5 == 2 {
                Seen::Down(ErrorClass::Timeout)
            } else {
                Seen::Up
            };
            checks.take(check((360 + 6 * round) * INTERVAL, seen), 6 * INTERVAL);
        }
        assert_eq!(checks.isolated(), (2, 12));
    }

    #[test]
    fn one_ended_run_of_failures_has_recovered_and_two_are_flapping() {
        let mut checks = Checks::default();
        let down = Seen::Down(ErrorClass::Refused);
        for (round, seen) in [Seen::Up, down, down, Seen::Up].into_iter().enumerate() {
            checks.take(check(round as u64 * INTERVAL, seen), INTERVAL);
        }
        assert!(!checks.is_anomalous(INTERVAL));
        checks.take(check(4 * INTERVAL, down), INTERVAL);
        checks.take(check(5 * INTERVAL, Seen::Up), INTERVAL);
        assert!(checks.is_anomalous(INTERVAL));
    }
}
