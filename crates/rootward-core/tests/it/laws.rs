//! Laws of the diagnosis, on random maps with random reports, through the whole engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rootward_core::diagnosis::{CauseId, Diagnosis, RootCause};
use rootward_core::{
    CheckStatus, Component, Criticality, Doubt, EdgeParts, Engine, ErrorCategory, InstanceId,
    InstanceStatus, Map, MapParts, Moment, Node, NodeKind, Poll, PollOutcome, Report, Scope,
    ServiceStatus, Settings, Side, Snapshot, Source, Target, Thresholds,
};

use crate::world::name;

const INTERVAL: Duration = Duration::from_secs(10);
const ROUNDS: u64 = 5;

/// A map, and how each thing on it behaves.
#[derive(Debug, Clone)]
struct Case {
    parts: MapParts,
    instances: Vec<InstanceId>,
    /// The first round in which a check fails, how, and whether its observer is sure in the last.
    checks: BTreeMap<(InstanceId, String), Behaviour>,
    /// Instances with a failing local condition.
    sick: BTreeSet<InstanceId>,
    /// Instances that do not answer, from which round on.
    silent: BTreeMap<InstanceId, u64>,
}

#[derive(Debug, Clone)]
struct Behaviour {
    fails_from: u64,
    status: CheckStatus,
    category: ErrorCategory,
    sure: bool,
}

impl Case {
    fn map(&self) -> Map {
        Map::build(self.parts.clone()).expect("the parts are valid")
    }

    fn outcome(&self, id: &InstanceId, round: u64, now: Moment) -> PollOutcome {
        if self.silent.get(id).is_some_and(|from| round >= *from) {
            return PollOutcome::NoAnswer {
                category: ErrorCategory::Timeout,
                text: "timed out".to_owned(),
                side: Side::Unclear(Doubt::Silence),
            };
        }
        let mut components: Vec<Component> = self
            .parts
            .edges
            .iter()
            .filter(|edge| edge.caller == id.service)
            .map(|edge| {
                let behaviour = &self.checks[&(id.clone(), edge.callee.to_string())];
                let label = edge.declared.expect("all are labelled");
                let mut component = Component::new(edge.callee.clone(), CheckStatus::Up, label);
                if round >= behaviour.fails_from {
                    component.raw_status = behaviour.status;
                    component.error_category = Some(behaviour.category);
                    if behaviour.sure || round > behaviour.fails_from {
                        component.status = behaviour.status;
                    }
                }
                component.seq = Some(round + 1);
                component.checked_at = Some(now.saturating_sub(Duration::from_millis(900)));
                component
            })
            .collect();
        if self.sick.contains(id) {
            let mut disk = Component::new(name("disk"), CheckStatus::Down, Criticality::Hard);
            disk.scope = Scope::Local;
            disk.checked_at = Some(now);
            components.push(disk);
        }
        PollOutcome::Report(Box::new(Report {
            service: id.service.clone(),
            instance: id.instance.clone(),
            version: None,
            zone: None,
            host: None,
            status: InstanceStatus::Healthy,
            ready: true,
            draining: false,
            serving: None,
            components,
        }))
    }

    /// Plays all rounds, polling in an order that `turn` changes.
    fn play(&self, turn: usize) -> Arc<Snapshot> {
        let targets = self.instances.iter().map(|id| Target {
            id: id.clone(),
            interval: INTERVAL,
            stale_after: Duration::from_secs(22),
            thresholds: Thresholds::DEFAULT,
            source: Source::Polled,
        });
        let settings = Settings {
            epoch_interval: INTERVAL,
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references: false,
        };
        let map = Arc::new(self.map());
        let mut engine = Engine::new(map, targets.collect(), settings, Moment::ZERO);
        let mut now = Moment::ZERO;
        for round in 0..ROUNDS {
            now = Moment::ZERO + INTERVAL * u32::try_from(round + 1).expect("it is small");
            let mut polls: Vec<Poll> = self
                .instances
                .iter()
                .enumerate()
                .map(|(at, id)| {
                    let started = now + Duration::from_millis(u64::try_from(at).expect("few") * 37);
                    let finished = started + Duration::from_millis(5);
                    Poll {
                        instance: id.clone(),
                        started,
                        finished,
                        took_us: 5_000,
                        outcome: self.outcome(id, round, finished),
                    }
                })
                .collect();
            let by = turn % polls.len();
            polls.rotate_left(by);
            if turn % 2 == 1 {
                polls.reverse();
            }
            for poll in polls {
                engine.handle_poll(poll);
            }
            now = now + Duration::from_secs(2);
            engine.handle_timeout(now);
            while engine.poll_action().is_some() {}
        }
        engine.handle_timeout(now + Duration::from_secs(1));
        engine.snapshot()
    }

    fn diagnose(&self) -> Arc<Diagnosis> {
        Arc::clone(&self.play(0).diagnosis)
    }
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    let fails_from = prop_oneof![3 => Just(ROUNDS), 2 => 0..ROUNDS];
    let status = prop_oneof![3 => Just(CheckStatus::Down), 1 => Just(CheckStatus::Degraded)];
    let category = proptest::sample::select(ErrorCategory::ALL);
    (fails_from, status, category, any::<bool>()).prop_map(
        |(fails_from, status, category, sure)| Behaviour {
            fails_from,
            status,
            category,
            sure,
        },
    )
}

/// At most so many services.
fn case(services: usize) -> impl Strategy<Value = Case> {
    let shape = (2..=services, 1_usize..4);
    shape.prop_flat_map(|(services, resources)| {
        let total = services + resources;
        let edge = (
            0..services,
            0..total,
            proptest::sample::select(Criticality::ALL),
        );
        let edges = proptest::collection::vec(edge, 1..12);
        let instances = proptest::collection::vec((1_usize..3, 0_u64..12), services);
        let checks = proptest::collection::vec(behaviour(), 30);
        let sick = proptest::collection::vec(proptest::bool::weighted(0.1), services);
        (edges, instances, checks, sick).prop_map(move |(edges, instances, checks, sick)| {
            assemble(services, resources, &edges, &instances, &checks, &sick)
        })
    })
}

fn assemble(
    services: usize,
    resources: usize,
    edges: &[(usize, usize, Criticality)],
    counts: &[(usize, u64)],
    behaviours: &[Behaviour],
    sick: &[bool],
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
    let edges: Vec<EdgeParts> = edges
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
    let mut case = Case {
        parts: MapParts { nodes, edges },
        instances: Vec::new(),
        checks: BTreeMap::new(),
        sick: BTreeSet::new(),
        silent: BTreeMap::new(),
    };
    let mut next = behaviours.iter().cycle();
    for (at, (count, silent_from)) in counts.iter().enumerate() {
        for n in 0..*count {
            let id = InstanceId {
                service: node_name(at),
                instance: name(&n.to_string()),
            };
            for edge in case
                .parts
                .edges
                .iter()
                .filter(|edge| edge.caller == id.service)
            {
                let behaviour = next.next().expect("a cycle does not end").clone();
                case.checks
                    .insert((id.clone(), edge.callee.to_string()), behaviour);
            }
            if sick[at] && n == 0 {
                case.sick.insert(id.clone());
            }
            if *silent_from < ROUNDS {
                case.silent.insert(id.clone(), *silent_from);
            }
            case.instances.push(id);
        }
    }
    case
}

fn all_causes(diagnosis: &Diagnosis) -> impl Iterator<Item = &RootCause> {
    diagnosis.root_causes.iter().chain(&diagnosis.suspected)
}

/// What instances that are seen say is failing.
fn failing(snapshot: &Snapshot) -> BTreeSet<(String, String)> {
    let instances = snapshot.services.iter().flat_map(|s| &s.instances);
    let seen = instances.filter(|instance| instance.status != ServiceStatus::Unknown);
    let mut failing = BTreeSet::new();
    for instance in seen {
        let components = instance.report.iter().flat_map(|report| &report.components);
        for component in components {
            if matches!(component.status, CheckStatus::Degraded | CheckStatus::Down) {
                failing.insert((instance.id.to_string(), component.name.to_string()));
            }
        }
    }
    failing
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn p_2_and_p_8_any_order_of_the_same_polls_gives_the_same_answer(case in case(5), turn in 1_usize..30) {
        let answer = case.play(0);
        prop_assert_eq!(&answer.diagnosis, &case.play(0).diagnosis);
        let turned = case.play(turn);
        prop_assert_eq!(&answer.diagnosis, &turned.diagnosis);
        prop_assert_eq!(&answer.open_incidents, &turned.open_incidents);
    }

    #[test]
    fn p_6_every_failing_check_is_in_a_cause_or_unexplained(case in case(5)) {
        let snapshot = case.play(0);
        let told: BTreeSet<(String, String)> = all_causes(&snapshot.diagnosis)
            .flat_map(|cause| &cause.evidence)
            .chain(&snapshot.diagnosis.unexplained)
            .map(|fact| (fact.observer.clone(), fact.target.to_string()))
            .collect();
        for key in failing(&snapshot) {
            prop_assert!(told.contains(&key), "lost: {key:?} in {:#?}", snapshot.diagnosis);
        }
    }

    #[test]
    fn every_cause_rests_on_a_failing_check_that_the_screen_shows_and_no_healthy_node_is_one(case in case(5)) {
        let snapshot = case.play(0);
        let failing = failing(&snapshot);
        for cause in all_causes(&snapshot.diagnosis) {
            prop_assert!(cause.evidence.iter().any(|fact| fact.status != CheckStatus::Up), "{cause:#?}");
            prop_assert!(cause.confidence > 0.0 && cause.confidence < 1.0);
            prop_assert!(!cause.reasons.is_empty(), "{cause:#?}");
        }
        let named = snapshot.diagnosis.root_causes.iter();
        // What began before the hold limit is named whatever the screen says.
        for cause in named.filter(|cause| snapshot.at - cause.since < Duration::from_secs(45)) {
            let shown = |fact: &rootward_core::diagnosis::Fact| {
                failing.contains(&(fact.observer.clone(), fact.target.to_string()))
            };
            prop_assert!(cause.evidence.iter().any(shown), "{cause:#?}");
            if let CauseId::Node(node) = &cause.id {
                let prefix = format!("{node}#");
                let failing = failing.iter().any(|(by, to)| to == node.as_str() || by.starts_with(&prefix));
                prop_assert!(failing, "{node} is named, but nobody sees it failing");
            }
        }
    }

    #[test]
    fn silence_and_good_checks_alone_name_nothing(case in case(5)) {
        let mut quiet = case;
        quiet.sick.clear();
        for behaviour in quiet.checks.values_mut() {
            behaviour.fails_from = ROUNDS;
        }
        let answer = quiet.diagnose();
        prop_assert_eq!(all_causes(&answer).count(), 0);
        prop_assert!(answer.impacted.is_empty() && answer.unexplained.is_empty());
    }

    #[test]
    fn every_path_of_impact_is_a_way_on_the_map(case in case(5)) {
        let map = case.map();
        let answer = case.diagnose();
        for impact in &answer.impacted {
            prop_assert_eq!(impact.path.first(), Some(&impact.service));
            for pair in impact.path.windows(2) {
                let (a, b) = (map.find(pair[0].as_str()), map.find(pair[1].as_str()));
                let edge = a.zip(b).and_then(|(a, b)| map.edge_between(a, b));
                prop_assert!(edge.is_some(), "{:?} is no way", impact.path);
            }
            let named = answer.root_causes.iter().any(|cause| cause.id == impact.cause);
            prop_assert!(named, "an impact of {}, which is not named", impact.cause);
        }
    }

    /// P-7 for the plain case: resources fail for everybody who uses them, and whoever cannot work without one is not
    /// serving. Then nothing that only passes a failure on is named as a cause. Three hops are followed.
    #[test]
    fn p_7_a_service_that_is_not_serving_for_want_of_a_resource_is_no_cause(case in case(4)) {
        let mut case = case;
        case.sick.clear();
        case.silent.clear();
        for edge in &mut case.parts.edges {
            edge.declared = Some(Criticality::Hard);
        }
        let mut broken: BTreeSet<String> = BTreeSet::new();
        for ((_, to), behaviour) in &case.checks {
            if to.starts_with('z') && behaviour.fails_from < ROUNDS {
                broken.insert(to.clone());
            }
        }
        for _ in 0..case.parts.nodes.len() {
            for edge in &case.parts.edges {
                if broken.contains(edge.callee.as_str()) {
                    broken.insert(edge.caller.to_string());
                }
            }
        }
        for ((_, to), behaviour) in &mut case.checks {
            behaviour.fails_from = if broken.contains(to) { 0 } else { ROUNDS };
            behaviour.category = ErrorCategory::NotServing;
            behaviour.status = CheckStatus::Down;
        }
        let map = case.map();
        let answer = case.diagnose();
        for cause in all_causes(&answer) {
            let CauseId::Node(node) = &cause.id else { continue };
            let index = map.find(node.as_str()).expect("causes are on the map");
            let in_cycle = map.cycle_of(index).is_some();
            prop_assert!(!map.is_service(index) || in_cycle, "{node} is named: {answer:#?}");
        }
    }
}
