//! `GET /api/v1/transitions`: the newest changes of status.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use rootward_core::snapshot::Transition;
use rootward_wire::v1::api;
use serde::Deserialize;

use crate::api::Shared;
use crate::api::convert::View;
use crate::api::problem::Problem;
use crate::api::reply::ok;

/// Changes that are listed unless the request says how many.
const DEFAULT_LIMIT: usize = 100;

/// The most that a request may ask for.
const MAX_LIMIT: usize = 1_000;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    limit: Option<usize>,
}

pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Problem> {
    let limit = match wanted {
        Ok(Query(wanted)) => wanted.limit.unwrap_or(DEFAULT_LIMIT),
        Err(_) => 0,
    };
    if limit == 0 || limit > MAX_LIMIT {
        return Err(Problem::bad_request(format!(
            "limit is a whole number from 1 to {MAX_LIMIT}"
        )));
    }
    let newest = shared.history.transitions(limit);
    let newest = newest.map_err(|error| Problem::history_unreadable(&error))?;
    let snapshot = shared.snapshots.current();
    Ok(ok(&shared.view(&snapshot).transitions(&newest)))
}

impl View<'_> {
    fn transitions(self, newest_first: &[Transition]) -> api::Transitions {
        api::Transitions {
            generated_at: self.now(),
            transitions: newest_first
                .iter()
                .map(|transition| api::Transition {
                    at: self.time(transition.at),
                    subject: transition.subject.to_string(),
                    from: transition.from.into(),
                    to: transition.to.into(),
                    reason: transition.reason.clone(),
                })
                .collect(),
        }
    }
}
