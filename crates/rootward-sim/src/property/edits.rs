//! What changes of the map do to an answer.

use std::collections::{BTreeMap, BTreeSet};

use super::{Holds, Make, ask, checks, same};
use crate::random::Random;
use crate::scenario::{
    Answer, CheckDepth, CheckStatus, Criticality, DepReport, Edge, EdgeLabel, ErrorClass, Event,
    Graph, Instance, Node, NodeKind, Report,
};
use crate::simulator::Simulated;

/// Property 2: renaming renames the answer and changes nothing else.
///
/// # Errors
/// When it does not hold.
pub fn names(make: Make<'_>, incident: &Simulated, random: &mut Random) -> Holds {
    let graph = &incident.scenario.graph;
    let renaming = Renaming::new(graph, random);
    let plain = ask(make, graph, &incident.scenario.events, incident.end);
    let events: Vec<Event> = incident
        .scenario
        .events
        .iter()
        .map(|event| renaming.event(event))
        .collect();
    let renamed = ask(make, &renaming.graph(graph), &events, incident.end);
    same(&renaming.answer(&plain), &renamed)
}

/// Property 3: an unrelated healthy node with its own reports changes nothing.
///
/// # Errors
/// When it does not hold.
pub fn locality(make: Make<'_>, incident: &Simulated) -> Holds {
    let mut graph = incident.scenario.graph.clone();
    let plain = ask(make, &graph, &incident.scenario.events, incident.end);
    for (id, kind) in [
        ("aside", NodeKind::Service),
        ("aside-db", NodeKind::Database),
    ] {
        graph.nodes.push(node(id, kind));
    }
    graph.edges.push(edge("aside", "aside-db"));
    graph.instances.push(instance("aside", 0));
    let mut events = incident.scenario.events.clone();
    let mut number = 0_u32;
    while f64::from(number) * graph.interval_s + 2.0 < incident.end {
        let sent = f64::from(number) * graph.interval_s + 1.5;
        events.push(report("aside#0", sent, "aside-db", CheckStatus::Up, None));
        number += 1;
    }
    events.sort_by(|a, b| a.recv().total_cmp(&b.recv()));
    same(&plain, &ask(make, &graph, &events, incident.end))
}

/// Property 4: a healthy replica more of a service that takes no part in the anomaly changes no root cause.
///
/// Holds without a look when every service takes part.
///
/// # Errors
/// When it does not hold.
pub fn replicas(make: Make<'_>, incident: &Simulated) -> Holds {
    let mut graph = incident.scenario.graph.clone();
    let plain = ask(make, &graph, &incident.scenario.events, incident.end);
    let Some(sibling) = bystander(&graph, &incident.scenario.events, incident.end) else {
        return Ok(());
    };
    let twin = Instance {
        id: format!("{}#99", sibling.service),
        host: None,
        zone: None,
        ..sibling.clone()
    };
    let mut events = Vec::new();
    for event in &incident.scenario.events {
        events.push(event.clone());
        if let Event::Report(report) = event
            && report.instance == sibling.id
        {
            let instance = twin.id.clone();
            let copy = Report {
                instance,
                ..report.clone()
            };
            events.push(Event::Report(copy));
        }
    }
    graph.instances.push(twin);
    let ids = |answer: &Answer| -> BTreeSet<String> {
        answer
            .root_causes
            .iter()
            .map(|cause| cause.id.clone())
            .collect()
    };
    let (before, after) = (ids(&plain), ids(&ask(make, &graph, &events, incident.end)));
    if before == after {
        Ok(())
    } else {
        let service = &sibling.service;
        Err(format!(
            "a replica more of {service}: {before:?} becomes {after:?}"
        ))
    }
}

/// Property 11: one more bad check on X by a new observer never lowers the rank of `node:X` against edges that do not
/// cover it.
///
/// # Errors
/// When it does not hold.
pub fn monotone_support(make: Make<'_>, incident: &Simulated) -> Holds {
    let mut graph = incident.scenario.graph.clone();
    let bad = incident
        .scenario
        .events
        .iter()
        .rev()
        .find_map(|event| match event {
            Event::Report(report) => report
                .deps
                .iter()
                .find(|dep| dep.status == CheckStatus::Down)
                .map(|dep| (dep.to.clone(), dep.error)),
            Event::NoAnswer(_) | Event::Change(_) => None,
        });
    let Some((x, class)) = bad else {
        return Ok(());
    };
    graph.nodes.push(node("witness", NodeKind::Service));
    graph.edges.push(edge("witness", &x));
    graph.instances.push(instance("witness", 0));
    let t = incident.end;
    let with = |status: CheckStatus, error: Option<ErrorClass>| {
        let mut events = incident.scenario.events.clone();
        events.retain(|event| event.recv() <= t - 0.1);
        events.push(report("witness#0", t - 1.0, &x, status, error));
        margins(&ask(make, &graph, &events, t))
    };
    let before = with(CheckStatus::Unknown, None);
    let after = with(CheckStatus::Down, class);
    let id = format!("node:{x}");
    let of = |margins: &BTreeMap<String, f64>, id: &str| {
        margins.get(id).copied().unwrap_or(f64::NEG_INFINITY)
    };
    let rivals = before.keys().chain(after.keys()).filter(|rival| {
        (rival.starts_with("edge:") || rival.starts_with("instance_edge:"))
            && !rival.contains("witness")
    });
    for rival in rivals {
        let ahead = of(&before, &id) >= of(&before, rival);
        if ahead
            && of(&before, &id).is_finite()
            && of(&after, &id) < of(&after, rival) - super::SAME
        {
            return Err(format!(
                "{id} was before {rival} ({} and {}), and is behind it after one more bad check ({} and {})",
                of(&before, &id),
                of(&before, rival),
                of(&after, &id),
                of(&after, rival)
            ));
        }
    }
    Ok(())
}

fn margins(answer: &Answer) -> BTreeMap<String, f64> {
    let ranked = answer.rank.iter();
    ranked.map(|one| (one.id.clone(), one.margin)).collect()
}

/// An instance of a polled service of which nothing was ever bad: what it sees, who sees it, and whether it answers.
fn bystander(graph: &Graph, events: &[Event], t: f64) -> Option<Instance> {
    let mut touched: BTreeSet<&str> = BTreeSet::new();
    let checks = checks(events, t);
    let service_of: BTreeMap<&str, &str> = graph
        .instances
        .iter()
        .map(|one| (one.id.as_str(), one.service.as_str()))
        .collect();
    for ((instance, to), history) in &checks {
        if history.iter().any(|(_, bad)| *bad) {
            touched.insert(to.as_str());
            touched.extend(service_of.get(instance.as_str()));
        }
    }
    for event in events {
        if let Event::NoAnswer(silence) = event {
            touched.extend(service_of.get(silence.instance.as_str()));
        }
    }
    let clean = |one: &&Instance| {
        let service = one.service.as_str();
        let polled = graph
            .nodes
            .iter()
            .any(|node| node.id == service && node.polled);
        let near = graph
            .edges
            .iter()
            .filter(|edge| edge.from == service || edge.to == service);
        polled
            && !touched.contains(service)
            && near
                .into_iter()
                .all(|edge| !touched.contains(edge.to.as_str()))
    };
    graph.instances.iter().find(clean).cloned()
}

fn node(id: &str, kind: NodeKind) -> Node {
    Node {
        id: id.to_owned(),
        kind,
        criticality: Criticality::Medium,
        polled: kind == NodeKind::Service,
        host: None,
        zone: None,
    }
}

fn edge(from: &str, to: &str) -> Edge {
    Edge {
        from: from.to_owned(),
        to: to.to_owned(),
        label: EdgeLabel::Hard,
        check: CheckDepth::Ping,
        every_ms: None,
    }
}

fn instance(service: &str, number: u32) -> Instance {
    Instance {
        id: format!("{service}#{number}"),
        service: service.to_owned(),
        host: None,
        zone: None,
        every_ms: None,
        version: None,
    }
}

fn report(
    instance: &str,
    sent: f64,
    to: &str,
    status: CheckStatus,
    error: Option<ErrorClass>,
) -> Event {
    Event::Report(Report {
        recv: sent + 0.2,
        sent,
        seq: None,
        instance: instance.to_owned(),
        version: None,
        deps: vec![DepReport {
            to: to.to_owned(),
            status,
            latency_ms: None,
            error,
            age_s: Some(0.5),
            seq: None,
        }],
    })
}

/// New names for everything. Instances stay numbers of their service.
struct Renaming {
    names: BTreeMap<String, String>,
}

impl Renaming {
    fn new(graph: &Graph, random: &mut Random) -> Self {
        let mut old: BTreeSet<String> = graph.nodes.iter().map(|node| node.id.clone()).collect();
        old.extend(graph.hosts.iter().map(|host| host.id.clone()));
        old.extend(graph.hosts.iter().filter_map(|host| host.zone.clone()));
        let mut numbers: Vec<usize> = (0..old.len()).collect();
        random.shuffle(&mut numbers);
        let names = old
            .into_iter()
            .zip(numbers)
            .map(|(old, number)| (old, format!("x{number:04}")))
            .collect();
        Self { names }
    }

    fn name(&self, old: &str) -> String {
        match old.split_once('#') {
            Some((service, number)) => format!("{}#{number}", self.name(service)),
            None => self
                .names
                .get(old)
                .cloned()
                .unwrap_or_else(|| old.to_owned()),
        }
    }

    /// `api#0->db down refused`, `edge:api->db`, `version:api@1.2`.
    fn text(&self, old: &str) -> String {
        let (kind, rest) = match old.split_once(':') {
            Some((kind, rest)) => (format!("{kind}:"), rest),
            None => (String::new(), old),
        };
        let (what, tail) = match rest.split_once(' ') {
            Some((what, tail)) => (what, format!(" {tail}")),
            None => (rest, String::new()),
        };
        let (what, version) = match what.split_once('@') {
            Some((what, version)) => (what, format!("@{version}")),
            None => (what, String::new()),
        };
        let what: Vec<String> = what.split("->").map(|part| self.name(part)).collect();
        format!("{kind}{}{version}{tail}", what.join("->"))
    }

    fn graph(&self, graph: &Graph) -> Graph {
        let mut graph = graph.clone();
        let option = |name: &mut Option<String>| {
            if let Some(old) = name {
                *old = self.name(old);
            }
        };
        for node in &mut graph.nodes {
            node.id = self.name(&node.id);
            option(&mut node.host);
            option(&mut node.zone);
        }
        for edge in &mut graph.edges {
            edge.from = self.name(&edge.from);
            edge.to = self.name(&edge.to);
        }
        for one in &mut graph.instances {
            one.id = self.name(&one.id);
            one.service = self.name(&one.service);
            option(&mut one.host);
            option(&mut one.zone);
        }
        for host in &mut graph.hosts {
            host.id = self.name(&host.id);
            option(&mut host.zone);
        }
        graph
    }

    fn event(&self, event: &Event) -> Event {
        let mut event = event.clone();
        match &mut event {
            Event::Report(report) => {
                report.instance = self.name(&report.instance);
                for dep in &mut report.deps {
                    dep.to = self.name(&dep.to);
                }
            }
            Event::NoAnswer(silence) => silence.instance = self.name(&silence.instance),
            Event::Change(change) => change.service = self.name(&change.service),
        }
        event
    }

    fn answer(&self, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        let texts = |texts: &mut Vec<String>| {
            for text in texts {
                *text = self.text(text);
            }
        };
        for cause in &mut answer.root_causes {
            cause.id = self.text(&cause.id);
            texts(&mut cause.evidence);
            texts(&mut cause.alternatives);
        }
        for ranked in &mut answer.rank {
            ranked.id = self.text(&ranked.id);
        }
        texts(&mut answer.impacted);
        texts(&mut answer.unexplained);
        texts(&mut answer.unknown);
        answer
    }
}
