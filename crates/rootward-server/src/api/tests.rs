//! The answers, byte for byte, from hand-built snapshots.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use rootward_config::GroupSpec;
use rootward_core::incident::IncidentEvent;
use rootward_core::snapshot::{Finding, FindingKind, Subject, Transition};
use rootward_core::{ServiceStatus, Snapshot};
use rootward_history::{Error, ErrorKind, History, Memory, Reader};
use tower_service::Service;

use super::{Shared, router};
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::reload::{Described, Refused};
use crate::sample;

/// The router over a snapshot, with two changes of status and a resolved incident in the history.
async fn over(snapshot: Snapshot) -> Router {
    over_with(snapshot, None).await
}

/// The same, with what the files held last refused.
async fn over_with(snapshot: Snapshot, refused: Option<Refused>) -> Router {
    let mut history = Memory::new();
    for (at, from, to) in [
        (2_000, "unknown", "healthy"),
        (40_000, "healthy", "unhealthy"),
    ] {
        history
            .record(&Transition {
                at: sample::ago(60_000 - at),
                subject: Subject::Service(sample::name("checkout")),
                from,
                to,
                reason: format!("it became {to}"),
            })
            .unwrap();
    }
    let resolved = Arc::new(sample::resolved_incident());
    history
        .record_incident(&IncidentEvent::Resolved(resolved))
        .unwrap();
    let ledger = Ledger::new(Box::new(history));
    let snapshots = sample::published(snapshot).await;
    let group = |name: &str, members: &[&str]| GroupSpec {
        name: sample::name(name),
        members: members.iter().copied().map(sample::name).collect(),
        public_name: Some(format!("The {name}")),
    };
    let described = sample::described_as(Described {
        environment: Some(sample::name("demo")),
        groups: vec![
            group("checkout", &["front", "cart"]),
            group("accounts", &["accounts", "rates"]),
        ],
        reloads: 2,
        refused: refused.map(|refused| (sample::ago(5_000), refused)),
        ..sample::description()
    });
    router(Shared {
        metrics: Arc::new(Metrics::new(snapshots.clone(), described.clone())),
        snapshots,
        history: ledger.reader(),
        write_health: ledger.write_health(),
        described,
        pushes: tokio::sync::mpsc::channel(1).0,
    })
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    /// Status and body, to pin.
    fn text(&self) -> String {
        let json: Result<serde_json::Value, _> = serde_json::from_str(&self.body);
        let body = match &json {
            Ok(json) => serde_json::to_string_pretty(json).unwrap(),
            Err(_) => self.body.clone(),
        };
        format!("{}\n{body}", self.status)
    }

    fn message(&self) -> String {
        let json: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        let error = &json["error"];
        let word = |field: &str| error[field].as_str().unwrap().to_owned();
        let code = self.status.as_u16();
        format!("{code} {}: {}", word("code"), word("message"))
    }
}

async fn send(mut router: Router, request: Request<Body>) -> Answer {
    let response = router.call(request).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        status: head.status,
        headers: head.headers,
        body: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

fn request(path: &str) -> http::request::Builder {
    Request::get(path).header("host", "127.0.0.1:8791")
}

async fn get(snapshot: Snapshot, path: &str) -> Answer {
    let request = request(path).body(Body::empty()).unwrap();
    send(over(snapshot).await, request).await
}

/// The database is down, `rates` is silent, and the map has something to say.
fn trouble() -> Snapshot {
    let mut snapshot = sample::database_down();
    snapshot.resolved_incidents = vec![Arc::new(sample::resolved_incident())];
    snapshot.findings = vec![Finding {
        kind: FindingKind::UndeclaredDependency,
        subject: sample::name("cart"),
        text: "cart reports a check of search, which its map entry does not declare".into(),
    }];
    snapshot
}

#[tokio::test(start_paused = true)]
async fn the_overview_of_trouble() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/overview").await.text());
}

/// When it was made and how new its newest evidence is are two moments: only the second shows that somebody still looks.
#[tokio::test(start_paused = true)]
async fn kf_071_an_overview_says_when_it_was_made_and_how_new_its_newest_evidence_is() {
    let seen: serde_json::Value =
        serde_json::from_str(&get(trouble(), "/api/v1/overview").await.body).unwrap();
    let (made, newest) = (&seen["generated_at"], &seen["newest_evidence_at"]);
    assert!(made.is_string() && newest.is_string(), "{made} {newest}");
    assert_ne!(made, newest);
    let unseen = get(sample::unseen(), "/api/v1/overview").await.body;
    let unseen: serde_json::Value = serde_json::from_str(&unseen).unwrap();
    assert!(unseen["generated_at"].is_string() && unseen["newest_evidence_at"].is_null());
}

#[tokio::test(start_paused = true)]
async fn the_overview_before_anything_was_seen() {
    insta::assert_snapshot!(get(sample::unseen(), "/api/v1/overview").await.text());
}

#[tokio::test(start_paused = true)]
async fn a_failing_service_and_its_instances() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/services/checkout").await.text());
}

#[tokio::test(start_paused = true)]
async fn a_silent_service_is_unknown_and_so_is_what_it_said() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/services/rates").await.text());
}

#[tokio::test(start_paused = true)]
async fn a_failing_resource_and_its_callers() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/resources/orders-db").await.text());
}

#[tokio::test(start_paused = true)]
async fn the_diagnosis() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/diagnosis").await.text());
}

#[tokio::test(start_paused = true)]
async fn the_incidents() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/incidents").await.text());
}

#[tokio::test(start_paused = true)]
async fn one_incident_open_or_remembered() {
    let open = get(trouble(), "/api/v1/incidents/inc-2").await;
    assert_eq!(open.status, 200);
    assert!(open.body.contains(r#""id":"inc-2","state":"open""#));
    // The snapshot of a healthy shop lists no incidents; the history has one.
    let over = get(sample::healthy(), "/api/v1/incidents/inc-1").await;
    assert_eq!(over.status, 200);
    assert!(over.body.contains(r#""id":"inc-1","state":"resolved""#));
}

#[tokio::test(start_paused = true)]
async fn the_transitions_newest_first() {
    insta::assert_snapshot!(get(trouble(), "/api/v1/transitions").await.text());
    let newest = get(trouble(), "/api/v1/transitions?limit=1").await;
    assert_eq!(newest.body.matches(r#""subject""#).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn those_that_deserve_a_look_come_first() {
    let mut snapshot = sample::healthy();
    let statuses = [
        ("search", ServiceStatus::Degraded),
        ("rates", ServiceStatus::Unknown),
        ("payments", ServiceStatus::Starting),
        ("orders", ServiceStatus::Unhealthy),
        ("accounts", ServiceStatus::Unhealthy),
    ];
    for service in snapshot.services.iter_mut().map(Arc::make_mut) {
        for (name, status) in statuses {
            if service.name.as_str() == name {
                service.status = status;
            }
        }
        service.pending = service.name.as_str() == "front";
    }
    snapshot.diagnosis = sample::database_down().diagnosis;
    let answer = get(snapshot, "/api/v1/overview").await;
    let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let rows = json["services"].as_array().unwrap().iter();
    let names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    // Checkout and front are healthy and impacted, front may flip besides.
    assert_eq!(
        names,
        [
            "orders", "accounts", "payments", "rates", "search", "front", "checkout", "cart"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_gets_a_sentence() {
    let mut lines = Vec::new();
    for path in [
        "/api/v1/services/cartt",
        "/api/v1/services/nothing-like-it",
        "/api/v1/services/orders-db",
        "/api/v1/services/a/b%0A",
        "/api/v1/services/%FF",
        "/api/v1/resources/orders-bd",
        "/api/v1/resources/cart",
        "/api/v1/incidents/inc-9",
        "/api/v1/incidents/7",
        "/api/v1/transitions?limit=0",
        "/api/v1/transitions?limit=many",
        "/api/v1/transitions?limit=1001",
        "/api/v1",
        "/favicon.ico",
    ] {
        lines.push(format!(
            "{path}\n  {}",
            get(trouble(), path).await.message()
        ));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    /api/v1/services/cartt
      404 not_found: no service is named cartt; did you mean cart?
    /api/v1/services/nothing-like-it
      404 not_found: no service is named nothing-like-it; /api/v1/overview lists every service
    /api/v1/services/orders-db
      404 not_found: orders-db is a resource, not a service; ask /api/v1/resources/orders-db
    /api/v1/services/a/b%0A
      404 not_found: no service is named a/b\n; /api/v1/overview lists every service
    /api/v1/services/%FF
      400 bad_request: the name at the end of the path is not UTF-8
    /api/v1/resources/orders-bd
      404 not_found: no resource is named orders-bd; did you mean orders-db?
    /api/v1/resources/cart
      404 not_found: cart is a service, not a resource; ask /api/v1/services/cart
    /api/v1/incidents/inc-9
      404 not_found: no incident inc-9 is remembered; /api/v1/incidents lists those that are
    /api/v1/incidents/7
      404 not_found: no incident has that key; keys are written like inc-7
    /api/v1/transitions?limit=0
      400 bad_request: limit is a whole number from 1 to 1000
    /api/v1/transitions?limit=many
      400 bad_request: limit is a whole number from 1 to 1000
    /api/v1/transitions?limit=1001
      400 bad_request: limit is a whole number from 1 to 1000
    /api/v1
      404 not_found: nothing is served at this path; the page is at /, the API begins at /api/v1/overview
    /favicon.ico
      404 not_found: nothing is served at this path; the page is at /, the API begins at /api/v1/overview
    ");
}

#[tokio::test(start_paused = true)]
async fn nothing_can_be_changed() {
    for path in ["/api/v1/overview", "/livez", "/", "/nothing"] {
        let request = request(path).method(Method::POST).body(Body::empty());
        let answer = send(over(trouble()).await, request.unwrap()).await;
        assert_eq!(answer.headers["allow"], "GET, HEAD");
        insta::allow_duplicates! {
            insta::assert_snapshot!(answer.message(), @"405 method_not_allowed: nothing can be changed here: only GET and HEAD are answered");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn head_has_no_body() {
    let request = request("/api/v1/overview").method(Method::HEAD);
    let answer = send(over(trouble()).await, request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test(start_paused = true)]
async fn a_foreign_name_is_refused_everywhere_but_for_liveness() {
    let ask = async |path: &str, uri_host: &str, host: &str| {
        let uri = format!("{uri_host}{path}");
        let request = Request::get(uri).header("host", host).body(Body::empty());
        send(over(trouble()).await, request.unwrap()).await
    };
    for path in ["/api/v1/overview", "/", "/metrics", "/readyz", "/nothing"] {
        let answer = ask(path, "", "rebind.example:8791").await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(answer.message(), @"421 misdirected_request: this address answers in the names localhost, 127.0.0.1 and [::1] only; a page of another site may have asked under a name of its own");
        }
        let answer = ask(path, "http://rebind.example", "localhost").await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST);
    }
    let answer = ask("/livez", "", "rebind.example").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn every_answer_says_how_it_may_be_used() {
    let api = get(trouble(), "/api/v1/overview").await;
    let missing = get(trouble(), "/nothing").await;
    let page = get(trouble(), "/").await;
    for answer in [&api, &missing, &page] {
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
    for answer in [&api, &missing] {
        assert_eq!(answer.headers["content-type"], "application/json");
        let policy = &answer.headers["content-security-policy"];
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'");
    }
    assert_eq!(
        page.headers["content-type"],
        rootward_ui::index().content_type
    );
    let policy = &page.headers["content-security-policy"];
    assert_eq!(policy, rootward_ui::CONTENT_SECURITY_POLICY);
}

#[tokio::test(start_paused = true)]
async fn the_page_and_all_it_needs_are_served() {
    for asset in rootward_ui::all() {
        let answer = get(sample::healthy(), asset.path).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", asset.path);
        assert_eq!(answer.body.as_bytes(), asset.body, "{}", asset.path);
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_says_what_is_missing() {
    assert_eq!(
        get(sample::healthy(), "/readyz").await.status,
        StatusCode::OK
    );
    insta::assert_snapshot!(get(sample::unseen(), "/readyz").await.text(), @r#"
    503 Service Unavailable
    {
      "ready": false,
      "reasons": [
        "no polling round was completed yet; one is due every 10 s"
      ]
    }
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_history_that_cannot_be_written_shows_in_readiness() {
    let mut ledger = Ledger::new(Box::new(Full));
    let snapshots = sample::published(sample::healthy()).await;
    let shared = Shared {
        metrics: Arc::new(Metrics::new(snapshots.clone(), sample::described())),
        snapshots,
        history: ledger.reader(),
        write_health: ledger.write_health(),
        described: sample::described(),
        pushes: tokio::sync::mpsc::channel(1).0,
    };
    let opened = IncidentEvent::Opened(Arc::new(sample::incident()));
    assert!(!ledger.record_incident(&opened));
    let request = request("/readyz").body(Body::empty()).unwrap();
    insta::assert_snapshot!(send(router(shared), request).await.text(), @r#"
    503 Service Unavailable
    {
      "ready": false,
      "reasons": [
        "the last change of status could not be written to the history"
      ]
    }
    "#);
}

/// A history that takes nothing.
#[derive(Debug)]
struct Full;

impl History for Full {
    fn record(&mut self, _: &Transition) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unavailable, "the disk is full", None))
    }

    fn record_incident(&mut self, _: &IncidentEvent) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unavailable, "the disk is full", None))
    }

    fn reader(&self) -> Arc<dyn Reader> {
        Memory::new().reader()
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_in_open_metrics() {
    let answer = get(trouble(), "/metrics").await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(answer.headers["content-type"], kind);
    insta::assert_snapshot!(answer.body);
}

#[tokio::test(start_paused = true)]
async fn a_refused_configuration_is_in_the_overview_and_in_the_metrics() {
    let refused = Refused::new((1..=23).map(|n| format!("rootward.yaml:{n}:1: something")));
    let router = over_with(sample::healthy(), Some(refused)).await;
    let overview = request("/api/v1/overview").body(Body::empty()).unwrap();
    let answer = send(router.clone(), overview).await;
    let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let told = &json["configuration"]["refused"];
    assert_eq!(told["problems"].as_array().unwrap().len(), 20);
    assert_eq!(
        (&told["left_out"], &told["age_ms"]),
        (&3.into(), &5_500.into())
    );
    let metrics = request("/metrics").body(Body::empty()).unwrap();
    let answer = send(router, metrics).await;
    let line = "rootward_config_last_reload_successful 0.0";
    assert!(answer.body.contains(line), "{}", answer.body);
}
