//! What runs, where, and how it behaves; and what stands in the way of one check.

use std::collections::BTreeMap;

use super::fault::{Fault, Place};
use crate::random::Random;
use crate::scenario::{CheckDepth, EdgeLabel, Graph};

/// A dependency of a service.
#[derive(Debug, Clone, Copy)]
pub struct Dep {
    /// On which node.
    pub to: usize,
    /// How much.
    pub label: EdgeLabel,
    /// What is looked at.
    pub check: CheckDepth,
    /// How often a check of it fails for no reason.
    pub noise: f64,
}

/// How a service behaves. Nobody tells the aggregator.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Its readiness fails when a hard dependency does.
    pub looks_down: bool,
    /// After how many failed checks in a row.
    pub patience: u32,
    /// Milliseconds between two checks of a dependency.
    pub period: u64,
}

/// A new version on some instances of a service.
#[derive(Debug, Clone)]
pub struct Release {
    /// Which service.
    pub service: usize,
    /// What it is called.
    pub version: String,
    /// On which instances.
    pub instances: Vec<usize>,
    /// From when on, in milliseconds.
    pub at: u64,
}

/// Everything that runs.
#[derive(Debug, Clone)]
pub struct World {
    graph: Graph,
    zones: Vec<String>,
    deps: Vec<Vec<Dep>>,
    habits: Vec<Habits>,
    replicas: Vec<Vec<usize>>,
    service: Vec<usize>,
    instance_host: Vec<Option<usize>>,
    node_host: Vec<Option<usize>>,
    host_zone: Vec<Option<usize>>,
    releases: Vec<Release>,
}

impl World {
    /// The world of a map, with habits and noise drawn from `random`.
    ///
    /// `noise` is how often a check fails for no reason; one edge in twenty is flaky and does so four times as often.
    #[must_use]
    pub fn new(graph: Graph, noise: f64, random: &mut Random) -> Self {
        let node_at: BTreeMap<&str, usize> = index(graph.nodes.iter().map(|node| &node.id));
        let host_at: BTreeMap<&str, usize> = index(graph.hosts.iter().map(|host| &host.id));
        let mut zones: Vec<String> = graph
            .hosts
            .iter()
            .filter_map(|host| host.zone.clone())
            .collect();
        zones.sort();
        zones.dedup();
        let host_zone = graph
            .hosts
            .iter()
            .map(|host| {
                let zone = host.zone.as_ref()?;
                zones.iter().position(|known| known == zone)
            })
            .collect();
        let find_host = |host: &Option<String>| host_at.get(host.as_deref()?).copied();
        let mut deps = vec![Vec::new(); graph.nodes.len()];
        for edge in &graph.edges {
            if let (Some(&from), Some(&to)) = (
                node_at.get(edge.from.as_str()),
                node_at.get(edge.to.as_str()),
            ) {
                let flaky = random.chance(0.05);
                deps[from].push(Dep {
                    to,
                    label: edge.label,
                    check: edge.check,
                    noise: if flaky { noise * 4.0 } else { noise },
                });
            }
        }
        let habits = graph
            .nodes
            .iter()
            .map(|_| Habits {
                looks_down: random.chance(0.5),
                patience: if random.chance(0.7) { 2 } else { 1 },
                period: random.between(5_000, 12_000),
            })
            .collect();
        let mut replicas = vec![Vec::new(); graph.nodes.len()];
        let mut service = Vec::with_capacity(graph.instances.len());
        for (number, instance) in graph.instances.iter().enumerate() {
            let of = node_at.get(instance.service.as_str()).copied().unwrap_or(0);
            replicas[of].push(number);
            service.push(of);
        }
        let instance_host = graph
            .instances
            .iter()
            .map(|one| find_host(&one.host))
            .collect();
        let node_host = graph
            .nodes
            .iter()
            .map(|node| find_host(&node.host))
            .collect();
        Self {
            zones,
            deps,
            habits,
            replicas,
            service,
            instance_host,
            node_host,
            host_zone,
            releases: Vec::new(),
            graph,
        }
    }

    /// What depends on what.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The zones, sorted.
    #[must_use]
    pub fn zones(&self) -> &[String] {
        &self.zones
    }

    /// The releases that happen.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// Adds a release; its number is returned.
    pub fn release(&mut self, release: Release) -> usize {
        self.releases.push(release);
        self.releases.len() - 1
    }

    /// Takes back all releases but the first `keep`.
    pub(super) fn forget_releases(&mut self, keep: usize) {
        self.releases.truncate(keep);
    }

    /// The map, to be named.
    pub(super) fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// The map alone.
    pub(super) fn into_graph(self) -> Graph {
        self.graph
    }

    /// What a service depends on.
    #[must_use]
    pub fn deps(&self, service: usize) -> &[Dep] {
        &self.deps[service]
    }

    /// How a service behaves.
    #[must_use]
    pub fn habits(&self, service: usize) -> Habits {
        self.habits[service]
    }

    /// The instances of a service; none of a resource.
    #[must_use]
    pub fn replicas(&self, node: usize) -> &[usize] {
        &self.replicas[node]
    }

    /// Of which service an instance is.
    #[must_use]
    pub fn service(&self, instance: usize) -> usize {
        self.service[instance]
    }

    /// Where an instance runs.
    #[must_use]
    pub fn host_of_instance(&self, instance: usize) -> Option<usize> {
        self.instance_host[instance]
    }

    /// Where a resource runs.
    #[must_use]
    pub fn host_of_node(&self, node: usize) -> Option<usize> {
        self.node_host[node]
    }

    /// In which zone a host stands.
    #[must_use]
    pub fn zone_of_host(&self, host: Option<usize>) -> Option<usize> {
        self.host_zone[host?]
    }

    /// Whether the aggregator asks an instance.
    #[must_use]
    pub fn polled(&self, instance: usize) -> bool {
        self.graph.nodes[self.service[instance]].polled
    }

    /// The chance that a fault, while it bites, stops a check of `dep` by `instance` that goes to `replica` (none of a
    /// resource).
    pub(super) fn stops(
        &self,
        fault: &Fault,
        instance: usize,
        dep: &Dep,
        replica: Option<usize>,
    ) -> f64 {
        let target_host = match replica {
            Some(one) => self.instance_host[one],
            None => self.node_host[dep.to],
        };
        // An application fault lets connections through, nearly always.
        let seen_by_check = match dep.check {
            CheckDepth::Readiness => 1.0,
            CheckDepth::Ping => 0.05,
        };
        let sure = |yes: bool| if yes { 1.0 } else { 0.0 };
        match fault.place {
            Place::Node(node) => sure(dep.to == node),
            Place::App(node) => sure(dep.to == node) * seen_by_check,
            Place::Instance(one) => sure(replica == Some(one)),
            Place::Egress(one) => sure(instance == one),
            Place::Edge(from, to) => sure(self.service[instance] == from && dep.to == to),
            Place::InstanceEdge(one, to) => sure(instance == one && dep.to == to),
            Place::Host(host) => sure(target_host == Some(host)),
            Place::Zone(zone) => {
                let here = self.zone_of_host(self.instance_host[instance]) == Some(zone);
                let there = self.zone_of_host(target_host) == Some(zone);
                sure(here != there)
            }
            Place::Poller(_) => 0.0,
            Place::SickRelease(at) => {
                let runs_it = |one| self.releases[at].instances.contains(&one);
                sure(replica.is_some_and(runs_it)) * seen_by_check
            }
            Place::WayOfRelease(at, to) => {
                sure(dep.to == to && self.releases[at].instances.contains(&instance))
            }
        }
    }

    /// Whether a fault, while it bites, keeps an instance from running.
    pub(super) fn stops_process(&self, fault: &Fault, instance: usize) -> bool {
        fault.pattern.kills()
            && match fault.place {
                Place::Node(node) => self.service[instance] == node,
                Place::Instance(one) => instance == one,
                Place::Host(host) => self.instance_host[instance] == Some(host),
                Place::App(_)
                | Place::Egress(_)
                | Place::Edge(..)
                | Place::InstanceEdge(..)
                | Place::Zone(_)
                | Place::Poller(_)
                | Place::SickRelease(_)
                | Place::WayOfRelease(..) => false,
            }
    }

    /// Whether a fault, while it bites, keeps the aggregator from hearing an instance.
    pub(super) fn silences(&self, fault: &Fault, instance: usize) -> bool {
        if self.stops_process(fault, instance) {
            return true;
        }
        match fault.place {
            Place::Zone(zone) | Place::Poller(zone) => {
                self.zone_of_host(self.instance_host[instance]) == Some(zone)
            }
            Place::Node(_)
            | Place::App(_)
            | Place::Instance(_)
            | Place::Egress(_)
            | Place::Edge(..)
            | Place::InstanceEdge(..)
            | Place::Host(_)
            | Place::SickRelease(_)
            | Place::WayOfRelease(..) => false,
        }
    }
}

fn index<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<&'a str, usize> {
    names
        .map(String::as_str)
        .enumerate()
        .map(|(at, name)| (name, at))
        .collect()
}
