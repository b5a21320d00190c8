//! `rootward checkin`: one report of a job that nobody can poll.

use std::time::Duration;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use rootward_core::{InstanceStatus, Name};
use rootward_fetch::{Answer, Connection, Limits, Target};
use rootward_wire::v1::api::Problem;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::arguments::{Checkin, JobStatus};
use crate::commands::small_runtime;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// The largest answer that is read.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// How long to wait before it is sent again that the aggregator would not take just then.
const AGAIN: Duration = Duration::from_millis(250);

pub(crate) fn run(arguments: &Checkin, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let wrong = |text: String| Trouble::new(Exit::WrongInput, text);
    for name in [&arguments.job, &arguments.instance] {
        Name::parse(name).map_err(|error| wrong(format!("that is no name: {error}")))?;
    }
    let target = Target::parse(&arguments.aggregator.url)
        .and_then(|target| target.with_path("/api/v1/reports"))
        .map_err(|error| {
            wrong(format!("--url cannot be asked: {error}"))
                .with_help("write it like http://127.0.0.1:8791")
        })?;
    let status = match arguments.status {
        JobStatus::Ok => InstanceStatus::Healthy,
        JobStatus::Fail => InstanceStatus::Unhealthy,
        JobStatus::Start => InstanceStatus::Starting,
    };
    let mut report = json!({
        "contract": "rootward/1",
        "service": arguments.job,
        "instance": arguments.instance,
        "status": status.as_str(),
    });
    if let JobStatus::Fail = arguments.status {
        // Why it is unhealthy: it says so itself, and nothing it depends on is to blame.
        report["components"] = json!([{
            "name": "job",
            "status": "down",
            "criticality": "hard",
            "scope": "local",
            "error": "the job says that it failed",
            "error_category": "unknown",
            "age_ms": 0,
        }]);
    }
    if let Some(ttl) = arguments.ttl {
        report["ttl_ms"] = json!(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let runtime = small_runtime()?;
    let sent = runtime.block_on(async {
        let mut connection = Connection::new(target.clone());
        let ends = Instant::now() + arguments.timeout;
        loop {
            let limits = Limits {
                deadline: ends - Instant::now(),
                max_body_bytes: MAX_BODY_BYTES,
            };
            let sent = connection
                .post(&headers, report.to_string().into(), &limits)
                .await;
            // A job that ends at once sends its end right behind its start: that is the one that must not be lost.
            let soon = sent.as_ref().is_ok_and(is_for_now);
            if !soon || ends - Instant::now() <= AGAIN {
                return sent;
            }
            sleep(AGAIN).await;
        }
    });
    // A name lookup that hangs in the system's resolver cannot be cancelled; the process does not wait for it.
    runtime.shutdown_background();
    match sent {
        Ok(answer) if answer.status == 204 => Ok(Exit::Well),
        Ok(answer) => {
            let exit = match answer.status {
                400 | 404 => Exit::WrongInput,
                _ => Exit::NotWell,
            };
            Err(Trouble::new(exit, format!("not taken: {}", said(&answer))))
        }
        Err(error) => Err(Trouble::new(
            Exit::NotReached,
            format!("no answer from {target}: {error}"),
        )),
    }
}

/// Whether it would take the same a moment later.
fn is_for_now(answer: &Answer) -> bool {
    serde_json::from_slice::<Problem>(&answer.body)
        .is_ok_and(|problem| matches!(problem.error.code.as_str(), "too_often" | "busy"))
}

/// What the aggregator says about it.
fn said(answer: &Answer) -> String {
    match serde_json::from_slice::<Problem>(&answer.body) {
        Ok(problem) => problem.error.message,
        Err(_) => format!("it answers {}", answer.status),
    }
}
