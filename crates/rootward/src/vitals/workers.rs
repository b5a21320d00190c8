//! Which workers of the application's runtime are in one step for too long.
//!
//! Tokio counts for each worker how often it went to sleep and woke up, and how long it was busy
//! (`tokio::runtime::RuntimeMetrics`). The first number is odd while the worker waits for work. A worker that runs many
//! short tasks moves the second at least every 61 of them (the runtime's event interval); one that is blocked moves
//! neither. So a worker that is awake and moves nothing is in one step, or in few long ones.

use std::time::Duration;

/// What the runtime says of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// How often it went to sleep and woke up.
    pub(super) turns: u64,
    pub(super) busy: Duration,
}

impl Reading {
    const fn is_awake(self) -> bool {
        self.turns.is_multiple_of(2)
    }
}

/// Since when each worker moves nothing.
#[derive(Debug, Default)]
pub(super) struct Workers(Vec<Worker>);

/// What one look at all workers saw.
#[derive(Debug)]
pub(super) struct Look {
    /// For how long each has been in one step; zero for one that waits or moves.
    pub(super) held: Box<[Duration]>,
    /// All of them wait for work. A runtime that cannot say so is not at rest.
    pub(super) at_rest: bool,
}

#[derive(Debug)]
struct Worker {
    last: Reading,
    looked: Duration,
    /// When it was last seen to move or to wait.
    moved: Duration,
}

impl Workers {
    /// Takes the newest reading of all workers, in their order.
    pub(super) fn observe(
        &mut self,
        now: Duration,
        readings: impl Iterator<Item = Reading>,
    ) -> Look {
        let mut held = Vec::with_capacity(self.0.len());
        let mut awake = false;
        for (index, reading) in readings.enumerate() {
            if index == self.0.len() {
                self.0.push(Worker {
                    last: reading,
                    looked: now,
                    moved: now,
                });
            }
            let worker = &mut self.0[index];
            awake |= reading.is_awake();
            if !reading.is_awake() || reading != worker.last {
                let woke_up_once = reading.is_awake() && reading.turns == worker.last.turns + 1;
                worker.moved = if woke_up_once {
                    // Since the last look, and nobody knows when.
                    now - now.saturating_sub(worker.looked) / 2
                } else {
                    now
                };
                worker.last = reading;
            }
            worker.looked = now;
            held.push(now.saturating_sub(worker.moved));
        }
        Look {
            at_rest: !awake && !held.is_empty(),
            held: held.into(),
        }
    }
}

/// For how long at least half of the workers have been held: one blocked worker of sixteen is a fault to be shown, one
/// of two is half of what the instance can do.
pub(super) fn half_held(held: &[Duration]) -> Duration {
    let mut sorted = held.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let half = sorted.len().div_ceil(2);
    half.checked_sub(1)
        .map_or(Duration::ZERO, |index| sorted[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn reading(turns: u64, busy: u64) -> Reading {
        Reading {
            turns,
            busy: secs(busy),
        }
    }

    #[test]
    fn a_worker_that_is_awake_and_moves_nothing_is_held() {
        let mut workers = Workers::default();
        let mut at =
            |now, readings: [Reading; 3]| workers.observe(secs(now), readings.into_iter()).held;
        // Asleep, busy with short tasks, and blocked.
        assert_eq!(
            *at(0, [reading(1, 0), reading(4, 1), reading(2, 0)]),
            [secs(0); 3]
        );
        assert_eq!(
            *at(5, [reading(1, 0), reading(4, 5), reading(2, 0)]),
            [secs(0), secs(0), secs(5)]
        );
        // It wakes up between two looks and is blocked, it goes on, it comes back.
        assert_eq!(
            *at(7, [reading(2, 0), reading(5, 6), reading(3, 6)]),
            [secs(1), secs(0), secs(0)]
        );
        assert_eq!(
            *at(9, [reading(2, 0), reading(5, 6), reading(3, 6)]),
            [secs(3), secs(0), secs(0)]
        );
    }

    #[test]
    fn a_runtime_is_at_rest_when_all_of_its_workers_wait() {
        let rests = |readings: &[Reading]| {
            Workers::default()
                .observe(secs(0), readings.iter().copied())
                .at_rest
        };
        assert!(rests(&[reading(1, 0), reading(7, 3)]));
        assert!(!rests(&[reading(1, 0), reading(8, 3)]));
        assert!(!rests(&[]), "nothing is known");
    }

    #[test]
    fn half_of_the_workers_are_the_instance_and_one_of_many_is_not() {
        assert_eq!(half_held(&[]), secs(0));
        assert_eq!(half_held(&[secs(3)]), secs(3));
        assert_eq!(half_held(&[secs(3), secs(0)]), secs(3));
        assert_eq!(half_held(&[secs(3), secs(0), secs(0)]), secs(0));
        assert_eq!(half_held(&[secs(3), secs(2), secs(0)]), secs(2));
        assert_eq!(half_held(&[secs(9), secs(0), secs(0), secs(0)]), secs(0));
    }
}
