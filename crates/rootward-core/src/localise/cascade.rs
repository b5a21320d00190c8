//! Failures that are passed on: a service that is not ready because something it depends on has failed.
//!
//! Whether the readiness of a service looks at its dependencies is one hidden fact about that service, so believing it
//! is paid once per service and not once per observer. A service nobody hears from passes failures on through the map.
//!
//! A path starts at a fault that pays for itself and runs over failing dependencies without visiting anything twice, so
//! an explanation is always grounded: two services of a circle can never be each other's only reason.

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::{Observation, Scene};
use super::candidate::Candidate;
use super::cause::Fault;
use super::graph::Label;
use super::readiness::{Echo, Scope, echo};

/// How far a failure is followed.
const HOPS: usize = 3;
/// The deeper failure began clearly later when it began so many intervals later.
const LATE: u64 = 2;

/// A service whose failing readiness checks a deeper fault may explain.
#[derive(Debug, Clone)]
pub(super) struct Passing {
    pub(super) node: usize,
    /// Gain over noise for each observation.
    pub(super) gains: Vec<(usize, f64)>,
    /// What the good readiness checks and the error class cost.
    pub(super) cost: f64,
    /// Since when, where the service's own checks do not tell.
    onset: Option<u64>,
}

/// All services that may pass something on, and how far each fault reaches them.
#[derive(Debug)]
pub(super) struct Cascades<'a> {
    scene: &'a Scene<'a>,
    /// Ascending by node.
    pub(super) passing: Vec<Passing>,
    /// Edges with failing checks.
    failing: BTreeMap<usize, Failing>,
}

/// A dependency with failing checks.
#[derive(Debug, Clone, Copy)]
struct Failing {
    since: u64,
    /// A failure of it may be handed on by the service that depends: it looks down, or nobody hears from it.
    is_handed_on: bool,
}

impl<'a> Cascades<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        let topology = scene.topology;
        let mut failing: BTreeMap<usize, Failing> = BTreeMap::new();
        let mut suspects = BTreeSet::new();
        for link in scene.failing() {
            let edge = topology.link_edge[link];
            let since = scene.since(link);
            let first = failing.entry(edge).or_insert(Failing {
                since,
                is_handed_on: false,
            });
            first.since = since.min(first.since);
            if topology.edges[edge].readiness {
                suspects.insert(topology.edges[edge].to);
            }
        }
        let mut cascades = Self {
            scene,
            passing: Vec::new(),
            failing,
        };
        for &node in &suspects {
            let dependencies = &topology.nodes[node].dependencies;
            let possible = cascades.is_blind(node)
                || dependencies
                    .iter()
                    .any(|edge| cascades.failing.contains_key(edge));
            if possible && let Some(passing) = cascades.passing(node) {
                cascades.passing.push(passing);
            }
        }
        // Asked for once: every fault in reach of a dependency wants to know.
        let mut failing = std::mem::take(&mut cascades.failing);
        for (&edge, failing) in &mut failing {
            let from = topology.edges[edge].from;
            failing.is_handed_on = cascades.place_of(from).is_some()
                || cascades.is_blind(from)
                || cascades.is_unseen(from);
        }
        cascades.failing = failing;
        cascades
    }

    /// Nobody hears from the service, so its dependencies are known from the map alone.
    fn is_blind(&self, node: usize) -> bool {
        let node = &self.scene.topology.nodes[node];
        let answers = |&instance: &usize| self.scene.answers(instance);
        node.is_service && !node.instances.iter().any(answers)
    }

    /// Nobody who is heard looks at the readiness of the service, so nobody knows whether it holds.
    fn is_unseen(&self, node: usize) -> bool {
        let topology = self.scene.topology;
        let mut links = topology.links_to(node);
        topology.nodes[node].is_service
            && !links.any(|link| {
                topology.edges[topology.link_edge[link]].readiness && self.scene.is_fresh(link)
            })
    }

    fn passing(&self, node: usize) -> Option<Passing> {
        let Echo { account, is_heard } = echo(self.scene, node, Scope::All)?;
        Some(Passing {
            node,
            cost: account.good_cost + account.class.map_or(0.0, |(_, cost)| cost),
            onset: (!is_heard).then_some(account.onset),
            gains: account.gains,
        })
    }

    fn place_of(&self, node: usize) -> Option<usize> {
        let found = self
            .passing
            .binary_search_by_key(&node, |passing| passing.node);
        found.ok()
    }

    /// Where the fault reaches, by place in [`Self::passing`], with the fee.
    ///
    /// It starts from the failing dependencies that the fault explains directly, and from the callers of a dead node
    /// that nobody hears from.
    pub(super) fn reached_by(&self, candidate: &Candidate) -> Vec<(usize, f64)> {
        if self.passing.is_empty() {
            return Vec::new();
        }
        let topology = self.scene.topology;
        let onset = candidate.account.onset;
        let explained = candidate.account.gains.iter();
        let explained =
            explained.filter_map(
                |&(observation, _)| match self.scene.observations[observation] {
                    Observation::Failing { link } => Some(topology.link_edge[link]),
                    Observation::Silent { .. } => None,
                },
            );
        let affected = self.affected(candidate.fault).into_iter();
        let callers = affected.flat_map(|node| topology.nodes[node].callers.iter().copied());
        let is_handed_on = |edge: &usize| {
            let failing = self.failing.get(edge);
            failing.is_none_or(|failing| failing.is_handed_on)
        };
        let seeds: BTreeSet<usize> = explained.chain(callers).filter(is_handed_on).collect();
        if seeds.is_empty() {
            return Vec::new();
        }
        let mut fees = BTreeMap::new();
        let mut visited = BTreeSet::new();
        if let Fault::Node(node) = candidate.fault {
            visited.insert(node);
        }
        let mut front = BTreeMap::new();
        for edge in seeds {
            self.step(edge, 0.0, onset, &visited, &mut front, &mut fees);
        }
        for _ in 1..HOPS {
            visited.extend(front.keys());
            let mut next = BTreeMap::new();
            for (&node, &cost) in &front {
                for &edge in &topology.nodes[node].callers {
                    self.step(edge, cost, onset, &visited, &mut next, &mut fees);
                }
            }
            front = next;
        }
        fees.into_iter().collect()
    }

    /// The nodes that a fault affects as a whole or in part.
    fn affected(&self, fault: Fault) -> BTreeSet<usize> {
        let topology = self.scene.topology;
        let place = match fault {
            Fault::Node(node) | Fault::Version(node, _) => return BTreeSet::from([node]),
            Fault::Instance(instance) => {
                let silent = self.scene.observation_of_instance(instance).is_some();
                let service = topology.instances[instance].node;
                return silent.then_some(service).into_iter().collect();
            }
            Fault::Host(host) => &topology.hosts[host],
            Fault::Zone(zone) => &topology.zones[zone],
            Fault::Edge(_) | Fault::InstanceEdge(_) | Fault::Poller(_) | Fault::Flicker(_) => {
                return BTreeSet::new();
            }
        };
        let services = place
            .instances
            .iter()
            .map(|&instance| topology.instances[instance].node);
        place.resources.iter().copied().chain(services).collect()
    }

    /// Follows one dependency upwards, if it fails or nobody can say.
    fn step(
        &self,
        edge: usize,
        cost: f64,
        onset: u64,
        visited: &BTreeSet<usize>,
        next: &mut BTreeMap<usize, f64>,
        fees: &mut BTreeMap<usize, f64>,
    ) {
        let (topology, model) = (self.scene.topology, self.scene.model);
        let info = &topology.edges[edge];
        let hop = match info.label {
            Label::Hard => -model.hop.ln(),
            Label::Soft => -(model.hop * model.soft_hop).ln(),
            Label::Informational => return,
        };
        let deeper = self.failing.get(&edge);
        // A service that does not look down itself, and is heard, hands nothing further up.
        if visited.contains(&info.from) || deeper.is_some_and(|failing| !failing.is_handed_on) {
            return;
        }
        let place = self.place_of(info.from);
        let blind = || info.label == Label::Hard && self.is_blind(info.from);
        let unseen = || deeper.is_some() && self.is_unseen(info.from);
        if (deeper.is_none() || place.is_none()) && !blind() && !unseen() {
            return;
        }
        let cost = cost + hop;
        if let Some(place) = place {
            let passing = &self.passing[place];
            let deeper = deeper.map_or(onset, |failing| failing.since);
            let late = passing
                .onset
                .is_some_and(|onset| deeper > onset.saturating_add(LATE * info.slowest));
            let fee = cost + passing.cost + if late { model.late_onset } else { 0.0 };
            let known = fees.entry(place).or_insert(fee);
            *known = known.min(fee);
        }
        let known = next.entry(info.from).or_insert(cost);
        *known = known.min(cost);
    }
}
