//! The small endpoints: codes, shapes, sizes, headers, methods.

use serde_json::Value;

use crate::ask::{Asker, Missing, Seen};
use crate::raw;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// The most bytes of a small body.
const MAX_SMALL: usize = 1024;

/// The probes, which nobody is ever refused.
pub(crate) const PROBES: [&str; 4] = ["/livez", "/readyz", "/healthz", "/startupz"];

/// Everything that is the same for all.
pub(crate) async fn test(asker: &Asker, ledger: &mut Ledger) {
    for (path, shape) in [
        ("/livez", Rule::LiveShape),
        ("/readyz", Rule::ReadyShape),
        ("/healthz", Rule::ReadyAlias),
        ("/startupz", Rule::StartShape),
        ("/status", Rule::StatusShape),
    ] {
        match asker.patiently(path).await {
            Ok(seen) => {
                let holds = has_shape(path, &seen);
                ledger.judge(shape, holds, || seen.against(right(path)));
                small(&seen, ledger);
                headers(&seen, ledger);
                methods(asker, path, seen.status, ledger).await;
            }
            Err(missing) => ledger.broken(shape, missing.against(right(path))),
        }
    }
    alias(asker, ledger).await;
    queries(asker, ledger).await;
    same_word(asker, ledger).await;
    formats(asker, ledger).await;
}

fn right(path: &str) -> &'static str {
    match path {
        "/livez" => r#"200 {"alive":true}, or 503 {"alive":false,"reason":"…"}"#,
        "/startupz" => r#"200 {"started":true,"held":[]}, or 503 {"started":false,"held":["…"]}"#,
        "/status" => r#"200 {"status":"up"} or "degraded", 503 {"status":"down"} or "starting""#,
        _ => r#"200 {"ready":true,"reasons":[]}, or 503 {"ready":false,"reasons":["…"]}"#,
    }
}

/// Whether code and body are of this path, and of each other.
pub(crate) fn has_shape(path: &str, seen: &Seen) -> bool {
    let Some(Value::Object(body)) = seen.json() else {
        return false;
    };
    let said = |field: &str| body.get(field).and_then(Value::as_bool);
    let texts = |field: &str| body.get(field).and_then(Value::as_array).map(Vec::len);
    let word = body.get("status").and_then(Value::as_str);
    match (path, seen.status) {
        ("/livez", 200) => said("alive") == Some(true),
        ("/livez", 503) => {
            said("alive") == Some(false) && body.get("reason").is_some_and(Value::is_string)
        }
        ("/readyz" | "/healthz", 200) => said("ready") == Some(true),
        ("/readyz" | "/healthz", 503) => {
            said("ready") == Some(false) && texts("reasons").is_some_and(|count| count > 0)
        }
        ("/startupz", 200) => said("started") == Some(true),
        ("/startupz", 503) => {
            said("started") == Some(false) && texts("held").is_some_and(|count| count > 0)
        }
        ("/status", 200) => matches!(word, Some("up" | "degraded")),
        ("/status", 503) => matches!(word, Some("down" | "starting")),
        _ => false,
    }
}

fn small(seen: &Seen, ledger: &mut Ledger) {
    let bytes = seen.body.len();
    ledger.judge(Rule::Small, bytes <= MAX_SMALL, || {
        Evidence::new(&seen.asked, format!("{bytes} bytes"), "at most 1024 bytes")
    });
}

/// What every answer says about itself.
pub(crate) fn headers(seen: &Seen, ledger: &mut Ledger) {
    let cache = seen.header("cache-control");
    let holds = cache
        .as_deref()
        .is_some_and(|value| value.to_ascii_lowercase().contains("no-store"));
    ledger.judge(Rule::NoStore, holds, || {
        let came = cache.map_or("no cache-control".to_owned(), |value| {
            format!("cache-control: {value}")
        });
        Evidence::new(&seen.asked, came, "cache-control: no-store")
    });
    let kind = seen.header("content-type").unwrap_or_default();
    let holds = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    ledger.judge(Rule::Json, holds, || {
        Evidence::new(
            &seen.asked,
            format!("content-type: {kind}"),
            "application/json",
        )
    });
}

async fn methods(asker: &Asker, path: &str, code: u16, ledger: &mut Ledger) {
    let Ok(target) = asker.target(path) else {
        return;
    };
    let judged = [
        ("HEAD", Rule::Head, "the code of GET, and no body"),
        (
            "OPTIONS",
            Rule::Options,
            "2xx with allow: GET, HEAD, OPTIONS, and nothing about other origins",
        ),
        ("POST", Rule::Methods, "405"),
    ];
    let holds = |rule: Rule, seen: &Seen| match rule {
        Rule::Head => seen.status == code && seen.body.is_empty(),
        Rule::Options => {
            let allow = seen.header("allow").unwrap_or_default();
            (200..300).contains(&seen.status)
                && allow.contains("GET")
                && seen.header("access-control-allow-origin").is_none()
        }
        _ => seen.status == 405,
    };
    for (method, rule, right) in judged {
        match raw::ask(method, &target, path).await {
            // Somewhere between here and there the public word is limited.
            Ok(seen) if seen.status == 429 => {}
            Ok(seen) => ledger.judge(rule, holds(rule, &seen), || {
                let allow = seen
                    .header("allow")
                    .map_or(String::new(), |allow| format!(", allow: {allow}"));
                Evidence::new(&seen.asked, format!("{}{allow}", seen.came()), right)
            }),
            Err(error) => {
                let came = format!("no answer: {error}");
                ledger.broken(rule, Evidence::new(format!("{method} {path}"), came, right));
            }
        }
    }
}

/// Readiness asked under both names until nothing changed in between.
async fn alias(asker: &Asker, ledger: &mut Ledger) {
    for _ in 0..3 {
        let asked = (
            asker.get("/readyz", &[]).await,
            asker.get("/healthz", &[]).await,
            asker.get("/readyz", &[]).await,
        );
        let (Ok(before), Ok(alias), Ok(after)) = asked else {
            return;
        };
        if before.status == after.status {
            ledger.judge(Rule::ReadyAlias, alias.status == before.status, || {
                let right = format!("{}, as /readyz", before.status);
                alias.against(right)
            });
            return;
        }
    }
}

async fn queries(asker: &Asker, ledger: &mut Ledger) {
    for path in PROBES {
        let asked = (
            asker.get(path, &[]).await,
            asker
                .get(
                    &format!("{path}?cachebuster=1&component=none&exclude=%zz"),
                    &[],
                )
                .await,
            asker.get(path, &[]).await,
        );
        if let (Ok(before), Ok(with), Ok(after)) = asked
            && before.status == after.status
        {
            ledger.judge(Rule::Query, with.status == before.status, || {
                with.against(format!("{}, as without the query", before.status))
            });
        }
    }
}

/// The public word beside the report, asked until nothing changed in between.
pub(crate) async fn same_word(asker: &Asker, ledger: &mut Ledger) {
    use rootward_core::InstanceStatus;
    for _ in 0..3 {
        let before = asker.detail().await;
        let word = asker.patiently("/status").await;
        let after = asker.detail().await;
        let (Some(before), Ok(seen), Some(after)) = (before, word, after) else {
            ledger.not_tested(Rule::StatusSame, "there is no report to compare it with");
            return;
        };
        if before.status != after.status {
            continue;
        }
        let right = match before.status {
            InstanceStatus::Healthy => "up",
            InstanceStatus::Degraded => "degraded",
            InstanceStatus::Unhealthy => "down",
            InstanceStatus::Starting => "starting",
        };
        let word = seen
            .json()
            .and_then(|body| Some(body.get("status")?.as_str()?.to_owned()));
        ledger.judge(Rule::StatusSame, word.as_deref() == Some(right), || {
            seen.against(format!("{right}, because /health is {}", before.status))
        });
        return;
    }
}

async fn formats(asker: &Asker, ledger: &mut Ledger) {
    use http::HeaderValue;
    use http::header::ACCEPT;
    let is = |seen: &Seen, kind: &str| {
        seen.header("content-type")
            .unwrap_or_default()
            .starts_with(kind)
    };
    for (accept, kind) in [
        ("application/health+json", "application/health+json"),
        ("*/*", "application/json"),
        (
            "application/health+json;q=0.1, application/json",
            "application/json",
        ),
    ] {
        let header = [(ACCEPT, HeaderValue::from_static(accept))];
        let Ok(seen) = asker.known("/health", &header).await else {
            continue;
        };
        if !matches!(seen.status, 200 | 503) {
            ledger.not_tested(Rule::HealthJson, format!("/health answers {}", seen.status));
            return;
        }
        let word = seen
            .json()
            .and_then(|body| Some(body.get("status")?.as_str()?.to_owned()));
        let words: &[&str] = if kind == "application/json" {
            &["healthy", "degraded", "unhealthy", "starting"]
        } else {
            &["pass", "warn", "fail"]
        };
        let holds = is(&seen, kind) && word.is_some_and(|word| words.contains(&word.as_str()));
        ledger.judge(Rule::HealthJson, holds, || {
            let kind = seen.header("content-type").unwrap_or_default();
            Evidence::new(
                &seen.asked,
                format!("{kind}, {}", seen.came()),
                format!("a status of {}", words.join(", ")),
            )
        });
    }
    let right = "200, application/openmetrics-text, # EOF at the end";
    match asker.patiently("/metrics").await {
        Ok(seen) if matches!(seen.status, 401 | 403) => {
            ledger.not_tested(
                Rule::Metrics,
                format!("/metrics answers {}: give --token-file", seen.status),
            );
        }
        Ok(seen) => {
            let holds = seen.status == 200
                && is(&seen, "application/openmetrics-text")
                && seen.text().trim_end().ends_with("# EOF");
            ledger.judge(Rule::Metrics, holds, || seen.against(right));
        }
        Err(missing) => ledger.broken(Rule::Metrics, Missing::against(&missing, right)),
    }
}
