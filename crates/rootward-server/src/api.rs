//! What the aggregator answers over HTTP: the API, the page, and its own probes and metrics.
//!
//! Every answer is computed from the newest snapshot when it is asked for; no request polls anything, waits for
//! anything, or reaches the loop that decides; with one exception: a report that was sent here goes to the loop and waits
//! for its answer. All routes but that one answer GET and HEAD and nothing else.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use rootward_core::Snapshot;
use rootward_history::Reader;
use tokio::sync::{mpsc, watch};

use crate::api::convert::View;
use crate::ledger::WriteHealth;
use crate::metrics::Metrics;
use crate::published::SnapshotReader;
use crate::pushed::Push;
use crate::reload::Described;

mod convert;
mod diagnosis;
mod guard;
mod incidents;
mod named;
mod overview;
mod page;
mod probes;
mod problem;
mod reply;
mod reports;
mod resource;
mod service;
mod transitions;

#[cfg(test)]
mod tests;

/// What answers are made from.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) snapshots: SnapshotReader,
    pub(crate) history: Arc<dyn Reader>,
    pub(crate) write_health: WriteHealth,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) described: watch::Receiver<Arc<Described>>,
    /// Where reports go that were sent here.
    pub(crate) pushes: mpsc::Sender<Push>,
}

impl Shared {
    /// A snapshot as it looks now.
    fn view<'a>(&self, snapshot: &'a Snapshot) -> View<'a> {
        View {
            snapshot,
            reading: self.snapshots.reading(),
        }
    }
}

/// All routes, behind their guards.
pub(crate) fn router(shared: Shared) -> Router {
    let shared = Arc::new(shared);
    let guarded = Router::new()
        .route("/api/v1/overview", get(overview::get))
        .route("/api/v1/services/{*name}", get(service::get))
        .route("/api/v1/resources/{*name}", get(resource::get))
        .route("/api/v1/diagnosis", get(diagnosis::get))
        .route("/api/v1/incidents", get(incidents::all))
        .route("/api/v1/incidents/{key}", get(incidents::one))
        .route("/api/v1/transitions", get(transitions::get))
        .route(reports::PATH, post(reports::post))
        .route("/readyz", get(probes::readyz))
        .route("/metrics", get(probes::metrics))
        .fallback(page::page)
        .with_state(shared)
        .layer(axum::middleware::map_request(guard::only_loopback_names));
    // Liveness is outside of every guard and has no state: it can depend on nothing (P-9).
    Router::new()
        .route("/livez", get(probes::livez))
        .merge(guarded)
        .layer(axum::middleware::map_request(guard::only_reading))
        .layer(axum::middleware::map_response(guard::headers))
}
