//! `GET /api/v1/services/{name}`: one service, its instances, and both directions of its dependencies.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_core::diagnosis::{CauseId, RootCause};
use rootward_core::snapshot::{DependencyView, InstanceView, ServiceView};
use rootward_core::{
    CheckStatus, Component, InstanceStatus, Name, NodeKind, Report, ServiceStatus,
};
use rootward_wire::Word;
use rootward_wire::v1::{api, convert::latency_ms};

use crate::api::Shared;
use crate::api::convert::{View, count, impact, text, word};
use crate::api::named::Named;
use crate::api::problem::Problem;
use crate::api::reply::ok;

pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    Named(name): Named,
) -> Result<Response, Problem> {
    let snapshot = shared.snapshots.current();
    let view = shared.view(&snapshot);
    view.service(&name).map(|detail| ok(&detail))
}

impl View<'_> {
    fn service(self, name: &str) -> Result<api::ServiceDetail, Problem> {
        let services = &self.snapshot.services;
        let Some(service) = services.iter().find(|s| s.name.as_str() == name) else {
            return Err(self.no_service(name));
        };
        let map = &self.snapshot.map;
        let node = map.find(name).map(|node| &map.node(node).kind);
        let at_least = match node {
            Some(NodeKind::Service { at_least }) => *at_least,
            Some(NodeKind::Resource { .. }) | None => 0,
        };
        Ok(api::ServiceDetail {
            row: self.service_row(service, self.impacts(&service.name)),
            generated_at: self.now(),
            at_least: count(at_least),
            detail: service.instances.iter().map(|i| self.instance(i)).collect(),
            dependencies: service
                .dependencies
                .iter()
                .map(|edge| self.dependency(edge, &edge.callee))
                .collect(),
            callers: self.callers(name),
        })
    }

    fn no_service(self, name: &str) -> Problem {
        let resources = &self.snapshot.resources;
        if resources.iter().any(|r| r.name.as_str() == name) {
            return Problem::not_found(format!(
                "{name} is a resource, not a service; ask /api/v1/resources/{name}"
            ));
        }
        let known = self.snapshot.services.iter().map(|s| s.name.as_str());
        Problem::unknown_name("service", name, known)
    }

    pub(super) fn service_row(
        self,
        service: &ServiceView,
        impacted_by: Vec<api::Impact>,
    ) -> api::ServiceRow {
        let map = &self.snapshot.map;
        let node = map.find(service.name.as_str());
        api::ServiceRow {
            name: service.name.to_string(),
            owner: self.owner(&service.name),
            status: Word::from(service.status),
            since: service.since.map(|since| self.time(since)),
            age_ms: service.evidence_at.map(|at| self.age_ms(at)),
            reason: service.reason.clone(),
            entry_point: node.is_some_and(|node| map.is_entry_point(node)),
            root_cause: self.is_root_cause(&service.name),
            pending: service.pending,
            impacted_by,
            instances: instance_counts(&service.instances),
        }
    }

    /// Whether a named cause is this service, one of its instances or its release. A fault of the way between two
    /// services is neither of them, and one of a place is no service's own.
    pub(super) fn is_root_cause(self, name: &Name) -> bool {
        let named = |cause: &RootCause| match &cause.id {
            CauseId::Node(node) => node == name,
            CauseId::Instance(instance) => instance.service == *name,
            CauseId::Version { service, .. } => service == name,
            CauseId::Edge { .. }
            | CauseId::InstanceEdge { .. }
            | CauseId::Host(_)
            | CauseId::Zone(_)
            | CauseId::Poller(_) => false,
        };
        self.snapshot.diagnosis.root_causes.iter().any(named)
    }

    fn impacts(self, name: &Name) -> Vec<api::Impact> {
        let all = self.snapshot.diagnosis.impacted.iter();
        all.filter(|i| i.service == *name).map(impact).collect()
    }

    fn instance(self, instance: &InstanceView) -> api::Instance {
        let report = instance.report.as_deref();
        // What it says of itself counts as long as its status is what it says.
        let current = report.filter(|report| says(report, instance.status));
        api::Instance {
            id: instance.id.to_string(),
            status: Word::from(instance.status),
            last_known: match instance.status {
                ServiceStatus::Unknown => instance.last_known.map(Word::from),
                ServiceStatus::Healthy
                | ServiceStatus::Degraded
                | ServiceStatus::Starting
                | ServiceStatus::Unhealthy => None,
            },
            since: instance.since.map(|since| self.time(since)),
            reason: instance.reason.clone(),
            evidence_at: instance.evidence_at.map(|at| self.time(at)),
            age_ms: instance.evidence_at.map(|at| self.age_ms(at)),
            last_poll: instance.last_poll.as_ref().map(|poll| api::LastPoll {
                at: self.time(poll.at),
                age_ms: self.age_ms(poll.at),
                outcome: word(poll.outcome.as_str()),
                text: poll.text.clone(),
                latency_ms: Some(latency_ms(poll.took_us)),
            }),
            ready: current.map(|report| report.ready),
            draining: current.map(|report| report.draining),
            serving: current.and_then(|report| report.serving),
            version: report.and_then(|report| report.version.as_ref().map(text)),
            zone: report.and_then(|report| report.zone.as_ref().map(text)),
            host: report.and_then(|report| report.host.as_ref().map(text)),
            components: report.map_or_else(Vec::new, |report| {
                let components = report.components.iter();
                components
                    .map(|component| self.component(component, current.is_some()))
                    .collect()
            }),
        }
    }

    /// A component. One of a report that does not count any more is unknown, with the last result beside it.
    fn component(self, component: &Component, counts: bool) -> api::Component {
        let status = if counts {
            component.status
        } else {
            CheckStatus::Unknown
        };
        let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        api::Component {
            name: component.name.to_string(),
            status: Word::from(status),
            raw_status: Word::from(component.raw_status),
            pending: component.pending.filter(|_| counts),
            criticality: Word::from(component.criticality),
            scope: Word::from(component.scope),
            depth: component.depth.map(Word::from),
            kind: component.kind.as_ref().map(text),
            target: owned(&component.target),
            error_category: component.error_category.map(Word::from),
            error: owned(&component.error),
            latency_ms: component.latency_us.map(latency_ms),
            checked_at: component.checked_at.map(|at| self.time(at)),
            age_ms: component.checked_at.map(|at| self.age_ms(at)),
            since: component.since.map(|since| self.time(since)),
            gates_readiness: component.gates_readiness,
            owner: owned(&component.owner),
        }
    }

    /// Everybody who depends on a node, seen from it.
    pub(super) fn callers(self, name: &str) -> Vec<api::Dependency> {
        let edges = self.snapshot.services.iter().flat_map(|s| &s.dependencies);
        edges
            .filter(|edge| edge.callee.as_str() == name)
            .map(|edge| self.dependency(edge, &edge.caller))
            .collect()
    }

    /// An edge, with the name of its other end.
    fn dependency(self, edge: &DependencyView, other: &Name) -> api::Dependency {
        let map = &self.snapshot.map;
        let node = map.find(other.as_str());
        let kind = if node.is_some_and(|node| map.is_service(node)) {
            api::NodeKind::Service
        } else {
            api::NodeKind::Resource
        };
        api::Dependency {
            name: other.to_string(),
            kind: Word::from(kind),
            criticality: Word::from(api::Label::from(edge.criticality)),
            label_source: word(edge.label_source.as_str()),
            status: Word::from(edge.status),
            error_category: edge.category.map(Word::from),
            failing_instances: count(edge.failing_instances),
            observing_instances: count(edge.observing_instances),
            reason: edge.reason.clone(),
            owner: edge.owner.clone(),
        }
    }
}

/// Whether a report says that its instance has this status.
fn says(report: &Report, status: ServiceStatus) -> bool {
    let said = match report.status {
        InstanceStatus::Healthy => ServiceStatus::Healthy,
        InstanceStatus::Degraded => ServiceStatus::Degraded,
        InstanceStatus::Unhealthy => ServiceStatus::Unhealthy,
        InstanceStatus::Starting => ServiceStatus::Starting,
    };
    said == status
}

fn instance_counts(instances: &[InstanceView]) -> api::InstanceCounts {
    let mut counts = api::InstanceCounts {
        total: count(instances.len()),
        ..api::InstanceCounts::default()
    };
    for instance in instances {
        let report = instance.report.as_deref();
        let leaving = report.is_some_and(|r| r.draining && says(r, instance.status));
        let counted = match instance.status {
            _ if leaving => &mut counts.gone,
            ServiceStatus::Healthy => &mut counts.healthy,
            ServiceStatus::Degraded => &mut counts.degraded,
            ServiceStatus::Unknown => &mut counts.unknown,
            ServiceStatus::Starting => &mut counts.starting,
            ServiceStatus::Unhealthy => &mut counts.unhealthy,
        };
        *counted += 1;
    }
    counts
}
