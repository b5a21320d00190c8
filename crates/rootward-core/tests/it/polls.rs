//! What each outcome of a poll does to an instance, its service and the findings.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::snapshot::{FindingKind, ServiceView};
use rootward_core::{
    Action, CheckStatus, Component, Criticality, Doubt, EdgeParts, Engine, ErrorCategory,
    InstanceId, InstanceStatus, Map, MapParts, Moment, Node, NodeKind, Poll, PollOutcome, Report,
    Scope, ServiceStatus, Settings, Side, Source, Target, Thresholds,
};

use crate::world::name;

const INTERVAL: Duration = Duration::from_secs(10);

fn node(text: &str, kind: NodeKind) -> Node {
    let aliases = if text == "cart" {
        vec![name("shopping-cart")]
    } else {
        Vec::new()
    };
    Node {
        name: name(text),
        kind,
        owner: None,
        zone: None,
        target: None,
        aliases,
    }
}

fn edge(callee: &str, declared: Option<Criticality>, overrides: bool) -> EdgeParts {
    EdgeParts {
        caller: name("cart"),
        callee: name(callee),
        declared,
        overrides,
        reason: None,
        owner: None,
    }
}

/// `cart`, one instance, with two resources on the map.
struct Bench {
    engine: Engine,
    now: Moment,
}

impl Bench {
    fn new(edges: Vec<EdgeParts>) -> Self {
        let nodes = vec![
            node("cart", NodeKind::Service { at_least: 1 }),
            node("carts-db", NodeKind::Resource { kind: None }),
            node("cache", NodeKind::Resource { kind: None }),
        ];
        let map = Map::build(MapParts { nodes, edges }).expect("the map is valid");
        let target = Target {
            id: cart(),
            interval: INTERVAL,
            stale_after: Duration::from_secs(22),
            thresholds: Thresholds::DEFAULT,
            source: Source::Polled,
        };
        let settings = Settings {
            epoch_interval: INTERVAL,
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references: false,
        };
        let engine = Engine::new(Arc::new(map), vec![target], settings, Moment::ZERO);
        Self {
            engine,
            now: Moment::ZERO,
        }
    }

    /// Lets time pass until the next poll is due, and answers it.
    fn poll(&mut self, outcome: PollOutcome) -> std::sync::Arc<ServiceView> {
        let started = loop {
            self.now = self.engine.poll_timeout().max(self.now);
            self.engine.handle_timeout(self.now);
            let mut polled = false;
            while let Some(action) = self.engine.poll_action() {
                polled |= matches!(action, Action::Poll(_));
            }
            if polled {
                break self.now;
            }
        };
        let finished = started + Duration::from_millis(5);
        self.engine.handle_poll(Poll {
            instance: cart(),
            started,
            finished,
            took_us: 5_000,
            outcome,
        });
        self.pass(Duration::from_millis(300));
        self.service()
    }

    /// Lets time pass without answering anything.
    fn pass(&mut self, duration: Duration) {
        self.now = self.now + duration;
        self.engine.handle_timeout(self.now);
        while self.engine.poll_action().is_some() {}
    }

    fn service(&self) -> std::sync::Arc<ServiceView> {
        self.engine.snapshot().services[0].clone()
    }

    fn findings(&self) -> Vec<(FindingKind, String)> {
        let snapshot = self.engine.snapshot();
        snapshot
            .findings
            .iter()
            .map(|finding| (finding.kind, finding.text.clone()))
            .collect()
    }

    fn causes(&self) -> Vec<String> {
        let snapshot = self.engine.snapshot();
        snapshot
            .diagnosis
            .root_causes
            .iter()
            .map(|cause| cause.id.to_string())
            .collect()
    }
}

fn cart() -> InstanceId {
    InstanceId {
        service: name("cart"),
        instance: name("0"),
    }
}

fn report(service: &str, status: InstanceStatus, components: Vec<Component>) -> PollOutcome {
    PollOutcome::Report(Box::new(Report {
        service: name(service),
        instance: name("0"),
        version: None,
        zone: None,
        host: None,
        status,
        ready: true,
        draining: false,
        serving: Some(true),
        components,
    }))
}

fn healthy() -> PollOutcome {
    report("cart", InstanceStatus::Healthy, Vec::new())
}

fn silence() -> PollOutcome {
    PollOutcome::NoAnswer {
        category: ErrorCategory::Timeout,
        text: "timed out after 2 s".to_owned(),
        side: Side::Unclear(Doubt::Silence),
    }
}

fn component(text: &str, status: CheckStatus, label: Criticality) -> Component {
    let mut component = Component::new(name(text), status, label);
    component.checked_at = Some(Moment::ZERO);
    component.seq = Some(5);
    component
}

#[test]
fn nothing_is_known_before_the_first_poll() {
    let bench = Bench::new(Vec::new());
    let service = bench.service();
    assert_eq!(
        (service.status, service.since),
        (ServiceStatus::Unknown, None)
    );
    assert_eq!(service.reason, "not polled yet");
}

#[test]
fn two_lost_polls_keep_the_last_status_with_its_age_and_the_third_makes_it_unknown() {
    let mut bench = Bench::new(Vec::new());
    assert_eq!(bench.poll(healthy()).status, ServiceStatus::Healthy);
    let first = bench.poll(silence());
    assert_eq!(
        (first.status, first.pending),
        (ServiceStatus::Healthy, true)
    );
    assert_eq!(bench.poll(silence()).status, ServiceStatus::Healthy);
    let third = bench.poll(silence());
    assert_eq!(third.status, ServiceStatus::Unknown);
    assert_eq!(
        third.reason,
        "nothing usable for 30 s (timed out after 2 s)"
    );
    assert_eq!(
        third.instances[0].last_known,
        Some(InstanceStatus::Healthy),
        "kept beside it"
    );
    assert!(bench.causes().is_empty(), "silence alone is no cause");
    assert_eq!(
        bench.poll(healthy()).status,
        ServiceStatus::Healthy,
        "a report counts at once"
    );
}

#[test]
fn kf_068_old_evidence_becomes_unknown_by_its_deadline_without_any_poll() {
    let mut bench = Bench::new(Vec::new());
    bench.poll(healthy());
    bench.pass(Duration::from_secs(21));
    assert_eq!(bench.service().status, ServiceStatus::Healthy);
    bench.pass(Duration::from_secs(2));
    assert_eq!(bench.service().status, ServiceStatus::Unknown);
}

#[test]
fn an_error_status_without_a_report_is_unhealthy_after_three_and_its_own_cause() {
    let mut bench = Bench::new(Vec::new());
    bench.poll(healthy());
    assert_eq!(
        bench.poll(PollOutcome::ErrorStatus(500)).status,
        ServiceStatus::Healthy
    );
    bench.poll(PollOutcome::ErrorStatus(500));
    let third = bench.poll(PollOutcome::ErrorStatus(502));
    assert_eq!(third.status, ServiceStatus::Unhealthy);
    assert_eq!(third.reason, "answers HTTP 502 without a report");
    assert_eq!(bench.causes(), ["instance:cart#0"]);
}

#[test]
fn a_first_answer_counts_at_once_whatever_it_is() {
    let mut bench = Bench::new(Vec::new());
    assert_eq!(
        bench.poll(PollOutcome::ErrorStatus(503)).status,
        ServiceStatus::Unhealthy
    );
    let mut bench = Bench::new(Vec::new());
    assert_eq!(
        bench.poll(silence()).reason,
        "never seen (timed out after 2 s)"
    );
}

#[test]
fn an_answer_that_is_no_report_is_unknown_not_down() {
    let mut bench = Bench::new(Vec::new());
    let service = bench.poll(PollOutcome::Malformed(
        "answered 200 without a report".to_owned(),
    ));
    assert_eq!(service.status, ServiceStatus::Unknown);
    assert!(bench.causes().is_empty());
}

#[test]
fn an_address_that_answers_in_another_name_is_unknown_and_a_finding() {
    let mut bench = Bench::new(Vec::new());
    let service = bench.poll(report("payments", InstanceStatus::Healthy, Vec::new()));
    assert_eq!(service.status, ServiceStatus::Unknown);
    assert_eq!(
        service.reason,
        "never seen (answers as payments, not as cart)"
    );
    let text = "the address of cart#0 answers in the name of payments".to_owned();
    assert_eq!(bench.findings(), [(FindingKind::IdentityDiffers, text)]);
    let by_alias = bench.poll(report("shopping-cart", InstanceStatus::Healthy, Vec::new()));
    assert_eq!(
        by_alias.status,
        ServiceStatus::Healthy,
        "an alias is the same service"
    );
    assert!(bench.findings().is_empty());
}

#[test]
fn map_and_report_that_disagree_are_findings_and_the_report_wins() {
    let mut bench = Bench::new(vec![
        edge("carts-db", Some(Criticality::Soft), false),
        edge("cache", Some(Criticality::Soft), false),
    ]);
    let components = vec![
        component("carts-db", CheckStatus::Up, Criticality::Hard),
        component("rates", CheckStatus::Down, Criticality::Soft),
    ];
    let service = bench.poll(report("cart", InstanceStatus::Degraded, components));
    let label = |callee: &str| {
        service
            .dependencies
            .iter()
            .find(|d| d.callee.as_str() == callee)
            .and_then(|d| d.criticality)
    };
    assert_eq!(label("carts-db"), Some(Criticality::Hard));
    let texts: Vec<String> = bench.findings().into_iter().map(|(_, text)| text).collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    cart checks rates, which its entry on the map does not declare
    the map says that cart depends on cache, but cart does not check it
    cart reports carts-db as hard, the map says soft; the report counts
    ");
    let snapshot = bench.engine.snapshot();
    let stray: Vec<String> = snapshot
        .diagnosis
        .unexplained
        .iter()
        .map(|fact| format!("{}->{}", fact.observer, fact.target))
        .collect();
    assert_eq!(
        stray,
        ["cart#0->rates"],
        "a failing check off the map is not lost"
    );
}

#[test]
fn an_override_wins_over_the_report() {
    let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Soft), true)]);
    let components = vec![component("carts-db", CheckStatus::Up, Criticality::Hard)];
    let service = bench.poll(report("cart", InstanceStatus::Healthy, components));
    assert_eq!(service.dependencies[0].criticality, Some(Criticality::Soft));
    assert!(bench.findings().is_empty());
}

#[test]
fn an_unhealthy_report_without_a_failing_component_speaks_against_its_instance() {
    let mut bench = Bench::new(Vec::new());
    bench.poll(report("cart", InstanceStatus::Unhealthy, Vec::new()));
    assert_eq!(bench.causes(), ["instance:cart#0"]);
}

#[test]
fn a_draining_instance_does_not_count_against_its_service() {
    let mut bench = Bench::new(Vec::new());
    let mut outcome = healthy();
    if let PollOutcome::Report(report) = &mut outcome {
        report.draining = true;
    }
    let service = bench.poll(outcome);
    assert_eq!(
        service.status,
        ServiceStatus::Unknown,
        "the only instance is leaving: nobody serves"
    );
    assert_eq!(service.reason, "all its instances are draining");
    assert!(bench.causes().is_empty());
}

#[test]
fn a_local_condition_is_the_instances_own_also_where_the_map_has_its_name() {
    let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)]);
    let mut pool = component("carts-db", CheckStatus::Down, Criticality::Hard);
    pool.scope = Scope::Local;
    pool.error_category = Some(ErrorCategory::ResourceExhausted);
    bench.poll(report("cart", InstanceStatus::Unhealthy, vec![pool]));
    assert_eq!(
        bench.causes(),
        ["instance:cart#0"],
        "a leaked pool is not the database's fault"
    );
}

#[test]
fn the_only_caller_that_is_refused_says_nothing_about_others() {
    let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)]);
    let mut database = component("carts-db", CheckStatus::Down, Criticality::Hard);
    database.error_category = Some(ErrorCategory::Auth);
    for run in 6..12 {
        database.seq = Some(run);
        database.checked_at = Some(bench.now);
        bench.poll(report(
            "cart",
            InstanceStatus::Unhealthy,
            vec![database.clone()],
        ));
    }
    let snapshot = bench.engine.snapshot();
    let told: Vec<&str> = snapshot
        .diagnosis
        .root_causes
        .iter()
        .map(|cause| cause.summary.as_str())
        .collect();
    assert_eq!(told, ["cart cannot use carts-db: credentials refused"]);
}

#[test]
fn a_failing_component_without_an_age_is_not_lost() {
    let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)]);
    let database = Component::new(name("carts-db"), CheckStatus::Down, Criticality::Hard);
    let service = bench.poll(report("cart", InstanceStatus::Unhealthy, vec![database]));
    assert_eq!(service.status, ServiceStatus::Unhealthy);
    assert_eq!(service.dependencies[0].status, CheckStatus::Down);
    let diagnosis = Arc::clone(&bench.engine.snapshot().diagnosis);
    let causes = diagnosis.root_causes.iter().chain(&diagnosis.suspected);
    let told = causes
        .flat_map(|cause| &cause.evidence)
        .chain(&diagnosis.unexplained)
        .any(|fact| fact.target == name("carts-db"));
    assert!(told, "{diagnosis:#?}");
}

#[test]
fn kf_077_the_reason_of_the_first_failure_is_kept_to_the_incident_whatever_its_kind() {
    for category in ErrorCategory::ALL {
        let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)]);
        for run in 1..8 {
            let mut database = component("carts-db", CheckStatus::Down, Criticality::Hard);
            database.error_category = Some(*category);
            database.error = Some("as its caller says it".into());
            database.seq = Some(run);
            database.checked_at = Some(bench.now);
            bench.poll(report("cart", InstanceStatus::Unhealthy, vec![database]));
        }
        let snapshot = bench.engine.snapshot();
        let [incident] = snapshot.open_incidents.as_slice() else {
            panic!("{category}: {:#?}", snapshot.diagnosis);
        };
        let [fact] = incident.evidence.as_slice() else {
            panic!("{category}: {incident:#?}");
        };
        assert_eq!(fact.category, Some(*category));
        assert_eq!(fact.why(), "as its caller says it");
        assert!(
            incident
                .reasons
                .iter()
                .any(|why| why.contains(category.phrase())),
            "{category}: {:?}",
            incident.reasons
        );
    }
}

#[test]
fn a_target_of_a_service_that_is_not_on_the_map_is_never_polled() {
    let map = Map::build(MapParts {
        nodes: vec![node("cart", NodeKind::Service { at_least: 1 })],
        edges: Vec::new(),
    })
    .expect("the map is valid");
    let target = Target {
        id: InstanceId {
            service: name("rates"),
            instance: name("0"),
        },
        interval: INTERVAL,
        stale_after: Duration::from_secs(22),
        thresholds: Thresholds::DEFAULT,
        source: Source::Polled,
    };
    let settings = Settings {
        epoch_interval: INTERVAL,
        hold_limit: Duration::from_secs(45),
        page_unknown_after: Duration::from_secs(120),
        references: false,
    };
    let mut engine = Engine::new(Arc::new(map), vec![target], settings, Moment::ZERO);
    engine.handle_timeout(Moment::ZERO + INTERVAL * 2);
    let asked = std::iter::from_fn(|| engine.poll_action())
        .filter(|action| matches!(action, Action::Poll(_)))
        .count();
    assert_eq!(asked, 0);
}

#[test]
fn what_is_said_of_a_resource_reads_as_a_sentence_with_one_caller_too() {
    let mut bench = Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)]);
    let mut database = component("carts-db", CheckStatus::Up, Criticality::Hard);
    bench.poll(report(
        "cart",
        InstanceStatus::Healthy,
        vec![database.clone()],
    ));
    let resource = |bench: &Bench| {
        let snapshot = bench.engine.snapshot();
        let mut named = snapshot.resources.iter();
        let found = named.find(|resource| resource.name == name("carts-db"));
        found.map(|resource| resource.reason.clone())
    };
    assert_eq!(
        resource(&bench).as_deref(),
        Some("1 of 1 caller sees it up")
    );
    database.status = CheckStatus::Down;
    database.raw_status = CheckStatus::Down;
    database.error_category = Some(ErrorCategory::ConnectionRefused);
    bench.poll(report("cart", InstanceStatus::Unhealthy, vec![database]));
    assert_eq!(
        resource(&bench).as_deref(),
        Some("1 of 1 caller sees it failing: connection refused")
    );
}

/// A hard result as a foreign service might send it, checked `age` before it arrives.
fn carts_db(bench: &Bench, status: CheckStatus, age: Duration) -> Component {
    let mut result = component("carts-db", status, Criticality::Hard);
    result.seq = None;
    result.stale_after = Some(Duration::from_millis(20_500));
    result.checked_at = Some(bench.now.saturating_sub(age));
    result
}

fn on_the_map() -> Bench {
    Bench::new(vec![edge("carts-db", Some(Criticality::Hard), false)])
}

#[test]
fn a_service_that_calls_itself_healthy_with_a_hard_dependency_down_is_shown_unhealthy() {
    let mut bench = on_the_map();
    let down = carts_db(&bench, CheckStatus::Down, Duration::ZERO);
    let cart = bench.poll(report("cart", InstanceStatus::Healthy, vec![down]));
    assert_eq!(cart.status, ServiceStatus::Unhealthy);
    assert_eq!(cart.reason, "carts-db down");
    let text = "cart#0 calls itself healthy, but by its own components it is unhealthy; the components count";
    let contradicted = (FindingKind::StatusContradicted, text.to_owned());
    assert!(bench.findings().contains(&contradicted));
    bench.poll(healthy());
    assert!(!bench.findings().contains(&contradicted));
}

#[test]
fn a_service_whose_checks_stopped_long_ago_is_not_shown_healthy() {
    let mut bench = on_the_map();
    for _ in 0..4 {
        bench.poll(healthy());
    }
    let fresh = carts_db(&bench, CheckStatus::Up, Duration::from_secs(5));
    let cart = bench.poll(report("cart", InstanceStatus::Healthy, vec![fresh]));
    assert_eq!(cart.status, ServiceStatus::Healthy);
    let old = carts_db(&bench, CheckStatus::Up, Duration::from_secs(40));
    let cart = bench.poll(report("cart", InstanceStatus::Healthy, vec![old]));
    assert_eq!(cart.status, ServiceStatus::Degraded);
    assert_eq!(cart.reason, "carts-db unknown (evidence too old)");
}

#[test]
fn a_result_that_is_sent_again_with_a_new_age_grows_old_all_the_same() {
    let mut bench = on_the_map();
    let mut last = None;
    for _ in 0..4 {
        let mut again = carts_db(&bench, CheckStatus::Up, Duration::from_millis(5));
        again.seq = Some(7);
        last = Some(bench.poll(report("cart", InstanceStatus::Healthy, vec![again])));
    }
    let cart = last.expect("it was polled");
    assert_eq!(cart.reason, "carts-db unknown (evidence too old)");
    let mut next = carts_db(&bench, CheckStatus::Up, Duration::from_millis(5));
    next.seq = Some(8);
    let cart = bench.poll(report("cart", InstanceStatus::Healthy, vec![next]));
    assert_eq!(cart.status, ServiceStatus::Healthy);
}

#[test]
fn a_report_that_tells_neither_beginnings_nor_counts_gets_its_dependency_named_once_and_for_all() {
    let mut bench = on_the_map();
    let mut began = Vec::new();
    for _ in 0..5 {
        let down = carts_db(&bench, CheckStatus::Down, Duration::from_millis(5));
        bench.poll(report("cart", InstanceStatus::Unhealthy, vec![down]));
        let snapshot = bench.engine.snapshot();
        began.extend(
            snapshot
                .diagnosis
                .root_causes
                .iter()
                .map(|cause| cause.since),
        );
    }
    assert_eq!(bench.causes(), ["node:carts-db"]);
    // One observer that says nothing of how it fails is believed from its third result on.
    assert!(began.len() >= 3, "named late: {began:?}");
    assert!(
        began.iter().all(|at| *at == began[0]),
        "it began once: {began:?}"
    );
    let incident = &bench.engine.snapshot().open_incidents[0];
    let sightings = incident
        .timeline
        .iter()
        .filter(|line| line.text.contains("sees carts-db"));
    assert_eq!(sightings.count(), 1);
}

#[test]
fn kf_064_a_pause_of_the_aggregator_is_not_blamed_on_what_it_watches() {
    let mut bench = Bench::new(Vec::new());
    bench.poll(healthy());
    for _ in 0..9 {
        bench.poll(silence());
    }
    // Nobody calls cart, and it has been silent for 90 s: two minutes would be an incident.
    assert_eq!(bench.service().status, ServiceStatus::Unknown);
    bench.pass(Duration::from_secs(300));
    assert!(bench.engine.snapshot().open_incidents.is_empty());
    let reason = bench.service().reason.clone();
    assert!(
        reason.contains("of which the aggregator itself did not run for"),
        "{reason}"
    );
    // The silence that is seen after the pause counts as ever.
    for _ in 0..125 {
        bench.pass(Duration::from_secs(1));
    }
    assert_eq!(bench.engine.snapshot().open_incidents.len(), 1);
}

#[test]
fn a_healthy_service_after_a_pause_of_the_aggregator_says_whose_silence_it_was() {
    let mut bench = Bench::new(Vec::new());
    bench.poll(healthy());
    bench.pass(Duration::from_secs(30));
    let cart = bench.service();
    assert_eq!(cart.status, ServiceStatus::Unknown);
    assert_eq!(
        cart.reason,
        "nothing usable for 30 s, of which the aggregator itself did not run for 29 s (last poll: answered with a report)"
    );
}

#[test]
fn a_hard_failure_of_what_is_on_no_map_is_its_instances_own_cause_and_opens_an_incident() {
    let mut bench = Bench::new(Vec::new());
    let components = vec![component("ledger-db", CheckStatus::Down, Criticality::Hard)];
    bench.poll(report("cart", InstanceStatus::Unhealthy, components));
    assert_eq!(bench.causes(), ["instance:cart#0"]);
    let snapshot = bench.engine.snapshot();
    let incident = &snapshot.open_incidents[0];
    assert!(
        incident.pages,
        "an entry point is unhealthy, whoever is to blame"
    );
    assert!(
        incident.reasons[0].contains("ledger-db down"),
        "{:?}",
        incident.reasons
    );
}

/// Reports come every ten seconds, and this check is made once a minute: its result is as good at 50 s as at 5.
#[test]
fn a_check_that_is_made_seldom_is_believed_until_it_is_made_again() {
    let mut bench = on_the_map();
    for minute in 0..6_u64 {
        for poll in 0..6_u64 {
            let status = if minute < 2 {
                CheckStatus::Up
            } else {
                CheckStatus::Down
            };
            let mut result = carts_db(&bench, status, Duration::from_secs(10 * poll));
            result.seq = Some(minute + 1);
            result.stale_after = Some(Duration::from_secs(122));
            bench.poll(report("cart", InstanceStatus::Healthy, vec![result]));
            let named = !bench.engine.snapshot().diagnosis.root_causes.is_empty();
            // One who looks is believed at the second or third failure, as elsewhere.
            if minute != 3 {
                let after = 10 * poll;
                assert_eq!(
                    named,
                    minute > 3,
                    "minute {minute}, {after} s after the check"
                );
            }
        }
    }
}
