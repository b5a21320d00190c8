//! The schedule: when which instance is polled.
//!
//! Each target has a phase of its own within its interval, from a hash of its name, so that polls are spread evenly and
//! stay where they are across restarts. Polls are released on a coarse tick: waking once for a few of them costs a
//! fraction of waking for each. A target is never polled twice at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::moment::Moment;
use crate::name::InstanceId;

/// Polls are released at multiples of this.
pub const RELEASE_TICK: Duration = Duration::from_millis(50);

/// A stable hash (FNV-1a, 64 bit; Fowler, Noll and Vo, RFC 9923), mixed so that similar names land far apart.
#[must_use]
pub fn stable_hash(text: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = text.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    // The finaliser of MurmurHash3: the high bits of FNV-1a change little for names that differ in their last letter.
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Where in its interval something with this name happens: at least zero, less than the interval.
///
/// ```
/// use rootward_core::schedule::phase;
/// use std::time::Duration;
/// let interval = Duration::from_secs(10);
/// assert!(phase("cart#0", interval) < interval);
/// assert_eq!(phase("cart#0", interval), phase("cart#0", interval));
/// ```
#[must_use]
pub fn phase(name: &str, interval: Duration) -> Duration {
    let interval_ms = u64::try_from(interval.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    Duration::from_millis(stable_hash(name) % interval_ms)
}

/// Which targets are due.
#[derive(Debug, Clone)]
pub struct Schedule {
    origin: Moment,
    entries: BTreeMap<InstanceId, Entry>,
    /// Those that are not being polled, by when they are due.
    queue: BTreeSet<(Moment, InstanceId)>,
    /// Targets that are not polled any more and whose last poll has not ended.
    leaving: BTreeSet<InstanceId>,
}

#[derive(Debug, Clone)]
struct Entry {
    interval: Duration,
    phase: Duration,
    next: Moment,
    /// When its last poll began.
    last: Option<Moment>,
    in_flight: bool,
}

/// How much of its interval a target that is added to a running schedule waits for its first poll at most, as a divisor.
const JOIN_WITHIN: u32 = 10;

impl Schedule {
    /// A schedule that begins at `now`; the first polls are spread over one interval.
    pub fn new(targets: impl IntoIterator<Item = (InstanceId, Duration)>, now: Moment) -> Self {
        let entries = targets
            .into_iter()
            .map(|(id, interval)| {
                let interval = interval.max(RELEASE_TICK);
                let phase = phase(&id.to_string(), interval);
                (
                    id,
                    Entry {
                        interval,
                        phase,
                        next: on_tick(now + phase),
                        last: None,
                        in_flight: false,
                    },
                )
            })
            .collect();
        let mut schedule = Self {
            origin: now,
            entries,
            queue: BTreeSet::new(),
            leaving: BTreeSet::new(),
        };
        schedule.queue_all();
        schedule
    }

    fn queue_all(&mut self) {
        let waiting = self.entries.iter().filter(|(_, entry)| !entry.in_flight);
        self.queue = waiting
            .map(|(id, entry)| (entry.next, id.clone()))
            .collect();
    }

    /// Goes on with other targets. One that stays with its interval keeps its slots; one with another interval gets the
    /// first of its new slots that is not nearer than half the shorter interval to its last poll. New ones have their
    /// first poll within a tenth of their interval, or later where more than a tenth of all targets is new: the rate
    /// of polls at most doubles. No two polls of a target overlap, also if it left and came back meanwhile.
    pub fn replace(
        &mut self,
        targets: impl IntoIterator<Item = (InstanceId, Duration)>,
        now: Moment,
    ) {
        let mut before = std::mem::take(&mut self.entries);
        let mut new = Vec::new();
        for (id, interval) in targets {
            let interval = interval.max(RELEASE_TICK);
            match before.remove(&id) {
                Some(entry) => {
                    let entry = entry.with_interval(&id, interval, self.origin, now);
                    self.entries.insert(id, entry);
                }
                None => new.push((id, interval)),
            }
        }
        let gone = before.into_iter().filter(|(_, entry)| entry.in_flight);
        self.leaving.extend(gone.map(|(id, _)| id));
        let added = u32::try_from(new.len()).unwrap_or(u32::MAX);
        let total = u32::try_from(self.entries.len() + new.len()).unwrap_or(u32::MAX);
        for (id, interval) in new {
            let phase = phase(&id.to_string(), interval);
            let within = f64::from(added) / f64::from(total.max(1));
            let next = on_tick(now + phase.mul_f64(within.max(1.0 / f64::from(JOIN_WITHIN))));
            let in_flight = self.leaving.remove(&id);
            let entry = Entry {
                interval,
                phase,
                next,
                last: None,
                in_flight,
            };
            self.entries.insert(id, entry);
        }
        self.queue_all();
    }

    /// Takes what is due, by name; each must be given back through [`Schedule::finished`].
    pub fn take_due(&mut self, now: Moment) -> Vec<InstanceId> {
        let mut due = Vec::new();
        while let Some((next, _)) = self.queue.first()
            && *next <= now
            && let Some((_, id)) = self.queue.pop_first()
        {
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.in_flight = true;
                entry.last = Some(now);
                entry.next = entry.slot_after(self.origin, now);
                due.push(id);
            }
        }
        due.sort_unstable();
        due
    }

    /// The poll of a target has ended; it may be polled again in its next slot.
    pub fn finished(&mut self, id: &InstanceId, now: Moment) {
        let Some(entry) = self.entries.get_mut(id) else {
            self.leaving.remove(id);
            return;
        };
        if !entry.in_flight {
            return;
        }
        entry.in_flight = false;
        if entry.next <= now {
            // It ran into its next slot: skip that one, so that two polls are never nearer than half an interval.
            entry.next = entry.slot_after(self.origin, now + entry.interval / 2);
        }
        self.queue.insert((entry.next, id.clone()));
    }

    /// When something is due next; `None` while everything is being polled.
    #[must_use]
    pub fn next_due(&self) -> Option<Moment> {
        self.queue.first().map(|(next, _)| *next)
    }

    /// How many targets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to poll.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Entry {
    /// The same target, polled as often as this.
    fn with_interval(
        self,
        id: &InstanceId,
        interval: Duration,
        origin: Moment,
        now: Moment,
    ) -> Self {
        if self.interval == interval {
            return self;
        }
        let changed = Self {
            interval,
            phase: phase(&id.to_string(), interval),
            ..self
        };
        let apart = interval.min(self.interval) / 2;
        let mut next = changed.first_slot_after(origin, now);
        if self.last.is_some_and(|last| next - last < apart) {
            next = on_tick(next + interval);
        }
        Self { next, ..changed }
    }

    /// The first of the target's slots after `now` that is not nearer than half an interval.
    fn slot_after(&self, origin: Moment, now: Moment) -> Moment {
        let slot = self.first_slot_after(origin, now);
        // Rounding up to the tick may leave the slot just taken ahead of `now` again.
        if now >= origin + self.phase && slot - now < self.interval / 2 {
            on_tick(slot + self.interval)
        } else {
            slot
        }
    }

    /// The first of the target's slots after `now`.
    fn first_slot_after(&self, origin: Moment, now: Moment) -> Moment {
        let first = origin + self.phase;
        if now < first {
            return on_tick(first);
        }
        let interval_ms = u64::try_from(self.interval.as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        let passed_ms = u64::try_from((now - first).as_millis()).unwrap_or(u64::MAX);
        let slots = passed_ms / interval_ms + 1;
        on_tick(first + Duration::from_millis(slots.saturating_mul(interval_ms)))
    }
}

/// Rounded up to the release tick.
fn on_tick(moment: Moment) -> Moment {
    let tick_ms = u64::try_from(RELEASE_TICK.as_millis()).unwrap_or(1).max(1);
    Moment::from_millis(moment.as_millis().div_ceil(tick_ms).saturating_mul(tick_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    fn ids(count: usize) -> Vec<InstanceId> {
        (0..count)
            .map(|n| InstanceId {
                service: Name::parse(&format!("service-{}", n / 3)).unwrap(),
                instance: Name::parse(&format!("{}", n % 3)).unwrap(),
            })
            .collect()
    }

    /// Runs the schedule in virtual time with polls that take `took`, and returns when each target was polled.
    fn run(
        count: usize,
        interval: Duration,
        took: Duration,
        until: Moment,
    ) -> BTreeMap<InstanceId, Vec<Moment>> {
        let start = Moment::from_millis(12_345);
        let mut schedule = Schedule::new(ids(count).into_iter().map(|id| (id, interval)), start);
        let mut polls: BTreeMap<InstanceId, Vec<Moment>> = BTreeMap::new();
        let mut running: Vec<(Moment, InstanceId)> = Vec::new();
        let mut now = start;
        while now < until {
            for id in schedule.take_due(now) {
                polls.entry(id.clone()).or_default().push(now);
                running.push((now + took, id));
            }
            now = now + Duration::from_millis(10);
            let (done, still): (Vec<_>, Vec<_>) =
                running.into_iter().partition(|(end, _)| *end <= now);
            running = still;
            for (_, id) in done {
                schedule.finished(&id, now);
            }
        }
        polls
    }

    #[test]
    fn every_target_is_polled_once_an_interval() {
        let interval = Duration::from_secs(10);
        let polls = run(
            30,
            interval,
            Duration::from_millis(40),
            Moment::from_millis(112_345),
        );
        assert_eq!(polls.len(), 30);
        for (id, at) in polls {
            assert_eq!(at.len(), 10, "{id}");
            assert!(
                at.windows(2).all(|pair| pair[1] - pair[0] == interval),
                "{id}: {at:?}"
            );
        }
    }

    #[test]
    fn kf_042_two_polls_of_one_target_never_overlap_and_are_never_nearer_than_half_an_interval() {
        let interval = Duration::from_secs(1);
        for took_ms in [10, 900, 990, 1_010, 1_490, 1_510, 2_300] {
            let took = Duration::from_millis(took_ms);
            let polls = run(20, interval, took, Moment::from_millis(52_345));
            for (id, at) in polls {
                for pair in at.windows(2) {
                    let gap = pair[1] - pair[0];
                    assert!(
                        gap >= took && gap >= interval / 2,
                        "{id} with {took:?}: {gap:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn kf_079_first_polls_are_spread_over_one_interval() {
        let interval = Duration::from_secs(10);
        let start = Moment::from_millis(12_345);
        let polls = run(
            2_000,
            interval,
            Duration::from_millis(10),
            start + interval + RELEASE_TICK,
        );
        let mut per_100_ms: BTreeMap<u128, usize> = BTreeMap::new();
        for at in polls.values() {
            *per_100_ms
                .entry((at[0] - start).as_millis() / 100)
                .or_default() += 1;
        }
        let average = 2_000 / 100;
        assert!(
            per_100_ms.values().all(|count| *count <= 3 * average),
            "{per_100_ms:?}"
        );
    }
}
