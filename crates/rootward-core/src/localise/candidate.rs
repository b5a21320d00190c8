//! The faults that could explain something, each with what it costs and what it would explain.
//!
//! Only faults in reach of a failing check or a silent poll are built, so the work grows with the anomaly and its
//! neighbourhood, never with the map.

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::Scene;
use super::cause::Fault;
use super::model::Model;
use super::timeline::{Account, Likelihood, Rhythm, Timeline};

/// How a fault shows. One fault may be a candidate in several modes, of which at most one is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything that should fail fails.
    Hard,
    /// The process is alive, the application is not.
    Application,
    /// Fails now and then.
    Intermittent,
    /// Only the view is broken.
    View,
}

/// A fault in one mode.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) fault: Fault,
    pub(super) mode: Mode,
    pub(super) prior: f64,
    pub(super) account: Account,
    /// Nodes whose readiness may pass it on, with the fee.
    pub(super) passes: Vec<(usize, f64)>,
}

impl Candidate {
    /// What believing in it costs, whatever it explains.
    pub(super) fn cost(&self) -> f64 {
        let class = self.account.class.map_or(0.0, |(_, cost)| cost);
        self.prior + class + self.account.good_cost
    }
}

/// Recent changes, by node: when.
pub(super) type Changes = BTreeMap<usize, Vec<u64>>;

/// Collects candidates.
pub(super) struct Builder<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) changes: &'a Changes,
    /// The release each instance runs.
    pub(super) versions: &'a [Option<std::sync::Arc<str>>],
    pub(super) candidates: Vec<Candidate>,
}

/// Intervals after a change in which a fault may be due to it.
const CHANGE_WINDOW: u64 = 10;

impl<'a> Builder<'a> {
    pub(super) fn model(&self) -> &'a Model {
        self.scene.model
    }

    /// Adds the fault if it explains anything in this mode.
    pub(super) fn offer(
        &mut self,
        fault: Fault,
        mode: Mode,
        prior: f64,
        timeline: &Timeline,
        likelihood: &Likelihood<'_>,
    ) {
        let Some(account) = timeline.account(self.model(), likelihood) else {
            return;
        };
        let bonus = if self.was_changed(fault, account.onset) {
            self.model().change.clamp(0.0, 2.0)
        } else {
            0.0
        };
        self.candidates.push(Candidate {
            fault,
            mode,
            prior: prior - bonus,
            account,
            passes: Vec::new(),
        });
    }

    fn was_changed(&self, fault: Fault, onset: u64) -> bool {
        let topology = self.scene.topology;
        let service = match fault {
            Fault::Node(node) | Fault::Version(node, _) => node,
            Fault::Instance(instance) => topology.instances[instance].node,
            Fault::Edge(edge) => topology.edges[edge].from,
            Fault::InstanceEdge(link) => topology.edges[topology.link_edge[link]].from,
            Fault::Host(_) | Fault::Zone(_) | Fault::Poller(_) | Fault::Flicker(_) => return false,
        };
        let interval = topology.interval;
        self.changes.get(&service).is_some_and(|times| {
            times.iter().any(|&changed| {
                changed <= onset.saturating_add(interval)
                    && onset <= changed.saturating_add(CHANGE_WINDOW * interval)
            })
        })
    }

    /// Faults of what failing checks look at, of the ways there, and of who looks.
    pub(super) fn offer_all(&mut self) {
        let topology = self.scene.topology;
        let mut targets = BTreeSet::new();
        let mut edges = BTreeSet::new();
        let mut observers: BTreeMap<usize, usize> = BTreeMap::new();
        for link in self.scene.failing() {
            targets.insert(topology.target(link));
            edges.insert(topology.link_edge[link]);
            *observers.entry(topology.observer(link)).or_default() += 1;
        }
        for &target in &targets {
            self.offer_node(target);
        }
        for &edge in &edges {
            self.offer_edge(edge);
        }
        for link in self.scene.failing() {
            // The only instance of a service is the whole way.
            if topology.edges[topology.link_edge[link]].links.len() == 1 {
                continue;
            }
            let horizon = self.scene.horizon(std::iter::once(link));
            let mut terms = Vec::new();
            self.scene.link_terms(&mut terms, link, 1.0, horizon);
            let prior = self.model().instance_edge;
            self.offer_way(Fault::InstanceEdge(link), prior, &Timeline::new(terms));
        }
        for (&instance, _) in observers.iter().filter(|(_, count)| **count >= 2) {
            self.offer_egress(instance);
        }
        for instance in self.scene.silent() {
            if targets.contains(&topology.instances[instance].node) {
                self.offer_dead(instance);
            }
        }
        self.offer_flickers(&targets);
        self.offer_places(&targets);
        self.offer_versions(&observers, &targets);
    }

    fn offer_node(&mut self, node: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let horizon = scene.horizon(topology.links_to(node));
        let mut terms = Vec::new();
        let mut sick = false;
        for link in topology.links_to(node) {
            scene.link_terms(&mut terms, link, 1.0, horizon);
            sick |= topology.edges[topology.link_edge[link]].readiness
                && scene.observation_of_link(link).is_some();
        }
        let mut answered = false;
        if topology.nodes[node].polled {
            for &instance in &topology.nodes[node].instances {
                scene.poll_terms(&mut terms, instance);
                answered |= scene.answers(instance);
            }
        }
        let timeline = Timeline::new(terms);
        let fault = Fault::Node(node);
        let hard = Likelihood {
            ping: Some(model.hard),
            readiness: model.hard,
            rhythm: Rhythm::Steady,
            silent: Some(model.silent),
            classes: Some(&model.node_classes),
        };
        let deaf = Likelihood {
            silent: None,
            ..hard
        };
        self.offer(fault, Mode::Hard, model.node, &timeline, &hard);
        if answered {
            self.offer(fault, Mode::Hard, model.node + model.deaf, &timeline, &deaf);
        }
        if sick {
            let application = Likelihood {
                ping: Some(model.sick_ping),
                readiness: model.sick_readiness,
                classes: Some(&model.application_classes),
                ..deaf
            };
            let prior = model.node + model.application;
            self.offer(fault, Mode::Application, prior, &timeline, &application);
        }
        self.offer_intermittent(fault, model.node, &timeline, &deaf);
        // As if it had just begun: earlier failures may have been another fault's, and their price would be paid for them.
        let newest = topology
            .links_to(node)
            .filter_map(|link| scene.failing_at(link));
        let newest = newest.max().unwrap_or(scene.now);
        let recent = timeline.since(newest);
        self.offer(fault, Mode::Hard, model.node + model.deaf, &recent, &deaf);
    }

    fn offer_edge(&mut self, edge: usize) {
        let links = self.scene.topology.edges[edge].links.clone();
        let horizon = self.scene.horizon(links.clone());
        let mut terms = Vec::new();
        for link in links {
            self.scene.link_terms(&mut terms, link, 1.0, horizon);
        }
        self.offer_way(Fault::Edge(edge), self.model().edge, &Timeline::new(terms));
    }

    fn offer_way(&mut self, fault: Fault, prior: f64, timeline: &Timeline) {
        let model = self.model();
        let hard = Likelihood {
            ping: Some(model.hard),
            readiness: model.hard,
            rhythm: Rhythm::Steady,
            silent: None,
            classes: Some(&model.edge_classes),
        };
        self.offer(fault, Mode::Hard, prior, timeline, &hard);
        self.offer_intermittent(fault, prior, timeline, &hard);
    }

    /// The same fault when it does not bite all the time: seldom, often, or in phases.
    fn offer_intermittent(
        &mut self,
        fault: Fault,
        prior: f64,
        timeline: &Timeline,
        steady: &Likelihood<'_>,
    ) {
        if !timeline.has_good() {
            return;
        }
        let model = self.model();
        let prior = prior + model.intermittent;
        for rate in [model.sometimes, model.often] {
            let scattered = Likelihood {
                ping: Some(rate),
                readiness: rate,
                rhythm: Rhythm::Scattered,
                ..*steady
            };
            self.offer(fault, Mode::Intermittent, prior, timeline, &scattered);
        }
        let phases = Likelihood {
            rhythm: Rhythm::Phases {
                switch: model.switch,
            },
            ..*steady
        };
        self.offer(fault, Mode::Intermittent, prior, timeline, &phases);
    }

    /// An instance that reaches nothing.
    fn offer_egress(&mut self, instance: usize) {
        let (scene, model) = (self.scene, self.model());
        let horizon = scene.horizon(scene.topology.links_of(instance));
        let mut terms = Vec::new();
        for link in scene.topology.links_of(instance) {
            scene.link_terms(&mut terms, link, 1.0, horizon);
        }
        let egress = Likelihood {
            ping: Some(model.egress),
            readiness: model.egress,
            rhythm: Rhythm::Steady,
            silent: None,
            classes: Some(&model.egress_classes),
        };
        let fault = Fault::Instance(instance);
        let timeline = Timeline::new(terms);
        self.offer(fault, Mode::Hard, model.instance, &timeline, &egress);
    }

    /// A silent instance, whose share of its service's checks fails since it fell silent.
    fn offer_dead(&mut self, instance: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let service = topology.instances[instance].node;
        let share = 1.0 / topology.nodes[service].instances.len().max(1) as f64;
        let since = scene.silent_since(instance);
        let mut terms = Vec::new();
        for link in topology.links_to(service) {
            scene.link_terms(&mut terms, link, share, since);
        }
        scene.poll_terms(&mut terms, instance);
        let dead = Likelihood {
            ping: Some(model.place),
            readiness: model.place,
            rhythm: Rhythm::Scattered,
            silent: Some(model.silent),
            classes: Some(&model.dead_classes),
        };
        let fault = Fault::Instance(instance);
        let timeline = Timeline::new(terms);
        self.offer(fault, Mode::Hard, model.instance, &timeline, &dead);
    }
}
