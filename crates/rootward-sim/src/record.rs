//! What a live engine was told, as the lines of a scenario.

use std::time::Duration;

use rootward_core::Moment;
use rootward_core::engine::Told;
use rootward_core::localise as core;

use crate::scenario::{
    CheckDepth, CheckStatus, Criticality, DepReport, EdgeLabel, ErrorClass, Event, Graph, Host,
    Instance, NoAnswer, Node, NodeKind, Problem, Report, write_line, write_map,
};

/// Makes lines of what a live engine was told. Seconds count from the moment it was made for.
///
/// The first map is the scenario's; a later one is a line of type `map`, from which on it holds.
#[derive(Debug)]
pub struct Recording {
    begun: Moment,
    newest: f64,
    name: String,
    has_map: bool,
}

impl Recording {
    /// A scenario of this name, which begins now.
    #[must_use]
    pub const fn new(name: String, begun: Moment) -> Self {
        Self {
            begun,
            newest: 0.0,
            name,
            has_map: false,
        }
    }

    /// The next line, without its line break.
    ///
    /// # Errors
    /// When it cannot be written as text.
    pub fn line(&mut self, told: &Told) -> Result<String, Problem> {
        match told {
            Told::Map(map) if self.has_map => write_map(&graph(map, &self.name)),
            Told::Map(map) => {
                self.has_map = true;
                write_line(&graph(map, &self.name))
            }
            Told::Event { at, event } => write_line(&self.event(*at, event)),
        }
    }

    fn seconds(&self, at: Moment) -> f64 {
        (at - self.begun).as_secs_f64()
    }

    fn event(&mut self, at: Moment, event: &core::Event) -> Event {
        // Polls may end in another order than they are heard of.
        self.newest = self.newest.max(self.seconds(at));
        let recv = self.newest;
        match event {
            core::Event::Report(report) => Event::Report(Report {
                recv,
                sent: self.seconds(report.sent),
                seq: None,
                instance: report.instance.to_string(),
                version: report.version.as_deref().map(str::to_owned),
                deps: report.dependencies.iter().map(check).collect(),
            }),
            core::Event::NoAnswer(silence) => Event::NoAnswer(NoAnswer {
                recv,
                sent: self.seconds(silence.sent),
                instance: silence.instance.to_string(),
                error: None,
            }),
            core::Event::Change(change) => Event::Change(crate::scenario::Change {
                recv,
                service: change.service.to_string(),
                what: "another version was seen".into(),
            }),
        }
    }
}

fn check(check: &core::DependencyCheck) -> DepReport {
    let (status, error) = match check.seen {
        core::Seen::Up => (CheckStatus::Up, None),
        core::Seen::Degraded(class) => (CheckStatus::Degraded, word(class)),
        core::Seen::Down(class) => (CheckStatus::Down, word(class)),
        core::Seen::Unknown => (CheckStatus::Unknown, None),
    };
    DepReport {
        to: check.to.to_string(),
        status,
        latency_ms: None,
        error,
        age_s: Some(check.age.as_secs_f64()),
        seq: check.seq,
    }
}

const fn word(class: core::ErrorClass) -> Option<ErrorClass> {
    match class {
        core::ErrorClass::Timeout => Some(ErrorClass::Timeout),
        core::ErrorClass::Refused => Some(ErrorClass::Refused),
        core::ErrorClass::Dns => Some(ErrorClass::Dns),
        core::ErrorClass::Tls => Some(ErrorClass::Tls),
        core::ErrorClass::Auth => Some(ErrorClass::Auth),
        core::ErrorClass::Http5xx => Some(ErrorClass::Http5xx),
        core::ErrorClass::Slow => Some(ErrorClass::Slow),
        core::ErrorClass::Other => None,
    }
}

fn graph(map: &core::Graph, name: &str) -> Graph {
    let text = |name: &Option<std::sync::Arc<str>>| name.as_deref().map(str::to_owned);
    let nodes = map.nodes.iter().map(|node| Node {
        id: node.id.to_string(),
        kind: match node.kind {
            core::NodeKind::Service => NodeKind::Service,
            // Which kind of resource it is makes no difference to a diagnosis.
            core::NodeKind::Resource => NodeKind::External,
        },
        criticality: Criticality::Medium,
        polled: node.polled,
        host: text(&node.host),
        zone: text(&node.zone),
    });
    let edges = map.edges.iter().map(|edge| crate::scenario::Edge {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        label: match edge.label {
            core::Label::Hard => EdgeLabel::Hard,
            core::Label::Soft => EdgeLabel::Soft,
            core::Label::Informational => EdgeLabel::Informational,
        },
        check: match edge.check {
            core::CheckKind::Ping => CheckDepth::Ping,
            core::CheckKind::Readiness => CheckDepth::Readiness,
        },
        every_ms: edge.every.map(millis),
    });
    let instances = map.instances.iter().map(|one| Instance {
        id: one.id.to_string(),
        service: one.service.to_string(),
        host: text(&one.host),
        zone: text(&one.zone),
        every_ms: one.every.map(millis),
        version: text(&one.version),
    });
    let hosts = map.hosts.iter().map(|host| Host {
        id: host.id.to_string(),
        zone: text(&host.zone),
    });
    Graph {
        scenario: name.to_owned(),
        interval_s: map.interval.as_secs_f64(),
        nodes: nodes.collect(),
        edges: edges.collect(),
        instances: instances.collect(),
        hosts: hosts.collect(),
    }
}

fn millis(every: Duration) -> u64 {
    u64::try_from(every.as_millis()).unwrap_or(u64::MAX)
}
