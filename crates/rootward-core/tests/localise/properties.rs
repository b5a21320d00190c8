//! What every answer must have, whatever happened: the twelve properties, on random incidents.

use std::collections::BTreeMap;
use std::time::Duration;

use rootward_core::Moment;
use rootward_core::localise::{
    Answer, CauseId, CheckKind, DependencyCheck, Edge, Engine, ErrorClass, Event, Graph, Instance,
    Label, NoAnswer, Node, NodeKind, Report, Seen, Settings,
};

use crate::random::{INTERVAL, Incident, Random, all_well, incident, named};

const INCIDENTS: u64 = 150;

fn engine(graph: &Graph) -> Engine {
    Engine::new(graph, Settings::default()).expect("a sound graph")
}

fn answer<'a>(graph: &Graph, events: impl IntoIterator<Item = &'a Event>, at: Moment) -> Answer {
    let mut engine = engine(graph);
    for event in events {
        engine.apply(event);
    }
    engine.answer(at)
}

fn received(incident: &Incident) -> impl Iterator<Item = &Event> {
    let known = incident.events.iter().filter(|(at, _)| *at <= incident.end);
    known.map(|(_, event)| event)
}

/// Calls the property for each random incident, with its answer and a source of more randomness.
fn for_each_incident(rounds: u64, property: impl Fn(&Incident, &Answer, &mut Random)) {
    let mut causes = 0;
    for seed in 0..INCIDENTS {
        let mut random = Random::new(seed);
        let incident = incident(&mut random, rounds);
        let answer = answer(&incident.graph, received(&incident), incident.end);
        causes += answer.root_causes.len();
        property(&incident, &answer, &mut random);
    }
    assert!(
        causes > 50,
        "the incidents are too dull: {causes} causes in all"
    );
}

fn ids(answer: &Answer) -> Vec<String> {
    answer
        .root_causes
        .iter()
        .map(|cause| cause.id.to_string())
        .collect()
}

/// The newest result of each check, by observer and target, as far as it is fresh; with all of the window behind it.
fn fresh_checks(incident: &Incident) -> BTreeMap<(String, String), Vec<(Moment, Seen)>> {
    let mut checks: BTreeMap<(String, String), Vec<(Moment, Seen)>> = BTreeMap::new();
    for event in received(incident) {
        if let Event::Report(report) = event {
            for dependency in &report.dependencies {
                let at = report.sent.saturating_sub(dependency.age);
                if dependency.seen != Seen::Unknown {
                    let key = (report.instance.to_string(), dependency.to.to_string());
                    checks.entry(key).or_default().push((at, dependency.seen));
                }
            }
        }
    }
    for results in checks.values_mut() {
        results.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        results.truncate(8);
    }
    checks.retain(|_, results| incident.end - results[0].0 < Duration::from_millis(4 * INTERVAL));
    checks
}

#[test]
fn p01_order_and_duplicates_of_deliveries_change_nothing() {
    for_each_incident(14, |incident, expected, random| {
        let mut events: Vec<&Event> = received(incident).collect();
        for _ in 0..events.len() / 3 {
            events.push(events[random.below(events.len())]);
        }
        for place in (1..events.len()).rev() {
            events.swap(place, random.below(place + 1));
        }
        assert_eq!(answer(&incident.graph, events, incident.end), *expected);
    });
}

/// `N003x` becomes `Y996b`: other letters, opposite order.
fn renamed(name: &str) -> String {
    let number: usize = name[1..4].parse().expect("three digits");
    let prefix = match &name[..1] {
        "N" => 'Y',
        "I" => 'R',
        "H" => 'D',
        _ => 'A',
    };
    format!("{prefix}{:03}b", 999 - number)
}

fn renamed_graph(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for node in &mut graph.nodes {
        node.id = renamed(&node.id).into();
        node.host = node.host.as_ref().map(|host| renamed(host).into());
        node.zone = node.zone.as_ref().map(|zone| renamed(zone).into());
    }
    for edge in &mut graph.edges {
        edge.from = renamed(&edge.from).into();
        edge.to = renamed(&edge.to).into();
    }
    for instance in &mut graph.instances {
        instance.id = renamed(&instance.id).into();
        instance.service = renamed(&instance.service).into();
        instance.host = instance.host.as_ref().map(|host| renamed(host).into());
        instance.zone = instance.zone.as_ref().map(|zone| renamed(zone).into());
    }
    graph
}

fn renamed_event(event: &Event) -> Event {
    let mut event = event.clone();
    match &mut event {
        Event::Report(report) => {
            report.instance = renamed(&report.instance).into();
            for dependency in &mut report.dependencies {
                dependency.to = renamed(&dependency.to).into();
            }
        }
        Event::NoAnswer(no_answer) => no_answer.instance = renamed(&no_answer.instance).into(),
        Event::Change(change) => change.service = renamed(&change.service).into(),
    }
    event
}

#[test]
fn p02_renaming_everything_renames_the_answer_and_changes_nothing_else() {
    for_each_incident(14, |incident, expected, _| {
        let events: Vec<Event> = received(incident).map(renamed_event).collect();
        let other = answer(&renamed_graph(&incident.graph), &events, incident.end);
        let mut text = format!("{expected:#?}");
        for prefix in ['N', 'I', 'H', 'Z'] {
            for number in 0..40 {
                let name = named(prefix, number);
                text = text.replace(name.as_ref(), &renamed(&name));
            }
        }
        assert_eq!(format!("{other:#?}"), text);
    });
}

fn service(id: &str) -> Node {
    Node {
        id: id.into(),
        kind: NodeKind::Service,
        polled: true,
        host: None,
        zone: None,
        quorum: 1,
    }
}

fn instance(id: &str, service: &str) -> Instance {
    Instance {
        id: id.into(),
        service: service.into(),
        host: None,
        zone: None,
        every: None,
        version: None,
    }
}

#[test]
fn p03_an_unrelated_healthy_node_changes_nothing() {
    for_each_incident(14, |incident, expected, _| {
        let mut graph = incident.graph.clone();
        graph.nodes.insert(0, service("stranger"));
        graph.nodes.push(service("friend"));
        graph
            .instances
            .insert(0, instance("stranger#0", "stranger"));
        graph.edges.insert(
            0,
            Edge {
                from: "stranger".into(),
                to: "friend".into(),
                label: Label::Hard,
                check: CheckKind::Ping,
                every: None,
                redundancy: None,
            },
        );
        let well: Vec<Event> = (0..14).flat_map(|round| all_well(&graph, round)).collect();
        let theirs = well.iter().filter(|event| {
            matches!(event, Event::Report(report) if report.instance.as_ref() == "stranger#0")
        });
        let events: Vec<&Event> = received(incident).chain(theirs).collect();
        assert_eq!(answer(&graph, events, incident.end), *expected);
    });
}

#[test]
fn p04_a_healthy_replica_outside_the_anomaly_changes_no_root_cause() {
    for_each_incident(14, |incident, expected, _| {
        let checks = fresh_checks(incident);
        let failing = |target: &str| {
            checks.iter().any(|((_, to), results)| {
                to == target && results.iter().any(|(_, seen)| *seen != Seen::Up)
            })
        };
        let outside = incident.graph.nodes.iter().find(|node| {
            let mut dependencies = incident
                .graph
                .edges
                .iter()
                .filter(|edge| edge.from == node.id);
            node.kind == NodeKind::Service
                && !failing(&node.id)
                && !dependencies.any(|edge| failing(&edge.to))
        });
        let Some(outside) = outside else {
            return;
        };
        let mut graph = incident.graph.clone();
        graph.instances.push(instance("replica", &outside.id));
        let well: Vec<Event> = (0..14).flat_map(|round| all_well(&graph, round)).collect();
        let theirs = well.iter().filter(
            |event| matches!(event, Event::Report(report) if report.instance.as_ref() == "replica"),
        );
        let events: Vec<&Event> = received(incident).chain(theirs).collect();
        assert_eq!(ids(&answer(&graph, events, incident.end)), ids(expected));
    });
}

#[test]
fn p05_every_root_cause_has_a_fresh_failing_check_and_a_poller_fault_has_silence() {
    for_each_incident(14, |_, answer, _| {
        for cause in &answer.root_causes {
            if matches!(cause.id, CauseId::Poller(_)) {
                assert!(!cause.silent.is_empty(), "{}", cause.id);
            } else {
                let stale = Duration::from_millis(4 * INTERVAL);
                assert!(
                    cause.evidence.iter().any(|check| check.age < stale),
                    "{}",
                    cause.id
                );
            }
        }
    });
}

#[test]
fn p06_a_node_that_all_observers_see_well_is_no_root_cause() {
    for_each_incident(14, |incident, answer, _| {
        let checks = fresh_checks(incident);
        for node in &incident.graph.nodes {
            let well = checks.iter().all(|((_, to), results)| {
                *to != *node.id || results.iter().all(|(_, seen)| *seen == Seen::Up)
            });
            if well {
                assert!(!ids(answer).contains(&format!("node:{}", node.id)));
            }
        }
    });
}

#[test]
fn p07_silence_alone_names_nothing_but_the_view() {
    for seed in 0..INCIDENTS {
        let mut random = Random::new(seed);
        let incident = incident(&mut random, 2);
        let mut engine = engine(&incident.graph);
        for round in 0..10 {
            for event in all_well(&incident.graph, round) {
                engine.apply(&event);
            }
        }
        for round in 10..14 {
            for event in all_well(&incident.graph, round) {
                if let Event::Report(report) = event
                    && random.percent(70)
                {
                    let (sent, instance) = (report.sent, report.instance);
                    engine.apply(&Event::NoAnswer(NoAnswer { sent, instance }));
                }
            }
            let answer = engine.answer(Moment::from_millis((round + 1) * INTERVAL));
            for cause in &answer.root_causes {
                assert!(matches!(cause.id, CauseId::Poller(_)), "{}", cause.id);
            }
        }
    }
}

#[test]
fn p08_every_fresh_failing_check_is_evidence_or_unexplained() {
    for_each_incident(14, |incident, answer, _| {
        let listed = answer.root_causes.iter().flat_map(|cause| &cause.evidence);
        let listed: Vec<(String, String)> = listed
            .chain(&answer.unexplained)
            .map(|check| (check.instance.to_string(), check.to.to_string()))
            .collect();
        for (key, results) in fresh_checks(incident) {
            if results[0].1 != Seen::Up {
                assert_eq!(
                    listed.iter().filter(|listed| **listed == key).count(),
                    1,
                    "{key:?}"
                );
            }
        }
    });
}

#[test]
fn p09_a_restarted_engine_gives_the_same_answer_from_the_last_intervals() {
    for_each_incident(60, |incident, expected, _| {
        let window = Duration::from_millis(56 * INTERVAL);
        let last = incident
            .events
            .iter()
            .filter(|(at, _)| incident.end - *at <= window);
        let last = last
            .filter(|(at, _)| *at <= incident.end)
            .map(|(_, event)| event);
        assert_eq!(answer(&incident.graph, last, incident.end), *expected);
    });
}

#[test]
fn p10_the_answer_after_any_updates_equals_that_of_a_fresh_engine() {
    for_each_incident(14, |incident, expected, random| {
        let mut engine = engine(&incident.graph);
        for (at, event) in &incident.events {
            if *at > incident.end {
                break;
            }
            engine.apply(event);
            if random.percent(5) {
                let until = incident.events.iter().filter(|(when, _)| when <= at);
                let mut fresh = self::engine(&incident.graph);
                let mut last = false;
                for (_, known) in until {
                    if !last {
                        fresh.apply(known);
                    }
                    last |= std::ptr::eq(known, event);
                }
                assert_eq!(engine.answer(*at), fresh.answer(*at));
            }
            if random.percent(2) {
                engine.set_graph(&incident.graph).unwrap();
            }
        }
        assert_eq!(engine.answer(incident.end), *expected);
    });
}

#[test]
fn p11_one_more_failing_check_never_lowers_the_node_against_ways_that_do_not_cover_it() {
    for_each_incident(14, |incident, _, random| {
        let target = &incident.graph.nodes[random.below(incident.graph.nodes.len())];
        let mut graph = incident.graph.clone();
        graph.nodes.push(service("witness"));
        graph.instances.push(instance("witness#0", "witness"));
        graph.edges.push(Edge {
            from: "witness".into(),
            to: target.id.clone(),
            label: Label::Hard,
            check: CheckKind::Ping,
            every: None,
            redundancy: None,
        });
        let failing =
            fresh_checks(incident)
                .into_iter()
                .find_map(|((_, to), results)| match results[0].1 {
                    Seen::Down(class) if *to == *target.id => Some(class),
                    _ => None,
                });
        let class = failing.unwrap_or(ErrorClass::Refused);
        let sent = incident.end.saturating_sub(Duration::from_millis(100));
        let more = Event::Report(Report {
            sent,
            instance: "witness#0".into(),
            version: None,
            dependencies: vec![DependencyCheck {
                to: target.id.clone(),
                seen: Seen::Down(class),
                age: Duration::ZERO,
                seq: None,
            }],
        });
        let before = answer(&graph, received(incident), incident.end);
        let after = answer(&graph, received(incident).chain([&more]), incident.end);
        let place = |answer: &Answer, id: &CauseId| answer.rank.iter().position(|r| r.id == *id);
        let node = CauseId::Node(target.id.clone());
        let Some(was) = place(&before, &node) else {
            return;
        };
        let is = place(&after, &node).unwrap();
        for ranked in &after.rank[..is] {
            let is_way = match &ranked.id {
                CauseId::Edge { from, .. } => from.as_ref() != "witness",
                CauseId::InstanceEdge { from, .. } => from.as_ref() != "witness#0",
                CauseId::Node(_)
                | CauseId::Instance(_)
                | CauseId::Host(_)
                | CauseId::Zone(_)
                | CauseId::Poller(_)
                | CauseId::Version { .. } => false,
            };
            if is_way {
                let earlier = place(&before, &ranked.id).is_some_and(|place| place < was);
                assert!(
                    earlier,
                    "{} overtook {node}: {before:#?} {after:#?}",
                    ranked.id
                );
            }
        }
    });
}

#[test]
fn p12_when_all_checks_were_good_for_a_window_nothing_is_named() {
    for_each_incident(14, |incident, _, _| {
        let mut engine = engine(&incident.graph);
        for (_, event) in &incident.events {
            engine.apply(event);
        }
        for round in 14..22 {
            for event in all_well(&incident.graph, round) {
                engine.apply(&event);
            }
        }
        let answer = engine.answer(Moment::from_millis(22 * INTERVAL));
        assert!(answer.root_causes.is_empty(), "{:?}", ids(&answer));
        assert!(answer.unexplained.is_empty());
    });
}
