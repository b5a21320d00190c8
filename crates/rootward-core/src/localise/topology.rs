//! The graph with names resolved to positions, laid out so that all checks of one dependency lie side by side.
//!
//! A *link* is one check: one instance looking at one dependency. Links are numbered edge by edge, and within an edge
//! in the order of the instances of the depending service.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::graph::{CheckKind, Graph, Label, NodeKind};
use crate::map::cyclic_groups;

/// A graph that cannot be used, with everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the dependency graph cannot be used: {}", problems.join("; "))]
pub struct GraphError {
    /// One sentence for each problem.
    pub problems: Vec<String>,
}

#[derive(Debug)]
pub(super) struct NodeInfo {
    pub(super) id: Arc<str>,
    pub(super) is_service: bool,
    pub(super) polled: bool,
    pub(super) host: Option<usize>,
    pub(super) zone: Option<usize>,
    pub(super) quorum: usize,
    pub(super) instances: Vec<usize>,
    pub(super) callers: Vec<usize>,
    pub(super) dependencies: Vec<usize>,
    /// The same sorted by name, so that a report's dependency is found by halving. Nothing is decided in this order.
    dependencies_by_name: Vec<usize>,
    /// The circle of dependencies it is part of.
    pub(super) circle: Option<usize>,
}

#[derive(Debug)]
pub(super) struct EdgeInfo {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Label,
    pub(super) readiness: bool,
    /// How often it is looked at, in milliseconds; not less than the polling interval.
    interval: u64,
    /// The same, or how often the slowest of its observers is polled.
    pub(super) slowest: u64,
    pub(super) redundancy: Option<(Arc<str>, usize)>,
    pub(super) links: Range<usize>,
}

#[derive(Debug)]
pub(super) struct InstanceInfo {
    pub(super) id: Arc<str>,
    pub(super) node: usize,
    /// Place among the instances of its service.
    pub(super) ordinal: usize,
    /// How often it is polled, in milliseconds; not less than the polling interval.
    pub(super) interval: u64,
    pub(super) host: Option<usize>,
    pub(super) zone: Option<usize>,
    pub(super) version: Option<Arc<str>>,
}

/// A host or a zone, and what runs there.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) id: Arc<str>,
    pub(super) instances: Vec<usize>,
    pub(super) resources: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Topology {
    /// Polling interval in milliseconds, at least one.
    pub(super) interval: u64,
    pub(super) nodes: Vec<NodeInfo>,
    pub(super) edges: Vec<EdgeInfo>,
    pub(super) instances: Vec<InstanceInfo>,
    pub(super) hosts: Vec<Place>,
    pub(super) zones: Vec<Place>,
    pub(super) link_edge: Vec<usize>,
    link_observer: Vec<usize>,
    /// The names of the nodes, to be shared with answers.
    pub(super) names: Arc<[Arc<str>]>,
    /// Whom a failure of a node reaches: the callers that cannot do without it, node by node.
    upward: Vec<Upward>,
    /// Where those of a node begin; one entry more than there are nodes.
    upward_from: Vec<usize>,
    node_by_id: BTreeMap<Arc<str>, usize>,
    instance_by_id: BTreeMap<Arc<str>, usize>,
}

/// A caller that cannot do without a node, and the dependency that says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upward {
    pub(super) caller: usize,
    pub(super) edge: usize,
    /// Others can stand in for the node.
    pub(super) is_redundant: bool,
}

/// Collects places by name, in the order in which they are first named.
#[derive(Default)]
struct Places {
    by_id: BTreeMap<Arc<str>, usize>,
    all: Vec<Place>,
}

impl Places {
    fn number(&mut self, id: &Arc<str>) -> usize {
        let all = &mut self.all;
        *self.by_id.entry(id.clone()).or_insert_with(|| {
            all.push(Place {
                id: id.clone(),
                instances: Vec::new(),
                resources: Vec::new(),
            });
            all.len() - 1
        })
    }
}

impl Topology {
    pub(super) fn new(graph: &Graph) -> Result<Self, GraphError> {
        let mut problems = Vec::new();
        let interval = u64::try_from(graph.interval.as_millis()).unwrap_or(u64::MAX);
        if interval == 0 {
            problems.push("the polling interval is zero".to_owned());
        }
        let at_least = |every: Option<Duration>| {
            let every = every.map_or(0, |every| every.as_millis());
            u64::try_from(every).unwrap_or(u64::MAX).max(interval)
        };
        let mut hosts = Places::default();
        let mut zones = Places::default();
        let mut zone_of_host = BTreeMap::new();
        for host in &graph.hosts {
            let number = hosts.number(&host.id);
            if let Some(zone) = &host.zone {
                zone_of_host.insert(number, zones.number(zone));
            }
        }
        let mut node_by_id = BTreeMap::new();
        let mut nodes: Vec<NodeInfo> = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            if node_by_id.insert(node.id.clone(), nodes.len()).is_some() {
                problems.push(format!("node \"{}\" is there twice", node.id));
            }
            let host = node.host.as_ref().map(|host| hosts.number(host));
            let zone = node.zone.as_ref().map(|zone| zones.number(zone));
            let is_service = node.kind == NodeKind::Service;
            let zone = zone.or_else(|| zone_of_host.get(&host?).copied());
            if !is_service {
                if let Some(host) = host {
                    hosts.all[host].resources.push(nodes.len());
                }
                if let Some(zone) = zone {
                    zones.all[zone].resources.push(nodes.len());
                }
            }
            nodes.push(NodeInfo {
                id: node.id.clone(),
                is_service,
                polled: node.polled,
                host,
                zone,
                quorum: usize::try_from(node.quorum).unwrap_or(usize::MAX),
                instances: Vec::new(),
                callers: Vec::new(),
                dependencies: Vec::new(),
                dependencies_by_name: Vec::new(),
                circle: None,
            });
        }
        let mut instance_by_id = BTreeMap::new();
        let mut instances: Vec<InstanceInfo> = Vec::with_capacity(graph.instances.len());
        for instance in &graph.instances {
            let Some(&node) = node_by_id.get(&instance.service) else {
                problems.push(format!(
                    "instance \"{}\" is of service \"{}\", which is no node",
                    instance.id, instance.service
                ));
                continue;
            };
            let number = instances.len();
            if instance_by_id.insert(instance.id.clone(), number).is_some() {
                problems.push(format!("instance \"{}\" is there twice", instance.id));
            }
            let host = instance.host.as_ref().map(|host| hosts.number(host));
            let zone = instance.zone.as_ref().map(|zone| zones.number(zone));
            let zone = zone.or_else(|| zone_of_host.get(&host?).copied());
            if let Some(host) = host {
                hosts.all[host].instances.push(number);
            }
            if let Some(zone) = zone {
                zones.all[zone].instances.push(number);
            }
            instances.push(InstanceInfo {
                id: instance.id.clone(),
                node,
                ordinal: nodes[node].instances.len(),
                interval: at_least(instance.every),
                host,
                zone,
                version: instance.version.clone(),
            });
            nodes[node].instances.push(number);
        }
        let mut edges: Vec<EdgeInfo> = Vec::with_capacity(graph.edges.len());
        let mut link_edge = Vec::new();
        let mut link_observer = Vec::new();
        let mut known = BTreeSet::new();
        for edge in &graph.edges {
            let ends = (node_by_id.get(&edge.from), node_by_id.get(&edge.to));
            let (Some(&from), Some(&to)) = ends else {
                problems.push(format!(
                    "dependency \"{}\" -> \"{}\" names what is no node",
                    edge.from, edge.to
                ));
                continue;
            };
            if !known.insert((from, to)) {
                problems.push(format!(
                    "dependency \"{}\" -> \"{}\" is there twice",
                    edge.from, edge.to
                ));
                continue;
            }
            let first = link_edge.len();
            let links = first..first + nodes[from].instances.len();
            link_edge.resize(links.end, edges.len());
            link_observer.extend(&nodes[from].instances);
            nodes[from].dependencies.push(edges.len());
            nodes[to].callers.push(edges.len());
            let interval = at_least(edge.every);
            let observers = nodes[from].instances.iter();
            let slowest = observers.map(|&observer| instances[observer].interval);
            edges.push(EdgeInfo {
                interval,
                slowest: slowest.fold(interval, u64::max),
                from,
                to,
                label: edge.label,
                readiness: edge.check == CheckKind::Readiness,
                redundancy: edge.redundancy.as_ref().map(|redundancy| {
                    let need = usize::try_from(redundancy.need).unwrap_or(usize::MAX);
                    (redundancy.group.clone(), need)
                }),
                links,
            });
        }
        if !problems.is_empty() {
            return Err(GraphError { problems });
        }
        let successors: Vec<Vec<usize>> = nodes
            .iter()
            .map(|node| {
                node.dependencies
                    .iter()
                    .map(|&edge| edges[edge].to)
                    .collect()
            })
            .collect();
        for (number, group) in cyclic_groups(&successors).iter().enumerate() {
            for &member in group {
                nodes[member].circle = Some(number);
            }
        }
        for node in &mut nodes {
            node.dependencies_by_name = node.dependencies.clone();
            node.dependencies_by_name
                .sort_by(|a, b| graph.edges[*a].to.cmp(&graph.edges[*b].to));
        }
        let (mut upward, mut upward_from) = (Vec::new(), vec![0]);
        for node in &nodes {
            let hard = node
                .callers
                .iter()
                .filter(|&&edge| edges[edge].label == Label::Hard);
            upward.extend(hard.map(|&edge| Upward {
                caller: edges[edge].from,
                edge,
                is_redundant: edges[edge].redundancy.is_some(),
            }));
            upward_from.push(upward.len());
        }
        Ok(Self {
            interval,
            names: nodes.iter().map(|node| node.id.clone()).collect(),
            upward,
            upward_from,
            nodes,
            edges,
            instances,
            hosts: hosts.all,
            zones: zones.all,
            link_edge,
            link_observer,
            node_by_id,
            instance_by_id,
        })
    }

    pub(super) fn node(&self, id: &str) -> Option<usize> {
        self.node_by_id.get(id).copied()
    }

    pub(super) fn instance(&self, id: &str) -> Option<usize> {
        self.instance_by_id.get(id).copied()
    }

    /// From one news about a check to the next, in milliseconds: how often it is made, or its observer polled.
    pub(super) fn link_interval(&self, link: usize) -> u64 {
        let observer = &self.instances[self.link_observer[link]];
        self.edges[self.link_edge[link]]
            .interval
            .max(observer.interval)
    }

    /// The check that an instance makes of a dependency.
    pub(super) fn link(&self, instance: usize, to: &str) -> Option<usize> {
        let instance = &self.instances[instance];
        let dependencies = &self.nodes[instance.node].dependencies_by_name;
        let found = dependencies
            .binary_search_by(|&edge| self.nodes[self.edges[edge].to].id.as_ref().cmp(to));
        let edge = dependencies[found.ok()?];
        Some(self.edges[edge].links.start + instance.ordinal)
    }

    /// Who makes a check.
    pub(super) fn observer(&self, link: usize) -> usize {
        self.link_observer[link]
    }

    /// What a check looks at.
    pub(super) fn target(&self, link: usize) -> usize {
        self.edges[self.link_edge[link]].to
    }

    /// All checks an instance makes.
    pub(super) fn links_of(&self, instance: usize) -> impl Iterator<Item = usize> + '_ {
        let instance = &self.instances[instance];
        let dependencies = &self.nodes[instance.node].dependencies;
        dependencies
            .iter()
            .map(|&edge| self.edges[edge].links.start + instance.ordinal)
    }

    /// The callers that a failure of the node reaches.
    pub(super) fn upward(&self, node: usize) -> &[Upward] {
        &self.upward[self.upward_from[node]..self.upward_from[node + 1]]
    }

    /// All checks of a node.
    pub(super) fn links_to(&self, node: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let callers = self.nodes[node].callers.iter();
        callers.flat_map(|&edge| self.edges[edge].links.clone())
    }
}
