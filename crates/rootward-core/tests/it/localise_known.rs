//! Known failures of health checks that the fault localisation does not repeat.

use rootward_core::Moment;
use rootward_core::localise::{
    Answer, Engine, ErrorClass, Event, Graph, NoAnswer, Seen, Settings, State,
};

use crate::localise::{after, after_as, causes, map, reports};

#[test]
fn kf_076_one_failed_root_with_fifty_dependents_is_one_cause_that_lists_them() {
    let mut text = "resource db\n".to_owned();
    for number in 0..50 {
        text.push_str(&format!("service s{number} 2\ns{number} -> db hard\n"));
    }
    let answer = after(&map(&text), &["*->db"]);
    assert_eq!(causes(&answer), "node:db");
    assert_eq!(answer.impacted.len(), 50);
    assert_eq!(answer.root_causes[0].evidence.len(), 100);
    assert!(answer.unexplained.is_empty());
}

#[test]
fn kf_033_one_isolated_failure_in_10_000_checks_is_no_cause() {
    let mut text = "resource db\n".to_owned();
    for number in 0..5 {
        text.push_str(&format!("service s{number} 2\ns{number} -> db hard\n"));
    }
    let graph = map(&text);
    let mut engine = Engine::new(&graph, Settings::default()).unwrap();
    let mut listed = 0;
    for round in 0..1_000 {
        let sees = |instance: &str, _: &str| {
            if round == 500 && instance == "s3#1" {
                Seen::Down(ErrorClass::Timeout)
            } else {
                Seen::Up
            }
        };
        for event in reports(&graph, round..round + 1, sees) {
            engine.apply(&event);
        }
        let answer = engine.answer(Moment::from_millis((round + 1) * 10_000));
        assert_eq!(causes(&answer), "", "round {round}");
        listed += answer.unexplained.len();
    }
    // It is not hidden, either.
    assert_eq!(listed, 1);
}

#[test]
fn kf_077_the_class_of_a_failure_is_kept_from_the_check_to_the_cause() {
    let graph = map("
        service front 2
        service cart 2
        resource db
        front -> db hard
        cart -> db hard");
    for class in ErrorClass::ALL {
        let answer = after_as(&graph, &["*->db"], class);
        let cause = answer.root_causes.first().expect("a cause");
        assert_eq!(cause.id.to_string(), "node:db", "{class:?}");
        assert_eq!(cause.evidence.len(), 4);
        for evidence in &cause.evidence {
            assert_eq!(evidence.class, class);
        }
    }
}

const TWO_CALLERS: &str = "
    service front 2
    service cart 2
    resource db
    front -> db hard
    cart -> db hard";

/// After these rounds, in the order given; nobody answers a poll where it says so.
fn at_the_end(graph: &Graph, events: &[Event], rounds: u64) -> Answer {
    let mut engine = Engine::new(graph, Settings::default()).expect("a graph");
    for event in events {
        engine.apply(event);
    }
    engine.answer(Moment::from_millis(rounds * 10_000))
}

fn unanswered(graph: &Graph, rounds: std::ops::Range<u64>, whose: &[&str]) -> Vec<Event> {
    let mut events = Vec::new();
    for round in rounds {
        for instance in &graph.instances {
            if whose.contains(&&*instance.service) {
                events.push(Event::NoAnswer(NoAnswer {
                    sent: Moment::from_millis(round * 10_000 + 600),
                    instance: instance.id.clone(),
                }));
            }
        }
    }
    events
}

#[test]
fn kf_030_one_failure_of_any_class_names_nothing_and_is_listed() {
    let graph = map(TWO_CALLERS);
    for class in ErrorClass::ALL {
        let good = reports(&graph, 0..8, |_, _| Seen::Up);
        let once = reports(&graph, 8..9, |instance, _| {
            if instance == "cart#1" {
                Seen::Down(class)
            } else {
                Seen::Up
            }
        });
        let events = [good, once].concat();
        let answer = at_the_end(&graph, &events, 9);
        assert_eq!(causes(&answer), "", "{class:?}");
        assert_eq!(answer.unexplained.len(), 1, "{class:?}");
        // The same class by everybody is a cause.
        assert_eq!(causes(&after_as(&graph, &["*->db"], class)), "node:db");
    }
}

#[test]
fn kf_031_half_of_a_service_that_falls_silent_at_once_is_unknown_and_nothing_is_named() {
    let graph = map("
        service front 2
        service cart 8
        resource db
        front -> cart hard
        cart -> db hard");
    let mut events = reports(&graph, 0..4, |_, _| Seen::Up);
    let silent = |event: &Event| match event {
        Event::NoAnswer(silence) => silence.instance.as_bytes()[5] < b'4',
        Event::Report(_) | Event::Change(_) => true,
    };
    events.extend(
        unanswered(&graph, 4..6, &["cart"])
            .into_iter()
            .filter(silent),
    );
    // New instances whose network is not ready: the callers reach the others.
    let heard = |event: &Event| match event {
        Event::Report(report) => {
            !report.instance.starts_with("cart#") || report.instance.as_bytes()[5] >= b'4'
        }
        Event::NoAnswer(_) | Event::Change(_) => true,
    };
    events.extend(
        reports(&graph, 4..6, |_, _| Seen::Up)
            .into_iter()
            .filter(heard),
    );
    let answer = at_the_end(&graph, &events, 6);
    assert_eq!(causes(&answer), "");
    assert!(answer.impacted.is_empty());
    assert_eq!(answer.unknown.len(), 4);
}

#[test]
fn kf_032_a_shared_dependency_that_fails_for_all_instances_is_the_one_cause() {
    let graph = map("
        service gateway 2
        service front 4
        service cart 4
        resource db
        gateway -> front hard
        front -> db hard
        cart -> db hard");
    // Whether the services say by their readiness that they miss it or not.
    for failing in [vec!["*->db"], vec!["*->db", "*->front"]] {
        let answer = after(&graph, &failing);
        assert_eq!(causes(&answer), "node:db");
        let impacted: Vec<_> = answer.impacted.services().map(AsRef::as_ref).collect();
        assert_eq!(impacted, ["gateway", "front", "cart"]);
    }
}

#[test]
fn kf_034_whatever_was_before_after_enough_good_results_nothing_is_a_cause() {
    let graph = map(TWO_CALLERS);
    let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
    for history in 0..300 {
        let mut events = Vec::new();
        for round in 0..24 {
            events.extend(reports(&graph, round..round + 1, |instance, _| {
                // xorshift64 (Marsaglia, 2003), stirred by who looks.
                let mut bits = drawn ^ (round << 17) ^ u64::from(instance.as_bytes()[0]);
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                if bits.is_multiple_of(3) {
                    let class = usize::try_from(bits >> 8 & 7).unwrap_or(0);
                    Seen::Down(ErrorClass::ALL[class])
                } else {
                    Seen::Up
                }
            }));
        }
        drawn = drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(history);
        events.extend(reports(&graph, 24..32, |_, _| Seen::Up));
        let answer = at_the_end(&graph, &events, 32);
        assert_eq!(causes(&answer), "", "history {history}");
        assert!(answer.unexplained.is_empty(), "history {history}");
    }
}

#[test]
fn kf_072_who_hears_from_nobody_names_nothing_and_knows_nothing() {
    let graph = map("
        service front 3
        service cart 3
        resource db
        front -> cart hard
        cart -> db hard");
    let mut events = reports(&graph, 0..4, |_, _| Seen::Up);
    events.extend(unanswered(&graph, 4..8, &["front", "cart"]));
    for round in 5..=8 {
        let until: Vec<Event> = events
            .iter()
            .filter(|event| match event {
                Event::NoAnswer(silence) => silence.sent.as_millis() < round * 10_000,
                Event::Report(_) | Event::Change(_) => true,
            })
            .cloned()
            .collect();
        let answer = at_the_end(&graph, &until, round);
        assert_eq!(causes(&answer), "", "round {round}");
        assert!(answer.impacted.is_empty());
        assert_eq!(answer.unknown.len(), 6);
    }
}

#[test]
fn kf_075_services_that_look_at_each_other_in_a_ring_have_no_cause_of_their_own() {
    let graph = map("
        service a 2
        service b 2
        service c 2
        service front 2
        resource db
        a -> b hard
        b -> c hard
        c -> a hard
        front -> a hard
        c -> db hard");
    assert_eq!(causes(&after(&graph, &[])), "");
    // What fails under the ring goes all the way round, and is still what is named.
    let round = ["*->db", "*->a", "*->b", "*->c"];
    for failing in [&round[..1], &round[..]] {
        // Nobody else looks at the database: the way to it looks the same.
        let named = causes(&after(&graph, failing));
        assert!(["node:db", "edge:c->db"].contains(&&*named), "{named}");
    }
}

#[test]
fn kf_078_what_answers_but_slowly_is_degraded_and_said_to_be_slow() {
    let graph = map(TWO_CALLERS);
    let mut events = reports(&graph, 0..4, |_, _| Seen::Up);
    events.extend(reports(&graph, 4..8, |_, _| {
        Seen::Degraded(ErrorClass::Slow)
    }));
    let answer = at_the_end(&graph, &events, 8);
    assert_eq!(causes(&answer), "node:db");
    assert_eq!(answer.root_causes[0].state, State::Degraded);
    for evidence in &answer.root_causes[0].evidence {
        assert!(evidence.degraded);
        assert_eq!(evidence.class, ErrorClass::Slow);
    }
}

#[test]
fn what_one_instance_sees_come_and_go_is_named_by_more_than_eight_checks() {
    let graph = map(TWO_CALLERS);
    // Down for four checks, good for four, down for two: eight checks hold two failures of the first run.
    let pattern = [
        true, true, true, true, false, false, false, false, true, true,
    ];
    let mut events = reports(&graph, 0..10, |_, _| Seen::Up);
    for (round, fails) in (10..).zip(pattern) {
        events.extend(reports(&graph, round..round + 1, |instance, _| {
            if fails && instance == "cart#1" {
                Seen::Down(ErrorClass::Timeout)
            } else {
                Seen::Up
            }
        }));
    }
    let answer = at_the_end(&graph, &events, 20);
    assert_eq!(causes(&answer), "instance_edge:cart#1->db");
    assert_eq!(answer.root_causes[0].state, State::Intermittent);
}
