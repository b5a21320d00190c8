//! Hand-built snapshots for tests: a shop of eight services, a database and a cache, judged one minute after the start.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rootward_config::{AggregatorSpec, Checked, TargetSpec};
use rootward_core::diagnosis::{
    CauseId, CauseState, Diagnosis, Fact, Impact, ImpactEffect, Ranked, RootCause, Unseen,
};
use rootward_core::incident::{CausePeriod, Incident, IncidentCause, IncidentId, TimelineEntry};
use rootward_core::snapshot::{
    DependencyView, Epoch, InstanceView, LabelSource, PollView, PollWord, ResourceView,
    ServiceView, Snapshot,
};
use rootward_core::{
    CheckStatus, Component, Criticality, Depth, EdgeParts, ErrorCategory, InstanceId,
    InstanceStatus, Map, MapParts, Moment, Name, Node, NodeKind, Report, ServiceStatus, Thresholds,
};

use tokio::sync::watch;

use crate::clock::{Clock, Reading};
use crate::published::SnapshotReader;
use crate::reload::Described;

/// The moment of the sample snapshots.
pub(crate) const NOW: Moment = Moment::from_millis(60_000);

/// When the process of the samples started: 2026-11-30T03:12:00Z.
const ORIGIN_UNIX_MILLIS: i64 = 1_796_008_320_000;

/// A reader of a snapshot that finds the clock 500 ms after it was judged. Only with paused time.
pub(crate) async fn published(snapshot: Snapshot) -> SnapshotReader {
    let clock = Clock::start_at(ORIGIN_UNIX_MILLIS);
    tokio::time::advance(NOW - Moment::ZERO + Duration::from_millis(500)).await;
    reader(snapshot, Arc::new(clock))
}

/// A reader of a snapshot that stays the newest.
pub(crate) fn reader(snapshot: Snapshot, clock: Arc<Clock>) -> SnapshotReader {
    let (_, published) = watch::channel(Arc::new(snapshot));
    SnapshotReader::new(published, clock)
}

/// What readers are told of a configuration.
pub(crate) fn description() -> Described {
    Described {
        environment: None,
        groups: Vec::new(),
        loaded_at: Moment::ZERO,
        reloads: 0,
        refused: None,
    }
}

pub(crate) fn described() -> watch::Receiver<Arc<Described>> {
    described_as(description())
}

pub(crate) fn described_as(described: Described) -> watch::Receiver<Arc<Described>> {
    watch::channel(Arc::new(described)).1
}

/// One service that is an entry point, where nobody answers; that is an incident at once.
pub(crate) fn unreachable_front() -> Checked {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = nobody.local_addr().unwrap();
    let map = Map::build(MapParts {
        nodes: vec![Node {
            name: name("front"),
            kind: NodeKind::Service { at_least: 1 },
            owner: None,
            zone: None,
            target: None,
            aliases: Vec::new(),
        }],
        edges: Vec::new(),
    });
    Checked {
        aggregator: AggregatorSpec {
            environment: None,
            zone: None,
            page_within: Duration::from_secs(45),
            page_unknown_after: Duration::ZERO,
            self_checks: Vec::new(),
        },
        listen_internal: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        map: map.unwrap(),
        targets: vec![TargetSpec {
            id: id("front", "0"),
            url: format!("http://{address}/health"),
            auth: None,
            roots: None,
            format: rootward_formats::Choice::Auto,
            interval: Duration::from_millis(100),
            timeout: Duration::from_millis(50),
            stale_after: Duration::from_millis(250),
            thresholds: Thresholds::DEFAULT,
        }],
        dns: Vec::new(),
        pushed: Vec::new(),
        groups: Vec::new(),
        namespaces: BTreeMap::new(),
        reviews: Vec::new(),
        warnings: Vec::new(),
    }
}

/// The clock 500 ms after the snapshot was judged.
pub(crate) fn reading() -> Reading {
    reading_after(500)
}

/// The clock `millis` after the snapshot was judged.
pub(crate) fn reading_after(millis: u64) -> Reading {
    Reading::fixed(NOW + Duration::from_millis(millis), ORIGIN_UNIX_MILLIS)
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(crate) fn id(service: &str, instance: &str) -> InstanceId {
    InstanceId {
        service: name(service),
        instance: name(instance),
    }
}

pub(crate) fn ago(millis: u64) -> Moment {
    NOW.saturating_sub(Duration::from_millis(millis))
}

/// The map of the shop.
pub(crate) fn map() -> Map {
    let service = |service: &str| Node {
        name: name(service),
        kind: NodeKind::Service { at_least: 1 },
        owner: Some(format!("team-{service}")),
        zone: None,
        target: None,
        aliases: Vec::new(),
    };
    let resource = |resource: &str, kind: &str| Node {
        name: name(resource),
        kind: NodeKind::Resource {
            kind: Some(name(kind)),
        },
        owner: Some("team-data".into()),
        zone: None,
        target: Some(format!("{kind}://{resource}.shop.svc")),
        aliases: Vec::new(),
    };
    let edge = |caller: &str, callee: &str, declared: Option<Criticality>| EdgeParts {
        caller: name(caller),
        callee: name(callee),
        declared,
        overrides: false,
        reason: declared.map(|_| format!("nothing works without {callee}")),
        owner: None,
    };
    let hard = Some(Criticality::Hard);
    let soft = Some(Criticality::Soft);
    let services = [
        "accounts", "cart", "checkout", "front", "orders", "payments", "rates", "search",
    ];
    let mut nodes: Vec<Node> = services.map(service).into();
    nodes.push(resource("cache", "redis"));
    nodes.push(resource("orders-db", "postgresql"));
    Map::build(MapParts {
        nodes,
        edges: vec![
            edge("front", "checkout", hard),
            edge("front", "search", soft),
            edge("checkout", "orders-db", hard),
            edge("checkout", "payments", hard),
            edge("orders", "orders-db", hard),
            edge("cart", "cache", soft),
            edge("cart", "rates", None),
            edge("payments", "accounts", hard),
        ],
    })
    .unwrap()
}

/// All is well.
pub(crate) fn healthy() -> Snapshot {
    let map = Arc::new(map());
    let services = map
        .indices()
        .filter(|node| map.is_service(*node))
        .map(|node| ServiceView {
            name: map.name(node).clone(),
            status: ServiceStatus::Healthy,
            since: Some(ago(58_000)),
            reason: "its instance is healthy".into(),
            evidence_at: Some(ago(1_000)),
            pending: false,
            instances: vec![instance(map.name(node).as_str())],
            dependencies: map
                .callees(node)
                .iter()
                .map(|edge| {
                    let edge = map.edge(*edge);
                    DependencyView {
                        caller: map.name(node).clone(),
                        callee: map.name(edge.callee).clone(),
                        criticality: edge.declared,
                        label_source: match edge.declared {
                            Some(_) => LabelSource::Map,
                            None => LabelSource::None,
                        },
                        status: CheckStatus::Up,
                        category: None,
                        failing_instances: 0,
                        observing_instances: 1,
                        reason: edge.reason.clone(),
                        owner: None,
                    }
                })
                .collect(),
        })
        .map(Arc::new)
        .collect();
    let resources = map
        .indices()
        .filter(|node| !map.is_service(*node))
        .map(|node| ResourceView {
            name: map.name(node).clone(),
            status: CheckStatus::Up,
            since: Some(ago(58_000)),
            reason: "its callers see it up".into(),
            evidence_at: Some(ago(1_200)),
            callers: map.callers(node).len(),
            failing_callers: 0,
        })
        .map(Arc::new)
        .collect();
    Snapshot {
        at: NOW,
        map,
        epoch: Some(Epoch {
            number: 4,
            started: 8,
            finished: 8,
            answered: 8,
            completed_at: ago(3_000),
        }),
        epoch_interval: Duration::from_secs(10),
        newest_evidence: Some(ago(1_000)),
        services,
        resources,
        diagnosis: Arc::default(),
        open_incidents: Vec::new(),
        resolved_incidents: Vec::new(),
        findings: Vec::new(),
        observer: rootward_core::ObserverView::SEES,
    }
}

/// A healthy instance, seen a second ago.
fn instance(service: &str) -> InstanceView {
    InstanceView {
        id: id(service, "0"),
        status: ServiceStatus::Healthy,
        last_known: Some(InstanceStatus::Healthy),
        since: Some(ago(58_000)),
        reason: "nothing that matters is wrong".into(),
        evidence_at: Some(ago(1_000)),
        last_poll: Some(PollView {
            at: ago(1_000),
            outcome: PollWord::Report,
            text: "healthy".into(),
            took_us: 1_234,
        }),
        report: Some(Arc::new(Report {
            service: name(service),
            instance: name("0"),
            version: Some(name("1.4.2")),
            zone: None,
            host: Some(name("h7")),
            status: InstanceStatus::Healthy,
            ready: true,
            draining: false,
            serving: Some(true),
            components: Vec::new(),
        })),
    }
}

/// Nothing was polled yet.
pub(crate) fn unseen() -> Snapshot {
    let mut snapshot = healthy();
    snapshot.epoch = None;
    snapshot.newest_evidence = None;
    for service in snapshot.services.iter_mut().map(Arc::make_mut) {
        service.status = ServiceStatus::Unknown;
        service.since = None;
        service.reason = "not polled yet".into();
        service.evidence_at = None;
        for instance in &mut service.instances {
            instance.status = ServiceStatus::Unknown;
            instance.last_known = None;
            instance.since = None;
            instance.reason = "not polled yet".into();
            instance.evidence_at = None;
            instance.last_poll = None;
            instance.report = None;
        }
        for dependency in &mut service.dependencies {
            dependency.status = CheckStatus::Unknown;
            dependency.observing_instances = 0;
        }
    }
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        resource.status = CheckStatus::Unknown;
        resource.since = None;
        resource.reason = "no caller has reported it yet".into();
        resource.evidence_at = None;
    }
    snapshot
}

/// `orders-db` refuses connections; `rates` is silent besides.
pub(crate) fn database_down() -> Snapshot {
    let mut snapshot = healthy();
    for service in snapshot.services.iter_mut().map(Arc::make_mut) {
        match service.name.as_str() {
            "checkout" | "orders" => fail(service),
            "rates" => silence(service),
            _ => {}
        }
    }
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        if resource.name.as_str() == "orders-db" {
            resource.status = CheckStatus::Down;
            resource.since = Some(ago(20_000));
            resource.reason = "2 of 2 callers see it down: connection refused".into();
            resource.failing_callers = 2;
        }
    }
    snapshot.diagnosis = Arc::new(diagnosis());
    snapshot.open_incidents = vec![Arc::new(incident())];
    snapshot
}

fn fail(service: &mut ServiceView) {
    service.status = ServiceStatus::Unhealthy;
    service.since = Some(ago(20_000));
    service.reason = "orders-db: connection refused".into();
    for dependency in &mut service.dependencies {
        if dependency.callee.as_str() == "orders-db" {
            dependency.status = CheckStatus::Down;
            dependency.category = Some(ErrorCategory::ConnectionRefused);
            dependency.failing_instances = 1;
        }
    }
    for instance in &mut service.instances {
        instance.status = ServiceStatus::Unhealthy;
        instance.last_known = Some(InstanceStatus::Unhealthy);
        instance.since = Some(ago(20_000));
        instance.reason = "orders-db: connection refused".into();
        let report = instance.report.as_mut().map(Arc::make_mut).unwrap();
        report.status = InstanceStatus::Unhealthy;
        report.serving = Some(false);
        report.components.push(Component {
            depth: Some(Depth::Query),
            kind: Some(name("postgresql")),
            target: Some("postgresql://orders-db.shop.svc".into()),
            error_category: Some(ErrorCategory::ConnectionRefused),
            error: Some("connection refused".into()),
            latency_us: Some(812),
            checked_at: Some(ago(900)),
            since: Some(ago(20_500)),
            seq: Some(17),
            ..Component::new(name("orders-db"), CheckStatus::Down, Criticality::Hard)
        });
    }
}

fn silence(service: &mut ServiceView) {
    service.status = ServiceStatus::Unknown;
    service.since = Some(ago(10_000));
    service.reason = "no answer for 40 s (timed out)".into();
    service.evidence_at = Some(ago(40_000));
    for instance in &mut service.instances {
        instance.status = ServiceStatus::Unknown;
        instance.since = Some(ago(10_000));
        instance.reason = "no answer for 40 s (timed out)".into();
        instance.evidence_at = Some(ago(40_000));
        instance.last_poll = Some(PollView {
            at: ago(900),
            outcome: PollWord::NoAnswer,
            text: "timed out after 2 s".into(),
            took_us: 2_000_000,
        });
        let report = instance.report.as_mut().map(Arc::make_mut).unwrap();
        report.components.push(Component {
            checked_at: Some(ago(41_000)),
            ..Component::new(name("upstream"), CheckStatus::Up, Criticality::Hard)
        });
    }
}

fn fact(observer: &str, millis_ago: u64) -> Fact {
    Fact {
        observer: observer.into(),
        target: name("orders-db"),
        status: CheckStatus::Down,
        decided: true,
        category: Some(ErrorCategory::ConnectionRefused),
        error: Some("connection refused".into()),
        at: ago(millis_ago),
        since: ago(20_500),
    }
}

fn impacts() -> Vec<Impact> {
    let impact = |service: &str, path: &[&str]| Impact {
        service: name(service),
        cause: CauseId::Node(name("orders-db")),
        effect: ImpactEffect::Impacted,
        path: path.iter().copied().map(name).collect(),
    };
    vec![
        impact("checkout", &["checkout", "orders-db"]),
        impact("front", &["front", "checkout", "orders-db"]),
        impact("orders", &["orders", "orders-db"]),
    ]
}

fn edge_cause() -> CauseId {
    CauseId::Edge {
        from: name("checkout"),
        to: name("orders-db"),
    }
}

/// The diagnosis of [`database_down`].
fn diagnosis() -> Diagnosis {
    let cause = RootCause {
        id: CauseId::Node(name("orders-db")),
        state: CauseState::Down,
        confidence: 0.97,
        margin: 5.2,
        since: ago(20_500),
        summary: "orders-db refuses connections".into(),
        evidence: vec![fact("checkout#0", 900), fact("orders#0", 1_900)],
        silent: Vec::new(),
        against: Vec::new(),
        against_count: 0,
        alternatives: vec![edge_cause()],
        group: Vec::new(),
        reasons: vec!["2 of 2 callers report connection refused".into()],
        held: None,
    };
    let suspected = RootCause {
        id: CauseId::Instance(id("rates", "0")),
        confidence: 0.4,
        summary: "rates#0 does not answer".into(),
        evidence: Vec::new(),
        alternatives: Vec::new(),
        reasons: vec!["nobody who calls it reports trouble".into()],
        held: Some("waiting for cart to be polled again".into()),
        ..cause.clone()
    };
    Diagnosis {
        root_causes: vec![cause],
        suspected: vec![suspected],
        impacted: impacts(),
        unexplained: vec![Fact {
            target: name("disk"),
            category: None,
            error: None,
            status: CheckStatus::Degraded,
            ..fact("search#0", 1_500)
        }],
        unknown: vec![Unseen {
            instance: id("rates", "0"),
        }],
        rank: vec![
            Ranked {
                id: CauseId::Node(name("orders-db")),
                margin: 10.2,
            },
            Ranked {
                id: edge_cause(),
                margin: -10.2,
            },
        ],
    }
}

/// The incident of [`database_down`].
pub(crate) fn incident() -> Incident {
    let cause = IncidentCause::Fault(CauseId::Node(name("orders-db")));
    Incident {
        id: IncidentId(2),
        cause: cause.clone(),
        state: Some(CauseState::Down),
        confidence: 0.97,
        title: "orders-db refuses connections".into(),
        pages: true,
        owner: Some("team-data".into()),
        began_at: ago(20_500),
        opened_at: ago(19_000),
        resolved_at: None,
        resolution: None,
        unconfirmed: None,
        cause_history: vec![
            CausePeriod {
                cause: IncidentCause::Fault(edge_cause()),
                from: ago(19_000),
                until: Some(ago(17_000)),
            },
            CausePeriod {
                cause,
                from: ago(17_000),
                until: None,
            },
        ],
        impacted: impacts(),
        evidence: vec![fact("checkout#0", 900), fact("orders#0", 1_900)],
        reasons: vec!["2 of 2 callers report connection refused".into()],
        alternatives: vec![edge_cause()],
        timeline: vec![TimelineEntry {
            at: ago(20_500),
            subject: "orders-db".into(),
            text: "checkout#0 sees orders-db: connection refused".into(),
        }],
    }
}

/// An incident that was resolved ten seconds ago.
pub(crate) fn resolved_incident() -> Incident {
    Incident {
        id: IncidentId(1),
        cause: IncidentCause::Unseen(name("front")),
        title: "cannot see front".into(),
        began_at: ago(40_000),
        opened_at: ago(39_000),
        resolved_at: Some(ago(10_000)),
        resolution: Some("front answers again".into()),
        impacted: Vec::new(),
        evidence: Vec::new(),
        cause_history: Vec::new(),
        alternatives: Vec::new(),
        timeline: Vec::new(),
        ..incident()
    }
}
