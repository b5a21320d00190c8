//! Takes events, keeps what the newest of them say, and answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::anomaly::Scene;
use super::answer::Answer;
use super::candidate::Changes;
use super::event::{DependencyCheck, Event, Report};
use super::graph::Graph;
use super::history::{Check, Checks, Polls};
use super::model::Model;
use super::topology::{GraphError, Topology};
use super::verdict;
use crate::moment::Moment;

/// Changes kept per service.
const CHANGES: usize = 4;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The numbers of the model.
    pub model: Model,
}

/// Says which faults explain what has been seen. See the [module](super).
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    topology: Topology,
    checks: Vec<Checks>,
    polls: Vec<Polls>,
    /// The release each instance told last, and when.
    told: Vec<Option<(u64, Arc<str>)>>,
    versions: Vec<Option<Arc<str>>>,
    changes: Changes,
    /// Links that fail, or fail again and again.
    anomalous: BTreeSet<usize>,
    /// Polled instances whose newest poll got no answer.
    silent: BTreeSet<usize>,
    foreign: u64,
}

impl Engine {
    /// An engine that has seen nothing.
    ///
    /// # Errors
    ///
    /// All that is wrong with the graph: parts that are there twice, names of what is not there, no interval.
    pub fn new(graph: &Graph, settings: Settings) -> Result<Self, GraphError> {
        let topology = Topology::new(graph)?;
        let versions = topology.instances.iter();
        Ok(Self {
            settings,
            checks: vec![Checks::default(); topology.link_edge.len()],
            polls: vec![Polls::default(); topology.instances.len()],
            told: vec![None; topology.instances.len()],
            versions: versions.map(|instance| instance.version.clone()).collect(),
            changes: Changes::new(),
            anomalous: BTreeSet::new(),
            silent: BTreeSet::new(),
            foreign: 0,
            topology,
        })
    }

    /// Takes an event. Work and memory are of the order of the dependencies it names.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Report(report) => self.apply_report(report),
            Event::NoAnswer(no_answer) => match self.topology.instance(&no_answer.instance) {
                Some(instance) => self.poll(instance, no_answer.sent.as_millis(), false),
                None => self.foreign += 1,
            },
            Event::Change(change) => match self.topology.node(&change.service) {
                Some(node) => {
                    let times = self.changes.entry(node).or_default();
                    let at = change.at.as_millis();
                    if !times.contains(&at) {
                        times.push(at);
                        times.sort_unstable_by(|a, b| b.cmp(a));
                        times.truncate(CHANGES);
                    }
                }
                None => self.foreign += 1,
            },
        }
    }

    fn apply_report(&mut self, report: &Report) {
        let Some(instance) = self.topology.instance(&report.instance) else {
            self.foreign += 1;
            return;
        };
        let sent = report.sent.as_millis();
        self.poll(instance, sent, true);
        if let Some(version) = &report.version {
            let told = (sent, version.clone());
            if self.told[instance]
                .as_ref()
                .is_none_or(|known| *known < told)
            {
                self.versions[instance] = Some(version.clone());
                self.told[instance] = Some(told);
            }
        }
        for dependency in &report.dependencies {
            self.check(instance, report.sent, dependency);
        }
    }

    fn check(&mut self, instance: usize, sent: Moment, dependency: &DependencyCheck) {
        let Some(link) = self.topology.link(instance, &dependency.to) else {
            self.foreign += 1;
            return;
        };
        let at = sent.saturating_sub(dependency.age).as_millis();
        let Some(check) = Check::new(at, dependency.seen, dependency.seq) else {
            return;
        };
        let interval = self.topology.link_interval(link);
        self.checks[link].take(check, interval);
        if self.checks[link].is_anomalous(interval) {
            self.anomalous.insert(link);
        } else {
            self.anomalous.remove(&link);
        }
    }

    fn poll(&mut self, instance: usize, sent: u64, answered: bool) {
        self.polls[instance].take(sent, answered);
        let node = self.topology.instances[instance].node;
        if self.polls[instance].is_silent() && self.topology.nodes[node].polled {
            self.silent.insert(instance);
        } else {
            self.silent.remove(&instance);
        }
    }

    /// Whether nothing fails, has failed again and again, or is silent: then there is nothing to explain, whatever the time.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.anomalous.is_empty() && self.silent.is_empty()
    }

    /// Which faults explain what has been seen, at `now`: a function of the events taken and of `now`, whatever the
    /// order in which they came. Work is of the order of the anomaly and its neighbourhood.
    #[must_use]
    pub fn answer(&self, now: Moment) -> Answer {
        let scene = Scene::new(
            now.as_millis(),
            &self.settings.model,
            &self.topology,
            &self.checks,
            &self.polls,
            &self.anomalous,
            &self.silent,
        );
        let unknown = self.silent.iter();
        let unknown = unknown.map(|&instance| self.topology.instances[instance].id.clone());
        verdict::answer(&scene, &self.changes, &self.versions, unknown.collect())
    }

    /// Forgets the checks of an instance that is not seen any more: what it said last is not known to be so. That it does
    /// not answer stays known.
    pub fn forget_checks(&mut self, instance: &str) {
        let Some(instance) = self.topology.instance(instance) else {
            return;
        };
        for link in self.topology.links_of(instance) {
            self.checks[link] = Checks::default();
            self.anomalous.remove(&link);
        }
    }

    /// Replaces the graph. What is known stays with every instance, dependency and service that is still there under
    /// its name; the rest is forgotten.
    ///
    /// # Errors
    ///
    /// As [`Engine::new`]; the graph in use then stays.
    pub fn set_graph(&mut self, graph: &Graph) -> Result<(), GraphError> {
        let mut next = Self::new(graph, self.settings.clone())?;
        next.foreign = self.foreign;
        for (number, instance) in next.topology.instances.iter().enumerate() {
            let Some(known) = self.topology.instance(&instance.id) else {
                continue;
            };
            let service = &self.topology.nodes[self.topology.instances[known].node].id;
            if *service != next.topology.nodes[instance.node].id {
                continue;
            }
            next.polls[number] = self.polls[known];
            if let Some(told) = &self.told[known] {
                next.versions[number] = Some(told.1.clone());
                next.told[number] = Some(told.clone());
            }
            let polled = next.topology.nodes[instance.node].polled;
            if polled && next.polls[number].is_silent() {
                next.silent.insert(number);
            }
            for link in next.topology.links_of(number) {
                let to = &next.topology.nodes[next.topology.target(link)].id;
                if let Some(old) = self.topology.link(known, to) {
                    next.checks[link] = self.checks[old];
                    if next.topology.link_interval(link) != self.topology.link_interval(old) {
                        next.checks[link].learn_anew();
                    }
                    if next.checks[link].is_anomalous(next.topology.link_interval(link)) {
                        next.anomalous.insert(link);
                    }
                }
            }
        }
        let changes = std::mem::take(&mut self.changes);
        let kept: BTreeMap<usize, Vec<u64>> = changes
            .into_iter()
            .filter_map(|(node, times)| {
                let kept = next.topology.node(&self.topology.nodes[node].id)?;
                Some((kept, times))
            })
            .collect();
        next.changes = kept;
        *self = next;
        Ok(())
    }

    /// Reports, checks and changes so far that were about nothing in the graph, and were left out.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.foreign
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::event::{DependencyCheck, Event, Report, Seen};
    use super::super::graph::{CheckKind, Edge, Graph, Instance, Label, Node, NodeKind};
    use super::{Engine, Settings};
    use crate::moment::Moment;

    fn node(id: &str, kind: NodeKind) -> Node {
        Node {
            id: id.into(),
            kind,
            polled: kind == NodeKind::Service,
            host: None,
            zone: None,
            quorum: 1,
        }
    }

    /// One instance that looks at one database, as often as it is polled or less often.
    fn graph(every: Option<Duration>) -> Graph {
        Graph {
            interval: Duration::from_secs(10),
            nodes: vec![
                node("cart", NodeKind::Service),
                node("db", NodeKind::Resource),
            ],
            edges: vec![Edge {
                from: "cart".into(),
                to: "db".into(),
                label: Label::Hard,
                check: CheckKind::Ping,
                every,
                redundancy: None,
            }],
            instances: vec![Instance {
                id: "cart#0".into(),
                service: "cart".into(),
                host: None,
                zone: None,
                every: None,
                version: None,
            }],
            hosts: Vec::new(),
        }
    }

    fn report(engine: &mut Engine, sent: u64) {
        engine.apply(&Event::Report(Report {
            sent: Moment::from_millis(sent),
            instance: "cart#0".into(),
            version: None,
            dependencies: vec![DependencyCheck {
                to: "db".into(),
                seen: Seen::Up,
                age: Duration::ZERO,
                seq: None,
            }],
        }));
    }

    #[test]
    fn an_edge_that_is_looked_at_less_often_from_now_on_goes_on_learning() {
        let mut engine = Engine::new(&graph(None), Settings::default()).unwrap();
        for round in 0..360 {
            report(&mut engine, round * 10_000);
        }
        engine
            .set_graph(&graph(Some(Duration::from_secs(60))))
            .unwrap();
        for round in 0..30 {
            report(&mut engine, 3_600_000 + round * 60_000);
        }
        // Of the newest 48 intervals, those that are not weighed themselves any more.
        let (_, seen) = engine.checks[0].isolated();
        assert_eq!(seen, 14);
    }
}
