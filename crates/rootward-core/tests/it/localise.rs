//! Fault localisation on maps small enough to see the answer: who is impacted behind groups and quorums, what a
//! circle, a release and a change of the map do.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::Moment;
use rootward_core::localise::{
    Answer, Change, CheckKind, DependencyCheck, Edge, Engine, ErrorClass, Event, Graph, Instance,
    Label, Node, NodeKind, Redundancy, Report, Seen, Settings,
};

const INTERVAL: u64 = 10_000;

/// A map, from lines such as `service front 2 quorum 1`, `resource db`, `front -> db hard`, `front -> a hard any 1`,
/// `version front#0 1.2`. Checks of services look at readiness, checks of resources ping.
pub(crate) fn map(text: &str) -> Graph {
    let mut graph = Graph {
        interval: Duration::from_millis(INTERVAL),
        nodes: Vec::new(),
        edges: Vec::new(),
        instances: Vec::new(),
        hosts: Vec::new(),
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| words.get(place).and_then(|word| word.parse::<u32>().ok());
        match words[..] {
            ["version", instance, version] => {
                let known = graph
                    .instances
                    .iter_mut()
                    .find(|known| &*known.id == instance);
                known.expect("an instance").version = Some(version.into());
            }
            [kind @ ("service" | "resource"), name, ..] => {
                let is_service = kind == "service";
                graph.nodes.push(Node {
                    id: name.into(),
                    kind: if is_service {
                        NodeKind::Service
                    } else {
                        NodeKind::Resource
                    },
                    polled: is_service,
                    host: None,
                    zone: None,
                    quorum: number(4).unwrap_or(1),
                });
                for ordinal in 0..if is_service {
                    number(2).unwrap_or(1)
                } else {
                    0
                } {
                    graph.instances.push(Instance {
                        id: format!("{name}#{ordinal}").into(),
                        service: name.into(),
                        host: None,
                        zone: None,
                        every: None,
                        version: None,
                    });
                }
            }
            [from, "->", to, label, ..] => {
                let target = graph.nodes.iter().find(|node| &*node.id == to);
                let is_service = target.is_some_and(|node| node.kind == NodeKind::Service);
                graph.edges.push(Edge {
                    from: from.into(),
                    to: to.into(),
                    label: if label == "hard" {
                        Label::Hard
                    } else {
                        Label::Soft
                    },
                    check: if is_service {
                        CheckKind::Readiness
                    } else {
                        CheckKind::Ping
                    },
                    every: None,
                    redundancy: number(5).map(|need| Redundancy {
                        group: "any".into(),
                        need,
                    }),
                });
            }
            _ => panic!("no such line: {line}"),
        }
    }
    graph
}

/// Every instance reports once an interval for this many intervals, and sees what the function says.
pub(crate) fn reports(
    graph: &Graph,
    rounds: std::ops::Range<u64>,
    sees: impl Fn(&str, &str) -> Seen,
) -> Vec<Event> {
    let mut events = Vec::new();
    for round in rounds {
        for (phase, instance) in (0..).zip(&graph.instances) {
            let mine = graph
                .edges
                .iter()
                .filter(|edge| edge.from == instance.service);
            let dependencies = mine.map(|edge| DependencyCheck {
                to: edge.to.clone(),
                seen: sees(&instance.id, &edge.to),
                age: Duration::from_millis(500),
                seq: None,
            });
            events.push(Event::Report(Report {
                sent: Moment::from_millis(round * INTERVAL + 600 + phase * 137),
                instance: instance.id.clone(),
                version: instance.version.clone(),
                dependencies: dependencies.collect(),
            }));
        }
    }
    events
}

fn engine(graph: &Graph) -> Engine {
    Engine::new(graph, Settings::default()).expect("a graph")
}

/// Four good intervals, then four in which these fail, as `instance->target`; a `*` stands for every instance.
pub(crate) fn after(graph: &Graph, failing: &[&str]) -> Answer {
    after_as(graph, failing, ErrorClass::Refused)
}

pub(crate) fn after_as(graph: &Graph, failing: &[&str], class: ErrorClass) -> Answer {
    let mut engine = engine(graph);
    let fails = |instance: &str, to: &str| {
        let is_meant = |line: &&str| {
            let (from, at) = line.split_once("->").expect("instance->target");
            at == to && (from == "*" || from == instance)
        };
        if failing.iter().any(is_meant) {
            Seen::Down(class)
        } else {
            Seen::Up
        }
    };
    let good = reports(graph, 0..4, |_, _| Seen::Up);
    for event in good.iter().chain(&reports(graph, 4..8, fails)) {
        engine.apply(event);
    }
    engine.answer(Moment::from_millis(8 * INTERVAL))
}

pub(crate) fn causes(answer: &Answer) -> String {
    let causes = answer.root_causes.iter().map(|cause| cause.id.to_string());
    causes.collect::<Vec<_>>().join(" ")
}

/// `front over db`, with the whole way.
fn impacted(answer: &Answer) -> Vec<String> {
    let ways = answer.impacted.iter();
    ways.map(|one| format!("{}: {} by {}", one.service, one.path.join(" > "), one.cause))
        .collect()
}

const TWO_REPLICAS: &str = "
    service front 2
    service cart 2
    resource db-a
    resource db-b
    front -> cart hard
    cart -> db-a hard any 1
    cart -> db-b hard any 1";

#[test]
fn one_replica_of_two_impacts_nobody() {
    let answer = after(&map(TWO_REPLICAS), &["*->db-a"]);
    assert_eq!(causes(&answer), "node:db-a");
    assert_eq!(impacted(&answer), Vec::<String>::new());
    assert!(answer.impacted.is_empty());
}

#[test]
fn the_last_replica_impacts_all_above() {
    let answer = after(&map(TWO_REPLICAS), &["*->db-a", "*->db-b"]);
    assert_eq!(causes(&answer), "node:db-a node:db-b");
    assert_eq!(
        impacted(&answer),
        [
            "front: front > cart > db-a by node:db-a",
            "cart: cart > db-a by node:db-a"
        ]
    );
    let services: Vec<_> = answer.impacted.services().map(Arc::as_ref).collect();
    assert_eq!(
        (answer.impacted.len(), services),
        (2, vec!["front", "cart"])
    );
}

#[test]
fn a_way_that_is_broken_impacts_the_caller_and_not_the_others_of_the_target() {
    let graph = map("
        service front 2
        service cart 2
        service mail 2
        resource db
        front -> cart hard
        cart -> db hard
        mail -> db hard");
    let answer = after(&graph, &["cart#0->db", "cart#1->db"]);
    assert_eq!(causes(&answer), "edge:cart->db");
    assert_eq!(
        impacted(&answer),
        [
            "front: front > cart > db by edge:cart->db",
            "cart: cart > db by edge:cart->db"
        ]
    );
}

#[test]
fn instances_that_fail_impact_their_service_only_below_its_quorum() {
    let failing = ["cart#0->db", "cart#0->queue"];
    for (quorum, expected) in [
        (1, vec![]),
        (
            2,
            vec![
                "front: front > cart by instance:cart#0",
                "cart: cart by instance:cart#0",
            ],
        ),
    ] {
        let graph = map(&format!(
            "service front 2
            service cart 2 quorum {quorum}
            service mail 2
            resource db
            resource queue
            front -> cart hard
            cart -> db hard
            cart -> queue hard
            mail -> db hard
            mail -> queue hard"
        ));
        let answer = after(&graph, &failing);
        assert_eq!(causes(&answer), "instance:cart#0");
        assert_eq!(impacted(&answer), expected, "quorum {quorum}");
    }
}

#[test]
fn a_soft_dependency_passes_no_impact_on() {
    let graph = map("
        service front 2
        service cart 2
        resource db
        front -> cart soft
        cart -> db hard");
    let answer = after(&graph, &["*->db"]);
    assert_eq!(impacted(&answer), ["cart: cart > db by node:db"]);
}

#[test]
fn a_release_that_fails_where_the_other_does_not_is_named_as_a_release() {
    let graph = map("
        service front 4
        service cart 2
        resource db
        resource queue
        front -> cart hard
        front -> db hard
        cart -> queue hard
        cart -> db hard
        version front#0 1.4
        version front#1 1.4
        version front#2 1.5
        version front#3 1.5");
    let answer = after_as(&graph, &["front#2->db", "front#3->db"], ErrorClass::Auth);
    assert_eq!(causes(&answer), "version:front@1.5");
}

#[test]
fn a_deploy_just_before_makes_its_service_more_likely_and_names_nothing_by_itself() {
    let graph = map("
        service front 2
        service cart 2
        resource db
        front -> cart hard
        cart -> db hard");
    let changed = |failing: Seen| {
        let margin = |change: bool| {
            let mut engine = engine(&graph);
            for event in reports(&graph, 0..4, |_, _| Seen::Up) {
                engine.apply(&event);
            }
            if change {
                engine.apply(&Event::Change(Change {
                    at: Moment::from_millis(4 * INTERVAL),
                    service: "cart".into(),
                }));
            }
            let sees = |_: &str, to: &str| if to == "cart" { failing } else { Seen::Up };
            for event in reports(&graph, 4..7, sees) {
                engine.apply(&event);
            }
            let answer = engine.answer(Moment::from_millis(7 * INTERVAL));
            answer
                .root_causes
                .first()
                .map(|cause| cause.explanation.margin)
        };
        (margin(false), margin(true))
    };
    assert_eq!(changed(Seen::Up), (None, None));
    let (without, with) = changed(Seen::Down(ErrorClass::Http5xx));
    assert!(
        with > without,
        "{with:?} with a deploy, {without:?} without"
    );
}

#[test]
fn two_services_that_wait_for_each_other_are_one_group_with_the_first_to_fail_in_front() {
    let graph = map("
        service front 2
        service cart 2
        service stock 2
        front -> cart hard
        cart -> stock hard
        stock -> cart hard");
    let mut engine = engine(&graph);
    for event in reports(&graph, 0..4, |_, _| Seen::Up) {
        engine.apply(&event);
    }
    let down = Seen::Down(ErrorClass::Http5xx);
    let first = |_: &str, to: &str| if to == "stock" { down } else { Seen::Up };
    for event in reports(&graph, 4..6, first) {
        engine.apply(&event);
    }
    for event in reports(&graph, 6..10, |_, _| down) {
        engine.apply(&event);
    }
    let answer = engine.answer(Moment::from_millis(10 * INTERVAL));
    assert_eq!(causes(&answer), "node:stock");
}

#[test]
fn a_changed_map_keeps_what_is_known_of_all_that_is_still_there() {
    let before = map("
        service front 2
        service cart 2
        resource db
        front -> cart hard
        cart -> db hard");
    let later = map("
        service cart 2
        service front 2
        service mail 1
        resource cache
        resource db
        front -> cart hard
        cart -> db hard
        mail -> db hard
        cart -> cache soft");
    let mut engine = engine(&before);
    let down = |_: &str, to: &str| {
        if to == "db" {
            Seen::Down(ErrorClass::Refused)
        } else {
            Seen::Up
        }
    };
    let events = [
        reports(&before, 0..4, |_, _| Seen::Up),
        reports(&before, 4..8, down),
    ]
    .concat();
    for event in &events {
        engine.apply(event);
    }
    let now = Moment::from_millis(8 * INTERVAL);
    let known = causes(&engine.answer(now));
    engine.set_graph(&later).expect("a graph");
    assert_eq!(
        (causes(&engine.answer(now)), known.as_str()),
        (known.clone(), "node:db")
    );
    assert_eq!(engine.foreign(), 0);

    let without = map("
        service front 2
        service cart 2
        front -> cart hard");
    engine.set_graph(&without).expect("a graph");
    let answer = engine.answer(now);
    assert_eq!(
        (causes(&answer), answer.unexplained.len()),
        (String::new(), 0)
    );
}
