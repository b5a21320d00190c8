//! Small random incidents: a graph, a few faults, noise, lost polls, caches, late and doubled deliveries.
//!
//! Not a simulator: nothing here has to be realistic, only varied. Names have a fixed shape, so that a test can rename
//! them in the text of an answer.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::Moment;
use rootward_core::localise::{
    CheckKind, DependencyCheck, Edge, ErrorClass, Event, Graph, Instance, Label, NoAnswer, Node,
    NodeKind, Report, Seen,
};

/// Milliseconds.
pub(crate) const INTERVAL: u64 = 10_000;

/// Xorshift (Marsaglia 2003): the same numbers for the same seed, everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % end
    }

    /// True so many times in a hundred.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

/// An incident: events in the order of delivery, with the moment of each.
#[derive(Debug, Clone)]
pub(crate) struct Incident {
    pub(crate) graph: Graph,
    pub(crate) events: Vec<(Moment, Event)>,
    pub(crate) end: Moment,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Node(usize, ErrorClass),
    Edge(usize, ErrorClass),
    Egress(usize),
    Dead(usize),
    Flapping(usize),
}

pub(crate) fn named(prefix: char, number: usize) -> Arc<str> {
    format!("{prefix}{number:03}x").into()
}

fn graph(random: &mut Random) -> Graph {
    let services = 3 + random.below(5);
    let resources = 1 + random.below(3);
    let node = |number: usize| Node {
        id: named('N', number),
        kind: if number < services {
            NodeKind::Service
        } else {
            NodeKind::Resource
        },
        polled: number < services,
        host: (number >= services).then(|| named('H', 1 + number % 4)),
        zone: (number >= services).then(|| named('Z', number % 2)),
        quorum: 1,
    };
    let nodes: Vec<Node> = (0..services + resources).map(node).collect();
    let mut edges = Vec::new();
    for from in 0..services {
        for to in 0..services + resources {
            let chance = if to > from { 40 } else { 6 };
            if to != from && random.percent(chance) {
                edges.push(Edge {
                    from: named('N', from),
                    to: named('N', to),
                    label: [Label::Hard, Label::Hard, Label::Soft, Label::Informational]
                        [random.below(4)],
                    check: if to < services && random.percent(50) {
                        CheckKind::Readiness
                    } else {
                        CheckKind::Ping
                    },
                    every: None,
                    redundancy: None,
                });
            }
        }
    }
    let mut instances = Vec::new();
    for service in 0..services {
        for _ in 0..1 + random.below(3) {
            let number = instances.len();
            instances.push(Instance {
                id: named('I', number),
                service: named('N', service),
                host: Some(named('H', number % 5)),
                zone: Some(named('Z', number % 2)),
                every: None,
                version: None,
            });
        }
    }
    Graph {
        interval: Duration::from_millis(INTERVAL),
        nodes,
        edges,
        instances,
        hosts: Vec::new(),
    }
}

fn class(random: &mut Random) -> ErrorClass {
    ErrorClass::ALL[random.below(ErrorClass::ALL.len())]
}

fn fault(random: &mut Random, graph: &Graph) -> Fault {
    let instance = random.below(graph.instances.len());
    match random.below(5) {
        1 if !graph.edges.is_empty() => Fault::Edge(random.below(graph.edges.len()), class(random)),
        2 => Fault::Egress(instance),
        3 => Fault::Dead(instance),
        4 => Fault::Flapping(random.below(graph.nodes.len())),
        _ => Fault::Node(random.below(graph.nodes.len()), class(random)),
    }
}

/// What an instance sees of one dependency.
fn seen(
    random: &mut Random,
    graph: &Graph,
    faults: &[Fault],
    instance: usize,
    edge: usize,
    round: u64,
) -> Seen {
    let to = &graph.edges[edge].to;
    for fault in faults {
        let hit = match *fault {
            Fault::Node(node, class) => (graph.nodes[node].id == *to).then_some(class),
            Fault::Flapping(node) => (graph.nodes[node].id == *to && (round / 2).is_multiple_of(2))
                .then_some(ErrorClass::Refused),
            Fault::Edge(broken, class) => (broken == edge).then_some(class),
            Fault::Egress(cut) => (cut == instance).then_some(ErrorClass::Timeout),
            Fault::Dead(dead) => {
                let replicas = graph.instances.iter();
                let replicas = replicas.filter(|replica| replica.service == *to).count();
                let hits =
                    graph.instances[dead].service == *to && random.below(replicas.max(1)) == 0;
                hits.then_some(ErrorClass::Refused)
            }
        };
        if let Some(class) = hit {
            return if random.percent(10) {
                Seen::Degraded(class)
            } else {
                Seen::Down(class)
            };
        }
    }
    if random.percent(2) {
        Seen::Down(class(random))
    } else {
        Seen::Up
    }
}

/// An incident of so many intervals; its faults begin in the last eight, or never.
pub(crate) fn incident(random: &mut Random, rounds: u64) -> Incident {
    let graph = graph(random);
    let faults: Vec<Fault> = (0..random.below(3))
        .map(|_| fault(random, &graph))
        .collect();
    let began = rounds.saturating_sub(1 + random.next() % 8);
    let mut events = Vec::new();
    for round in 0..rounds {
        let faults: &[Fault] = if round >= began { &faults } else { &[] };
        for (number, instance) in graph.instances.iter().enumerate() {
            let sent = round * INTERVAL + 1_000 + 137 * u64::try_from(number).expect("small");
            let late = if random.percent(4) { 12_000 } else { 200 };
            let received = Moment::from_millis(sent + late);
            let sent = Moment::from_millis(sent);
            let is_dead = |fault: &Fault| matches!(fault, Fault::Dead(dead) if *dead == number);
            let event = if faults.iter().any(is_dead) || random.percent(2) {
                Event::NoAnswer(NoAnswer {
                    sent,
                    instance: instance.id.clone(),
                })
            } else {
                let mut dependencies = Vec::new();
                for (edge, parts) in graph.edges.iter().enumerate() {
                    if parts.from == instance.service {
                        let mut seen = seen(random, &graph, faults, number, edge, round);
                        if random.percent(1) {
                            seen = Seen::Unknown;
                        }
                        dependencies.push(DependencyCheck {
                            to: parts.to.clone(),
                            seen,
                            age: Duration::from_millis(random.next() % 900),
                            seq: None,
                        });
                    }
                }
                Event::Report(Report {
                    sent,
                    instance: instance.id.clone(),
                    version: None,
                    dependencies,
                })
            };
            events.push((received, event));
        }
    }
    events.sort_by_key(|(received, _)| *received);
    let end = Moment::from_millis(rounds * INTERVAL + 500);
    Incident { graph, events, end }
}

/// The polls of one more interval in which all is well.
pub(crate) fn all_well(graph: &Graph, round: u64) -> Vec<Event> {
    let instances = graph.instances.iter().enumerate();
    instances
        .map(|(number, instance)| {
            let sent = round * INTERVAL + 1_000 + 137 * u64::try_from(number).expect("small");
            let edges = graph
                .edges
                .iter()
                .filter(|edge| edge.from == instance.service);
            Event::Report(Report {
                sent: Moment::from_millis(sent),
                instance: instance.id.clone(),
                version: None,
                dependencies: edges
                    .map(|edge| DependencyCheck {
                        to: edge.to.clone(),
                        seen: Seen::Up,
                        age: Duration::from_millis(300),
                        seq: None,
                    })
                    .collect(),
            })
        })
        .collect()
}
