//! Who suffers from the named causes, and along which dependencies.
//!
//! Walks hard dependencies upwards from what is at fault, breadth first, so every path is a shortest one. A dependency
//! that others can stand in for passes a failure on only when fewer members of its group work than are needed; faults of
//! single instances count only when fewer instances are left than the service needs.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::answer::Impacted;
use super::cause::{CauseId, Fault};
use super::graph::Label;
use super::topology::Topology;

/// How a node came to be broken: over which node, and by which cause.
#[derive(Debug, Clone, Copy)]
struct Broken {
    over: Option<usize>,
    cause: usize,
}

#[derive(Debug)]
struct Walk<'a> {
    topology: &'a Topology,
    broken: BTreeMap<usize, Broken>,
    broken_edges: BTreeMap<usize, usize>,
    queue: VecDeque<usize>,
}

/// The impacted services, in the order of the map. `instances_of` tells which instances a release runs on.
pub(super) fn impacted(
    topology: &Topology,
    causes: &[(Fault, CauseId)],
    instances_of: &dyn Fn(usize, usize) -> Vec<usize>,
) -> Vec<Impacted> {
    let mut walk = Walk {
        topology,
        broken: BTreeMap::new(),
        broken_edges: BTreeMap::new(),
        queue: VecDeque::new(),
    };
    let mut faulty: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut cut: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut blamed: BTreeMap<usize, usize> = BTreeMap::new();
    let mut roots = BTreeSet::new();
    for (cause, (fault, _)) in causes.iter().enumerate() {
        let mut instances = Vec::new();
        match *fault {
            Fault::Node(node) => {
                roots.insert(node);
                walk.breaks(node, None, cause);
            }
            Fault::Edge(edge) => {
                walk.broken_edges.entry(edge).or_insert(cause);
            }
            Fault::Instance(instance) => instances.push(instance),
            Fault::InstanceEdge(link) => {
                let edge = topology.link_edge[link];
                let cut = cut.entry(edge).or_default();
                cut.insert(topology.observer(link));
                let from = topology.edges[edge].from;
                if topology.nodes[from].instances.len() - cut.len() < topology.nodes[from].quorum {
                    walk.broken_edges.entry(edge).or_insert(cause);
                }
            }
            Fault::Host(host) => {
                instances.clone_from(&topology.hosts[host].instances);
                for &node in &topology.hosts[host].resources {
                    walk.breaks(node, None, cause);
                }
            }
            Fault::Zone(zone) => {
                instances.clone_from(&topology.zones[zone].instances);
                for &node in &topology.zones[zone].resources {
                    walk.breaks(node, None, cause);
                }
            }
            Fault::Version(service, number) => instances = instances_of(service, number),
            Fault::Poller(_) | Fault::Flicker(_) => {}
        }
        for instance in instances {
            let service = topology.instances[instance].node;
            faulty.entry(service).or_default().insert(instance);
            blamed.entry(service).or_insert(cause);
        }
    }
    for (service, faulty) in faulty {
        let node = &topology.nodes[service];
        if node.instances.len() - faulty.len() < node.quorum {
            walk.breaks(service, None, blamed[&service]);
        }
    }
    for (edge, cause) in walk.broken_edges.clone() {
        walk.passes(edge, cause);
    }
    while let Some(node) = walk.queue.pop_front() {
        let cause = walk.broken[&node].cause;
        for &edge in &topology.nodes[node].callers {
            walk.passes(edge, cause);
        }
    }
    let services = walk.broken.keys().copied();
    let services =
        services.filter(|node| topology.nodes[*node].is_service && !roots.contains(node));
    services
        .map(|node| Impacted {
            service: topology.nodes[node].id.clone(),
            path: walk.path(node),
            cause: causes[walk.broken[&node].cause].1.clone(),
        })
        .collect()
}

impl Walk<'_> {
    fn breaks(&mut self, node: usize, over: Option<usize>, cause: usize) {
        if let Entry::Vacant(entry) = self.broken.entry(node) {
            entry.insert(Broken { over, cause });
            self.queue.push_back(node);
        }
    }

    fn fails(&self, edge: usize) -> bool {
        self.broken_edges.contains_key(&edge)
            || self.broken.contains_key(&self.topology.edges[edge].to)
    }

    /// The dependency fails; its caller breaks if it cannot do without.
    fn passes(&mut self, edge: usize, cause: usize) {
        let info = &self.topology.edges[edge];
        if info.label != Label::Hard {
            return;
        }
        if let Some((group, need)) = &info.redundancy {
            let members = self.topology.nodes[info.from].dependencies.iter();
            let working = members.filter(|&&other| {
                let redundancy = self.topology.edges[other].redundancy.as_ref();
                redundancy.is_some_and(|(name, _)| name == group) && !self.fails(other)
            });
            if working.count() >= *need {
                return;
            }
        }
        self.breaks(info.from, Some(info.to), cause);
    }

    fn path(&self, node: usize) -> Vec<std::sync::Arc<str>> {
        let mut path = vec![self.topology.nodes[node].id.clone()];
        let mut at = node;
        while let Some(next) = self.broken.get(&at).and_then(|broken| broken.over) {
            path.push(self.topology.nodes[next].id.clone());
            // A way that is broken may lead to something that is broken because of it.
            let returns = self
                .broken
                .get(&next)
                .is_some_and(|broken| broken.over.is_some());
            if !returns || path.len() > self.topology.nodes.len() {
                break;
            }
            at = next;
        }
        path
    }
}
