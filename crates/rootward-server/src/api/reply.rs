//! A body as JSON.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::api::problem::Problem;

/// What was asked for.
pub(super) fn ok<T: Serialize>(body: &T) -> Response {
    json(StatusCode::OK, body)
}

pub(super) fn json<T: Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => (status, [(CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(_) => Problem::internal("the answer could not be written".into()).into_response(),
    }
}
