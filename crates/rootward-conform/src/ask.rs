//! Asks the service under test. Every answer is searched for what must never leave, whatever it was asked for.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use rootward_fetch::{FetchError, Limits, Request, Target, TargetError, fetch};
use tokio::time::sleep;

use crate::detail::Detail;
use crate::grpc::Grpc;
use crate::leak;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// How long one answer is waited for. Probes have 100 ms; whoever needs longer is heard to the end, to say what came.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The largest answer that is read: a report may have a thousand components.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How much of a body evidence repeats, in characters.
const MAX_SHOWN: usize = 240;

/// How long a limit of rate is waited for.
const MAX_WAIT: Duration = Duration::from_secs(6);

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) asked: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) took: Duration,
}

impl Seen {
    /// The value of a header, if it is text; several are one list.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let all = self.headers.get_all(name).iter();
        let texts: Vec<&str> = all.filter_map(|value| value.to_str().ok()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The answer in a line.
    pub(crate) fn came(&self) -> String {
        let took = self.took.as_millis();
        let body = shown(&self.text());
        let space = if body.is_empty() { "" } else { ": " };
        format!("{} after {took} ms{space}{body}", self.status)
    }

    /// As evidence.
    pub(crate) fn against(&self, right: impl Into<String>) -> Evidence {
        Evidence::new(&self.asked, self.came(), right)
    }

    /// How long the service asks to wait.
    pub(crate) fn retry_after(&self) -> Duration {
        let seconds = self
            .header("retry-after")
            .and_then(|text| text.parse().ok());
        Duration::from_secs(seconds.unwrap_or(1)).min(MAX_WAIT)
    }
}

/// A text for evidence, cut.
pub(crate) fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_SHOWN).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// No answer.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) asked: String,
    pub(crate) error: FetchError,
}

impl Missing {
    pub(crate) fn against(&self, right: impl Into<String>) -> Evidence {
        Evidence::new(&self.asked, format!("no answer: {}", self.error), right)
    }
}

/// A header of a question.
pub(crate) type Header = (HeaderName, HeaderValue);

/// Speaks for somebody whom a proxy passed on: nobody on this machine. The address is one for documentation (RFC 5737).
pub(crate) const PASSED_ON: Header = (
    HeaderName::from_static("x-forwarded-for"),
    HeaderValue::from_static("203.0.113.7"),
);

/// Asks.
#[derive(Debug)]
pub(crate) struct Asker {
    base: Target,
    prefix: String,
    token: Option<HeaderValue>,
    secret: Option<String>,
    grpc: Option<Grpc>,
    leaks: Mutex<Leaks>,
}

#[derive(Debug, Default)]
struct Leaks {
    searched: bool,
    credential: Option<Evidence>,
    exception: Option<Evidence>,
}

impl Asker {
    pub(crate) fn new(base: Target, token: Option<&str>) -> Self {
        let prefix = base.path().trim_end_matches('/').to_owned();
        let bearer = token.map(|token| format!("Bearer {token}"));
        Self {
            base,
            prefix,
            token: bearer.and_then(|text| HeaderValue::try_from(text).ok()),
            secret: token.map(str::to_owned),
            grpc: None,
            leaks: Mutex::default(),
        }
    }

    /// And grpc.health.v1 there.
    pub(crate) fn with_grpc(self, target: Option<&Target>) -> Self {
        Self {
            grpc: target.and_then(Grpc::new),
            ..self
        }
    }

    pub(crate) const fn grpc(&self) -> Option<&Grpc> {
        self.grpc.as_ref()
    }

    /// The target of a path below the address.
    pub(crate) fn target(&self, path: &str) -> Result<Target, TargetError> {
        self.base.with_path(&format!("{}{path}", self.prefix))
    }

    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Asks as a stranger: without the token.
    pub(crate) async fn get(&self, path: &str, headers: &[Header]) -> Result<Seen, Missing> {
        let mut asked = format!("GET {path}");
        for (name, value) in headers {
            let value = value.to_str().unwrap_or_default();
            let value = if name == http::header::AUTHORIZATION {
                "…"
            } else {
                value
            };
            asked.push_str(&format!(" with {name}: {value}"));
        }
        let limits = Limits {
            deadline: PATIENCE,
            max_body_bytes: MAX_BODY_BYTES,
        };
        // Our own paths, below an address that was checked.
        let target = self.target(path).unwrap_or_else(|_| self.base.clone());
        let request = Request {
            headers,
            ..Request::get(&target)
        };
        match fetch(&request, &limits).await {
            Ok(answer) => {
                let seen = Seen {
                    asked,
                    status: answer.status,
                    headers: answer.headers,
                    body: answer.body,
                    took: answer.took,
                };
                self.search(&seen);
                Ok(seen)
            }
            Err(error) => Err(Missing { asked, error }),
        }
    }

    /// Asks as somebody who may.
    pub(crate) async fn known(&self, path: &str, headers: &[Header]) -> Result<Seen, Missing> {
        let mut all = headers.to_vec();
        if let Some(token) = &self.token {
            all.push((http::header::AUTHORIZATION, token.clone()));
        }
        self.get(path, &all).await
    }

    /// The report; once again after a limit of rate.
    pub(crate) async fn health(&self) -> Result<Seen, Missing> {
        let first = self.known("/health", &[]).await?;
        if first.status != 429 {
            return Ok(first);
        }
        sleep(first.retry_after()).await;
        self.known("/health", &[]).await
    }

    /// The report, read.
    pub(crate) async fn detail(&self) -> Option<Detail> {
        let seen = self.health().await.ok()?;
        Detail::read(&seen.body)
    }

    /// As [`Asker::known`], once again after a limit of rate.
    pub(crate) async fn patiently(&self, path: &str) -> Result<Seen, Missing> {
        let first = self.known(path, &[]).await?;
        if first.status != 429 {
            return Ok(first);
        }
        sleep(first.retry_after()).await;
        self.known(path, &[]).await
    }

    fn search(&self, seen: &Seen) {
        let text = seen.text();
        let own = self
            .secret
            .as_ref()
            .filter(|secret| text.contains(secret.as_str()))
            .map(|_| "the token that was shown".to_owned());
        let credential = own.or_else(|| leak::credential(&text));
        let exception = leak::exception(&text);
        let mut leaks = self.leaks.lock().unwrap_or_else(PoisonError::into_inner);
        leaks.searched = true;
        if let Some(what) = credential {
            leaks.credential.get_or_insert_with(|| {
                // The evidence does not repeat it.
                Evidence::new(&seen.asked, format!("a body with {what}"), "no credential")
            });
        }
        if let Some(mark) = exception {
            leaks.exception.get_or_insert_with(|| {
                let low = text.to_ascii_lowercase();
                let at = low.find(mark).unwrap_or(0);
                let around: String = low[..at].chars().rev().take(60).collect();
                let around: String = around.chars().rev().collect();
                let rest: String = low[at..].chars().take(60).collect();
                Evidence::new(
                    &seen.asked,
                    format!("…{around}{rest}…"),
                    "a reason composed of the category and own numbers; the text of the exception is for the log",
                )
            });
        }
    }

    /// What was found in all answers.
    pub(crate) fn settle(&self, ledger: &mut Ledger) {
        let mut leaks = self.leaks.lock().unwrap_or_else(PoisonError::into_inner);
        let leaks = std::mem::take(&mut *leaks);
        if !leaks.searched {
            return;
        }
        for (rule, found) in [
            (Rule::NoSecret, leaks.credential),
            (Rule::NoException, leaks.exception),
        ] {
            match found {
                Some(evidence) => ledger.broken(rule, evidence),
                None => ledger.kept(rule),
            }
        }
    }
}
