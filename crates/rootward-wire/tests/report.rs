//! What is written can be read, and is what the specification says.

use std::borrow::Cow;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rootward_core::{
    CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Moment, Scope,
};
use rootward_wire::v1::{
    ComponentBody, FindingBody, LivezBody, PublicStatus, ReadyzBody, ReportBody, StartupzBody,
    StatusBody, convert, parse, to_core,
};
use rootward_wire::{Time, Word, WordSet};

fn example() -> ReportBody<'static> {
    let mut orders_db = ComponentBody::new("orders-db", CheckStatus::Down, Criticality::Hard);
    orders_db.latency_ms = Some(convert::latency_ms(500_125));
    orders_db.last_checked = Some(Time::from_unix_millis(1_796_008_360_120));
    orders_db.age_ms = Some(900);
    orders_db.error = Some("timed out after 500 ms".into());
    orders_db.error_category = Some(ErrorCategory::Timeout.into());
    orders_db.error_ref = Some("e-17".into());
    orders_db.raw_status = Some(CheckStatus::Up.into());
    orders_db.pending = Some(1);
    orders_db.seq = Some(42);
    orders_db.since = Some(Time::from_unix_millis(1_796_008_300_000));
    orders_db.since_age_ms = Some(61_020);
    orders_db.scope = Some(Scope::Shared.into());
    orders_db.depth = Some(Depth::Query.into());
    orders_db.kind = Some("postgresql".into());
    orders_db.target = Some("postgresql://orders-db:5432/orders".into());
    orders_db.owner = Some("team-data".into());
    orders_db.interval_ms = Some(10_000);
    orders_db.timeout_ms = Some(500);
    orders_db.gates_readiness = Some(false);

    let mut report = ReportBody::new("orders", "orders-0", InstanceStatus::Unhealthy);
    report.version = Some("1.4.2".into());
    report.environment = Some("demo".into());
    report.namespace = Some("shop".into());
    report.zone = Some("a".into());
    report.host = Some("node-1".into());
    report.uptime_s = Some(3600);
    report.ready = Some(true);
    report.draining = Some(false);
    report.serving = Some(false);
    report.loop_lag_ms = Some(0.25);
    report.components = vec![orders_db];
    report.errors = vec!["orders-db".into()];
    report.findings = vec![FindingBody {
        kind: "probe_misuse".into(),
        text: Some("a load balancer asks for /health".into()),
    }];
    report
}

#[test]
fn the_report_has_the_fields_of_the_specification_in_its_order() {
    let json = serde_json::to_string_pretty(&example()).unwrap();
    insta::assert_snapshot!(json, @r#"
{
  "contract": "rootward/1",
  "service": "orders",
  "instance": "orders-0",
  "version": "1.4.2",
  "environment": "demo",
  "namespace": "shop",
  "zone": "a",
  "host": "node-1",
  "status": "unhealthy",
  "uptime_s": 3600,
  "ready": true,
  "draining": false,
  "serving": false,
  "loop_lag_ms": 0.25,
  "components": [
    {
      "name": "orders-db",
      "status": "down",
      "criticality": "hard",
      "latency_ms": 500.125,
      "last_checked": "2026-11-30T03:12:40.120Z",
      "age_ms": 900,
      "error": "timed out after 500 ms",
      "error_category": "timeout",
      "error_ref": "e-17",
      "raw_status": "up",
      "pending": 1,
      "seq": 42,
      "since": "2026-11-30T03:11:40.000Z",
      "since_age_ms": 61020,
      "scope": "shared",
      "depth": "query",
      "kind": "postgresql",
      "target": "postgresql://orders-db:5432/orders",
      "owner": "team-data",
      "interval_ms": 10000,
      "timeout_ms": 500,
      "gates_readiness": false
    }
  ],
  "warnings": [],
  "errors": [
    "orders-db"
  ],
  "findings": [
    {
      "kind": "probe_misuse",
      "text": "a load balancer asks for /health"
    }
  ]
}
"#);
}

#[test]
fn what_is_not_known_is_not_written() {
    let mut report = ReportBody::new("cart", "0", InstanceStatus::Healthy);
    report.components = vec![ComponentBody::new(
        "redis",
        CheckStatus::Unknown,
        Criticality::Soft,
    )];
    insta::assert_snapshot!(String::from_utf8(report.to_json()).unwrap(), @r#"{"contract":"rootward/1","service":"cart","instance":"0","status":"healthy","components":[{"name":"redis","status":"unknown","criticality":"soft"}],"warnings":[],"errors":[],"findings":[]}"#);
}

#[test]
fn times_of_the_core_come_from_ages_and_not_from_the_senders_clock() {
    let mut report = example();
    report.components[0].last_checked = Some(Time::from_unix_millis(0));
    let core = to_core(&report, Moment::from_millis(1_000_000)).unwrap();
    let component = &core.components[0];
    assert_eq!(component.checked_at, Some(Moment::from_millis(999_100)));
    assert_eq!(component.since, Some(Moment::from_millis(938_980)));
    assert_eq!(component.latency_us, Some(500_125));
}

#[test]
fn a_start_of_the_status_without_an_age_is_not_computed_with() {
    let mut report = example();
    report.components[0].since_age_ms = None;
    let core = to_core(&report, Moment::from_millis(1_000_000)).unwrap();
    assert_eq!(core.components[0].since, None);
}

#[test]
fn only_local_and_hard_gates_readiness_unless_the_report_says_otherwise() {
    for scope in Scope::ALL {
        for criticality in Criticality::ALL {
            let mut report = ReportBody::new("cart", "0", InstanceStatus::Healthy);
            let mut component = ComponentBody::new("x", CheckStatus::Up, *criticality);
            component.scope = Some((*scope).into());
            report.components = vec![component];
            let gates = |report: &ReportBody<'_>| {
                to_core(report, Moment::ZERO).unwrap().components[0].gates_readiness
            };
            assert_eq!(
                gates(&report),
                *scope == Scope::Local && *criticality == Criticality::Hard
            );
            report.components[0].gates_readiness = Some(true);
            assert!(gates(&report));
        }
    }
}

#[test]
fn the_small_bodies_have_the_fields_of_the_specification() {
    let livez = LivezBody {
        alive: true,
        reason: None,
    };
    let readyz = ReadyzBody {
        ready: false,
        reasons: vec!["draining".into()],
        serving: Some(true),
        loop_lag_ms: Some(1.5),
    };
    let startupz = StartupzBody {
        started: false,
        held: vec!["migrations".into()],
    };
    let status = StatusBody {
        status: PublicStatus::Up.into(),
    };
    let json = [
        serde_json::to_string(&livez).unwrap(),
        serde_json::to_string(&readyz).unwrap(),
        serde_json::to_string(&startupz).unwrap(),
        serde_json::to_string(&status).unwrap(),
    ];
    insta::assert_snapshot!(json.join("\n"), @r#"
{"alive":true}
{"ready":false,"reasons":["draining"],"serving":true,"loop_lag_ms":1.5}
{"started":false,"held":["migrations"]}
{"status":"up"}
"#);
}

fn word<T: WordSet>() -> impl Strategy<Value = Word<T>> {
    select(T::ALL).prop_map(Word::Known)
}

fn name() -> impl Strategy<Value = Cow<'static, str>> {
    "[a-z0-9][a-zA-Z0-9_./:@-]{0,30}".prop_map(Cow::Owned)
}

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    any::<String>().prop_map(Cow::Owned)
}

fn time() -> impl Strategy<Value = Time> {
    (-62_135_596_800_000_i64..253_370_764_800_000).prop_map(Time::from_unix_millis)
}

prop_compose! {
    fn component()(
        name in name(),
        (status, raw_status, criticality) in (word(), option::of(word()), word()),
        latency_us in option::of(0_u64..1 << 50),
        (last_checked, since) in (option::of(time()), option::of(time())),
        (age_ms, since_age_ms) in (option::of(0_u64..1 << 40), option::of(0_u64..1 << 40)),
        (error, error_category, error_ref) in (option::of(text()), option::of(word()), option::of(text())),
        (pending, seq) in (any::<Option<u8>>(), any::<Option<u64>>()),
        (scope, depth, kind) in (option::of(word()), option::of(word()), option::of(name())),
        (target, owner) in (option::of(text()), option::of(text())),
        (interval_ms, timeout_ms, gates_readiness) in any::<(Option<u64>, Option<u64>, Option<bool>)>(),
    ) -> ComponentBody<'static> {
        ComponentBody {
            name, status, criticality, latency_ms: latency_us.map(convert::latency_ms), last_checked, age_ms, error,
            error_category, error_ref, raw_status, pending, seq, since, since_age_ms, scope, depth, kind, target,
            owner, interval_ms, timeout_ms, gates_readiness,
        }
    }
}

prop_compose! {
    fn report()(
        (service, instance) in (name(), name()),
        (version, environment, namespace) in (option::of(name()), option::of(text()), option::of(text())),
        (zone, host) in (option::of(name()), option::of(name())),
        status in word(),
        (uptime_s, ready, draining, serving) in any::<(Option<u64>, Option<bool>, Option<bool>, Option<bool>)>(),
        loop_lag_ms in option::of(0.0..1e9_f64),
        mut components in proptest::collection::vec(component(), 0..6),
        findings in proptest::collection::vec((text(), option::of(text())), 0..3),
    ) -> ReportBody<'static> {
        for (index, component) in components.iter_mut().enumerate() {
            component.name.to_mut().push_str(&format!("-{index}"));
        }
        let (warnings, errors) = components.iter().map(|c| c.name.clone()).partition(|name| name.len() % 2 == 0);
        let findings = findings.into_iter().map(|(kind, text)| FindingBody { kind, text }).collect();
        ReportBody {
            version, environment, namespace, zone, host, uptime_s, ready, draining, serving, loop_lag_ms, components,
            warnings, errors, findings,
            ..ReportBody::new(service, instance, match status {
                Word::Known(status) => status,
                Word::Other(_) => InstanceStatus::Starting,
            })
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(report in report(), received_at in (1_u64 << 41..1 << 42).prop_map(Moment::from_millis)) {
        let json = report.to_json();
        let read = parse(&json).unwrap();
        prop_assert_eq!(&read, &report);

        let core = to_core(&read, received_at).unwrap();
        prop_assert_eq!(core.service.as_str(), &report.service);
        prop_assert_eq!(core.components.len(), report.components.len());
        for (ours, theirs) in core.components.iter().zip(&report.components) {
            prop_assert_eq!(ours.name.as_str(), &theirs.name);
            prop_assert_eq!(Some(ours.status), theirs.status.known());
            prop_assert_eq!(Some(ours.criticality), theirs.criticality.known());
            prop_assert_eq!(ours.latency_us.map(convert::latency_ms), theirs.latency_ms);
            let age = |at: Option<Moment>| at.map(|at| u64::try_from((received_at - at).as_millis()).unwrap());
            prop_assert_eq!(age(ours.checked_at), theirs.age_ms);
            prop_assert_eq!(age(ours.since), theirs.since_age_ms);
            prop_assert_eq!(ours.seq, theirs.seq);
        }
    }

    /// Whatever arrives, the answer is a report or a sentence.
    #[test]
    fn kf_106_a_damaged_report_never_panics(report in report(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = report.to_json();
        let at = at.index(json.len());
        json[at] = byte;
        if let Err(refused) = rootward_wire::v1::read(&json, Moment::ZERO) {
            prop_assert!(!refused.to_string().is_empty());
        }
        let _ = ReadyzBody::read(&json[..at]);
    }
}
