//! How an answer leaves: its headers, and the sentences of those that say no.
//!
//! Everything says `no-store`: an answer that somebody kept is a lie about now. Nothing says anything about other
//! origins, so a browser gives a foreign page none of it.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::json;

use super::query::{BadQuery, MAX_QUERY_BYTES};
use super::route::{Asked, Endpoint};

use crate::deep::TooMany;

/// An answer on its way out.
pub(crate) type Reply = Response<Full<Bytes>>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
const METHODS: HeaderValue = HeaderValue::from_static(Asked::METHODS);

/// A body and what it means.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) content_type: HeaderValue,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn json(code: StatusCode, body: Vec<u8>) -> Self {
        Self {
            code,
            content_type: JSON,
            body: body.into(),
        }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let mut reply = Self::new(Full::new(answer.body));
        *reply.status_mut() = answer.code;
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, answer.content_type);
        headers.insert(CACHE_CONTROL, NO_STORE);
        reply
    }
}

/// An error in the shape that all our APIs have.
pub(super) fn problem(code: StatusCode, word: &str, message: &str) -> Reply {
    let body = json!({ "error": { "code": word, "message": message } });
    Answer::json(code, to_json(&body)).into()
}

pub(super) fn to_json(body: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("texts, numbers and booleans are always writable as JSON")
}

/// The ways in which a path may be asked (RFC 9110, section 9.3.7).
pub(super) fn ways() -> Reply {
    let mut reply = Reply::default();
    *reply.status_mut() = StatusCode::NO_CONTENT;
    let headers = reply.headers_mut();
    headers.insert(ALLOW, METHODS);
    headers.insert(CACHE_CONTROL, NO_STORE);
    reply
}

pub(super) fn not_found() -> Reply {
    let (last, others) = Endpoint::ALL
        .split_last()
        .expect("there is more than one path");
    let others: Vec<_> = others.iter().map(|endpoint| endpoint.path()).collect();
    let message = format!(
        "nothing is served here; there are {} and {}",
        others.join(", "),
        last.path()
    );
    problem(StatusCode::NOT_FOUND, "not_found", &message)
}

pub(super) fn wrong_method() -> Reply {
    let mut reply = problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "only GET, HEAD and OPTIONS are answered here",
    );
    reply.headers_mut().insert(ALLOW, METHODS);
    reply
}

/// An answer whose format was negotiated (RFC 9110, section 12.5.5).
pub(super) fn negotiated(answer: Answer) -> Reply {
    let mut reply = Reply::from(answer);
    reply.headers_mut().insert(VARY, HeaderValue::from(ACCEPT));
    reply
}

pub(super) fn bad_query(bad: &BadQuery) -> Reply {
    match bad {
        BadQuery::TooLong => problem(
            StatusCode::URI_TOO_LONG,
            "query_too_long",
            &format!("the query may have at most {MAX_QUERY_BYTES} bytes"),
        ),
        BadQuery::Problems(problems) => {
            problem(StatusCode::BAD_REQUEST, "bad_query", &problems.join("; "))
        }
    }
}

/// All checks were run a moment ago, or too many wait for them.
pub(super) fn too_many_runs(too_many: TooMany) -> Reply {
    let reply = problem(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_runs",
        "all checks run at most once in 5 s, for at most 16 callers at a time; /health has their last results",
    );
    again_after(reply, too_many.retry_after())
}

pub(super) fn loop_detected() -> Reply {
    problem(
        StatusCode::LOOP_DETECTED,
        "check_of_a_check",
        "a check of another service must ask /readyz, not the detailed report: checks that ask checks walk the graph",
    )
}

/// The same for everybody who is not let in: what was wrong with what was shown is not said, nor what would be right
/// (RFC 6750, section 3, would have it say `invalid_token`).
pub(super) fn unauthorized() -> Reply {
    let mut reply = problem(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "the detailed answers are given to callers who are known only; /status has the public word",
    );
    reply.headers_mut().insert(WWW_AUTHENTICATE, BEARER);
    reply
}

/// Asked too often, or too many wrong tokens (RFC 6585, section 4).
pub(super) fn too_many(wait: Duration) -> Reply {
    let reply = problem(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_requests",
        "asked too often: ask again after the time in Retry-After",
    );
    again_after(reply, wait)
}

/// In whole seconds, rounded up, so that whoever waits that long is not too early (RFC 9110, section 10.2.3).
fn again_after(mut reply: Reply, wait: Duration) -> Reply {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    reply
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    reply
}
