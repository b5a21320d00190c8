//! `POST /api/v1/reports`: a report that an instance sends by itself, because nobody can poll it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, StatusCode, Uri};
use rootward_wire::limits::MAX_REPORT_BYTES;
use rootward_wire::v1;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::api::Shared;
use crate::api::guard::is_loopback;
use crate::api::problem::Problem;
use crate::pushed::{MAX_INSTANCES, Push, Refused, Terms};

/// Where reports are sent.
pub(super) const PATH: &str = "/api/v1/reports";

/// How long a report may take to arrive, and how long its sender waits for the loop.
const PATIENCE: Duration = Duration::from_secs(10);

/// For how long a report may be good.
const SHORTEST_TTL: Duration = Duration::from_secs(1);
const LONGEST_TTL: Duration = Duration::from_secs(40 * 86_400);

/// What may stand in the report beside what the contract has.
#[derive(Debug, Deserialize)]
struct Beside {
    ttl_ms: Option<u64>,
    seq: Option<u64>,
}

pub(super) async fn post(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let (head, body) = request.into_parts();
    only_json(&head.headers)?;
    only_from_here(&head.headers)?;
    let arriving = timeout(PATIENCE, to_bytes(body, MAX_REPORT_BYTES)).await;
    let Ok(Ok(body)) = arriving else {
        return Err(Problem::not_taken(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "the report is larger than 1 MiB, or did not arrive within 10 s".into(),
        ));
    };
    let now = shared.snapshots.reading().now();
    let report = v1::read(&body, now)
        .map_err(|error| Problem::bad_request(format!("that is no report: {error}")))?;
    let terms = terms(&body)?;
    let service = report.service.clone();
    let (done, answer) = oneshot::channel();
    let push = Push {
        report,
        terms,
        done,
    };
    match shared.pushes.try_send(push) {
        Ok(()) => {}
        Err(mpsc::error::TrySendError::Full(_) | mpsc::error::TrySendError::Closed(_)) => {
            return Err(busy());
        }
    }
    match timeout(PATIENCE, answer).await {
        Ok(Ok(Ok(()))) => Ok(StatusCode::NO_CONTENT),
        Ok(Ok(Err(refused))) => Err(problem(&refused, service.as_str())),
        Ok(Err(_)) | Err(_) => Err(busy()),
    }
}

/// A page of another site can send text and forms here without being asked back, and no JSON.
fn only_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::not_taken(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        "a report is sent with content-type: application/json".into(),
    ))
}

/// A browser says which page makes it ask.
fn only_from_here(headers: &HeaderMap) -> Result<(), Problem> {
    let origins = headers.get_all(ORIGIN).iter();
    let all_here = origins.into_iter().all(|origin| {
        let origin = origin
            .to_str()
            .ok()
            .and_then(|text| text.parse::<Uri>().ok());
        let authority = origin.as_ref().and_then(Uri::authority);
        authority.is_some_and(|authority| is_loopback(authority.as_str()))
    });
    if all_here {
        return Ok(());
    }
    Err(Problem::not_taken(
        StatusCode::FORBIDDEN,
        "forbidden",
        "a page of another site may not send reports".into(),
    ))
}

fn terms(body: &[u8]) -> Result<Terms, Problem> {
    let beside: Beside = serde_json::from_slice(body).map_err(|_| {
        Problem::bad_request("ttl_ms and seq are whole numbers, or are left out".into())
    })?;
    let ttl = beside.ttl_ms.map(Duration::from_millis);
    if ttl.is_some_and(|ttl| !(SHORTEST_TTL..=LONGEST_TTL).contains(&ttl)) {
        return Err(Problem::bad_request(
            "ttl_ms is at least 1000 and at most 40 days".into(),
        ));
    }
    Ok(Terms {
        ttl,
        seq: beside.seq,
    })
}

fn problem(refused: &Refused, service: &str) -> Problem {
    match refused {
        Refused::Unknown => Problem::not_taken(
            StatusCode::NOT_FOUND,
            "not_found",
            format!(
                "{service} is no service that sends reports: write `health: {{push: true}}` for it in the configuration"
            ),
        ),
        Refused::TooMany => Problem::not_taken(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_instances",
            format!("{MAX_INSTANCES} instances of {service} send reports already"),
        ),
        Refused::TooOften => Problem::not_taken(
            StatusCode::TOO_MANY_REQUESTS,
            "too_often",
            "an instance sends at most five reports a second".into(),
        ),
        Refused::Older => Problem::not_taken(
            StatusCode::CONFLICT,
            "older",
            "a newer report of this instance was taken before".into(),
        ),
    }
}

fn busy() -> Problem {
    Problem::not_taken(
        StatusCode::SERVICE_UNAVAILABLE,
        "busy",
        "the aggregator did not take the report in time; send it again".into(),
    )
}
