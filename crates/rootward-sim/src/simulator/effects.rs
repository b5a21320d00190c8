//! What a set of faults does, in the long run, to everything that the aggregator can observe.
//!
//! Noise, phases and delays are left out: they are the same whatever the fault. What is left is, for each check that is
//! heard of, how often it fails and in which ways, and for each polled instance how often it is silent. Two sets of
//! faults with equal effects give reports that are drawn from the same distribution: nobody can tell them apart.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::Fault;
use super::world::World;
use crate::scenario::{CheckDepth, EdgeLabel, ErrorClass};

/// Rounds after which a failure has passed through every chain of readiness that matters.
const ROUNDS: usize = 12;
/// Shares that differ by less are equal.
const SAME: f64 = 1e-6;
/// A check that fails more often by less than this cannot be told from a flaky one.
const NOTICEABLE: f64 = 0.2;

/// Odds of twenty to one, as a logarithm: what is less certain than that is taken for not known.
const TELLING: f64 = 3.0;
/// How often a check fails for no reason.
const NOISE: f64 = 0.01;

/// How often a check fails of which a fault makes this share fail.
fn noisy(bad: f64) -> f64 {
    (1.0 - (1.0 - bad) * (1.0 - NOISE)).min(1.0 - NOISE)
}

/// How much one check that fails with chance `p` speaks on average against a chance of `q`, in nats (Kullback and Leibler,
/// "On information and sufficiency", 1951).
fn divergence(p: f64, q: f64) -> f64 {
    p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
}

/// How often something is bad, and in which ways.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    bad: f64,
    /// A bit for each class.
    ways: u16,
}

/// What can be observed of a set of faults.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    checks: BTreeMap<(usize, usize), Share>,
    silent: BTreeMap<usize, f64>,
}

impl Effects {
    /// The effects of `faults` in `world`.
    #[must_use]
    pub fn of(world: &World, faults: &[Fault]) -> Self {
        let count = world.graph().instances.len();
        let mut not_ready = vec![0.0; count];
        let mut shares = Vec::new();
        for _ in 0..ROUNDS {
            shares = (0..count)
                .map(|one| deps_of(world, faults, one, &not_ready))
                .collect();
            let next: Vec<f64> = (0..count)
                .map(|one| fails_ready(world, one, &shares))
                .collect();
            let settled = next
                .iter()
                .zip(&not_ready)
                .all(|(a, b)| (a - b).abs() < SAME);
            not_ready = next;
            if settled {
                break;
            }
        }
        let mut effects = Self::default();
        for (one, deps) in shares.iter().enumerate() {
            if !world.polled(one) {
                continue;
            }
            let heard: f64 = faults
                .iter()
                .filter(|fault| world.silences(fault, one))
                .map(|fault| 1.0 - fault.pattern.rate())
                .product();
            if heard < 1.0 - SAME {
                effects.silent.insert(one, 1.0 - heard);
            }
            if heard > SAME {
                for (dep, share) in deps.iter().enumerate() {
                    if share.bad > SAME {
                        effects.checks.insert((one, dep), *share);
                    }
                }
            }
        }
        effects
    }

    /// How many more checks an interval are bad than in `other`, about. Checks that are hardly worse do not count.
    #[must_use]
    pub fn more_than(&self, other: &Self) -> f64 {
        self.differing(other)
            .map(|key| {
                let of = |effects: &Self| effects.checks.get(&key).map_or(0.0, |share| share.bad);
                of(self) - of(other)
            })
            .filter(|more| *more >= NOTICEABLE)
            .sum()
    }

    /// The check, as instance and number of the dependency, of which these effects make more than `other` by most.
    #[must_use]
    pub fn most_beyond(&self, other: &Self) -> Option<(usize, usize)> {
        let more = |key: (usize, usize)| self.share(key) - other.share(key);
        self.differing(other)
            .max_by(|a, b| more(*a).total_cmp(&more(*b)).then(b.cmp(a)))
    }

    /// How often that check is bad.
    #[must_use]
    pub fn share(&self, check: (usize, usize)) -> f64 {
        self.checks.get(&check).map_or(0.0, |share| share.bad)
    }

    /// How many instances are silent for good.
    #[must_use]
    pub fn silent(&self) -> usize {
        self.silent
            .values()
            .filter(|&&share| share > 1.0 - SAME)
            .count()
    }

    /// Whether nobody can tell these effects from `other`.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.checks.len() == other.checks.len()
            && self.silent.len() == other.silent.len()
            && self.differing(other).next().is_none()
            && self
                .silent
                .iter()
                .zip(&other.silent)
                .all(|(mine, theirs)| mine.0 == theirs.0 && (mine.1 - theirs.1).abs() < SAME)
    }

    /// Whether what is observed in `checks` checks of everything hardly tells these effects from `other`: on average it
    /// makes them less than `TELLING` nats likelier. What differs in silence, or in the way in which checks fail that
    /// fail noticeably, can be told.
    #[must_use]
    pub fn hardly_differ(&self, other: &Self, checks: f64) -> bool {
        let silent = |effects: &Self| effects.silent.clone();
        let (mine, theirs) = (silent(self), silent(other));
        let as_silent = mine.len() == theirs.len()
            && mine
                .iter()
                .zip(&theirs)
                .all(|(mine, theirs)| mine.0 == theirs.0 && (mine.1 - theirs.1).abs() < SAME);
        if !as_silent {
            return false;
        }
        let mut told = 0.0;
        let keys: BTreeSet<&(usize, usize)> =
            self.checks.keys().chain(other.checks.keys()).collect();
        for key in keys {
            let of = |effects: &Self| effects.checks.get(key).copied().unwrap_or_default();
            let (mine, theirs) = (of(self), of(other));
            if mine.ways != theirs.ways && mine.bad.max(theirs.bad) >= NOTICEABLE {
                return false;
            }
            told += checks * divergence(noisy(mine.bad), noisy(theirs.bad));
        }
        told < TELLING
    }

    fn differing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.checks.iter().filter_map(|(key, mine)| {
            let same = other.checks.get(key).is_some_and(|theirs| {
                mine.ways == theirs.ways && (mine.bad - theirs.bad).abs() < SAME
            });
            (!same).then_some(*key)
        })
    }
}

/// How often each check of an instance is bad, when replicas are not ready as often as `not_ready` says.
fn deps_of(world: &World, faults: &[Fault], instance: usize, not_ready: &[f64]) -> Vec<Share> {
    let of_dep = |dep: &super::world::Dep| {
        let replicas = world.replicas(dep.to);
        if replicas.is_empty() {
            return one_way(world, faults, instance, dep, None, 0.0);
        }
        let mut sum = Share::default();
        for &replica in replicas {
            let unready = match dep.check {
                CheckDepth::Readiness => not_ready[replica],
                CheckDepth::Ping => 0.0,
            };
            let share = one_way(world, faults, instance, dep, Some(replica), unready);
            sum.bad += share.bad;
            sum.ways |= share.ways;
        }
        let count = u32::try_from(replicas.len()).unwrap_or(u32::MAX);
        sum.bad /= f64::from(count);
        sum
    };
    world
        .deps(world.service(instance))
        .iter()
        .map(of_dep)
        .collect()
}

fn one_way(
    world: &World,
    faults: &[Fault],
    instance: usize,
    dep: &super::world::Dep,
    replica: Option<usize>,
    unready: f64,
) -> Share {
    let mut good = 1.0;
    let mut ways = 0;
    for fault in faults {
        let stops = world.stops(fault, instance, dep, replica) * fault.pattern.rate();
        if stops > 0.0 {
            // What never gets further shows the first way only.
            if good > SAME {
                ways |= bit(fault.class);
            }
            good *= 1.0 - stops;
        }
    }
    if unready > SAME && good > SAME {
        ways |= bit(ErrorClass::Http5xx);
        good *= 1.0 - unready;
    }
    let bad = 1.0 - good;
    Share { bad, ways }
}

/// How often an instance is not ready because of what it depends on.
fn fails_ready(world: &World, instance: usize, shares: &[Vec<Share>]) -> f64 {
    let service = world.service(instance);
    if !world.habits(service).looks_down {
        return 0.0;
    }
    let slow_only = bit(ErrorClass::Slow);
    let good: f64 = world
        .deps(service)
        .iter()
        .zip(&shares[instance])
        .filter(|(dep, share)| dep.label == EdgeLabel::Hard && share.ways != slow_only)
        .map(|(_, share)| 1.0 - share.bad)
        .product();
    1.0 - good
}

fn bit(class: ErrorClass) -> u16 {
    let at = ErrorClass::ALL.iter().position(|known| *known == class);
    1 << at.unwrap_or(0)
}
