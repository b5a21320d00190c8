//! The engine of `rootward-core` as a localiser: scenario types in, scenario types out.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::Moment;
use rootward_core::localise::{self as core, Engine, GraphError, Settings};

use crate::Localiser;
use crate::scenario::{
    Answer, CauseKind, CauseState, CheckDepth, CheckStatus, DepReport, EdgeLabel, ErrorClass,
    Event, Graph, NodeKind, Ranked, RootCause,
};

/// The engine, fed with the events of a scenario.
#[derive(Debug)]
pub struct CoreEngine {
    engine: Engine,
}

impl CoreEngine {
    /// An engine that has seen nothing.
    ///
    /// # Errors
    /// When the engine refuses the map.
    pub fn new(graph: &Graph, settings: Settings) -> Result<Self, GraphError> {
        let engine = Engine::new(&to_core(graph), settings)?;
        Ok(Self { engine })
    }
}

impl CoreEngine {
    /// Goes on with another map.
    ///
    /// # Errors
    /// When the engine refuses it; then the old one holds.
    pub fn set_map(&mut self, graph: &Graph) -> Result<(), GraphError> {
        self.engine.set_graph(&to_core(graph))
    }
}

impl Localiser for CoreEngine {
    fn apply(&mut self, event: &Event) {
        self.engine.apply(&event_to_core(event));
    }

    fn answer(&mut self, t: f64) -> Answer {
        let answer = self.engine.answer(moment(t));
        Answer {
            t,
            root_causes: answer.root_causes.iter().map(cause).collect(),
            impacted: names(answer.impacted.services()),
            unexplained: answer
                .unexplained
                .iter()
                .map(|check| format!("{}->{}", check.instance, check.to))
                .collect(),
            unknown: names(answer.unknown.iter()),
            rank: answer
                .rank
                .iter()
                .map(|ranked| Ranked {
                    id: ranked.id.to_string(),
                    margin: ranked.margin,
                })
                .collect(),
        }
    }
}

/// The map as the engine takes it. A service needs one instance to serve: the format does not say more.
#[must_use]
pub fn to_core(graph: &Graph) -> core::Graph {
    let name = |name: &Option<String>| name.as_deref().map(Arc::from);
    core::Graph {
        interval: duration(graph.interval_s),
        nodes: graph
            .nodes
            .iter()
            .map(|node| core::Node {
                id: node.id.as_str().into(),
                kind: match node.kind {
                    NodeKind::Service => core::NodeKind::Service,
                    NodeKind::Database | NodeKind::Cache | NodeKind::Queue | NodeKind::External => {
                        core::NodeKind::Resource
                    }
                },
                polled: node.polled,
                host: name(&node.host),
                zone: name(&node.zone),
                quorum: 1,
            })
            .collect(),
        edges: graph
            .edges
            .iter()
            .map(|edge| core::Edge {
                from: edge.from.as_str().into(),
                to: edge.to.as_str().into(),
                label: match edge.label {
                    EdgeLabel::Hard => core::Label::Hard,
                    EdgeLabel::Soft => core::Label::Soft,
                    EdgeLabel::Informational => core::Label::Informational,
                },
                check: match edge.check {
                    CheckDepth::Ping => core::CheckKind::Ping,
                    CheckDepth::Readiness => core::CheckKind::Readiness,
                },
                every: edge.every_ms.map(Duration::from_millis),
                redundancy: None,
            })
            .collect(),
        instances: graph
            .instances
            .iter()
            .map(|one| core::Instance {
                id: one.id.as_str().into(),
                service: one.service.as_str().into(),
                host: name(&one.host),
                zone: name(&one.zone),
                every: one.every_ms.map(Duration::from_millis),
                version: name(&one.version),
            })
            .collect(),
        hosts: graph
            .hosts
            .iter()
            .map(|host| core::Host {
                id: host.id.as_str().into(),
                zone: name(&host.zone),
            })
            .collect(),
    }
}

/// An event as the engine takes it.
#[must_use]
pub fn event_to_core(event: &Event) -> core::Event {
    match event {
        Event::Report(report) => core::Event::Report(core::Report {
            sent: moment(report.sent),
            instance: report.instance.as_str().into(),
            version: report.version.as_deref().map(Arc::from),
            dependencies: report.deps.iter().map(check).collect(),
        }),
        Event::NoAnswer(silence) => core::Event::NoAnswer(core::NoAnswer {
            sent: moment(silence.sent),
            instance: silence.instance.as_str().into(),
        }),
        Event::Change(change) => core::Event::Change(core::Change {
            at: moment(change.recv),
            service: change.service.as_str().into(),
        }),
    }
}

fn check(dep: &DepReport) -> core::DependencyCheck {
    let class = match dep.error {
        Some(ErrorClass::Timeout) => core::ErrorClass::Timeout,
        Some(ErrorClass::Refused) => core::ErrorClass::Refused,
        Some(ErrorClass::Dns) => core::ErrorClass::Dns,
        Some(ErrorClass::Tls) => core::ErrorClass::Tls,
        Some(ErrorClass::Auth) => core::ErrorClass::Auth,
        Some(ErrorClass::Http5xx) => core::ErrorClass::Http5xx,
        Some(ErrorClass::Slow) => core::ErrorClass::Slow,
        None => core::ErrorClass::Other,
    };
    // A result without an age says nothing: nobody knows when it was.
    let seen = match (dep.status, dep.age_s) {
        (CheckStatus::Unknown, _) | (_, None) => core::Seen::Unknown,
        (CheckStatus::Up, Some(_)) => core::Seen::Up,
        (CheckStatus::Degraded, Some(_)) => core::Seen::Degraded(class),
        (CheckStatus::Down, Some(_)) => core::Seen::Down(class),
    };
    core::DependencyCheck {
        to: dep.to.as_str().into(),
        seen,
        age: duration(dep.age_s.unwrap_or(0.0)),
        seq: dep.seq,
    }
}

fn cause(cause: &core::RootCause) -> RootCause {
    RootCause {
        id: cause.id.to_string(),
        kind: match &cause.id {
            core::CauseId::Node(_) => CauseKind::Node,
            core::CauseId::Instance(_) => CauseKind::Instance,
            core::CauseId::Edge { .. } => CauseKind::Edge,
            core::CauseId::InstanceEdge { .. } => CauseKind::InstanceEdge,
            core::CauseId::Host(_) => CauseKind::Host,
            core::CauseId::Zone(_) => CauseKind::Zone,
            core::CauseId::Poller(_) => CauseKind::Poller,
            core::CauseId::Version { .. } => CauseKind::Version,
        },
        state: match cause.state {
            core::State::Down => CauseState::Down,
            core::State::Degraded => CauseState::Degraded,
            core::State::Intermittent => CauseState::Intermittent,
            core::State::Cut => CauseState::Cut,
        },
        confidence: cause.confidence,
        evidence: cause
            .evidence
            .iter()
            .map(ToString::to_string)
            .chain(cause.silent.iter().map(|one| format!("{one} silent")))
            .collect(),
        evidence_count: u64::try_from(cause.evidence.len() + cause.silent.len())
            .unwrap_or(u64::MAX),
        alternatives: cause.alternatives.iter().map(ToString::to_string).collect(),
    }
}

fn names<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Vec<String> {
    names.map(ToString::to_string).collect()
}

/// Seconds as the engine counts them; what is not a time is its beginning.
fn moment(seconds: f64) -> Moment {
    Moment::ZERO + duration(seconds)
}

/// To the nearest millisecond.
fn duration(seconds: f64) -> Duration {
    let exact = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
    let millis = exact.saturating_add(Duration::from_micros(500)).as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
