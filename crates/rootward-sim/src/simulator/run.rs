//! Lets time pass: checks run, reports are sent, delayed, lost and received.

use std::collections::BTreeMap;

use super::accept::Truth;
use super::draw::{INTERVAL, Kind, draw};
use super::fault::{Fault, Place, seconds};
use super::world::{Dep, Release, World};
use crate::random::Random;
use crate::scenario::{
    Change, CheckDepth, CheckStatus, DepReport, EdgeLabel, ErrorClass, Event, NoAnswer, Report,
    Scenario,
};
use crate::topology::{Plan, place};

/// How often a check fails for no reason.
const FALSE_FAILURE: f64 = 0.01;
/// How often a poll is lost.
const LOST_POLL: f64 = 0.02;
/// How often a report is late, by up to 25 s.
const LATE: f64 = 0.04;
/// How often a report comes twice.
const TWICE: f64 = 0.01;
/// How many instances have a checker that gets stuck.
const STUCK: f64 = 0.01;
/// How often an error looks like a timeout instead of what it mostly looks like.
const OTHER_CLASS: f64 = 0.1;
/// Milliseconds that a poll waits for its answer.
const POLL_DEADLINE: u64 = 2_000;
/// Intervals from the last onset to the end.
const AFTER: u64 = 10;
/// Worlds that are tried for one incident.
const WORLDS: u64 = 200;

/// A scenario and the truth about it.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// What was received.
    pub scenario: Scenario,
    /// What went wrong.
    pub truth: Truth,
    /// What the faults did that was received, in the order of arrival.
    pub signs: Vec<Sign>,
    /// Checks that were received and did not fail because of a fault, in the order of arrival.
    pub others: Vec<Other>,
    /// Seconds, the last instant to ask about.
    pub end: f64,
}

/// A check that failed because of a fault, or a poll that a cut kept from being answered, as it was first received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sign {
    /// Which fault, as a position in the truth.
    pub fault: usize,
    /// Which check; none for a poll.
    pub check: Option<CheckOf>,
    /// Seconds, when the check was made or the poll sent.
    pub made: f64,
    /// Seconds, when the aggregator received it.
    pub recv: f64,
}

/// The check that an instance makes of a dependency, both as numbers.
pub type CheckOf = (usize, usize);

/// A check that was good, or failed for no reason, as it was first received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Other {
    /// Which check.
    pub check: CheckOf,
    /// Whether it was good.
    pub good: bool,
    /// Seconds, when the check was made.
    pub made: f64,
    /// Seconds, when the aggregator received it.
    pub recv: f64,
}

/// An incident of a kind, on a plan; the same for the same seed. Nothing when no world of this plan has one.
#[must_use]
pub fn incident(plan: &Plan, kind: Kind, seed: u64) -> Option<Simulated> {
    incident_after(plan, kind, 8, seed)
}

/// As [`incident`], after `calm` intervals or a few more without a fault.
#[must_use]
pub fn incident_after(plan: &Plan, kind: Kind, calm: u64, seed: u64) -> Option<Simulated> {
    let root = Random::new(seed);
    for number in 0..WORLDS {
        let mut random = root.fork(&format!("world {number}"));
        let mut world = World::new(place(plan, &mut random), FALSE_FAILURE, &mut random);
        let start = random.between(calm, calm + 4) * INTERVAL + random.between(0, INTERVAL);
        if let Some(drawn) = draw(&mut world, kind, start, &mut random) {
            let last = drawn
                .faults
                .iter()
                .map(|fault| fault.start)
                .max()
                .unwrap_or(start);
            let end = (last / INTERVAL + 1 + AFTER) * INTERVAL;
            innocent_release(&mut world, end, 0.3, &mut random);
            world.graph_mut().scenario = format!("{}: {kind}, seed {seed}", plan.name);
            let simulated = run(world, &drawn.faults, end, &mut random);
            return Some(Simulated {
                truth: drawn.truth,
                ..simulated
            });
        }
    }
    None
}

/// Hours in which nothing goes wrong, except noise.
#[must_use]
pub fn healthy_hours(plan: &Plan, hours: u64, seed: u64) -> Simulated {
    let mut random = Random::new(seed).fork("healthy");
    let mut world = World::new(place(plan, &mut random), FALSE_FAILURE, &mut random);
    let end = hours * 3_600_000;
    innocent_release(&mut world, end, 1.0, &mut random);
    world.graph_mut().scenario = format!("{}: {hours} h, seed {seed}", plan.name);
    run(world, &[], end, &mut random)
}

/// A release that harms nobody.
fn innocent_release(world: &mut World, end: u64, chance: f64, random: &mut Random) {
    if random.chance(chance) {
        let service = world.service(random.index(world.graph().instances.len()));
        let instances = world.replicas(service).to_vec();
        if world
            .releases()
            .iter()
            .any(|release| release.service == service)
        {
            return;
        }
        world.release(Release {
            service,
            version: format!("1.{}.1", random.between(41, 60)),
            instances,
            at: random.between(2 * INTERVAL, end),
        });
    }
}

/// The newest result of one check.
#[derive(Debug, Clone, Copy)]
struct Found {
    at: u64,
    status: CheckStatus,
    error: Option<ErrorClass>,
    latency_ms: f64,
    bad_in_a_row: u32,
    count: u64,
    /// The fault that made it fail.
    because: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Check { instance: usize, dep: usize },
    Poll { instance: usize },
}

struct Run<'a> {
    world: &'a World,
    faults: &'a [Fault],
    results: Vec<Vec<Option<Found>>>,
    stuck: BTreeMap<usize, (u64, u64)>,
    numbered: bool,
    random: &'a mut Random,
    events: Vec<(u64, Event)>,
    polls: u64,
    signs: BTreeMap<(usize, usize, u64), Sign>,
    others: BTreeMap<(usize, usize, u64), Other>,
    unanswered: Vec<Sign>,
}

fn run(world: World, faults: &[Fault], end: u64, random: &mut Random) -> Simulated {
    let mut happenings = happenings(&world, end, random);
    happenings.sort_unstable();
    let mut stuck = BTreeMap::new();
    for instance in 0..world.graph().instances.len() {
        if random.chance(STUCK) {
            let from = random.between(0, end);
            stuck.insert(instance, (from, from + random.between(3, 12) * INTERVAL));
        }
    }
    let results = (0..world.graph().instances.len())
        .map(|one| vec![None; world.deps(world.service(one)).len()])
        .collect();
    let mut run = Run {
        world: &world,
        faults,
        results,
        stuck,
        numbered: random.chance(0.5),
        random,
        events: Vec::new(),
        polls: 0,
        signs: BTreeMap::new(),
        others: BTreeMap::new(),
        unanswered: Vec::new(),
    };
    for (at, happening) in happenings {
        match happening {
            Happening::Check { instance, dep } => run.check(at, instance, dep),
            Happening::Poll { instance } => run.poll(at, instance),
        }
    }
    let mut signs = run.unanswered;
    signs.extend(run.signs.into_values());
    signs.sort_by(|a, b| a.recv.total_cmp(&b.recv));
    let mut others: Vec<Other> = run.others.into_values().collect();
    others.sort_by(|a, b| a.recv.total_cmp(&b.recv));
    let mut events = run.events;
    for release in world.releases() {
        let service = world.graph().nodes[release.service].id.clone();
        let what = format!("deploy {}", release.version);
        let recv = seconds(release.at);
        let change = Change {
            recv,
            service,
            what,
        };
        events.push((release.at, Event::Change(change)));
    }
    // A stable sort: what arrives at the same millisecond keeps the order in which it was sent.
    events.sort_by_key(|(recv, _)| *recv);
    let scenario = Scenario {
        events: events.into_iter().map(|(_, event)| event).collect(),
        graph: world.into_graph(),
    };
    Simulated {
        scenario,
        signs,
        others,
        truth: Truth { causes: Vec::new() },
        end: seconds(end),
    }
}

fn happenings(world: &World, end: u64, random: &mut Random) -> Vec<(u64, Happening)> {
    let mut all = Vec::new();
    for instance in 0..world.graph().instances.len() {
        let service = world.service(instance);
        let period = world.habits(service).period;
        for dep in 0..world.deps(service).len() {
            let phase = random.between(0, period - 1);
            let check = Happening::Check { instance, dep };
            all.extend(
                (0..)
                    .map(|n| phase + n * period)
                    .take_while(|at| *at < end)
                    .map(|at| (at, check)),
            );
        }
        let phase = random.between(0, INTERVAL - 1);
        if world.polled(instance) {
            let poll = Happening::Poll { instance };
            all.extend(
                (0..)
                    .map(|n| phase + n * INTERVAL)
                    .take_while(|at| *at < end)
                    .map(|at| (at, poll)),
            );
        }
    }
    all
}

impl Run<'_> {
    fn check(&mut self, at: u64, instance: usize, dep: usize) {
        let stuck = |&(from, to): &(u64, u64)| from <= at && at < to;
        if self.stuck.get(&instance).is_some_and(stuck) || !self.lives(at, instance) {
            return;
        }
        let what = self.world.deps(self.world.service(instance))[dep];
        let (status, error, because) = self.attempt(at, instance, &what);
        let before = self.results[instance][dep];
        let bad_in_a_row = match status {
            CheckStatus::Down => before.map_or(0, |last| last.bad_in_a_row) + 1,
            CheckStatus::Up | CheckStatus::Degraded | CheckStatus::Unknown => 0,
        };
        let latency_ms = match status {
            CheckStatus::Degraded => 800.0 + (self.random.unit() * 1000.0).round(),
            CheckStatus::Up | CheckStatus::Down | CheckStatus::Unknown => {
                1.0 + (self.random.unit() * 90.0).round() / 10.0
            }
        };
        self.results[instance][dep] = Some(Found {
            at,
            status,
            error,
            latency_ms,
            bad_in_a_row,
            count: before.map_or(0, |last| last.count) + 1,
            because,
        });
    }

    fn attempt(
        &mut self,
        at: u64,
        instance: usize,
        dep: &Dep,
    ) -> (CheckStatus, Option<ErrorClass>, Option<usize>) {
        let world = self.world;
        let replica = self.random.pick(world.replicas(dep.to)).copied();
        let begun = |(_, fault): &(usize, &Fault)| fault.start <= at;
        for (number, fault) in self.faults.iter().enumerate().filter(begun) {
            let stops = world.stops(fault, instance, dep, replica);
            if stops > 0.0
                && self.random.chance(stops)
                && fault.pattern.bites(at - fault.start, self.random)
            {
                if !fault.pattern.fails() {
                    return (CheckStatus::Degraded, Some(ErrorClass::Slow), Some(number));
                }
                let class = if self.random.chance(OTHER_CLASS) {
                    ErrorClass::Timeout
                } else {
                    fault.class
                };
                return (CheckStatus::Down, Some(class), Some(number));
            }
        }
        if dep.check == CheckDepth::Readiness
            && let Some(because) = replica.and_then(|replica| self.not_ready(replica))
        {
            let class = if self.random.chance(OTHER_CLASS) {
                ErrorClass::Timeout
            } else {
                ErrorClass::Http5xx
            };
            return (CheckStatus::Down, Some(class), because);
        }
        if self.random.chance(dep.noise) {
            let class = self.random.weighted(&[
                (ErrorClass::Timeout, 0.5),
                (ErrorClass::Slow, 0.2),
                (ErrorClass::Refused, 0.1),
                (ErrorClass::Http5xx, 0.1),
                (ErrorClass::Dns, 0.1),
            ]);
            return match class {
                Some(ErrorClass::Slow) => (CheckStatus::Degraded, class, None),
                Some(_) | None => (CheckStatus::Down, class, None),
            };
        }
        (CheckStatus::Up, None, None)
    }

    /// What the cheap readiness of an instance says: from its own results, not from asking anybody. When it does not
    /// hold, the fault behind that, if there is one.
    fn not_ready(&self, instance: usize) -> Option<Option<usize>> {
        let service = self.world.service(instance);
        let habits = self.world.habits(service);
        let deps = self.world.deps(service).iter();
        let mut failing = deps
            .zip(&self.results[instance])
            .filter(|(dep, _)| habits.looks_down && dep.label == EdgeLabel::Hard)
            .filter_map(|(_, result)| result.as_ref())
            .filter(|result| result.bad_in_a_row >= habits.patience)
            .map(|result| result.because);
        let first = failing.next()?;
        Some(first.or_else(|| failing.flatten().next()))
    }

    fn lives(&mut self, at: u64, instance: usize) -> bool {
        let held = self.held(at, |world, fault| world.stops_process(fault, instance));
        held.is_none()
    }

    fn held(&mut self, at: u64, by: impl Fn(&World, &Fault) -> bool) -> Option<usize> {
        let begun = |(_, fault): &(usize, &Fault)| fault.start <= at;
        for (number, fault) in self.faults.iter().enumerate().filter(begun) {
            if by(self.world, fault) && fault.pattern.bites(at - fault.start, self.random) {
                return Some(number);
            }
        }
        None
    }

    fn poll(&mut self, at: u64, instance: usize) {
        self.polls += 1;
        let id = self.world.graph().instances[instance].id.clone();
        let silent = self.held(at, |world, fault| world.silences(fault, instance));
        if silent.is_some() || self.random.chance(LOST_POLL) {
            let recv = at + POLL_DEADLINE;
            self.unanswered(at, recv, silent);
            let silence = NoAnswer {
                recv: seconds(recv),
                sent: seconds(at),
                instance: id,
                error: Some(ErrorClass::Timeout),
            };
            self.events.push((recv, Event::NoAnswer(silence)));
            return;
        }
        let mut recv = at + self.random.between(20, 400);
        if self.random.chance(LATE) {
            recv = at + self.random.between(1_000, 25_000);
        }
        self.told(recv, instance);
        let report = Report {
            recv: seconds(recv),
            sent: seconds(at),
            seq: Some(self.polls),
            instance: id,
            version: self.version(at, instance),
            deps: self.deps(at, instance),
        };
        if self.random.chance(TWICE) {
            let again = recv + self.random.between(10, 5_000);
            let copy = Report {
                recv: seconds(again),
                ..report.clone()
            };
            self.events.push((again, Event::Report(copy)));
        }
        self.events.push((recv, Event::Report(report)));
    }

    /// Silence is a sign of a cut only: what else is silent may be dead for any reason.
    fn unanswered(&mut self, at: u64, recv: u64, by: Option<usize>) {
        let is_cut = |fault: &Fault| matches!(fault.place, Place::Zone(_) | Place::Poller(_));
        if let Some(fault) = by.filter(|fault| is_cut(&self.faults[*fault])) {
            self.unanswered.push(Sign {
                fault,
                check: None,
                made: seconds(at),
                recv: seconds(recv),
            });
        }
    }

    fn told(&mut self, recv: u64, instance: usize) {
        let recv = seconds(recv);
        for (dep, result) in self.results[instance].iter().enumerate() {
            let Some(result) = result else {
                continue;
            };
            let made = seconds(result.at);
            let key = (instance, dep, result.count);
            match result.because {
                Some(fault) => {
                    let check = Some((instance, dep));
                    let sign = Sign {
                        fault,
                        check,
                        made,
                        recv,
                    };
                    let known = self.signs.entry(key).or_insert(sign);
                    known.recv = known.recv.min(recv);
                }
                None => {
                    let other = Other {
                        check: (instance, dep),
                        good: result.error.is_none(),
                        made,
                        recv,
                    };
                    let known = self.others.entry(key).or_insert(other);
                    known.recv = known.recv.min(recv);
                }
            }
        }
    }

    fn deps(&self, at: u64, instance: usize) -> Vec<DepReport> {
        let graph = self.world.graph();
        let deps = self.world.deps(self.world.service(instance));
        deps.iter()
            .zip(&self.results[instance])
            .map(|(dep, result)| {
                let to = graph.nodes[dep.to].id.clone();
                match result {
                    None => DepReport {
                        to,
                        status: CheckStatus::Unknown,
                        latency_ms: None,
                        error: None,
                        age_s: None,
                        seq: None,
                    },
                    Some(result) => DepReport {
                        to,
                        status: result.status,
                        latency_ms: Some(result.latency_ms),
                        error: result.error,
                        age_s: Some(self.age(at - result.at)),
                        seq: self.numbered.then_some(result.count),
                    },
                }
            })
            .collect()
    }

    /// Who numbers its checks may round their ages; the others are exact.
    fn age(&self, milliseconds: u64) -> f64 {
        if self.numbered {
            (seconds(milliseconds) * 10.0).round() / 10.0
        } else {
            seconds(milliseconds)
        }
    }

    fn version(&self, at: u64, instance: usize) -> Option<String> {
        let released = self
            .world
            .releases()
            .iter()
            .filter(|release| release.at <= at && release.instances.contains(&instance))
            .max_by_key(|release| release.at);
        match released {
            Some(release) => Some(release.version.clone()),
            None => self.world.graph().instances[instance].version.clone(),
        }
    }
}
