//! Maps that are made: layered ones with hubs, the twenty services of the healthy hours, and the large ones for speed.

use std::collections::BTreeSet;

use super::{Plan, PlannedEdge};
use crate::random::Random;
use crate::scenario::{CheckDepth, EdgeLabel, NodeKind};

/// A layered map of `count` nodes: entries, middles, and a third of leaves that are resources. Callees are chosen with a
/// preference for those that are called already, so that hubs grow, and some edges go back up, so that cycles exist.
#[must_use]
pub fn layered(name: &str, count: usize, random: &mut Random) -> Plan {
    let leaves = count * 38 / 100;
    let services = count.saturating_sub(leaves).max(1);
    let mut nodes: Vec<(String, NodeKind)> = (0..services)
        .map(|number| (format!("s{number}"), NodeKind::Service))
        .collect();
    for number in 0..leaves {
        let (suffix, kind) = random
            .weighted(&[
                (("db", NodeKind::Database), 0.5),
                (("cache", NodeKind::Cache), 0.25),
                (("queue", NodeKind::Queue), 0.15),
                (("ext", NodeKind::External), 0.1),
            ])
            .unwrap_or(("db", NodeKind::Database));
        nodes.push((format!("r{number}-{suffix}"), kind));
    }
    let mut pairs = BTreeSet::new();
    let mut ends: Vec<usize> = Vec::new();
    for from in 0..services {
        let wanted = random.between(1, 5);
        for _ in 0..wanted {
            let to = callee(from, services, nodes.len(), &ends, random);
            if to != from && pairs.insert((from, to)) {
                ends.push(to);
            }
        }
    }
    // Nobody is left without a caller or a callee, except entries.
    for to in services..nodes.len() {
        if !pairs.iter().any(|&(_, end)| end == to) {
            pairs.insert((random.index(services), to));
        }
    }
    let edges = pairs
        .into_iter()
        .map(|(from, to)| PlannedEdge {
            from,
            to,
            label: label(random),
            check: None,
        })
        .collect();
    let name = name.to_owned();
    Plan { name, nodes, edges }
}

fn callee(from: usize, services: usize, all: usize, ends: &[usize], random: &mut Random) -> usize {
    if random.chance(0.02) {
        // Back up: a cycle, perhaps.
        return random.index(from.max(1));
    }
    if random.chance(0.3)
        && let Some(&popular) = random.pick(ends)
        && popular > from
    {
        return popular;
    }
    if from + 1 < services && random.chance(0.55) {
        from + 1 + random.index(services - from - 1)
    } else {
        services + random.index(all - services)
    }
}

fn label(random: &mut Random) -> EdgeLabel {
    random
        .weighted(&[
            (EdgeLabel::Hard, 0.75),
            (EdgeLabel::Soft, 0.2),
            (EdgeLabel::Informational, 0.05),
        ])
        .unwrap_or(EdgeLabel::Hard)
}

/// Twenty services and ten resources.
#[must_use]
pub fn healthy_twenty(random: &mut Random) -> Plan {
    let mut plan = layered("healthy", 32, random);
    let services: Vec<usize> = (0..plan.nodes.len())
        .filter(|&node| plan.nodes[node].1 == NodeKind::Service)
        .collect();
    debug_assert_eq!(services.len(), 20);
    plan.name = "healthy".to_owned();
    plan
}

/// A large map: `count` nodes, about five edges a node, and a hub that about 6 of 100 nodes call (5,900 of 100,000).
///
/// # Panics
/// Never: the hub exists in every map.
#[must_use]
pub fn large(count: usize, random: &mut Random) -> Plan {
    let leaves = count * 39 / 100;
    let services = count.saturating_sub(leaves).max(1);
    let mut nodes: Vec<(String, NodeKind)> = (0..services)
        .map(|number| (format!("s{number}"), NodeKind::Service))
        .collect();
    nodes.extend((0..leaves).map(|number| (format!("r{number}-db"), NodeKind::Database)));
    let hub = services;
    let mut edges = Vec::with_capacity(count * 5);
    let mut ends: Vec<usize> = Vec::with_capacity(count * 5);
    for from in 0..services {
        let mut mine = BTreeSet::new();
        // 5,900 of 61,000 services call the hub.
        if random.chance(0.0967) {
            mine.insert(hub);
        }
        let wanted = usize::try_from(random.between(4, 12)).unwrap_or(8);
        while mine.len() < wanted.min(nodes.len() - 2) {
            let to = match random.pick(&ends) {
                Some(&popular) if random.chance(0.25) => popular,
                Some(_) | None => 1 + random.index(nodes.len() - 1),
            };
            if to != from && to != hub {
                mine.insert(to);
                ends.push(to);
            }
        }
        for to in mine {
            edges.push(PlannedEdge {
                from,
                to,
                label: label(random),
                check: Some(if to < services && random.chance(0.7) {
                    CheckDepth::Readiness
                } else {
                    CheckDepth::Ping
                }),
            });
        }
    }
    let name = format!("large-{count}");
    Plan { name, nodes, edges }
}

#[cfg(test)]
mod tests {
    use super::{healthy_twenty, large};
    use crate::random::Random;
    use crate::scenario::NodeKind;

    #[test]
    fn the_healthy_system_has_twenty_services() {
        let plan = healthy_twenty(&mut Random::new(1));
        let services = plan
            .nodes
            .iter()
            .filter(|(_, kind)| *kind == NodeKind::Service);
        assert_eq!(services.count(), 20);
    }

    #[test]
    fn a_large_map_has_five_edges_a_node_and_one_hub() {
        let plan = large(10_000, &mut Random::new(1));
        let hub = 10_000 - 3_900;
        let callers = plan.edges.iter().filter(|edge| edge.to == hub).count();
        assert!((500..700).contains(&callers), "{callers} callers");
        assert!(
            (45_000..55_000).contains(&plan.edges.len()),
            "{} edges",
            plan.edges.len()
        );
    }
}
