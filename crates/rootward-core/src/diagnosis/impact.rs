//! Impact: whom a cause reaches, and by which way.
//!
//! Hard edges pass it on at any depth. A soft edge makes its caller degraded and passes nothing on: the caller still
//! works. Informational edges do nothing. Ways are shortest, and the first by name among equals.

use std::collections::VecDeque;

use crate::diagnosis::{CauseId, Impact, ImpactEffect, Input, Sight};
use crate::map::{Map, NodeIndex, NodeKind};
use crate::name::Name;
use crate::status::Criticality;

/// Everyone whom the cause reaches, by name; the node at fault itself is not among them.
#[must_use]
pub fn impact_of(input: &Input<'_>, cause: &CauseId) -> Vec<Impact> {
    let map = input.map;
    let mut reach = Reach::new(map, input.labels);
    match cause {
        CauseId::Node(name) => {
            if let Some(node) = map.find(name.as_str()) {
                reach.start(node, vec![name.clone()]);
                reach.spread();
            }
        }
        CauseId::Edge { from, to } => reach.through(from, to),
        CauseId::InstanceEdge { from, to } => {
            if alone(input, &from.service) {
                reach.through(&from.service, to);
            }
        }
        CauseId::Instance(id) => {
            let Some(node) = map.find(id.service.as_str()) else {
                return Vec::new();
            };
            if others_suffice(input, node, id) {
                return Vec::new();
            }
            reach.start(node, vec![id.service.clone()]);
            reach.mark(node, ImpactEffect::Impacted, vec![id.service.clone()]);
            reach.spread();
        }
    }
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

/// Whether enough other instances of the service answer and report no failing hard local condition.
fn others_suffice(input: &Input<'_>, service: NodeIndex, failed: &crate::name::InstanceId) -> bool {
    let needed = match input.map.node(service).kind {
        NodeKind::Service { at_least } => at_least.max(1),
        NodeKind::Resource { .. } => return true,
    };
    let serving = input
        .instances
        .iter()
        .filter(|seen| seen.service == service && &seen.id != failed)
        .filter(|seen| match seen.sight {
            Sight::Answers => true,
            Sight::AnswersWithoutReport | Sight::Silent | Sight::NotPolledYet => false,
        })
        .filter(|seen| {
            !input.local.iter().any(|local| {
                local.instance == seen.id
                    && local.criticality == Criticality::Hard
                    && local.is_down()
            })
        })
        .count();
    serving >= needed
}

/// A walk against the direction of the edges.
struct Reach<'a> {
    map: &'a Map,
    labels: &'a [Criticality],
    reached: Vec<Option<(ImpactEffect, Vec<Name>)>>,
    origin: Option<NodeIndex>,
    queue: VecDeque<(NodeIndex, Vec<Name>)>,
}

impl<'a> Reach<'a> {
    fn new(map: &'a Map, labels: &'a [Criticality]) -> Self {
        let reached = vec![None; map.nodes().len()];
        Self {
            map,
            labels,
            reached,
            origin: None,
            queue: VecDeque::new(),
        }
    }

    fn start(&mut self, node: NodeIndex, path: Vec<Name>) {
        self.origin = Some(node);
        self.queue.push_back((node, path));
    }

    fn mark(&mut self, node: NodeIndex, effect: ImpactEffect, path: Vec<Name>) {
        self.reached[node.0] = Some((effect, path));
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
                self.spread();
            }
            Criticality::Soft => self.mark(caller, ImpactEffect::Degraded, path),
            Criticality::Informational => {}
        }
    }

    fn spread(&mut self) {
        while let Some((node, path)) = self.queue.pop_front() {
            for &index in self.map.callers(node) {
                let caller = self.map.edge(index).caller;
                if Some(caller) == self.origin {
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
