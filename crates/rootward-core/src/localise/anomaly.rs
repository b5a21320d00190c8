//! The observations that want an explanation at one instant, and the terms around them.
//!
//! Observations are failing checks (a link whose newest check is bad, or that fails again and again) and silent
//! instances. All that is stale is left out: it says nothing, neither good nor bad.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{self, Check, Checks, Polls, RECENT};
use super::model::Model;
use super::timeline::{Term, What};
use super::topology::Topology;

/// Failures older than the newest eight checks count together as much as this share of a new one: so a second observer
/// always says more than a longer memory of one.
const EARLIER: f64 = 0.6;

/// What the engine has stored, seen from one instant.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) now: u64,
    pub(super) model: &'a Model,
    pub(super) topology: &'a Topology,
    pub(super) checks: &'a [Checks],
    pub(super) polls: &'a [Polls],
    /// Observations: failing links ascending, then silent instances ascending.
    pub(super) observations: Vec<Observation>,
    failing: usize,
    /// How many checks of a node fail.
    failing_of: BTreeMap<usize, usize>,
    /// Logarithm of the noise rate, for edges with failing checks.
    log_noise: BTreeMap<usize, f64>,
}

/// Something that wants an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Observation {
    /// A failing check.
    Failing { link: usize },
    /// An instance that does not answer.
    Silent { instance: usize },
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        now: u64,
        model: &'a Model,
        topology: &'a Topology,
        checks: &'a [Checks],
        polls: &'a [Polls],
        anomalous: &BTreeSet<usize>,
        silent: &BTreeSet<usize>,
    ) -> Self {
        let mut scene = Self {
            now,
            model,
            topology,
            checks,
            polls,
            observations: Vec::new(),
            failing: 0,
            failing_of: BTreeMap::new(),
            log_noise: BTreeMap::new(),
        };
        for &link in anomalous {
            if scene.link_freshness(link) > 0.0 {
                scene.observations.push(Observation::Failing { link });
                *scene.failing_of.entry(topology.target(link)).or_default() += 1;
                let edge = topology.link_edge[link];
                scene.log_noise.entry(edge).or_insert_with(|| {
                    log_noise(model, &checks[topology.edges[edge].links.clone()])
                });
            }
        }
        scene.failing = scene.observations.len();
        for &instance in silent {
            if scene.poll_freshness(instance) > 0.0 {
                scene.observations.push(Observation::Silent { instance });
            }
        }
        scene
    }

    /// The failing links, ascending.
    pub(super) fn failing(&self) -> impl Iterator<Item = usize> + '_ {
        self.observations.iter().filter_map(|seen| match seen {
            Observation::Failing { link } => Some(*link),
            Observation::Silent { .. } => None,
        })
    }

    /// The silent instances, ascending.
    pub(super) fn silent(&self) -> impl Iterator<Item = usize> + '_ {
        self.observations.iter().filter_map(|seen| match seen {
            Observation::Silent { instance } => Some(*instance),
            Observation::Failing { .. } => None,
        })
    }

    /// The number of a failing link among the observations.
    pub(super) fn observation_of_link(&self, link: usize) -> Option<usize> {
        let failing = &self.observations[..self.failing];
        failing
            .binary_search_by_key(&link, |seen| match seen {
                Observation::Failing { link } => *link,
                Observation::Silent { .. } => usize::MAX,
            })
            .ok()
    }

    /// The number of a silent instance among the observations.
    pub(super) fn observation_of_instance(&self, instance: usize) -> Option<usize> {
        let silent = &self.observations[self.failing..];
        let found = silent.binary_search_by_key(&instance, |seen| match seen {
            Observation::Silent { instance } => *instance,
            Observation::Failing { .. } => 0,
        });
        found.ok().map(|place| place + self.failing)
    }

    fn link_freshness(&self, link: usize) -> f64 {
        let newest = self.checks[link].newest_first().first();
        let interval = self.topology.link_interval(link);
        newest.map_or(0.0, |check| self.freshness(check.at, interval))
    }

    /// The newest check of a link still says something.
    pub(super) fn is_fresh(&self, link: usize) -> bool {
        self.link_freshness(link) > 0.0
    }

    fn poll_freshness(&self, instance: usize) -> f64 {
        let newest = self.polls[instance].newest_first().first();
        let interval = self.topology.instances[instance].interval;
        newest.map_or(0.0, |poll| self.freshness(poll.0, interval))
    }

    fn freshness(&self, at: u64, interval: u64) -> f64 {
        history::freshness(self.now.saturating_sub(at), interval)
    }

    /// The newest poll of the instance is fresh and was answered.
    pub(super) fn answers(&self, instance: usize) -> bool {
        self.poll_freshness(instance) > 0.0 && !self.polls[instance].is_silent()
    }

    /// The newest check of a link, if it is fresh and good.
    pub(super) fn good_since(&self, link: usize, onset: u64) -> Option<u64> {
        let newest = self.checks[link].newest_first().first()?;
        let counts = newest.failure().is_none() && newest.at >= onset;
        (counts && self.link_freshness(link) > 0.0).then_some(newest.at)
    }

    /// The newest failure of a link that is failing now and fresh.
    pub(super) fn failing_at(&self, link: usize) -> Option<u64> {
        self.observation_of_link(link)?;
        let newest = self.checks[link].newest_first().first()?;
        newest.failure().map(|_| newest.at)
    }

    /// First failure of the run that the newest failure belongs to.
    pub(super) fn since(&self, link: usize) -> u64 {
        let window = self.checks[link].window(self.topology.link_interval(link));
        let run = window
            .iter()
            .skip_while(|check| check.failure().is_none())
            .take_while(|check| check.failure().is_some());
        run.last().map_or(self.now, |check| check.at)
    }

    /// The earliest failure that counts, over the links given.
    pub(super) fn horizon(&self, links: impl Iterator<Item = usize>) -> u64 {
        let mut horizon = self.now;
        for link in links {
            if self.observation_of_link(link).is_some() {
                let bad = self
                    .window(link)
                    .iter()
                    .filter(|check| check.failure().is_some());
                horizon = bad
                    .map(|check| check.at)
                    .min()
                    .unwrap_or(horizon)
                    .min(horizon);
            }
        }
        horizon
    }

    /// The checks of a link that count: earlier runs of failures too, where a single check of a node comes and goes.
    ///
    /// Where several checks of a node fail, the newest eight of each say enough, and more of them would only make chance
    /// look like a pattern: of a node of which one replica in three is cut off, each observer sees a rhythm of its own.
    pub(super) fn window(&self, link: usize) -> &'a [Check] {
        let interval = self.topology.link_interval(link);
        let checks = &self.checks[link];
        let of_target = self.failing_of.get(&self.topology.target(link));
        let is_alone = of_target == Some(&1) && self.observation_of_link(link).is_some();
        if is_alone && checks.comes_and_goes(interval) {
            checks.long_window(interval)
        } else {
            checks.window(interval)
        }
    }

    /// Adds the terms of a link that are not older than the horizon.
    pub(super) fn link_terms(&self, terms: &mut Vec<Term>, link: usize, share: f64, horizon: u64) {
        let fresh = self.link_freshness(link);
        if fresh <= 0.0 {
            return;
        }
        let interval = self.topology.link_interval(link);
        let edge = self.topology.link_edge[link];
        let readiness = self.topology.edges[edge].readiness;
        let observation = self.observation_of_link(link);
        let log_noise = self.log_noise.get(&edge).copied();
        let window = self.window(link);
        let newest = window.first().map_or(0, |check| check.at);
        let mut weight = fresh;
        let mut unbroken = true;
        let mut earlier = EARLIER;
        for (place, check) in window.iter().enumerate() {
            if check.at < horizon {
                break;
            }
            let what = match (check.failure(), observation, log_noise) {
                (None, _, _) => {
                    unbroken = false;
                    Some(What::Good { readiness })
                }
                (Some(class), Some(observation), Some(log_noise)) => Some(What::Bad {
                    readiness,
                    class,
                    observation,
                    unbroken,
                    log_noise,
                }),
                // A single run of failures that has ended.
                (Some(_), _, _) => None,
            };
            let distance = newest - check.at;
            let fading = if window.len() > RECENT && !unbroken {
                history::long_fading(distance, interval)
            } else {
                history::fading(distance, interval)
            };
            // An unbroken run counts no more than of a link that was never good before.
            let counts = !unbroken || place < RECENT;
            let mut counted = weight * fading;
            let is_old = place >= RECENT || distance >= 8 * interval;
            if is_old && check.failure().is_some() {
                counted = counted.min(earlier);
                earlier -= counted;
            }
            if let Some(what) = what.filter(|_| counts) {
                terms.push(Term {
                    at: check.at,
                    weight: counted,
                    share,
                    what,
                });
            }
            weight *= self.model.decay;
        }
    }

    /// Adds the silence of an instance, or its newest answer.
    pub(super) fn poll_terms(&self, terms: &mut Vec<Term>, instance: usize) {
        let fresh = self.poll_freshness(instance);
        if fresh <= 0.0 {
            return;
        }
        let polls = &self.polls[instance];
        let mut push = |at, weight, what| {
            terms.push(Term {
                at,
                weight,
                share: 1.0,
                what,
            });
        };
        let Some(observation) = self.observation_of_instance(instance) else {
            if let Some(newest) = polls.newest_first().first() {
                push(newest.0, fresh, What::Answered);
            }
            return;
        };
        let mut weight = fresh;
        let newest = polls.newest_first().first().map_or(0, |poll| poll.0);
        let interval = self.topology.instances[instance].interval;
        for poll in polls.silent_run() {
            let fading = history::fading(newest - poll.0, interval);
            push(poll.0, weight * fading, What::Silent { observation });
            weight *= self.model.decay;
        }
    }

    /// Since when an instance may be silent: just after its last answer, at most an interval before the first silence.
    pub(super) fn silent_since(&self, instance: usize) -> u64 {
        let run = self.polls[instance].silent_run();
        let first = run.last().map_or(self.now, |poll| poll.0);
        let earliest = first.saturating_sub(self.topology.instances[instance].interval);
        let all = self.polls[instance].newest_first();
        all.get(run.len())
            .map_or(earliest, |answered| earliest.max(answered.0))
    }
}

/// What was learned about the noise of an edge, from all its instances.
fn log_noise(model: &Model, links: &[Checks]) -> f64 {
    let (mut isolated, mut checks) = (0, 0);
    for link in links {
        let (alone, all) = link.isolated();
        isolated += alone;
        checks += all;
    }
    model.noise_rate(isolated, checks).ln()
}
