//! Another service, asked for its readiness.

use std::sync::Arc;

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use rootward_fetch::{Answer, Connection, Limits, Target};
use rootward_wire::limits::MAX_READINESS_BYTES;
use rootward_wire::v1::ReadyzBody;
use tokio::sync::Mutex;

use crate::asking::{check_from, no_answer};
use crate::open::Roots;
use crate::open::service_target as target;

/// The readiness of another service: `service("orders", "http://orders:8790/readyz")`.
///
/// | what it answers | result |
/// | --- | --- |
/// | 2xx | up |
/// | 2xx with `"serving": false` | degraded, `not_serving`: it is ready, but what it needs itself is down |
/// | 503 | down, `not_ready`; `starting` or `shutting_down` where the body says so |
/// | 3xx | down, `redirect`: it is not followed |
/// | another status | down, `http_status`, with the number |
/// | nothing within the time limit | down, `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
///
/// Ask for readiness only. A service that embeds `rootward` refuses to give its detailed report to a check: a check
/// that asks for the health of what the other service depends on would walk the graph, and two services that ask each
/// other would hold each other down. It sends `Rootward-Check-From` with its own service's name.
///
/// One connection is kept and used again. `https://` is spoken with the feature `service-tls`, by this machine's roots;
/// [`open::service`](crate::open::service) takes others.
///
/// A URL that cannot be asked is no reason not to start: the check is down then, and says `configuration` and what is
/// wrong ([`Check::problem`]).
///
/// ```
/// use rootward::Health;
/// use rootward_checks::service;
///
/// Health::builder("cart")
///     .check(service("rates", "http://rates:8790/readyz").soft())
///     .check(service("stock", "http://stock:8790/readyz").hard());
/// ```
pub fn service(name: impl Into<String>, url: &str) -> Check<Unlabelled> {
    match target(url, &Roots::System) {
        Ok(target) => asking(name, target),
        Err(problem) => {
            // It says what is wrong with its URL and is never run.
            let check = Check::new(name, || async {
                Err::<Outcome, _>(
                    Failure::new(ErrorCategory::Unknown).because("the URL cannot be asked"),
                )
            });
            let check = check.kind("service").depth(Depth::Readiness);
            check.problem(format!("url: {problem}"))
        }
    }
}

/// On a connection of the check's own.
pub(crate) fn asking(name: impl Into<String>, target: Target) -> Check<Unlabelled> {
    let shown = target.to_string();
    let connection = Arc::new(Mutex::new(Connection::new(target)));
    let check = Check::with_context(name, move |context| {
        let connection = Arc::clone(&connection);
        async move { ask(&mut *connection.lock().await, &context).await }
    });
    check.kind("service").depth(Depth::Readiness).target(shown)
}

async fn ask(connection: &mut Connection, context: &CheckContext) -> Result<Outcome, Failure> {
    let limits = Limits {
        // The whole of it: it is the runner that cuts off, and says after how long.
        deadline: context.timeout(),
        max_body_bytes: MAX_READINESS_BYTES,
    };
    let answer = connection.get(&[check_from(context)], &limits).await;
    judge(&answer.map_err(|error| no_answer(error, context))?)
}

fn judge(answer: &Answer) -> Result<Outcome, Failure> {
    let said = ReadyzBody::read(&answer.body).unwrap_or_default();
    let category = match answer.status {
        200..=299 if said.ready == Some(false) => ErrorCategory::NotReady,
        200..=299 if said.serving == Some(false) => {
            return Ok(Outcome::Degraded(Failure::new(ErrorCategory::NotServing)));
        }
        200..=299 => return Ok(Outcome::Up),
        300..=399 => ErrorCategory::Redirect,
        503 => why_not_ready(&answer.body),
        status => {
            let reason = Reason::new("HTTP status").number(status);
            return Err(Failure::new(ErrorCategory::HttpStatus).because(reason));
        }
    };
    Err(Failure::new(category))
}

/// A service that embeds `rootward` begins its reasons with the phrase of a category.
fn why_not_ready(body: &[u8]) -> ErrorCategory {
    let reasons = serde_json::from_slice::<ReadyzBody<'_>>(body).map(|body| body.reasons);
    let begins_with = |category: ErrorCategory| {
        let mut reasons = reasons.iter().flatten();
        reasons.any(|reason| reason.starts_with(category.phrase()))
    };
    [ErrorCategory::ShuttingDown, ErrorCategory::Starting]
        .into_iter()
        .find(|category| begins_with(*category))
        .unwrap_or(ErrorCategory::NotReady)
}
