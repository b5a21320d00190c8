//! Reports that are sent to the aggregator, over its real listener.

use std::time::Duration;

use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderName, HeaderValue};
use rootward_config::PushSpec;
use rootward_core::snapshot::Snapshot;
use rootward_core::{Map, MapParts, Node, NodeKind, ServiceStatus, Thresholds};
use rootward_fetch::{Connection, Limits, Target};

use crate::running::{PATIENCE, Pace, Running, configuration, name};

fn running() -> Running {
    let pace = Pace {
        interval: Duration::from_secs(1),
        timeout: Duration::from_millis(500),
    };
    let mut config = configuration(pace, &[]);
    let nodes = ["nightly", "cart"].map(|service| Node {
        name: name(service),
        kind: NodeKind::Service { at_least: 1 },
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    });
    config.map = Map::build(MapParts {
        nodes: nodes.into(),
        edges: Vec::new(),
    })
    .unwrap();
    config.pushed = vec![PushSpec {
        service: name("nightly"),
        stale_after: Duration::from_secs(3_600),
        thresholds: Thresholds::DEFAULT,
    }];
    Running::start(config)
}

fn report(service: &str, instance: &str, status: &str, more: &str) -> String {
    format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"{instance}","status":"{status}"{more}}}"#
    )
}

/// The status of the answer, and its body.
async fn send(
    running: &Running,
    body: String,
    more: &[(HeaderName, &'static str)],
) -> (u16, String) {
    let target = Target::parse(&format!("http://{}/api/v1/reports", running.address)).unwrap();
    let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    for (name, value) in more {
        headers.push((name.clone(), HeaderValue::from_static(value)));
    }
    let limits = Limits {
        deadline: PATIENCE,
        max_body_bytes: 64 * 1024,
    };
    let mut connection = Connection::new(target);
    let answer = connection
        .post(&headers, body.into(), &limits)
        .await
        .unwrap();
    (
        answer.status,
        String::from_utf8(answer.body.to_vec()).unwrap(),
    )
}

fn instances(snapshot: &Snapshot) -> Vec<String> {
    let nightly = snapshot
        .services
        .iter()
        .find(|s| s.name.as_str() == "nightly");
    let instances = nightly.unwrap().instances.iter();
    instances
        .map(|i| format!("{} {}", i.id.instance, i.status))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_is_shown_until_its_time_is_over_and_who_comes_back_leaves_no_corpse() {
    let mut running = running();
    let (status, body) = send(
        &running,
        report("nightly", "a", "healthy", r#","ttl_ms":2000"#),
        &[],
    )
    .await;
    assert_eq!((status, body.as_str()), (204, ""));
    running
        .until("it is healthy", |s| instances(s) == ["a healthy"])
        .await;
    let silent = running
        .until("its time is over", |s| instances(s) == ["a unknown"])
        .await;
    let reason = &silent
        .services
        .iter()
        .find(|s| s.name.as_str() == "nightly")
        .unwrap()
        .reason;
    assert!(reason.starts_with("it has sent nothing for"), "{reason}");

    // It comes back under another name; in the end the first one is forgotten, without a failure.
    running
        .until("it is long silent", |s| {
            s.at > silent.at + Duration::from_secs(5)
        })
        .await;
    let failed = report("nightly", "b", "unhealthy", "");
    assert_eq!(send(&running, failed, &[]).await.0, 204);
    let snapshot = running
        .until("the old one is gone", |s| instances(s) == ["b unhealthy"])
        .await;
    let nightly = snapshot
        .services
        .iter()
        .find(|s| s.name.as_str() == "nightly")
        .unwrap();
    assert_eq!(nightly.status, ServiceStatus::Unhealthy);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_103_what_is_not_taken_gets_a_sentence_and_changes_nothing() {
    let mut running = running();
    let good = || report("nightly", "a", "healthy", r#","seq":5"#);
    let mut answers = Vec::new();
    for (body, more) in [
        (report("cart", "a", "healthy", ""), None),
        (report("no-such", "a", "healthy", ""), None),
        ("{}".to_owned(), None),
        (report("nightly", "a", "healthy", r#","ttl_ms":5"#), None),
        (report("nightly", "a", "healthy", r#","ttl_ms":"1h""#), None),
        (" ".repeat(1024 * 1024 + 1), None),
        (good(), Some((CONTENT_TYPE, "text/plain"))),
        (good(), Some((ORIGIN, "https://evil.example"))),
        (good(), Some((ORIGIN, "null"))),
    ] {
        let more: Vec<_> = more.into_iter().collect();
        let (status, body) = send(&running, body, &more).await;
        answers.push(format!("{status} {body}"));
    }
    let snapshot = running.until("now", |_| true).await;
    assert!(instances(&snapshot).is_empty());
    assert_eq!(
        send(&running, good(), &[(ORIGIN, "http://127.0.0.1:8791")])
            .await
            .0,
        204
    );
    let sent = running.until("now", |_| true).await.at;
    running
        .until("a little later", |s| s.at > sent + Duration::from_secs(1))
        .await;
    let older = report("nightly", "a", "unhealthy", r#","seq":4"#);
    let (status, body) = send(&running, older, &[]).await;
    answers.push(format!("{status} {body}"));
    insta::assert_snapshot!(answers.join("\n"), @r#"
    404 {"error":{"code":"not_found","message":"cart is no service that sends reports: write `health: {push: true}` for it in the configuration"}}
    404 {"error":{"code":"not_found","message":"no-such is no service that sends reports: write `health: {push: true}` for it in the configuration"}}
    400 {"error":{"code":"bad_request","message":"that is no report: not a rootward report: it has no field `contract`"}}
    400 {"error":{"code":"bad_request","message":"ttl_ms is at least 1000 and at most 40 days"}}
    400 {"error":{"code":"bad_request","message":"ttl_ms and seq are whole numbers, or are left out"}}
    413 {"error":{"code":"too_large","message":"the report is larger than 1 MiB, or did not arrive within 10 s"}}
    415 {"error":{"code":"unsupported_media_type","message":"a report is sent with content-type: application/json"}}
    403 {"error":{"code":"forbidden","message":"a page of another site may not send reports"}}
    403 {"error":{"code":"forbidden","message":"a page of another site may not send reports"}}
    409 {"error":{"code":"older","message":"a newer report of this instance was taken before"}}
    "#);
    running
        .until("it is healthy", |s| instances(s) == ["a healthy"])
        .await;
    running.stop().await;
}
