//! `GET /api/v1/incidents` and `/api/v1/incidents/{id}`: episodes, open and over.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_core::incident::IncidentId;
use rootward_history::Reader;
use rootward_wire::v1::api;

use crate::api::Shared;
use crate::api::convert::View;
use crate::api::named::Named;
use crate::api::problem::Problem;
use crate::api::reply::ok;

/// Resolved incidents that are listed, newest first. Older ones can be asked for by their key while they are
/// remembered.
const MAX_RESOLVED: usize = 100;

pub(super) async fn all(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshots.current();
    let view = shared.view(&snapshot);
    let resolved = snapshot.resolved_incidents.iter().take(MAX_RESOLVED);
    ok(&api::Incidents {
        generated_at: view.now(),
        open: view.open_incidents(),
        resolved: resolved.map(|incident| view.incident(incident)).collect(),
    })
}

pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    Named(key): Named,
) -> Result<Response, Problem> {
    let snapshot = shared.snapshots.current();
    let view = shared.view(&snapshot);
    view.find_incident(&key, &*shared.history)
        .map(|incident| ok(&incident))
}

impl View<'_> {
    /// Newest first.
    pub(super) fn open_incidents(self) -> Vec<api::Incident> {
        let oldest_first = self.snapshot.open_incidents.iter();
        oldest_first.rev().map(|i| self.incident(i)).collect()
    }

    /// The snapshot knows open incidents best, the history remembers the rest.
    fn find_incident(self, key: &str, history: &dyn Reader) -> Result<api::Incident, Problem> {
        let Some(id) = parse(key) else {
            return Err(Problem::not_found(
                "no incident has that key; keys are written like inc-7".into(),
            ));
        };
        let open = self.snapshot.open_incidents.iter();
        if let Some(incident) = open.into_iter().find(|incident| incident.id == id) {
            return Ok(self.incident(incident));
        }
        match history.incident(id) {
            Ok(Some(incident)) => Ok(self.incident(&incident)),
            Ok(None) => Err(Problem::not_found(format!(
                "no incident {id} is remembered; /api/v1/incidents lists those that are"
            ))),
            Err(error) => Err(Problem::history_unreadable(&error)),
        }
    }
}

fn parse(key: &str) -> Option<IncidentId> {
    let number = key.strip_prefix("inc-")?;
    // `inc-+7` and `inc-007` are not how keys are written.
    let id = IncidentId(number.parse().ok()?);
    (id.to_string() == key).then_some(id)
}
