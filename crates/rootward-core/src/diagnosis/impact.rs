//! Impact: whom a cause reaches, and by which way.
//!
//! Hard edges pass it on at any depth. A soft edge makes its caller degraded and passes nothing on: the caller still
//! works. Informational edges do nothing. Ways are shortest, and the first by name among equals.

use std::collections::{BTreeSet, VecDeque};

use crate::diagnosis::{CauseId, Impact, ImpactEffect, Input, InstanceSeen, Sight};
use crate::map::{Map, NodeIndex, NodeKind};
use crate::name::Name;
use crate::status::Criticality;

/// Everyone whom the cause reaches, by name; the node at fault itself is not among them. Faults of single instances,
/// places and releases reach a service, and those behind it, when too few of its instances are left.
#[must_use]
pub fn impact_of(input: &Input<'_>, cause: &CauseId) -> Vec<Impact> {
    let map = input.map;
    let mut reach = Reach::new(map, input.labels);
    match cause {
        CauseId::Node(name) => {
            if let Some(node) = map.find(name.as_str()) {
                reach.start(node, vec![name.clone()]);
            }
        }
        CauseId::Edge { from, to } => reach.through(from, to),
        CauseId::InstanceEdge { from, to } => {
            if alone(input, &from.service) {
                reach.through(&from.service, to);
            }
        }
        CauseId::Instance(id) => reach.lose(input, |seen| seen.id == *id),
        CauseId::Host(host) => reach.lose(input, |seen| seen.host.as_ref() == Some(host)),
        CauseId::Zone(zone) => {
            for node in map.indices() {
                if !map.is_service(node) && map.node(node).zone.as_ref() == Some(zone) {
                    reach.start(node, vec![map.name(node).clone()]);
                }
            }
            reach.lose(input, |seen| seen.zone.as_ref() == Some(zone));
        }
        CauseId::Version { service, version } => reach.lose(input, |seen| {
            seen.id.service == *service && seen.version.as_ref() == Some(version)
        }),
        // The view is broken, the services are not.
        CauseId::Poller(_) => {}
    }
    reach.spread();
    reach.into_impacts(cause)
}

/// Whether the service has only this one instance.
fn alone(input: &Input<'_>, service: &Name) -> bool {
    input
        .instances
        .iter()
        .filter(|seen| &seen.id.service == service)
        .count()
        <= 1
}

/// Whether an instance answers and reports no failing hard local condition.
fn serves(input: &Input<'_>, seen: &InstanceSeen) -> bool {
    match seen.sight {
        Sight::AnswersWithoutReport | Sight::Silent | Sight::NotAsked | Sight::NotPolledYet => {
            false
        }
        Sight::Answers => !input.local.iter().any(|local| {
            local.instance == seen.id && local.criticality == Criticality::Hard && local.is_down()
        }),
    }
}

/// A walk against the direction of the edges.
struct Reach<'a> {
    map: &'a Map,
    labels: &'a [Criticality],
    reached: Vec<Option<(ImpactEffect, Vec<Name>)>>,
    origins: BTreeSet<NodeIndex>,
    queue: VecDeque<(NodeIndex, Vec<Name>)>,
}

impl<'a> Reach<'a> {
    fn new(map: &'a Map, labels: &'a [Criticality]) -> Self {
        let reached = vec![None; map.nodes().len()];
        Self {
            map,
            labels,
            reached,
            origins: BTreeSet::new(),
            queue: VecDeque::new(),
        }
    }

    fn start(&mut self, node: NodeIndex, path: Vec<Name>) {
        self.origins.insert(node);
        self.queue.push_back((node, path));
    }

    fn mark(&mut self, node: NodeIndex, effect: ImpactEffect, path: Vec<Name>) {
        self.reached[node.0] = Some((effect, path));
    }

    /// Without the instances that are lost: the services that too few are left of.
    fn lose(&mut self, input: &Input<'_>, is_lost: impl Fn(&InstanceSeen) -> bool) {
        let lost = input.instances.iter().filter(|seen| is_lost(seen));
        let services: BTreeSet<NodeIndex> = lost.map(|seen| seen.service).collect();
        for service in services {
            let NodeKind::Service { at_least } = self.map.node(service).kind else {
                continue;
            };
            let all = input
                .instances
                .iter()
                .filter(|seen| seen.service == service);
            let left = all.filter(|seen| !is_lost(seen) && serves(input, seen));
            if left.count() < at_least.max(1) {
                let path = vec![self.map.name(service).clone()];
                self.mark(service, ImpactEffect::Impacted, path.clone());
                self.start(service, path);
            }
        }
    }

    /// Through one broken edge: its caller first, then whoever depends on the caller.
    fn through(&mut self, from: &Name, to: &Name) {
        let (Some(caller), Some(callee)) =
            (self.map.find(from.as_str()), self.map.find(to.as_str()))
        else {
            return;
        };
        let Some(edge) = self.map.edge_between(caller, callee) else {
            return;
        };
        let path = vec![from.clone(), to.clone()];
        match self.labels[edge.0] {
            Criticality::Hard => {
                self.mark(caller, ImpactEffect::Impacted, path.clone());
                self.start(caller, path);
            }
            Criticality::Soft => self.mark(caller, ImpactEffect::Degraded, path),
            Criticality::Informational => {}
        }
    }

    fn spread(&mut self) {
        while let Some((node, path)) = self.queue.pop_front() {
            for &index in self.map.callers(node) {
                let caller = self.map.edge(index).caller;
                if self.origins.contains(&caller) {
                    continue;
                }
                let mut way = vec![self.map.name(caller).clone()];
                way.extend(path.iter().cloned());
                let known = self.reached[caller.0].as_ref().map(|(effect, _)| *effect);
                match (self.labels[index.0], known) {
                    (Criticality::Informational, _)
                    | (_, Some(ImpactEffect::Impacted))
                    | (Criticality::Soft, Some(ImpactEffect::Degraded)) => {}
                    (Criticality::Soft, None) => self.mark(caller, ImpactEffect::Degraded, way),
                    (Criticality::Hard, None | Some(ImpactEffect::Degraded)) => {
                        self.mark(caller, ImpactEffect::Impacted, way.clone());
                        self.queue.push_back((caller, way));
                    }
                }
            }
        }
    }

    fn into_impacts(self, cause: &CauseId) -> Vec<Impact> {
        let map = self.map;
        let mut impacts = Vec::new();
        for (at, reached) in self.reached.into_iter().enumerate() {
            if let Some((effect, path)) = reached {
                let service = map.name(NodeIndex(at)).clone();
                impacts.push(Impact {
                    service,
                    cause: cause.clone(),
                    effect,
                    path,
                });
            }
        }
        impacts
    }
}
