//! Known failures of health checks that the fault localisation does not repeat.

use rootward_core::Moment;
use rootward_core::localise::{Engine, ErrorClass, Seen, Settings};

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
