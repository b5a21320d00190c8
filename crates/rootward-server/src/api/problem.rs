//! Errors as they are answered: a code for the machine, a sentence for the person.

use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::{HeaderValue, StatusCode};
use rootward_config::nearest;
use rootward_core::name::MAX_NAME_BYTES;
use rootward_wire::v1::api;

use crate::api::reply::json;
use crate::events;

/// A request that is not answered with what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Problem {
    pub(crate) const fn not_found(message: String) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: "not_found",
            message,
        }
    }

    pub(crate) const fn bad_request(message: String) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "bad_request",
            message,
        }
    }

    /// A report that is not taken.
    pub(crate) const fn not_taken(status: StatusCode, code: &'static str, message: String) -> Self {
        Self {
            status,
            code,
            message,
        }
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            code: "method_not_allowed",
            message: "nothing can be changed here: only GET and HEAD are answered".into(),
        }
    }

    pub(crate) fn misdirected() -> Self {
        Self {
            status: StatusCode::MISDIRECTED_REQUEST,
            code: "misdirected_request",
            message: "this address answers in the names localhost, 127.0.0.1 and [::1] only; a page of another \
                      site may have asked under a name of its own"
                .into(),
        }
    }

    /// Nothing of this kind has this name; the nearest one that has is suggested.
    pub(crate) fn unknown_name<'a>(
        kind: &str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let shown: String = name.chars().take(MAX_NAME_BYTES).collect();
        let shown = shown.escape_debug();
        let hint = match nearest(name, known) {
            Some(near) => format!("; did you mean {near}?"),
            None => format!("; /api/v1/overview lists every {kind}"),
        };
        Self::not_found(format!("no {kind} is named {shown}{hint}"))
    }

    /// The history cannot be asked. Why is for the log, and is told there.
    pub(crate) fn history_unreadable(error: &rootward_history::Error) -> Self {
        events::history_unreadable(error);
        Self::internal("the history could not be read; the log says why".into())
    }

    /// Something of ours failed. What exactly is for the log.
    pub(crate) const fn internal(message: String) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "internal",
            message,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let allow = (self.status == StatusCode::METHOD_NOT_ALLOWED).then_some("GET, HEAD");
        let body = api::Problem::new(self.code, self.message);
        let mut response = json(self.status, &body);
        if let Some(methods) = allow {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(ALLOW, methods);
        }
        response
    }
}
