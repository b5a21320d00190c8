//! Puts a plan into the world: replicas, hosts, zones, versions, and what each caller looks at.

use super::Plan;
use crate::random::Random;
use crate::scenario::{CheckDepth, Criticality, Edge, Graph, Host, Instance, Node, NodeKind};

/// Seconds between two polls of an instance.
pub(super) const INTERVAL_S: f64 = 10.0;

/// The map of a plan that runs somewhere, drawn from `random`.
///
/// Every host stands in one of three zones; replicas of a service are spread over hosts, as schedulers do. About one
/// service in ten is not polled. External resources have no place.
#[must_use]
pub fn place(plan: &Plan, random: &mut Random) -> Graph {
    let hosts = hosts(plan, random);
    let mut nodes = Vec::with_capacity(plan.nodes.len());
    let mut instances = Vec::new();
    for (id, kind) in &plan.nodes {
        let mut node = Node {
            id: id.clone(),
            kind: *kind,
            criticality: *random
                .pick(Criticality::ALL)
                .unwrap_or(&Criticality::Medium),
            polled: false,
            host: None,
            zone: None,
        };
        match kind {
            NodeKind::Service => {
                node.polled = random.chance(0.9);
                instances.extend(replicas(id, &hosts, random));
            }
            NodeKind::Database | NodeKind::Cache | NodeKind::Queue => {
                if let Some(host) = random.pick(&hosts) {
                    node.host = Some(host.id.clone());
                    node.zone = host.zone.clone();
                }
            }
            NodeKind::External => {}
        }
        nodes.push(node);
    }
    let edges = plan
        .edges
        .iter()
        .map(|edge| Edge {
            from: plan.nodes[edge.from].0.clone(),
            to: plan.nodes[edge.to].0.clone(),
            label: edge.label,
            check: edge
                .check
                .unwrap_or_else(|| depth(plan.nodes[edge.to].1, random)),
            every_ms: None,
        })
        .collect();
    Graph {
        scenario: plan.name.clone(),
        interval_s: INTERVAL_S,
        nodes,
        edges,
        instances,
        hosts,
    }
}

/// A host for every two nodes or so, at least six, in three zones.
fn hosts(plan: &Plan, random: &mut Random) -> Vec<Host> {
    let count = (plan.nodes.len() / 2).max(6);
    (0..count)
        .map(|number| Host {
            id: format!("h{number}"),
            // The first hosts make sure that each zone has some.
            zone: Some(format!(
                "z{}",
                if number < 6 {
                    number % 3
                } else {
                    random.index(3)
                }
            )),
        })
        .collect()
}

fn replicas(service: &str, hosts: &[Host], random: &mut Random) -> Vec<Instance> {
    let count = random
        .weighted(&[(1, 0.2), (2, 0.4), (3, 0.3), (5, 0.1)])
        .unwrap_or(2);
    let mut order: Vec<&Host> = hosts.iter().collect();
    random.shuffle(&mut order);
    let version = format!("1.{}.0", random.between(0, 40));
    (0..count)
        .zip(order.iter().cycle())
        .map(|(number, host)| Instance {
            id: format!("{service}#{number}"),
            service: service.to_owned(),
            host: Some(host.id.clone()),
            zone: host.zone.clone(),
            every_ms: None,
            version: Some(version.clone()),
        })
        .collect()
}

/// Callers look at the readiness of services mostly, and at the connection of everything else.
fn depth(kind: NodeKind, random: &mut Random) -> CheckDepth {
    match kind {
        NodeKind::Service if random.chance(0.7) => CheckDepth::Readiness,
        NodeKind::Service => CheckDepth::Ping,
        NodeKind::Database | NodeKind::Cache | NodeKind::Queue => CheckDepth::Ping,
        NodeKind::External if random.chance(0.3) => CheckDepth::Readiness,
        NodeKind::External => CheckDepth::Ping,
    }
}
