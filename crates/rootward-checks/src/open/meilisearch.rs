//! Meilisearch, by what it says about itself.

use std::sync::Arc;

use rootward::{Check, Depth, ErrorCategory, Failure, Outcome, Unlabelled};
use rootward_fetch::Answer;
use serde_json::Value;

use super::Unusable;
use super::http::{Asking, HttpSettings, json, with_certificate};
use crate::asking::of_status;

/// Asks `GET /health`, which needs no key.
///
/// | what happens | result |
/// | --- | --- |
/// | `{"status":"available"}` | up |
/// | another status in the body | down, `not_serving` |
/// | JSON without a status | down, `protocol` |
/// | another HTTP status, no answer, no connection | as [`http()`](crate::http) |
///
/// A path of the URL is kept as a prefix; method, status and body of the settings are the check's own. It does not
/// prove that an index is there or that tasks are worked off.
///
/// # Errors
/// As with [`http()`](crate::http).
///
/// ```
/// use rootward_checks::open::{self, HttpSettings};
///
/// let check = open::meilisearch("search", HttpSettings::new("http://search:7700"))?.soft(); // http://search:7700/
/// # Ok::<(), open::Unusable>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "settings are given away, as with every kind"
)]
pub fn meilisearch(
    name: impl Into<String>,
    settings: HttpSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let target = settings.roots.target(settings.url.reveal())?;
    let path = format!("{}/health", target.path().trim_end_matches('/'));
    let warn_before = settings.warn_before;
    let asking = Arc::new(Asking::new(&settings, target.with_path(&path)?)?);
    let check = Check::with_context(name, move |context| {
        let asking = Arc::clone(&asking);
        async move {
            let answer = asking.ask(&context).await?;
            Ok::<_, Failure>(with_certificate(&answer, judge(&answer)?, warn_before))
        }
    });
    let check = check.kind("meilisearch").depth(Depth::Readiness);
    Ok(check.target(target.to_string()))
}

fn judge(answer: &Answer) -> Result<Outcome, Failure> {
    if answer.status != 200 {
        return Err(of_status(answer.status));
    }
    match json(&answer.body)?.get("status").and_then(Value::as_str) {
        Some("available") => Ok(Outcome::Up),
        Some(_) => {
            Err(Failure::new(ErrorCategory::NotServing).because("it says that it is not available"))
        }
        None => Err(Failure::new(ErrorCategory::Protocol).because("the answer has no status")),
    }
}
