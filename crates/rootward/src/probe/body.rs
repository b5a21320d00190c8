//! What each endpoint says, as JSON: the four small bodies and the detailed report.

use std::borrow::Cow;

use http::StatusCode;
use rootward_core::InstanceStatus;
use rootward_wire::limits::MAX_PROBE_BYTES;
use rootward_wire::v1::{LivezBody, PublicStatus, ReadyzBody, StartupzBody, StatusBody};

use crate::report::report;
use crate::view::{View, lag_millis};
use crate::vitals::{Alive, Vital};

use super::reply::{Answer, to_json};

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
