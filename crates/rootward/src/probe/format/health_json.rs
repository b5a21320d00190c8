//! `application/health+json`: the report in the shape of the IETF draft draft-inadarei-api-health-check (06, expired).
//!
//! Made from the report of the contract and from nothing else, so it cannot say more. The draft has no word for "no
//! evidence": a check without evidence has no `status` here, which the draft allows, and says so in `output`; never
//! `pass`.

use std::collections::BTreeMap;

use rootward_core::{CheckStatus, InstanceStatus};
use rootward_wire::v1::{ComponentBody, ReportBody};
use rootward_wire::{Time, Word};
use serde::Serialize;

use crate::probe::reply::to_json;

/// The kinds whose component is a datastore in the draft's words.
const DATASTORES: [&str; 16] = [
    "cassandra",
    "clickhouse",
    "cockroachdb",
    "couchdb",
    "elasticsearch",
    "etcd",
    "mariadb",
    "memcached",
    "mongodb",
    "mssql",
    "mysql",
    "opensearch",
    "oracle",
    "postgresql",
    "redis",
    "sqlite",
];

#[derive(Serialize)]
struct Body<'a> {
    status: &'static str,
    #[serde(rename = "serviceId")]
    service_id: &'a str,
    #[serde(rename = "releaseId", skip_serializing_if = "Option::is_none")]
    release_id: Option<&'a str>,
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    checks: BTreeMap<String, Vec<Element<'a>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Element<'a> {
    component_id: &'a str,
    component_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

/// The same report.
pub(in crate::probe) fn health_json(report: &ReportBody<'_>) -> Vec<u8> {
    let mut checks: BTreeMap<String, Vec<Element<'_>>> = BTreeMap::new();
    for component in &report.components {
        // A colon ends the name of the component in a key; the whole name is in the element.
        let name = component.name.replace(':', "-");
        let key = format!("{name}:responseTime");
        checks.entry(key).or_default().push(element(component));
    }
    let status = match report.status.known() {
        Some(InstanceStatus::Healthy) => "pass",
        Some(InstanceStatus::Degraded) => "warn",
        Some(InstanceStatus::Unhealthy | InstanceStatus::Starting) | None => "fail",
    };
    let body = Body {
        status,
        service_id: &report.service,
        release_id: report.version.as_deref(),
        description: format!("instance {}", report.instance),
        notes: report
            .findings
            .iter()
            .map(|finding| match &finding.text {
                Some(text) => format!("{}: {text}", finding.kind),
                None => finding.kind.to_string(),
            })
            .collect(),
        output: output(report),
        checks,
    };
    to_json(&body)
}

/// What is wrong, in a sentence; nothing for a pass.
fn output(report: &ReportBody<'_>) -> Option<String> {
    match report.status.known() {
        Some(InstanceStatus::Healthy) => None,
        Some(InstanceStatus::Starting) => Some("still starting".to_owned()),
        Some(InstanceStatus::Degraded | InstanceStatus::Unhealthy) | None => {
            let names: Vec<_> = report.errors.iter().chain(&report.warnings).collect();
            let components = report.components.iter();
            let sentences: Vec<_> = components
                .filter(|component| names.contains(&&component.name))
                .map(|component| format!("{}: {}", component.name, component.status))
                .collect();
            (!sentences.is_empty()).then(|| sentences.join("; "))
        }
    }
}

fn element<'a>(component: &'a ComponentBody<'_>) -> Element<'a> {
    let status = match component.status.known() {
        Some(CheckStatus::Up) => Some("pass"),
        Some(CheckStatus::Degraded) => Some("warn"),
        Some(CheckStatus::Down) => Some("fail"),
        Some(CheckStatus::Unknown) | None => None,
    };
    let none = status.is_none().then_some("no result yet");
    let kind = component.kind.as_deref().unwrap_or_default();
    let is_local = component.scope.as_ref().map(Word::as_str) == Some("local");
    Element {
        component_id: &component.name,
        component_type: if DATASTORES.contains(&kind) {
            "datastore"
        } else if is_local {
            "system"
        } else {
            "component"
        },
        observed_value: component.latency_ms,
        observed_unit: component.latency_ms.map(|_| "ms"),
        status,
        time: component.last_checked,
        output: component.error.as_deref().or(none),
    }
}
