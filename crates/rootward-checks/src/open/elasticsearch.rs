//! Elasticsearch and OpenSearch: what the cluster says about its shards.

use std::sync::Arc;

use rootward::{Check, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use rootward_fetch::Answer;
use serde_json::Value;

use super::Unusable;
use super::http::{Asking, HttpSettings, json, with_certificate};
use crate::asking::of_status;

/// Where a cluster is, and what a yellow one means.
///
/// ```
/// use rootward_checks::open::{ElasticsearchSettings, HttpSettings, Yellow};
///
/// let settings = ElasticsearchSettings {
///     // One node: its replicas have no place to be, and it stays yellow for ever.
///     yellow: Yellow::Up,
///     ..ElasticsearchSettings::new(HttpSettings {
///         headers: vec![("authorization".into(), "ApiKey c2VjcmV0".into())],
///         ..HttpSettings::new("https://search:9200")
///     })
/// };
/// ```
#[derive(Debug, Clone)]
pub struct ElasticsearchSettings {
    /// The address, credentials and roots. A path is kept as a prefix, for clusters behind a proxy; method, status and
    /// body are the check's own.
    pub http: HttpSettings,
    /// What a yellow cluster means.
    pub yellow: Yellow,
}

/// All data is there, and not every copy of it.
///
/// ```
/// use rootward_checks::open::Yellow;
///
/// assert_eq!(Yellow::default(), Yellow::Degraded);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Yellow {
    /// One more loss may lose data, or make the cluster red.
    #[default]
    Degraded,
    /// By choice: a cluster of one node is always yellow.
    Up,
}

impl ElasticsearchSettings {
    /// A yellow cluster is degraded.
    pub fn new(http: HttpSettings) -> Self {
        Self {
            http,
            yellow: Yellow::Degraded,
        }
    }
}

/// Asks `GET /_cluster/health`, for Elasticsearch and OpenSearch.
///
/// | what happens | result |
/// | --- | --- |
/// | `green` | up |
/// | `yellow` | degraded, `not_serving`; up where that was chosen |
/// | `red`: data of some index is not there | down, `not_serving` |
/// | 503: there is no elected master | down, `not_ready` |
/// | another status | as [`http()`](crate::http) |
/// | JSON without a known status | down, `protocol` |
/// | nothing within the time limit, no connection | as [`http()`](crate::http) |
///
/// The question goes to the elected master, and not with `local=true` to what one node last heard: a node that lost its
/// master would go on answering `green`. The master answers from its memory; `master_timeout` and `timeout` are set to
/// the check's own time limit, so that no question waits for the 30 s that are the default.
///
/// A red cluster still answers for indices that are whole. Green does not prove that searches are fast, or that a
/// disk is not about to be full.
///
/// # Errors
/// As with [`http()`](crate::http).
///
/// ```
/// use rootward_checks::open::{self, ElasticsearchSettings, HttpSettings};
///
/// let settings = ElasticsearchSettings::new(HttpSettings::new("http://search:9200"));
/// let check = open::elasticsearch("search", settings)?.soft(); // http://search:9200/
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn elasticsearch(
    name: impl Into<String>,
    settings: ElasticsearchSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let ElasticsearchSettings { http, yellow } = settings;
    let target = http.roots.target(http.url.reveal())?;
    let prefix = target.path().trim_end_matches('/').to_owned();
    let warn_before = http.warn_before;
    let asking = Arc::new(Asking::new(&http, target.clone())?);
    let prefix: Arc<str> = prefix.into();
    let check = Check::with_context(name, move |context| {
        let (asking, prefix) = (Arc::clone(&asking), Arc::clone(&prefix));
        async move {
            let wait = context.timeout().as_millis();
            let path = format!("{prefix}/_cluster/health?timeout={wait}ms&master_timeout={wait}ms");
            let answer = asking.ask_for(Some(&path), &context).await?;
            Ok::<_, Failure>(with_certificate(
                &answer,
                judge(&answer, yellow)?,
                warn_before,
            ))
        }
    });
    let check = check.kind("elasticsearch").depth(Depth::Readiness);
    Ok(check.target(target.to_string()))
}

fn judge(answer: &Answer, yellow: Yellow) -> Result<Outcome, Failure> {
    match answer.status {
        200 => {}
        503 => {
            return Err(
                Failure::new(ErrorCategory::NotReady).because("the cluster has no elected master")
            );
        }
        status => return Err(of_status(status)),
    }
    let body = json(&answer.body)?;
    match (body.get("status").and_then(Value::as_str), yellow) {
        (Some("green"), _) | (Some("yellow"), Yellow::Up) => Ok(Outcome::Up),
        (Some("yellow"), Yellow::Degraded) => {
            let reason = count(&body, "the cluster is yellow: copies of data have no place");
            Ok(Outcome::degraded(ErrorCategory::NotServing, reason))
        }
        (Some("red"), _) => {
            let reason = count(&body, "the cluster is red: data has no place");
            Err(Failure::new(ErrorCategory::NotServing).because(reason))
        }
        _ => Err(Failure::new(ErrorCategory::Protocol).because("the answer has no known status")),
    }
}

/// With how many shards those are, if it says so.
fn count(body: &Value, words: &'static str) -> Reason {
    let reason = Reason::new(words);
    match body.get("unassigned_shards").and_then(Value::as_u64) {
        Some(shards @ 1..) => reason.text("in").number(shards).text("shards"),
        Some(0) | None => reason,
    }
}
