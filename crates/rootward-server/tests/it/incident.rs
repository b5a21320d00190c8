//! From failing checks to an incident and back, over HTTP and in the log.

use rootward_core::{Criticality, EdgeParts, Map, MapParts, Node, NodeKind};
use rootward_wire::v1::api;

use crate::fleet::{Fleet, Manner};
use crate::log;
use crate::running::{Pace, Running, configuration, name};

/// A report with one check of `db`.
fn report(service: &str, status: &str, db: &str) -> Manner {
    let error = match db {
        "up" => "",
        _ => r#","error_category":"connection_refused","error":"connection refused""#,
    };
    let body = format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"0","status":"{status}","components":[
           {{"name":"db","status":"{db}","raw_status":"{db}","criticality":"hard","age_ms":10{error}}}]}}"#
    );
    Manner::answer("200 OK", &body)
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> T {
    serde_json::from_slice(body).unwrap()
}

#[tokio::test]
async fn a_dead_database_becomes_one_incident_and_its_recovery_closes_it() {
    log::listen();
    let fleet = Fleet::new();
    let services = ["cart", "orders"];
    let targets = services.map(|service| {
        let (address, _, manner) = fleet.start_changing(report(service, "healthy", "up"));
        (service, address, manner)
    });
    let addresses: Vec<_> = targets
        .iter()
        .map(|(s, address, _)| (*s, *address))
        .collect();
    let mut config = configuration(Pace::millis(200, 150), &addresses);
    config.map = map(&services);
    let mut running = Running::start(config);
    running
        .until("all is well", |s| {
            s.services.iter().all(|s| s.status.as_str() == "healthy")
        })
        .await;

    for (service, _, manner) in &targets {
        manner.set(report(service, "unhealthy", "down"));
    }
    running
        .until("an incident is open", |s| !s.open_incidents.is_empty())
        .await;
    let overview: api::Overview = read(&running.get("/api/v1/overview").await.body);
    assert_eq!(overview.incidents.len(), 1);
    assert_eq!(overview.headline, overview.incidents[0].title);
    assert_eq!(overview.incidents[0].cause, "node:db");
    let database: api::ResourceDetail = read(&running.get("/api/v1/resources/db").await.body);
    assert!(database.row.root_cause);
    assert_eq!((database.row.callers, database.row.failing_callers), (2, 2));

    for (service, _, manner) in &targets {
        manner.set(report(service, "healthy", "up"));
    }
    running
        .until("it is over", |s| {
            s.open_incidents.is_empty() && s.resolved_incidents.len() == 1
        })
        .await;
    let key = &overview.incidents[0].id;
    let incident: api::Incident =
        read(&running.get(&format!("/api/v1/incidents/{key}")).await.body);
    assert_eq!(incident.state.as_str(), "resolved");
    let transitions: api::Transitions = read(&running.get("/api/v1/transitions").await.body);
    let of = |subject: &str| -> Vec<String> {
        let mut of_it = transitions.transitions.iter().rev();
        let of_it = of_it.by_ref().filter(|t| t.subject == subject);
        of_it.map(|t| t.to.clone()).collect()
    };
    assert_eq!(of("service:cart"), ["healthy", "unhealthy", "healthy"]);
    // Between up and down it may be degraded, while only one of the two has said so.
    let mut of_database = of("resource:db");
    of_database.retain(|status| status != "degraded");
    assert_eq!(of_database, ["up", "down", "up"]);

    let metrics = running.get("/metrics").await.body;
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    for line in [
        "rootward_incidents_opened_total 1",
        "rootward_incidents_resolved_total 1",
        "rootward_incidents_open 0.0",
        r#"rootward_service_status{service="cart",status="healthy"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    let (summary, _) = running.stop().await;
    assert_eq!(
        (summary.incidents_opened, summary.incidents_resolved),
        (1, 1)
    );
    // A line for each change, one for each step of the incident, one each for start and stop; none for polls.
    let lines = log::lines();
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    let changed = count("status changed");
    assert_eq!(changed as u64, summary.transitions);
    assert_eq!(count("incident opened"), 1);
    assert_eq!(count("incident resolved"), 1);
    let revised = count("incident revised");
    let all = changed + revised + 4;
    assert_eq!(lines.len(), all, "{lines:#?}");
    let opened = lines.iter().find(|line| line.contains("incident opened"));
    assert!(opened.unwrap().contains("cause=node:db"), "{opened:?}");
    assert!(summary.polls.report >= 6, "{summary:?}");
}

/// Services that all need `db`.
fn map(services: &[&str]) -> Map {
    let node = |text: &str, kind: NodeKind| Node {
        name: name(text),
        kind,
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    };
    let mut nodes: Vec<_> = services
        .iter()
        .map(|service| node(service, NodeKind::Service { at_least: 1 }))
        .collect();
    nodes.push(node("db", NodeKind::Resource { kind: None }));
    let edges = services.iter().map(|service| EdgeParts {
        caller: name(service),
        callee: name("db"),
        declared: Some(Criticality::Hard),
        overrides: false,
        reason: None,
        owner: None,
    });
    Map::build(MapParts {
        nodes,
        edges: edges.collect(),
    })
    .unwrap()
}
