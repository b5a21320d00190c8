//! Epochs: which polling round is complete.
//!
//! A round is complete when its time is over and every poll that was begun in it has ended, however it ended.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::moment::Moment;
use crate::snapshot::Epoch;

/// Rounds that may be open at once; more means that polls never end, and the oldest are given up.
const MAX_OPEN: usize = 64;

/// Counts the polls of each round.
#[derive(Debug)]
pub(super) struct Epochs {
    origin: Moment,
    interval: Duration,
    /// When rounds of the present length began, and the number of the first of them.
    counted_from: (Moment, u64),
    open: BTreeMap<u64, Counts>,
    last_complete: Option<Epoch>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    started: usize,
    finished: usize,
    answered: usize,
}

impl Epochs {
    pub(super) const fn new(origin: Moment, interval: Duration) -> Self {
        Self {
            origin,
            interval,
            counted_from: (origin, 0),
            open: BTreeMap::new(),
            last_complete: None,
        }
    }

    pub(super) const fn origin(&self) -> Moment {
        self.origin
    }

    pub(super) const fn last_complete(&self) -> Option<Epoch> {
        self.last_complete
    }

    /// From now on rounds have another length; those that are open are given up, and numbers go on.
    pub(super) fn set_interval(&mut self, interval: Duration, now: Moment) {
        if interval == self.interval {
            return;
        }
        self.counted_from = (now, self.number(now) + 1);
        self.interval = interval;
        self.open.clear();
    }

    pub(super) fn started(&mut self, now: Moment) {
        self.open.entry(self.number(now)).or_default().started += 1;
        while self.open.len() > MAX_OPEN {
            self.open.pop_first();
        }
    }

    pub(super) fn finished(&mut self, started: Moment, answered: bool, now: Moment) {
        // A poll from before the rounds had this length belongs to none of them.
        let counted = started >= self.counted_from.0;
        if counted && let Some(counts) = self.open.get_mut(&self.number(started)) {
            counts.finished += 1;
            counts.answered += usize::from(answered);
        }
        self.roll(now);
    }

    /// Closes the rounds whose time is over and whose polls have all ended.
    pub(super) fn roll(&mut self, now: Moment) {
        let current = self.number(now);
        let complete: Vec<(u64, Counts)> = self
            .open
            .range(..current)
            .filter(|(_, counts)| counts.finished >= counts.started)
            .map(|(number, counts)| (*number, *counts))
            .collect();
        for (
            number,
            Counts {
                started,
                finished,
                answered,
            },
        ) in complete
        {
            self.open.remove(&number);
            if self.last_complete.is_none_or(|last| last.number < number) {
                self.last_complete = Some(Epoch {
                    number,
                    started,
                    finished,
                    answered,
                    completed_at: now,
                });
            }
        }
    }

    fn number(&self, at: Moment) -> u64 {
        let (from, first) = self.counted_from;
        let passed = u64::try_from((at - from).as_millis()).unwrap_or(u64::MAX);
        let length = u64::try_from(self.interval.as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        first + passed / length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Moment {
        Moment::from_millis(ms)
    }

    #[test]
    fn a_round_is_complete_when_its_time_is_over_and_all_its_polls_have_ended() {
        let mut epochs = Epochs::new(at(0), SECOND);
        epochs.started(at(100));
        epochs.started(at(900));
        epochs.finished(at(100), true, at(150));
        assert_eq!(epochs.last_complete(), None);
        epochs.roll(at(1_000));
        assert_eq!(epochs.last_complete(), None, "one poll is still running");
        epochs.finished(at(900), false, at(1_400));
        let last = epochs.last_complete().unwrap();
        assert_eq!(
            (last.number, last.started, last.answered, last.completed_at),
            (0, 2, 1, at(1_400))
        );
    }

    #[test]
    fn rounds_of_another_length_go_on_counting() {
        let mut epochs = Epochs::new(at(0), SECOND);
        epochs.started(at(100));
        epochs.finished(at(100), true, at(150));
        epochs.started(at(1_100));
        epochs.roll(at(1_200));
        epochs.set_interval(10 * SECOND, at(1_200));
        epochs.finished(at(1_100), true, at(1_300));
        assert_eq!(epochs.last_complete().unwrap().number, 0);
        epochs.started(at(1_400));
        epochs.finished(at(1_400), true, at(1_500));
        epochs.roll(at(11_200));
        let last = epochs.last_complete().unwrap();
        assert_eq!((last.number, last.started, last.finished), (2, 1, 1));
    }

    #[test]
    fn a_poll_that_never_ends_does_not_grow_memory() {
        let mut epochs = Epochs::new(at(0), SECOND);
        for n in 0..1_000 {
            epochs.started(at(n * 1_000));
        }
        assert!(epochs.open.len() <= MAX_OPEN);
    }
}
