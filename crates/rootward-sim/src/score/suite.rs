//! Which incidents there are: seeds for tuning, and others for reporting.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::judge::{ask_each_interval, judge};
use super::tally::Row;
use crate::Localiser;
use crate::random::Random;
use crate::scenario::{Graph, RootCause};
use crate::simulator::{Kind, Simulated, healthy_hours, incident};
use crate::topology::{Plan, healthy_twenty, layered, shapes};

/// Which incidents. Constants are chosen on the tuning seeds only; figures are reported on the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeds {
    /// To choose constants on.
    Tuning,
    /// To report figures on.
    Reporting,
}

impl Seeds {
    fn base(self) -> u64 {
        match self {
            Self::Tuning => 1_000_000,
            Self::Reporting => 7_000_000,
        }
    }
}

/// How many incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Of each kind.
    pub of_each_kind: u64,
    /// Systems of twenty services that run without a fault.
    pub healthy_systems: u64,
    /// Hours each of them runs.
    pub hours: u64,
}

impl Size {
    /// What is reported.
    pub const FULL: Self = Self {
        of_each_kind: 40,
        healthy_systems: 10,
        hours: 2,
    };
    /// A look.
    pub const QUICK: Self = Self {
        of_each_kind: 6,
        healthy_systems: 2,
        hours: 1,
    };
}

/// Something to score: its name, and how to make it for a map.
pub struct Contestant {
    /// Its row in the table.
    pub name: &'static str,
    /// Makes a fresh one, or says why it cannot.
    pub make: fn(&Graph) -> Result<Box<dyn Localiser>, String>,
}

impl std::fmt::Debug for Contestant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contestant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The incidents of a kind, one after the other: the shapes take turns.
pub fn incidents(seeds: Seeds, kind: Kind, count: u64) -> impl Iterator<Item = Simulated> {
    let at = Kind::ALL
        .iter()
        .position(|known| *known == kind)
        .unwrap_or(0);
    let row = seeds.base() + u64::try_from(at).unwrap_or(0) * 10_000;
    // A shape may have no place for a kind (no cycle): the next one takes its turn.
    (0..)
        .filter_map(move |number| {
            let seed = row + number;
            incident(&plan(kind, number, seed), kind, seed)
        })
        .take(usize::try_from(count).unwrap_or(usize::MAX))
}

fn plan(kind: Kind, number: u64, seed: u64) -> Plan {
    match kind {
        Kind::Large | Kind::LargeZone => {
            layered("layered", 300, &mut Random::new(seed).fork("plan"))
        }
        Kind::Cycle => turn(number, |plan| plan.on_cycles().contains(&true)),
        Kind::NodeDown
        | Kind::NodeDegraded
        | Kind::NodeIntermittent
        | Kind::App
        | Kind::InstanceDead
        | Kind::InstanceEgress
        | Kind::Edge
        | Kind::InstanceEdge
        | Kind::Host
        | Kind::Zone
        | Kind::Poller
        | Kind::Version
        | Kind::Two
        | Kind::Three
        | Kind::HostAndApp
        | Kind::OneObserver => turn(number, |_| true),
    }
}

fn turn(number: u64, fits: impl Fn(&Plan) -> bool) -> Plan {
    let mut plans: Vec<Plan> = shapes().iter().map(crate::topology::Shape::plan).collect();
    plans.retain(fits);
    let count = u64::try_from(plans.len()).unwrap_or(1).max(1);
    plans.swap_remove(usize::try_from(number % count).unwrap_or(0))
}

/// What is scored.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Which incidents.
    pub seeds: Seeds,
    /// How many.
    pub size: Size,
    /// Of which kinds.
    pub kinds: Vec<Kind>,
    /// Whether hours without a fault are scored too.
    pub healthy: bool,
    /// How many kinds are worked on at the same time.
    pub threads: usize,
}

impl Suite {
    /// Everything.
    #[must_use]
    pub fn new(seeds: Seeds, size: Size) -> Self {
        Self {
            seeds,
            size,
            kinds: Kind::ALL.to_vec(),
            healthy: true,
            threads: 1,
        }
    }
}

/// A share of the suite that one thread works on. What it finds does not depend on when it is worked on.
#[derive(Debug, Clone, Copy)]
enum Share {
    Kind(Kind),
    Healthy(u64),
}

/// Scores each contestant on every kind, and in healthy hours. One row for each contestant.
///
/// # Errors
/// When a contestant does not take a map.
pub fn run(contestants: &[Contestant], suite: &Suite) -> Result<Vec<Row>, String> {
    // The largest maps first: they take longest.
    let mut kinds = suite.kinds.clone();
    kinds.reverse();
    let mut shares: Vec<Share> = kinds.into_iter().map(Share::Kind).collect();
    if suite.healthy {
        shares.extend((0..suite.size.healthy_systems).map(Share::Healthy));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(scored(contestants, suite, *share));
        }
        done
    };
    let found: Vec<Result<Vec<Row>, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..suite.threads.max(1))
            .map(|_| scope.spawn(work))
            .collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => vec![Err("a contestant panicked".to_owned())],
        });
        joined.flatten().collect()
    });
    let mut rows = vec![Row::default(); contestants.len()];
    for share in found {
        for (row, part) in rows.iter_mut().zip(share?) {
            row.healthy.merge(&part.healthy);
            for (kind, tally) in part.kinds {
                row.kinds.entry(kind).or_default().merge(&tally);
            }
        }
    }
    Ok(rows)
}

fn scored(contestants: &[Contestant], suite: &Suite, share: Share) -> Result<Vec<Row>, String> {
    let mut rows = vec![Row::default(); contestants.len()];
    match share {
        Share::Kind(kind) => {
            for incident in incidents(suite.seeds, kind, suite.size.of_each_kind) {
                for (contestant, row) in contestants.iter().zip(&mut rows) {
                    let mut localiser = (contestant.make)(&incident.scenario.graph)?;
                    let verdict = judge(&incident, &mut *localiser);
                    row.kinds.entry(kind).or_default().incident(&verdict);
                }
            }
        }
        Share::Healthy(number) => {
            let calm = calm(suite.seeds, suite.size, number);
            for (contestant, row) in contestants.iter().zip(&mut rows) {
                let mut localiser = (contestant.make)(&calm.scenario.graph)?;
                let causes: Vec<f64> = false_causes(&calm, &mut *localiser)
                    .iter()
                    .map(|found| found.cause.confidence)
                    .collect();
                row.healthy.healthy(calm.end / 3600.0, &causes);
            }
        }
    }
    Ok(rows)
}

/// Hours of a system of twenty services in which nothing goes wrong.
#[must_use]
pub fn calm(seeds: Seeds, size: Size, number: u64) -> Simulated {
    let seed = seeds.base() + 900_000 + number;
    let plan = healthy_twenty(&mut Random::new(seed).fork("plan"));
    healthy_hours(&plan, size.hours, seed)
}

/// A cause that was named although nothing was wrong.
#[derive(Debug, Clone)]
pub struct FalseCause {
    /// Seconds, when it appeared.
    pub t: f64,
    /// The cause.
    pub cause: RootCause,
}

/// Each cause that appears. One that stays is counted once; one that goes and comes back, again.
pub fn false_causes(calm: &Simulated, localiser: &mut dyn Localiser) -> Vec<FalseCause> {
    let mut before = BTreeSet::new();
    let mut found = Vec::new();
    ask_each_interval(calm, localiser, |t, answer| {
        let mut now = BTreeSet::new();
        for cause in answer.root_causes {
            now.insert(cause.id.clone());
            if !before.contains(&cause.id) {
                found.push(FalseCause { t, cause });
            }
        }
        before = now;
    });
    found
}
