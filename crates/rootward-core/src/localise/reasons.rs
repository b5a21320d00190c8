//! The checks behind a cause: those it explains, and those that speak against it.

use std::time::Duration;

use super::answer::{Evidence, GOOD_LIMIT, GoodCheck};
use super::cause::Fault;
use super::event::ErrorClass;
use super::verdict::Verdict;
use crate::moment::Moment;

impl Verdict<'_> {
    pub(super) fn evidence(&self, link: usize, gain: f64, through: Option<usize>) -> Evidence {
        let (scene, topology) = (self.scene, self.scene.topology);
        let checks = scene.checks[link].newest_first();
        let newest = checks.first().map_or(scene.now, |check| check.at);
        let failed = checks.iter().find(|check| check.failure().is_some());
        Evidence {
            instance: topology.instances[topology.observer(link)].id.clone(),
            to: topology.nodes[topology.target(link)].id.clone(),
            degraded: failed.is_some_and(|check| check.is_degraded()),
            class: failed
                .and_then(|check| check.failure())
                .unwrap_or(ErrorClass::Other),
            since: Moment::from_millis(scene.since(link)),
            age: Duration::from_millis(scene.now.saturating_sub(newest)),
            gain,
            through: through.map(|place| topology.nodes[self.passing[place].node].id.clone()),
        }
    }

    /// Good checks in the scope of a fault since its onset: how many, and the newest of them.
    pub(super) fn good_checks(&self, fault: Fault, onset: u64) -> (usize, Vec<GoodCheck>) {
        let (scene, topology) = (self.scene, self.scene.topology);
        let links: Vec<usize> = match fault {
            Fault::Node(node) => topology.links_to(node).collect(),
            Fault::Edge(edge) => topology.edges[edge].links.clone().collect(),
            Fault::InstanceEdge(link) => vec![link],
            Fault::Instance(instance) => {
                let service = topology.instances[instance].node;
                let own = topology.links_of(instance);
                own.chain(topology.links_to(service)).collect()
            }
            Fault::Host(host) => {
                let resources = topology.hosts[host].resources.iter();
                resources
                    .flat_map(|&node| topology.links_to(node))
                    .collect()
            }
            Fault::Zone(_) | Fault::Poller(_) | Fault::Version(_, _) | Fault::Flicker(_) => {
                Vec::new()
            }
        };
        let mut good: Vec<(u64, usize)> = links
            .into_iter()
            .filter_map(|link| scene.good_since(link, onset).map(|at| (at, link)))
            .collect();
        good.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let count = good.len();
        good.truncate(GOOD_LIMIT);
        let listed = good.into_iter().map(|(at, link)| GoodCheck {
            instance: topology.instances[topology.observer(link)].id.clone(),
            to: topology.nodes[topology.target(link)].id.clone(),
            age: Duration::from_millis(scene.now.saturating_sub(at)),
        });
        (count, listed.collect())
    }
}
