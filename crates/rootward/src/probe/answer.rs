//! Which endpoint answers what, with which code, to whom.
//!
//! No request runs a check and none is logged. An answer is made from one moment and shared by all who ask within the
//! same millisecond, so a burst of probes costs little more than sending the bytes.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, FORWARDED, HeaderMap, HeaderName};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use rootward_core::InstanceStatus;
use rootward_wire::limits::MAX_PROBE_BYTES;
use rootward_wire::v1::{LivezBody, PublicStatus, ReadyzBody, StartupzBody, StatusBody};
use serde_json::json;
use tokio::time::Instant;

use crate::report::report;
use crate::shared::Shared;
use crate::view::View;

use super::Access;

/// Sent by a check of another service, with the name of the service that asks.
pub const CHECK_FROM: HeaderName = HeaderName::from_static("rootward-check-from");

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// Makes answers.
pub(crate) struct Answers {
    shared: Arc<Shared>,
    access: Access,
    made: Mutex<Made>,
}

/// The answers made for one moment.
#[derive(Default)]
struct Made {
    moment: Option<Moment>,
    answers: [Option<Answer>; Endpoint::COUNT],
}

/// Nothing that an answer says can differ between two equal ones.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moment {
    version: (u64, u64),
    millis: u128,
}

#[derive(Clone)]
struct Answer {
    code: StatusCode,
    body: Bytes,
}

#[derive(Clone, Copy)]
enum Endpoint {
    Livez,
    Readyz,
    Startupz,
    Status,
    Health,
}

impl Endpoint {
    const COUNT: usize = 5;

    fn of(path: &str) -> Option<Self> {
        match path {
            "/livez" => Some(Self::Livez),
            // Load balancers are wired to /healthz by habit, so it must not fail for a shared dependency.
            "/readyz" | "/healthz" => Some(Self::Readyz),
            "/startupz" => Some(Self::Startupz),
            "/status" => Some(Self::Status),
            "/health" => Some(Self::Health),
            _ => None,
        }
    }
}

impl Answers {
    pub(crate) fn new(shared: Arc<Shared>, access: Access) -> Self {
        Self {
            shared,
            access,
            made: Mutex::default(),
        }
    }

    /// Answers one request. Its body, if it has one, is not read.
    pub(crate) fn answer<B>(
        &self,
        request: &Request<B>,
        peer: SocketAddr,
        now: Instant,
    ) -> Response<Full<Bytes>> {
        let Some(endpoint) = Endpoint::of(request.uri().path()) else {
            return not_found();
        };
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return wrong_method();
        }
        if let Endpoint::Health = endpoint {
            if request.headers().contains_key(CHECK_FROM) {
                return loop_detected();
            }
            if !self.access.allows(peer, request.headers()) {
                return unauthorized();
            }
        }
        let Answer { code, body } = self.answer_at(endpoint, now);
        respond(code, body)
    }

    fn answer_at(&self, endpoint: Endpoint, now: Instant) -> Answer {
        // Before anything is read: what is made may be newer than its version, never older.
        let moment = Moment {
            version: self.shared.version(),
            millis: now.saturating_duration_since(self.shared.born).as_millis(),
        };
        // Only the probe thread comes here, and what a panic left behind is made anew.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.moment != Some(moment) {
            *made = Made {
                moment: Some(moment),
                ..Made::default()
            };
        }
        made.answers[endpoint as usize]
            .get_or_insert_with(|| make(endpoint, &self.shared, now))
            .clone()
    }
}

impl Access {
    fn allows(self, peer: SocketAddr, headers: &HeaderMap) -> bool {
        match self {
            Self::Loopback => {
                let passed_on =
                    headers.contains_key(FORWARDED) || headers.contains_key(FORWARDED_FOR);
                peer.ip().to_canonical().is_loopback() && !passed_on
            }
        }
    }
}

fn make(endpoint: Endpoint, shared: &Shared, now: Instant) -> Answer {
    let view = || View::of(shared, now);
    match endpoint {
        Endpoint::Livez => livez(),
        Endpoint::Readyz => readyz(&view()),
        Endpoint::Startupz => startupz(&view()),
        Endpoint::Status => status(&view()),
        Endpoint::Health => health(&view()),
    }
}

/// Would only a restart help? It is given nothing but this process: no check, no dependency, no report. The heartbeat
/// of the application's runtime will be an argument; until it is measured, a process that answers is alive.
fn livez() -> Answer {
    let body = LivezBody {
        alive: true,
        reason: None,
    };
    Answer::of(StatusCode::OK, json(&body))
}

fn readyz(view: &View<'_>) -> Answer {
    let reasons = view.reasons_not_ready();
    let ready = reasons.is_empty();
    let serving = view.serving();
    let body = fitted(&reasons, |reasons| {
        json(&ReadyzBody {
            ready,
            reasons,
            serving: Some(serving),
            loop_lag_ms: None,
        })
    });
    Answer::of(code(ready), body)
}

fn startupz(view: &View<'_>) -> Answer {
    let started = view.started;
    let body = fitted(&view.held(), |held| json(&StartupzBody { started, held }));
    Answer::of(code(started), body)
}

fn status(view: &View<'_>) -> Answer {
    let status = view.status();
    let body = StatusBody {
        status: PublicStatus::from(status).into(),
    };
    Answer::of(code_of(status), json(&body))
}

fn health(view: &View<'_>) -> Answer {
    Answer::of(code_of(view.status()), report(view).to_json())
}

impl Answer {
    fn of(code: StatusCode, body: Vec<u8>) -> Self {
        Self {
            code,
            body: body.into(),
        }
    }
}

const fn code(good: bool) -> StatusCode {
    if good {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

const fn code_of(status: InstanceStatus) -> StatusCode {
    match status {
        InstanceStatus::Healthy | InstanceStatus::Degraded => StatusCode::OK,
        InstanceStatus::Unhealthy | InstanceStatus::Starting => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The body with as many of the sentences as fit into [`MAX_PROBE_BYTES`], and how many there are besides.
fn fitted(all: &[String], write: impl Fn(Vec<Cow<'_, str>>) -> Vec<u8>) -> Vec<u8> {
    let most = all
        .iter()
        .scan(0, |bytes, text| {
            *bytes += text.len();
            Some(*bytes)
        })
        .take_while(|bytes| *bytes <= MAX_PROBE_BYTES)
        .count();
    for kept in (0..=most).rev() {
        let texts = all[..kept].iter().map(String::as_str);
        let mut sentences: Vec<_> = texts.map(Cow::Borrowed).collect();
        if kept < all.len() {
            sentences.push(format!("and {} more", all.len() - kept).into());
        }
        let body = write(sentences);
        if body.len() <= MAX_PROBE_BYTES {
            return body;
        }
    }
    write(Vec::new())
}

fn json(body: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("texts, numbers and booleans are always writable as JSON")
}

fn respond(code: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

/// An error in the shape that all our APIs have.
fn problem(code: StatusCode, word: &str, message: &str) -> Response<Full<Bytes>> {
    let body = json!({ "error": { "code": word, "message": message } });
    respond(code, json(&body).into())
}

fn not_found() -> Response<Full<Bytes>> {
    problem(
        StatusCode::NOT_FOUND,
        "not_found",
        "nothing is served here; there are /livez, /readyz, /healthz, /startupz, /status and /health",
    )
}

fn wrong_method() -> Response<Full<Bytes>> {
    let mut response = problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "only GET and HEAD are answered here",
    );
    response.headers_mut().insert(ALLOW, METHODS);
    response
}

fn loop_detected() -> Response<Full<Bytes>> {
    problem(
        StatusCode::LOOP_DETECTED,
        "check_of_a_check",
        "a check of another service must ask /readyz, not the detailed report: checks that ask checks walk the graph",
    )
}

fn unauthorized() -> Response<Full<Bytes>> {
    problem(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "the detailed report is given to callers on this machine only; /status has the public word",
    )
}
