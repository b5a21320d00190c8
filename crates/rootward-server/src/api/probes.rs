//! The aggregator's own liveness, readiness and metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use rootward_wire::v1::{LivezBody, ReadyzBody};

use crate::api::Shared;
use crate::api::problem::Problem;
use crate::api::reply::json;
use crate::{metrics, round};

/// Alive as long as anything answers, made of nothing but constants: a restart helps nobody while a target is down.
pub(super) async fn livez() -> Response {
    const ALIVE: LivezBody<'static> = LivezBody {
        alive: true,
        reason: None,
    };
    json(StatusCode::OK, &ALIVE)
}

/// Ready while polling rounds are completed and the history is written.
pub(super) async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshots.current();
    let now = shared.snapshots.reading().now();
    let behind = round::not_ready(&snapshot, now);
    let unwritten = shared
        .write_health
        .is_failing()
        .then(|| "the last change of status could not be written to the history".to_owned());
    let reasons: Vec<_> = behind
        .into_iter()
        .chain(unwritten)
        .map(Into::into)
        .collect();
    let status = if reasons.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = ReadyzBody {
        ready: reasons.is_empty(),
        reasons,
        serving: None,
        loop_lag_ms: None,
    };
    json(status, &body)
}

pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let text = shared
        .metrics
        .text()
        .map_err(|_| Problem::internal("the metrics could not be written".into()))?;
    Ok(([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response())
}
