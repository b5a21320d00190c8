//! Keeps the fault localisation informed: the map, and what reports say of it, as its graph; every poll as its event.
//!
//! It hears results as they were measured, because it has a model of noise of its own, with one exception: a good result
//! that its observer is not sure of yet is left out. So a failure counts as soon as it is measured, and a recovery
//! when it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::evidence::Gathered;
use crate::engine::seen::Seen;
use crate::engine::tape::{Tape, Told};
use crate::localise::{
    self, Answer, Change, CheckKind, DependencyCheck, Edge, ErrorClass, Event, Graph, Impact,
    Instance, Label, NoAnswer, Node, NodeKind,
};
use crate::map::{self, EdgeIndex, Map};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::report::{Component, Report};
use crate::status::{CheckStatus, Criticality, ErrorCategory, Scope};

/// The localisation, and the graph it was given last.
#[derive(Debug)]
pub(super) struct Localiser {
    /// `None` cannot be: every map makes a graph. Were it so, failing checks would all be listed as unexplained.
    engine: Option<localise::Engine>,
    /// `None` while the graph is one of before.
    drawn: Option<Drawn>,
    /// Instances by the name that the localisation has for them.
    pub(super) ids: BTreeMap<Arc<str>, InstanceId>,
    /// Ages are judged in this unit.
    interval: Duration,
    tape: Tape,
}

/// An interval is at least one tick of the clock.
const SHORTEST: Duration = Duration::from_millis(1);

fn ids(instances: &BTreeMap<InstanceId, Seen>) -> BTreeMap<Arc<str>, InstanceId> {
    let named = instances.iter();
    named
        .map(|(id, seen)| (Arc::clone(&seen.key), id.clone()))
        .collect()
}

/// However seldom a check is made, its result is believed no longer than one that is made this often.
const SLOWEST: Duration = Duration::from_secs(3600);

/// What of the graph comes from reports, and may change without the map.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Drawn {
    labels: Vec<Criticality>,
    kinds: Vec<CheckKind>,
    /// How often each dependency is looked at, where that is much less often than reports come.
    every: Vec<Option<Duration>>,
    /// Host and zone of each instance, in order of instances.
    places: Vec<(Option<Name>, Option<Name>)>,
}

impl Localiser {
    pub(super) fn new(
        map: &Map,
        instances: &BTreeMap<InstanceId, Seen>,
        interval: Duration,
    ) -> Self {
        let drawn = Drawn {
            labels: declared(map),
            kinds: map
                .edges()
                .iter()
                .map(|edge| usual_kind(map, edge))
                .collect(),
            every: vec![None; map.edges().len()],
            places: vec![(None, None); instances.len()],
        };
        let interval = interval.max(SHORTEST);
        let graph = graph(map, instances, &drawn, interval);
        Self {
            engine: localise::Engine::new(&graph, localise::Settings::default()).ok(),
            drawn: Some(drawn),
            ids: ids(instances),
            interval,
            tape: Tape::default(),
        }
    }

    /// From now on what it is told is kept until it is taken, beginning with the map of now.
    pub(super) fn record(&mut self, map: &Map, instances: &BTreeMap<InstanceId, Seen>) {
        let usual = || Drawn {
            labels: declared(map),
            kinds: map
                .edges()
                .iter()
                .map(|edge| usual_kind(map, edge))
                .collect(),
            every: vec![None; map.edges().len()],
            places: vec![(None, None); instances.len()],
        };
        let drawn = self.drawn.clone().unwrap_or_else(usual);
        self.tape
            .start(graph(map, instances, &drawn, self.interval));
    }

    pub(super) fn take_told(&mut self) -> Vec<Told> {
        self.tape.take()
    }

    /// Goes on with other instances, on another map; the graph is drawn anew before the next answer. What was heard stays
    /// with every instance and dependency that is still there.
    pub(super) fn replace(&mut self, instances: &BTreeMap<InstanceId, Seen>, interval: Duration) {
        self.ids = ids(instances);
        self.interval = interval.max(SHORTEST);
        self.drawn = None;
    }

    /// Takes the outcome of a poll, as `seen` has understood it.
    pub(super) fn hear(&mut self, heard: Heard, seen: &Seen, map: &Map, at: Moment) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let tape = &mut self.tape;
        let mut tell = |event: Event| {
            tape.event(at, &event);
            engine.apply(&event);
        };
        match heard {
            Heard::Report => {
                let Some(report) = &seen.report else { return };
                if seen.was_changed() {
                    let service = map.name(seen.service).shared();
                    tell(Event::Change(Change { at, service }));
                }
                tell(Event::Report(localise::Report {
                    sent: at,
                    instance: Arc::clone(&seen.key),
                    version: report.version.as_ref().map(Name::shared),
                    dependencies: dependencies(report, seen, map, at),
                }));
            }
            // Somebody is there, and says nothing about others.
            Heard::ErrorStatus => tell(Event::Report(localise::Report {
                sent: at,
                instance: Arc::clone(&seen.key),
                version: None,
                dependencies: Vec::new(),
            })),
            Heard::Silence => tell(Event::NoAnswer(NoAnswer {
                sent: at,
                instance: Arc::clone(&seen.key),
            })),
            // It is not known who is there.
            Heard::Nonsense => {}
        }
    }

    /// What an instance said counts for as long as the screen shows it, and not longer.
    pub(super) fn forget(&mut self, seen: &Seen) {
        if let Some(engine) = &mut self.engine {
            engine.forget_checks(&seen.key);
        }
    }

    /// Whether there is nothing to explain, and the graph is the newest.
    pub(super) fn is_quiet(&self) -> bool {
        self.drawn.is_some() && self.engine.as_ref().is_some_and(localise::Engine::is_quiet)
    }

    /// Which faults explain what was heard, on the map with the labels and places of now.
    pub(super) fn answer(
        &mut self,
        map: &Map,
        instances: &BTreeMap<InstanceId, Seen>,
        evidence: &Gathered,
        now: Moment,
    ) -> Answer {
        let drawn = Drawn {
            labels: evidence.forced.clone(),
            kinds: kinds(map, evidence),
            every: evidence
                .every
                .iter()
                .map(|every| slower(*every, self.interval))
                .collect(),
            places: evidence
                .instances
                .iter()
                .map(|seen| (seen.host.clone(), seen.zone.clone()))
                .collect(),
        };
        if self.drawn.as_ref() != Some(&drawn) {
            let graph = graph(map, instances, &drawn, self.interval);
            if let Some(engine) = &mut self.engine
                && engine.set_graph(&graph).is_ok()
            {
                self.tape.map(&graph);
                self.drawn = Some(drawn);
            }
        }
        let nothing = || Answer {
            at: now,
            root_causes: Vec::new(),
            rank: Vec::new(),
            impacted: Impact::default(),
            unexplained: Vec::new(),
            unknown: Vec::new(),
        };
        self.engine
            .as_ref()
            .map_or_else(nothing, |engine| engine.answer(now))
    }
}

/// What a poll heard, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A report of the service that was asked.
    Report,
    /// An error status without a report.
    ErrorStatus,
    /// Nothing.
    Silence,
    /// Something that is no report, or somebody else's.
    Nonsense,
}

/// The checks of a report that the map has dependencies for; of several about one, the worst.
fn dependencies(report: &Report, seen: &Seen, map: &Map, at: Moment) -> Vec<DependencyCheck> {
    let mut worst: BTreeMap<EdgeIndex, (u8, DependencyCheck)> = BTreeMap::new();
    let shared = |component: &Component| match component.scope {
        Scope::Shared => true,
        Scope::Local => false,
    };
    let components = report.components.iter().zip(seen.joined().iter());
    for (component, about) in components.filter(|(component, _)| shared(component)) {
        let Some(edge) = about.edge else { continue };
        let Some((rank, result)) = measured(component) else {
            continue;
        };
        // A result without an age is as old as the report that brought it.
        let checked_at = component.checked_at.unwrap_or(at);
        let check = DependencyCheck {
            to: map.name(map.edge(edge).callee).shared(),
            seen: result,
            age: at - checked_at,
            seq: component.seq,
        };
        if worst.get(&edge).is_none_or(|(known, _)| *known < rank) {
            worst.insert(edge, (rank, check));
        }
    }
    worst.into_values().map(|(_, check)| check).collect()
}

/// What a check has measured, and how bad that is; `None` if nothing is to be learned from it yet.
fn measured(component: &Component) -> Option<(u8, localise::Seen)> {
    use CheckStatus::{Degraded, Down, Unknown, Up};
    let class = class(component);
    match (component.status, component.raw_status) {
        (Unknown, _) | (Degraded | Down, Up) => None,
        (_, Down) | (Down, Unknown) => Some((2, localise::Seen::Down(class))),
        (_, Degraded) | (Degraded, Unknown) => Some((1, localise::Seen::Degraded(class))),
        (Up, Up | Unknown) => Some((0, localise::Seen::Up)),
    }
}

/// The class of a failure. A category that says that the other side has answered, and refused, is a failure of the other
/// side's.
const fn class(component: &Component) -> ErrorClass {
    match (component.error_category, component.raw_status) {
        (None | Some(ErrorCategory::Unknown), CheckStatus::Degraded) => ErrorClass::Slow,
        (None, _) => ErrorClass::Other,
        (Some(category), _) => match category {
            ErrorCategory::Timeout => ErrorClass::Timeout,
            ErrorCategory::ConnectionRefused | ErrorCategory::ConnectionReset => {
                ErrorClass::Refused
            }
            ErrorCategory::Dns => ErrorClass::Dns,
            ErrorCategory::Tls => ErrorClass::Tls,
            ErrorCategory::Auth => ErrorClass::Auth,
            ErrorCategory::HttpStatus
            | ErrorCategory::RateLimited
            | ErrorCategory::Starting
            | ErrorCategory::ShuttingDown
            | ErrorCategory::NotReady
            | ErrorCategory::NotServing => ErrorClass::Http5xx,
            ErrorCategory::ResourceExhausted
            | ErrorCategory::Stale
            | ErrorCategory::Protocol
            | ErrorCategory::Redirect
            | ErrorCategory::NotFound
            | ErrorCategory::Panic
            | ErrorCategory::Unknown => ErrorClass::Other,
        },
    }
}

/// How often something is looked at, if that is much less often than reports come.
fn slower(every: Duration, interval: Duration) -> Option<Duration> {
    (every > interval * 3 / 2).then(|| every.min(SLOWEST))
}

/// The labels before any report: what the map says, and soft where it says nothing.
fn declared(map: &Map) -> Vec<Criticality> {
    let edges = map.edges().iter();
    edges
        .map(|edge| edge.declared.unwrap_or(Criticality::Soft))
        .collect()
}

/// What a check looks at where its report does not say: the readiness of a service, the connection to a resource.
fn usual_kind(map: &Map, edge: &map::Edge) -> CheckKind {
    if map.is_service(edge.callee) {
        CheckKind::Readiness
    } else {
        CheckKind::Ping
    }
}

fn kinds(map: &Map, evidence: &Gathered) -> Vec<CheckKind> {
    let edges = map.edges().iter().zip(&evidence.depths);
    edges
        .map(|(edge, depth)| match depth {
            Some(true) => CheckKind::Readiness,
            Some(false) => CheckKind::Ping,
            None => usual_kind(map, edge),
        })
        .collect()
}

fn graph(
    map: &Map,
    instances: &BTreeMap<InstanceId, Seen>,
    drawn: &Drawn,
    interval: Duration,
) -> Graph {
    let mut polled = vec![false; map.nodes().len()];
    for seen in instances.values() {
        polled[seen.service.0] = true;
    }
    let nodes = map.indices().map(|index| {
        let node = map.node(index);
        let (kind, quorum) = match node.kind {
            map::NodeKind::Service { at_least } => (NodeKind::Service, at_least),
            map::NodeKind::Resource { .. } => (NodeKind::Resource, 1),
        };
        Node {
            id: node.name.shared(),
            kind,
            polled: polled[index.0],
            host: None,
            zone: node.zone.as_ref().map(Name::shared),
            quorum: u32::try_from(quorum).unwrap_or(u32::MAX),
        }
    });
    let edges = map.edges().iter().zip(&drawn.labels).zip(&drawn.kinds);
    let edges = edges.zip(&drawn.every);
    let edges = edges.map(|(((edge, label), kind), every)| Edge {
        from: map.name(edge.caller).shared(),
        to: map.name(edge.callee).shared(),
        label: match label {
            Criticality::Hard => Label::Hard,
            Criticality::Soft => Label::Soft,
            Criticality::Informational => Label::Informational,
        },
        check: *kind,
        every: *every,
        redundancy: None,
    });
    let running = instances.values().zip(&drawn.places);
    let running = running.map(|(seen, (host, zone))| Instance {
        id: Arc::clone(&seen.key),
        service: map.name(seen.service).shared(),
        host: host.as_ref().map(Name::shared),
        zone: zone.as_ref().map(Name::shared),
        every: slower(seen.target.interval, interval),
        version: None,
    });
    Graph {
        interval,
        nodes: nodes.collect(),
        edges: edges.collect(),
        instances: running.collect(),
        hosts: Vec::new(),
    }
}
