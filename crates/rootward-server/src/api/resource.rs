//! `GET /api/v1/resources/{name}`: one resource, and who sees it how.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_core::NodeKind;
use rootward_core::snapshot::ResourceView;
use rootward_wire::Word;
use rootward_wire::v1::api;

use crate::api::Shared;
use crate::api::convert::{View, count, text};
use crate::api::named::Named;
use crate::api::problem::Problem;
use crate::api::reply::ok;

pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    Named(name): Named,
) -> Result<Response, Problem> {
    let snapshot = shared.snapshots.current();
    let view = shared.view(&snapshot);
    view.resource(&name).map(|detail| ok(&detail))
}

impl View<'_> {
    fn resource(self, name: &str) -> Result<api::ResourceDetail, Problem> {
        let resources = &self.snapshot.resources;
        let Some(resource) = resources.iter().find(|r| r.name.as_str() == name) else {
            return Err(self.no_resource(name));
        };
        let map = &self.snapshot.map;
        let node = map.find(name).map(|node| map.node(node));
        Ok(api::ResourceDetail {
            row: self.resource_row(resource),
            generated_at: self.now(),
            target: node.and_then(|node| node.target.clone()),
            callers_detail: self.callers(name),
        })
    }

    fn no_resource(self, name: &str) -> Problem {
        let services = &self.snapshot.services;
        if services.iter().any(|s| s.name.as_str() == name) {
            return Problem::not_found(format!(
                "{name} is a service, not a resource; ask /api/v1/services/{name}"
            ));
        }
        let known = self.snapshot.resources.iter().map(|r| r.name.as_str());
        Problem::unknown_name("resource", name, known)
    }

    pub(super) fn resource_row(self, resource: &ResourceView) -> api::ResourceRow {
        let map = &self.snapshot.map;
        let node = map.find(resource.name.as_str());
        let kind = node.and_then(|node| match &map.node(node).kind {
            NodeKind::Resource { kind } => kind.as_ref().map(text),
            NodeKind::Service { .. } => None,
        });
        api::ResourceRow {
            name: resource.name.to_string(),
            kind,
            owner: self.owner(&resource.name),
            status: Word::from(resource.status),
            since: resource.since.map(|since| self.time(since)),
            age_ms: resource.evidence_at.map(|at| self.age_ms(at)),
            reason: resource.reason.clone(),
            root_cause: self.is_root_cause(&resource.name),
            callers: count(resource.callers),
            failing_callers: count(resource.failing_callers),
        }
    }
}
