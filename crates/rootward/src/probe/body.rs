//! What each endpoint says, as JSON: the four small bodies and the detailed report.

use std::borrow::Cow;

use http::{HeaderValue, StatusCode};
use rootward_core::{ErrorCategory, InstanceStatus};
use rootward_wire::limits::MAX_PROBE_BYTES;
use rootward_wire::v1::{
    LivezBody, PublicStatus, ReadyzBody, ReportBody, StartupzBody, StatusBody,
};

use crate::view::{Condition, View, lag_millis};
use crate::vitals::{Alive, Vital};

use super::format::accept::Format;
use super::format::health_json::health_json;
use super::reply::{Answer, to_json};
use super::route::Endpoint;

const HEALTH_JSON: HeaderValue = HeaderValue::from_static("application/health+json");

/// Would only a restart help? It is given nothing but the signs of life of this process: no check, no dependency, no
/// report.
pub(super) fn livez(alive: &Alive) -> Answer {
    let reasons: Vec<_> = alive.against.iter().map(Vital::sentence).collect();
    let body = fitted(&reasons, |reasons| {
        to_json(&LivezBody {
            alive: alive.is_alive(),
            reason: (!reasons.is_empty()).then(|| reasons.join("; ").into()),
        })
    });
    Answer::json(code(alive.is_alive()), body)
}

pub(super) fn readyz(view: &View<'_>) -> Answer {
    let reasons = view.reasons_not_ready();
    let ready = reasons.is_empty();
    let serving = view.serving();
    let lag = view.shared.vitals.seen().lag;
    let body = fitted(&reasons, |reasons| {
        to_json(&ReadyzBody {
            ready,
            reasons,
            serving: Some(serving),
            loop_lag_ms: lag.map(lag_millis),
        })
    });
    Answer::json(code(ready), body)
}

pub(super) fn startupz(view: &View<'_>) -> Answer {
    let started = view.started;
    let body = fitted(&view.held(), |held| {
        to_json(&StartupzBody { started, held })
    });
    Answer::json(code(started), body)
}

pub(super) fn status(view: &View<'_>) -> Answer {
    let status = view.status();
    let body = StatusBody {
        status: PublicStatus::from(status).into(),
    };
    Answer::json(code_of(status), to_json(&body))
}

/// The detailed report, in the format that the caller prefers.
pub(super) fn health(report: &ReportBody<'_>, format: Format) -> Answer {
    // A reader takes a word that it does not know for no evidence; ours has none of those.
    let code = report
        .status
        .known()
        .map_or(StatusCode::SERVICE_UNAVAILABLE, code_of);
    match format {
        Format::Report => Answer::json(code, report.to_json()),
        Format::HealthJson => Answer {
            code,
            content_type: HEALTH_JSON,
            body: health_json(report).into(),
        },
    }
}

/// What is said about the conditions of a small endpoint as text.
pub(super) fn conditions<'v>(endpoint: Endpoint, view: &'v View<'_>) -> Vec<Condition<'v>> {
    match endpoint {
        Endpoint::Livez => liveness(&view.shared.vitals.seen().alive),
        Endpoint::Readyz | Endpoint::Healthz => view.readiness(),
        Endpoint::Startupz => startup(view),
        Endpoint::Status | Endpoint::Health | Endpoint::Deep | Endpoint::Metrics => Vec::new(),
    }
}

fn liveness(alive: &Alive) -> Vec<Condition<'static>> {
    let (mut runtime, mut heartbeats, mut application) = (Vec::new(), Vec::new(), Vec::new());
    for vital in &alive.against {
        let against = match vital {
            Vital::Wedged { .. } => &mut runtime,
            Vital::Silent(_) => &mut heartbeats,
            Vital::GivenUp(_) => &mut application,
        };
        against.push(vital.sentence());
    }
    vec![
        Condition::new("ping", None),
        Condition::new("runtime", runtime),
        Condition::new("heartbeats", heartbeats),
        Condition::new("application", application),
    ]
}

fn startup<'v>(view: &'v View<'_>) -> Vec<Condition<'v>> {
    let held = view.held();
    if view.started || held.is_empty() {
        let starting = ErrorCategory::Starting.phrase();
        let against = (!view.started).then(|| starting.to_owned());
        return vec![Condition::new("startup", against)];
    }
    held.into_iter()
        .map(|what| Condition::new(what, Some("still waited for".to_owned())))
        .collect()
}

pub(super) const fn code(good: bool) -> StatusCode {
    if good {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

pub(super) const fn code_of(status: InstanceStatus) -> StatusCode {
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
