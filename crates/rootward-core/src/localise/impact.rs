//! Who suffers from the named causes, and along which dependencies.
//!
//! Walks hard dependencies upwards from what is at fault, breadth first, so every path is a shortest one. A dependency
//! that others can stand in for passes a failure on only when fewer members of its group work than are needed; faults of
//! single instances count only when fewer instances are left than the service needs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cause::{CauseId, Fault};
use super::graph::Label;
use super::topology::Topology;

/// What has no place in a walk, or no node below it.
const NONE: usize = usize::MAX;

/// The services that depend on a root cause through hard edges and are not root causes themselves, in the order of the
/// map.
///
/// The failure of a hub reaches a good part of the map, so the ways are kept as one tree and written out on demand.
#[derive(Clone, Default)]
pub struct Impact {
    names: Arc<[Arc<str>]>,
    causes: Vec<CauseId>,
    /// Everything that is broken, in the order in which the failure reached it.
    broken: Vec<Broken>,
    /// Of these, the services to be listed.
    services: Vec<usize>,
}

/// A service that suffers from a root cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impacted {
    /// The service.
    pub service: Arc<str>,
    /// From the service to what is at fault, one hard dependency after the other.
    pub path: Vec<Arc<str>>,
    /// The root cause at its end.
    pub cause: CauseId,
}

impl Impact {
    /// How many services are impacted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.services.len()
    }

    /// Whether none is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.services.is_empty()
    }

    /// The names of the services.
    pub fn services(&self) -> impl Iterator<Item = &Arc<str>> {
        let nodes = self.services.iter().map(|&place| self.broken[place].node);
        nodes.map(|node| &self.names[node])
    }

    /// The services, each with its way written out.
    pub fn iter(&self) -> impl Iterator<Item = Impacted> + '_ {
        self.services.iter().map(|&place| Impacted {
            service: self.names[self.broken[place].node].clone(),
            path: self.path(place),
            cause: self.causes[self.broken[place].cause].clone(),
        })
    }

    fn path(&self, mut place: usize) -> Vec<Arc<str>> {
        let mut path = vec![self.names[self.broken[place].node].clone()];
        loop {
            let Broken { over, below, .. } = self.broken[place];
            if over == NONE {
                return path;
            }
            path.push(self.names[over].clone());
            // A way that is broken may lead to something that is broken because of it.
            if below == NONE || path.len() > self.broken.len() {
                return path;
            }
            place = below;
        }
    }
}

impl std::fmt::Debug for Impact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Impact {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// How a node came to be broken: over which node, and by which cause.
#[derive(Debug, Clone, Copy)]
struct Broken {
    node: usize,
    /// The node it depends on, if it is not at fault itself.
    over: usize,
    /// Where that is among the broken, if it is broken by something else in turn.
    below: usize,
    cause: usize,
}

#[derive(Debug)]
struct Walk<'a> {
    topology: &'a Topology,
    /// Where a node is among the broken.
    place: Vec<usize>,
    broken: Vec<Broken>,
    broken_edges: BTreeMap<usize, usize>,
}

/// The impacted services, in the order of the map. `instances_of` tells which instances a release runs on.
pub(super) fn impacted(
    topology: &Topology,
    causes: &[(Fault, CauseId)],
    instances_of: &dyn Fn(usize, usize) -> Vec<usize>,
) -> Impact {
    if causes.is_empty() {
        return Impact::default();
    }
    let mut walk = Walk {
        topology,
        place: vec![NONE; topology.nodes.len()],
        broken: Vec::new(),
        broken_edges: BTreeMap::new(),
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
                walk.breaks(node, NONE, cause);
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
                    walk.breaks(node, NONE, cause);
                }
            }
            Fault::Zone(zone) => {
                instances.clone_from(&topology.zones[zone].instances);
                for &node in &topology.zones[zone].resources {
                    walk.breaks(node, NONE, cause);
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
            walk.breaks(service, NONE, blamed[&service]);
        }
    }
    for (edge, cause) in walk.broken_edges.clone() {
        if topology.edges[edge].label == Label::Hard {
            walk.passes(edge, cause);
        }
    }
    // What is broken is appended while it is walked: breadth first.
    let mut next = 0;
    while let Some(&Broken { node, cause, .. }) = walk.broken.get(next) {
        for upward in topology.upward(node) {
            if walk.place[upward.caller] != NONE {
                continue;
            }
            if upward.is_redundant {
                walk.passes(upward.edge, cause);
            } else {
                walk.breaks(upward.caller, node, cause);
            }
        }
        next += 1;
    }
    walk.listed(&roots, causes)
}

impl Walk<'_> {
    fn breaks(&mut self, node: usize, over: usize, cause: usize) {
        if self.place[node] == NONE {
            self.place[node] = self.broken.len();
            self.broken.push(Broken {
                node,
                over,
                below: NONE,
                cause,
            });
        }
    }

    fn fails(&self, edge: usize) -> bool {
        self.place[self.topology.edges[edge].to] != NONE || self.broken_edges.contains_key(&edge)
    }

    /// A hard dependency fails; its caller breaks if nothing stands in for it.
    fn passes(&mut self, edge: usize, cause: usize) {
        let info = &self.topology.edges[edge];
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
        self.breaks(info.from, info.to, cause);
    }

    fn listed(mut self, roots: &BTreeSet<usize>, causes: &[(Fault, CauseId)]) -> Impact {
        for number in 0..self.broken.len() {
            let over = self.broken[number].over;
            let below = if over == NONE { NONE } else { self.place[over] };
            if below != NONE && self.broken[below].over != NONE {
                self.broken[number].below = below;
            }
        }
        let nodes = self.topology.nodes.iter().enumerate();
        let services = nodes
            .filter(|(node, info)| {
                self.place[*node] != NONE && info.is_service && !roots.contains(node)
            })
            .map(|(node, _)| self.place[node])
            .collect();
        Impact {
            names: self.topology.names.clone(),
            causes: causes.iter().map(|(_, id)| id.clone()).collect(),
            broken: self.broken,
            services,
        }
    }
}
