//! What each endpoint says, as JSON: the four small bodies and the detailed report.

use std::borrow::Cow;

use http::StatusCode;
use rootward_core::InstanceStatus;
use rootward_wire::limits::MAX_PROBE_BYTES;
use rootward_wire::v1::{LivezBody, PublicStatus, ReadyzBody, StartupzBody, StatusBody};

use crate::report::report;
use crate::view::View;

use super::reply::{Answer, to_json};

/// Would only a restart help? It is given nothing but this process: no check, no dependency, no report. The heartbeat
/// of the application's runtime will be an argument; until it is measured, a process that answers is alive.
pub(super) fn livez() -> Answer {
    let body = LivezBody {
        alive: true,
        reason: None,
    };
    Answer::json(StatusCode::OK, to_json(&body))
}

pub(super) fn readyz(view: &View<'_>) -> Answer {
    let reasons = view.reasons_not_ready();
    let ready = reasons.is_empty();
    let serving = view.serving();
    let body = fitted(&reasons, |reasons| {
        to_json(&ReadyzBody {
            ready,
            reasons,
            serving: Some(serving),
            loop_lag_ms: None,
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

pub(super) fn health(view: &View<'_>) -> Answer {
    Answer::json(code_of(view.status()), report(view).to_json())
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
