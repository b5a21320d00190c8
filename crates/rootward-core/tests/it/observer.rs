//! "Is it me?": what the aggregator cannot see through a fault of its own, and what looks like one and is none.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::incident::{IncidentCause, IncidentEvent};
use rootward_core::snapshot::Transition;
use rootward_core::{
    Action, CheckStatus, Component, Criticality, Doubt, EdgeParts, Engine, ErrorCategory,
    InstanceId, InstanceStatus, Map, MapParts, Moment, Node, NodeKind, ObserverState, Poll,
    PollOutcome, Report, SelfCheck, SelfChecks, ServiceStatus, Settings, Side, Snapshot, Source,
    Target, Thresholds,
};

use crate::world::name;

const STEP: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);

const WORKS: SelfChecks = SelfChecks {
    descriptors: SelfCheck::Works,
    loopback: SelfCheck::Works,
    names: SelfCheck::Works,
    references: SelfCheck::Works,
};

/// How the polls of the first so many services end; the others answer.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    services: usize,
    category: ErrorCategory,
    side: Side,
}

const NAMES: Trouble = trouble(4, ErrorCategory::Dns, Side::Unclear(Doubt::Name));

const fn trouble(services: usize, category: ErrorCategory, side: Side) -> Trouble {
    Trouble {
        services,
        category,
        side,
    }
}

/// `s0` to `s9`, one instance each, polled every 10 s; `s9` depends on the first six.
struct Bench {
    engine: Engine,
    now: Moment,
    trouble: Option<Trouble>,
    /// What the self checks will say, and whether they say anything.
    checks: Option<SelfChecks>,
    /// Whether `s9` sees what it depends on failing, too.
    caller_fails: bool,
    asked: usize,
    transitions: Vec<Transition>,
    incidents: Vec<IncidentEvent>,
}

impl Bench {
    fn new(references: bool, thresholds: Thresholds) -> Self {
        let services: Vec<String> = (0..10).map(|n| format!("s{n}")).collect();
        let nodes = services.iter().map(|service| Node {
            name: name(service),
            kind: NodeKind::Service { at_least: 1 },
            owner: None,
            zone: None,
            target: None,
            aliases: Vec::new(),
        });
        let edges = services[..6].iter().map(|callee| EdgeParts {
            caller: name("s9"),
            callee: name(callee),
            declared: Some(Criticality::Hard),
            overrides: true,
            reason: None,
            owner: None,
        });
        let map = Map::build(MapParts {
            nodes: nodes.collect(),
            edges: edges.collect(),
        })
        .expect("the map is valid");
        let targets = services.iter().map(|service| Target {
            id: InstanceId {
                service: name(service),
                instance: name("0"),
            },
            interval: Duration::from_secs(10),
            stale_after: Duration::from_secs(22),
            thresholds,
            source: Source::Polled,
        });
        let settings = Settings {
            epoch_interval: Duration::from_secs(10),
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references,
        };
        Self {
            engine: Engine::new(Arc::new(map), targets.collect(), settings, Moment::ZERO),
            now: Moment::ZERO,
            trouble: None,
            checks: Some(WORKS),
            caller_fails: false,
            asked: 0,
            transitions: Vec::new(),
            incidents: Vec::new(),
        }
    }

    /// One that has seen everybody healthy.
    fn calm(references: bool) -> Self {
        let mut bench = Self::new(references, Thresholds::DEFAULT);
        bench.pass(12 * SECOND);
        assert_eq!(bench.statuses(ServiceStatus::Healthy), 10);
        bench.transitions.clear();
        bench
    }

    fn pass(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.now = self.now + STEP;
            self.engine.handle_timeout(self.now);
            self.act();
        }
    }

    fn act(&mut self) {
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Poll(instance) => {
                    let poll = Poll {
                        outcome: self.outcome(&instance),
                        instance,
                        started: self.now,
                        finished: self.now,
                        took_us: 1_000,
                    };
                    self.engine.handle_poll(poll);
                }
                Action::CheckSelf => {
                    self.asked += 1;
                    if let Some(checks) = self.checks {
                        self.engine.handle_self_checks(checks, self.now);
                    }
                }
                Action::Record(transition) => self.transitions.push(transition),
                Action::RecordIncident(event) => self.incidents.push(event),
                Action::Publish(_) => {}
            }
        }
    }

    fn outcome(&self, id: &InstanceId) -> PollOutcome {
        let number: usize = id.service.as_str()[1..].parse().expect("s0 to s9");
        if let Some(trouble) = self.trouble.filter(|trouble| number < trouble.services) {
            return PollOutcome::NoAnswer {
                category: trouble.category,
                text: "as the scenario says".to_owned(),
                side: trouble.side,
            };
        }
        let checks = if number == 9 { 6 } else { 0 };
        let components = (0..checks).map(|callee| {
            let fails = self.caller_fails && self.trouble.is_some_and(|t| callee < t.services);
            let status = if fails {
                CheckStatus::Down
            } else {
                CheckStatus::Up
            };
            let mut component =
                Component::new(name(&format!("s{callee}")), status, Criticality::Hard);
            component.raw_status = status;
            component.checked_at = Some(self.now);
            component.error_category = fails.then_some(ErrorCategory::Dns);
            component
        });
        PollOutcome::Report(Box::new(Report {
            service: id.service.clone(),
            instance: id.instance.clone(),
            version: None,
            zone: None,
            host: None,
            status: InstanceStatus::Healthy,
            ready: true,
            draining: false,
            serving: Some(true),
            components: components.collect(),
        }))
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.engine.snapshot()
    }

    fn statuses(&self, status: ServiceStatus) -> usize {
        let snapshot = self.snapshot();
        snapshot
            .services
            .iter()
            .filter(|s| s.status == status)
            .count()
    }

    fn state(&self) -> ObserverState {
        self.snapshot().observer.state
    }

    fn open(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        snapshot
            .open_incidents
            .iter()
            .map(|i| i.cause.to_string())
            .collect()
    }

    fn nobody_is_blamed(&self) {
        assert!(self.snapshot().diagnosis.root_causes.is_empty());
        for transition in &self.transitions {
            assert!(
                transition.to == "unknown" || transition.from == "unknown",
                "a target was called failing: {transition:?}"
            );
        }
        for event in &self.incidents {
            assert_eq!(event.incident().cause, IncidentCause::Observer);
        }
    }
}

#[test]
fn kf_072_what_the_aggregator_cannot_see_is_its_own_fault_then_unknown_then_seen_again() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(NAMES);
    bench.checks = Some(SelfChecks {
        names: SelfCheck::Fails,
        references: SelfCheck::NotTried,
        ..WORKS
    });
    bench.pass(11 * SECOND);
    assert_eq!(bench.state(), ObserverState::Fault);
    assert_eq!(bench.open(), ["observer:aggregator"]);
    // Its evidence is not too old yet, and nothing has turned.
    assert!(bench.transitions.is_empty(), "{:?}", bench.transitions);
    let incident = Arc::clone(&bench.snapshot().open_incidents[0]);
    insta::assert_snapshot!(incident.title, @"the aggregator itself cannot see 4 of 10 instances: no name resolves here");
    insta::assert_snapshot!(incident.reasons.join("\n"), @r"
    it could not ask s0, s1, s2, s3
    what it cannot ask keeps its status until it is too old and is unknown then; none of it is called failing
    ");
    assert!(incident.pages);

    bench.pass(20 * SECOND);
    assert_eq!(bench.statuses(ServiceStatus::Unknown), 4);
    assert_eq!(bench.statuses(ServiceStatus::Healthy), 6);
    let reason = bench.snapshot().services[0].reason.clone();
    assert!(
        reason.starts_with("the aggregator itself could not ask it for"),
        "{reason}"
    );

    // Long after entry points would have been paged for: its own incident is enough.
    bench.pass(200 * SECOND);
    assert_eq!(bench.open(), ["observer:aggregator"]);
    bench.nobody_is_blamed();

    bench.trouble = None;
    bench.pass(12 * SECOND);
    assert_eq!(bench.state(), ObserverState::Sees);
    assert_eq!(bench.statuses(ServiceStatus::Healthy), 10);
    assert!(bench.open().is_empty());
    bench.nobody_is_blamed();
}

#[test]
fn kf_019_descriptors_that_run_out_here_turn_nobody_whatever_the_self_checks_say() {
    let mut bench = Bench::calm(true);
    bench.trouble = Some(trouble(10, ErrorCategory::ResourceExhausted, Side::Here));
    bench.pass(11 * SECOND);
    assert_eq!(bench.state(), ObserverState::Fault);
    let why = bench.snapshot().observer.reason.clone();
    insta::assert_snapshot!(why, @"no file descriptor or local port was left here to ask with");
    bench.pass(60 * SECOND);
    bench.nobody_is_blamed();
    bench.trouble = None;
    bench.pass(12 * SECOND);
    assert_eq!(bench.statuses(ServiceStatus::Healthy), 10);
}

#[test]
fn one_instance_for_which_no_descriptor_is_left_is_not_blamed_either() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(trouble(1, ErrorCategory::ResourceExhausted, Side::Here));
    bench.pass(11 * SECOND);
    assert!(bench.transitions.is_empty());
    bench.pass(30 * SECOND);
    assert_eq!(bench.statuses(ServiceStatus::Unknown), 1);
    assert_eq!(bench.state(), ObserverState::Sees);
    bench.nobody_is_blamed();
}

#[test]
fn a_real_outage_of_many_is_no_observer_fault() {
    for side in [Side::There, Side::Unclear(Doubt::Silence)] {
        let mut bench = Bench::calm(true);
        bench.caller_fails = true;
        bench.trouble = Some(trouble(4, ErrorCategory::Timeout, side));
        bench.pass(60 * SECOND);
        assert_eq!((bench.state(), bench.asked), (ObserverState::Sees, 0));
        assert_eq!(bench.statuses(ServiceStatus::Unknown), 4);
        assert!(!bench.snapshot().diagnosis.root_causes.is_empty());
    }
}

#[test]
fn names_that_do_not_resolve_while_others_do_are_the_targets_own() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(NAMES);
    bench.checks = Some(SelfChecks {
        references: SelfCheck::NotTried,
        ..WORKS
    });
    bench.pass(11 * SECOND);
    assert_eq!(bench.state(), ObserverState::Refused);
    assert_eq!(
        bench.snapshot().observer.reason,
        "other names do resolve here"
    );
    assert!(bench.open().is_empty());
    bench.pass(30 * SECOND);
    assert_eq!(bench.statuses(ServiceStatus::Unknown), 4);
}

#[test]
fn a_failure_that_others_see_too_is_no_observer_fault() {
    let mut bench = Bench::calm(false);
    bench.caller_fails = true;
    // The callers come first: their checks run more often than the aggregator polls.
    bench.trouble = Some(trouble(4, ErrorCategory::ConnectionRefused, Side::There));
    bench.pass(11 * SECOND);
    bench.trouble = Some(NAMES);
    bench.checks = Some(SelfChecks {
        names: SelfCheck::Fails,
        references: SelfCheck::NotTried,
        ..WORKS
    });
    bench.pass(11 * SECOND);
    assert_eq!(bench.state(), ObserverState::Refused);
    let why = bench.snapshot().observer.reason.clone();
    insta::assert_snapshot!(why, @"others who were reached see the same failure");
}

#[test]
fn two_of_three_are_too_few_to_suspect_oneself_and_so_are_three_of_ten_thousand() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(trouble(2, ErrorCategory::Dns, Side::Unclear(Doubt::Name)));
    bench.pass(60 * SECOND);
    assert_eq!(bench.asked, 0);
}

#[test]
fn kf_072_silence_of_nearly_everybody_is_ours_where_the_references_are_silent_too() {
    let silence = trouble(9, ErrorCategory::Timeout, Side::Unclear(Doubt::Silence));
    let mut bench = Bench::calm(true);
    bench.trouble = Some(silence);
    bench.checks = Some(SelfChecks {
        references: SelfCheck::Fails,
        ..WORKS
    });
    bench.pass(60 * SECOND);
    assert_eq!(bench.state(), ObserverState::Fault);
    bench.nobody_is_blamed();

    let mut bench = Bench::calm(true);
    bench.trouble = Some(silence);
    bench.pass(60 * SECOND);
    assert_eq!(bench.state(), ObserverState::Refused);
    assert!(
        bench
            .open()
            .iter()
            .all(|cause| cause != "observer:aggregator")
    );
}

#[test]
fn with_a_threshold_of_one_nothing_turns_before_the_self_checks_have_spoken() {
    let thresholds = Thresholds::new(1, 1).expect("one is allowed");
    let mut bench = Bench::new(false, thresholds);
    bench.pass(12 * SECOND);
    bench.transitions.clear();
    bench.trouble = Some(NAMES);
    bench.checks = Some(SelfChecks {
        names: SelfCheck::Fails,
        references: SelfCheck::NotTried,
        ..WORKS
    });
    bench.pass(11 * SECOND);
    assert_eq!(bench.state(), ObserverState::Fault);
    assert!(bench.transitions.is_empty(), "{:?}", bench.transitions);
    // A single failure after it, which may be anything, does not turn it at once either.
    bench.trouble = None;
    bench.pass(12 * SECOND);
    assert_eq!(bench.statuses(ServiceStatus::Healthy), 10);
}

#[test]
fn self_checks_that_never_end_are_a_fault_of_the_observer() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(NAMES);
    bench.checks = None;
    bench.pass(9 * SECOND);
    assert!(bench.transitions.is_empty());
    bench.pass(13 * SECOND);
    assert_eq!(bench.state(), ObserverState::Fault);
    assert_eq!(
        bench.snapshot().observer.reason,
        "its self checks did not end"
    );
}

#[test]
fn while_a_fault_lasts_the_self_checks_run_now_and_then_and_not_at_every_poll() {
    let mut bench = Bench::calm(false);
    bench.trouble = Some(trouble(10, ErrorCategory::ResourceExhausted, Side::Here));
    bench.pass(100 * SECOND);
    assert!(
        (5..=12).contains(&bench.asked),
        "{} rounds in 100 s",
        bench.asked
    );
}
