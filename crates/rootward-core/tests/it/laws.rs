//! Laws of the diagnosis, on random maps with random evidence.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use rootward_core::diagnosis::{
    CauseId, Check, Diagnosis, Input, InstanceSeen, LocalCheck, RootCause, Sight, diagnose,
};
use rootward_core::{
    CheckStatus, Criticality, EdgeParts, ErrorCategory, InstanceId, Map, MapParts, Moment, Node,
    NodeIndex, NodeKind,
};

use crate::world::name;

const NOW: Moment = Moment::from_millis(100_000);

/// What a diagnosis is made from, with the map.
#[derive(Debug, Clone)]
struct Case {
    map: Map,
    labels: Vec<Criticality>,
    checks: Vec<Check>,
    local: Vec<LocalCheck>,
    instances: Vec<InstanceSeen>,
}

impl Case {
    fn diagnose(&self) -> Diagnosis {
        diagnose(&Input {
            now: NOW,
            map: &self.map,
            labels: &self.labels,
            checks: &self.checks,
            local: &self.local,
            instances: &self.instances,
            hold_limit: Duration::from_secs(45),
        })
    }

    fn target(&self, check: &Check) -> NodeIndex {
        self.map.edge(check.edge).callee
    }
}

/// One observation, before it is tied to a map.
#[derive(Debug, Clone)]
struct Seen {
    status: CheckStatus,
    undecided: bool,
    category: ErrorCategory,
    checked_at: u64,
    since: u64,
    agreeing: u8,
}

fn seen() -> impl Strategy<Value = Seen> {
    let status = prop_oneof![
        5 => Just(CheckStatus::Up), 2 => Just(CheckStatus::Down), 1 => Just(CheckStatus::Degraded),
    ];
    let category = proptest::sample::select(ErrorCategory::ALL);
    (
        status,
        proptest::bool::weighted(0.15),
        category,
        60_000_u64..100_000,
        0_u64..40_000,
        1_u8..4,
    )
        .prop_map(
            |(status, undecided, category, checked_at, before, agreeing)| Seen {
                status,
                undecided,
                category,
                checked_at,
                since: checked_at - before.min(checked_at),
                agreeing,
            },
        )
}

fn case() -> impl Strategy<Value = Case> {
    let shape = (2_usize..6, 1_usize..4);
    shape.prop_flat_map(|(services, resources)| {
        let total = services + resources;
        let edge = (
            0..services,
            0..total,
            proptest::sample::select(Criticality::ALL),
        );
        let edges = proptest::collection::vec(edge, 1..12);
        let instances = proptest::collection::vec((1_usize..3, 0_u8..4), services);
        let checks = proptest::collection::vec(seen(), 30);
        let local = proptest::collection::vec((0..services, seen()), 0..3);
        (edges, instances, checks, local).prop_map(move |(edges, instances, checks, local)| {
            assemble(services, resources, &edges, &instances, &checks, &local)
        })
    })
}

fn assemble(
    services: usize,
    resources: usize,
    edges: &[(usize, usize, Criticality)],
    counts: &[(usize, u8)],
    seen: &[Seen],
    local: &[(usize, Seen)],
) -> Case {
    let node_name = |at: usize| {
        if at < services {
            name(&format!("s{at}"))
        } else {
            name(&format!("z{at}"))
        }
    };
    let nodes = (0..services + resources)
        .map(|at| Node {
            name: node_name(at),
            kind: if at < services {
                NodeKind::Service { at_least: 1 }
            } else {
                NodeKind::Resource { kind: None }
            },
            owner: None,
            zone: None,
            target: None,
            aliases: Vec::new(),
        })
        .collect();
    let mut taken = BTreeSet::new();
    let parts = edges
        .iter()
        .filter(|(from, to, _)| from != to && taken.insert((*from, *to)))
        .map(|(from, to, label)| EdgeParts {
            caller: node_name(*from),
            callee: node_name(*to),
            declared: Some(*label),
            overrides: false,
            reason: None,
            owner: None,
        })
        .collect();
    let map = Map::build(MapParts {
        nodes,
        edges: parts,
    })
    .expect("the parts are valid");
    let labels = map
        .edges()
        .iter()
        .map(|edge| edge.declared.expect("all are labelled"))
        .collect();
    let mut instances = Vec::new();
    let mut checks = Vec::new();
    let mut next = seen.iter().cycle();
    for (at, (count, sight)) in counts.iter().enumerate() {
        let service = map.find(node_name(at).as_str()).expect("it is on the map");
        for n in 0..*count {
            let id = InstanceId {
                service: node_name(at),
                instance: name(&n.to_string()),
            };
            let silent = *sight == 0;
            instances.push(InstanceSeen {
                id: id.clone(),
                service,
                sight: if silent {
                    Sight::Silent
                } else {
                    Sight::Answers
                },
                polled_at: Some(Moment::from_millis(95_000)),
            });
            if silent {
                continue;
            }
            for edge in map.callees(service) {
                let seen = next.next().expect("a cycle does not end");
                checks.push(check(&id, *edge, seen));
            }
        }
    }
    let mut has_local = BTreeSet::new();
    let local = local
        .iter()
        .filter(|(at, _)| has_local.insert(*at))
        .map(|(at, seen)| {
            let service = map.find(node_name(*at).as_str()).expect("it is on the map");
            LocalCheck {
                instance: InstanceId {
                    service: node_name(*at),
                    instance: name("0"),
                },
                service,
                component: name("disk"),
                status: seen.status,
                criticality: Criticality::Hard,
                category: Some(seen.category),
                error: None,
                checked_at: Moment::from_millis(seen.checked_at),
                since: Moment::from_millis(seen.since),
            }
        })
        .collect();
    Case {
        map,
        labels,
        checks,
        local,
        instances,
    }
}

fn check(id: &InstanceId, edge: rootward_core::EdgeIndex, seen: &Seen) -> Check {
    let bad = seen.status != CheckStatus::Up;
    let opposite = if bad {
        CheckStatus::Up
    } else {
        CheckStatus::Down
    };
    Check {
        observer: id.clone(),
        edge,
        status: seen.status,
        raw_status: if seen.undecided {
            opposite
        } else {
            seen.status
        },
        category: bad.then_some(seen.category),
        error: None,
        checked_at: Moment::from_millis(seen.checked_at),
        since: Moment::from_millis(seen.since),
        agreeing: seen.agreeing,
    }
}

fn all_causes(diagnosis: &Diagnosis) -> impl Iterator<Item = &RootCause> {
    diagnosis.root_causes.iter().chain(&diagnosis.suspected)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn p_2_and_p_8_any_order_of_the_same_evidence_gives_the_same_answer(case in case(), turn in 0_usize..30) {
        let answer = case.diagnose();
        prop_assert_eq!(&answer, &case.diagnose());
        let mut turned = case;
        turned.checks.reverse();
        let by = turn % turned.checks.len().max(1);
        turned.checks.rotate_left(by);
        turned.instances.reverse();
        turned.local.reverse();
        prop_assert_eq!(&answer, &turned.diagnose());
    }

    #[test]
    fn p_6_every_failing_check_is_in_a_cause_or_unexplained(case in case()) {
        let answer = case.diagnose();
        let told: BTreeSet<(String, String)> = all_causes(&answer)
            .flat_map(|cause| &cause.evidence)
            .chain(&answer.unexplained)
            .map(|fact| (fact.observer.clone(), fact.target.to_string()))
            .collect();
        for check in case.checks.iter().filter(|check| check.is_bad()) {
            let key = (check.observer.to_string(), case.map.name(case.target(check)).to_string());
            prop_assert!(told.contains(&key), "lost: {key:?} in {answer:#?}");
        }
        for local in case.local.iter().filter(|local| local.is_bad()) {
            prop_assert!(told.contains(&(local.instance.to_string(), "disk".to_owned())));
        }
    }

    #[test]
    fn every_cause_rests_on_a_failing_check_and_no_healthy_node_is_one(case in case()) {
        let answer = case.diagnose();
        for cause in all_causes(&answer) {
            prop_assert!(cause.evidence.iter().any(|fact| fact.status != CheckStatus::Up), "{cause:#?}");
            prop_assert!(cause.confidence > 0.0 && cause.confidence < 1.0);
            prop_assert!(!cause.reasons.is_empty());
            if let CauseId::Node(node) = &cause.id {
                let failing = case.checks.iter().any(|c| c.is_bad() && case.map.name(case.target(c)) == node)
                    || case.local.iter().any(|l| l.is_bad() && &l.instance.service == node);
                prop_assert!(failing, "{node} is named, but nobody sees it failing");
            }
        }
    }

    #[test]
    fn silence_and_good_checks_alone_name_nothing(case in case()) {
        let mut quiet = case;
        quiet.checks.retain(|check| !check.is_bad());
        quiet.local.retain(|local| !local.is_bad());
        let answer = quiet.diagnose();
        prop_assert_eq!(all_causes(&answer).count(), 0);
        prop_assert!(answer.impacted.is_empty() && answer.unexplained.is_empty());
    }

    #[test]
    fn every_path_of_impact_is_a_way_on_the_map(case in case()) {
        let answer = case.diagnose();
        for impact in &answer.impacted {
            prop_assert_eq!(impact.path.first(), Some(&impact.service));
            for pair in impact.path.windows(2) {
                let (a, b) = (case.map.find(pair[0].as_str()), case.map.find(pair[1].as_str()));
                let edge = a.zip(b).and_then(|(a, b)| case.map.edge_between(a, b));
                prop_assert!(edge.is_some(), "{:?} is no way", impact.path);
            }
            let named = answer.root_causes.iter().any(|cause| cause.id == impact.cause);
            prop_assert!(named, "an impact of {}, which is not named", impact.cause);
        }
    }

    /// P-7 for the plain case: a service whose only trouble is that it is not serving, and that itself sees something
    /// hard fail, is not named together with it.
    #[test]
    fn p_7_a_service_that_reports_a_failing_dependency_is_not_a_node_cause_for_not_serving(case in case()) {
        let mut case = case;
        case.local.clear();
        for check in &mut case.checks {
            if check.is_bad() {
                check.category = Some(ErrorCategory::NotServing);
                check.raw_status = check.status;
            }
        }
        let answer = case.diagnose();
        for cause in all_causes(&answer) {
            let CauseId::Node(node) = &cause.id else { continue };
            let index = case.map.find(node.as_str()).expect("causes are on the map");
            let sees_deeper = case.checks.iter().any(|check| {
                check.is_bad()
                    && case.map.edge(check.edge).caller == index
                    && case.labels[case.map.edges().iter().position(|e| e == case.map.edge(check.edge)).expect("it is there")]
                        != Criticality::Informational
            });
            let in_cycle = case.map.cycle_of(index).is_some();
            prop_assert!(!sees_deeper || in_cycle, "{node} is named although it sees something deeper fail: {answer:#?}");
        }
    }
}

/// Found by the law above: with two decisions pending, the one named depended on the order of the reports.
#[test]
fn a_wait_for_two_decisions_names_the_same_one_in_any_order() {
    let edges = [
        (0, 1, Criticality::Hard),
        (1, 2, Criticality::Hard),
        (1, 3, Criticality::Hard),
    ];
    let result = |status, undecided| Seen {
        status,
        undecided,
        category: ErrorCategory::NotServing,
        checked_at: 90_000,
        since: 80_000,
        agreeing: 3,
    };
    let seen = [
        result(CheckStatus::Down, false),
        result(CheckStatus::Up, true),
        result(CheckStatus::Up, true),
    ];
    let case = assemble(2, 2, &edges, &[(1, 1), (1, 1)], &seen, &[]);
    let held = |case: &Case| {
        case.diagnose()
            .suspected
            .first()
            .and_then(|cause| cause.held.clone())
    };
    let mut turned = case.clone();
    turned.checks.reverse();
    assert_eq!(
        held(&case).as_deref(),
        Some("waiting for s1 to decide about z2")
    );
    assert_eq!(held(&turned), held(&case));
}
