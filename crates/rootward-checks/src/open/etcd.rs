//! etcd: what a member says about its health.

use std::sync::Arc;

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use rootward_fetch::{Answer, Connection, Limits};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{Roots, Secret, Unusable};

/// The answer has about fifty bytes.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// Where a member of etcd is.
///
/// ```
/// use rootward_checks::open::EtcdSettings;
///
/// let settings = EtcdSettings::new("http://etcd-0:2379");
/// ```
#[derive(Debug, Clone)]
pub struct EtcdSettings {
    /// `http://HOST:PORT` or `https://HOST:PORT`: an address of `--listen-client-urls`, or of `--listen-metrics-urls`,
    /// which asks for no client certificate.
    pub url: Secret,
    /// Whose certificates are believed, with `https://`.
    pub roots: Roots,
}

impl EtcdSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            roots: Roots::System,
        }
    }
}

/// Asks one member of etcd for `/health`.
///
/// | what happens | category |
/// | --- | --- |
/// | it says that it is healthy | up |
/// | it says that it is not: its cluster has no leader, or a read through the cluster failed | `not_ready` |
/// | it says that an alarm is on because its space is used up, which stops all writes | `resource_exhausted` |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | its certificate is not to be trusted | `tls` |
/// | another status, or a redirect | `http_status`, `redirect` |
/// | the answer is not that of etcd | `protocol` |
///
/// A run costs the cluster one linearizable read of nothing, which a member does to know its own health
/// ([monitoring](https://etcd.io/docs/v3.5/op-guide/monitoring/)). One connection is kept. Which of the reasons it is,
/// members say since 3.5; of older ones all are `not_ready`.
///
/// `/health` needs no login, so nothing is proved about one: not that your user and password are right, nor that your
/// role may read your keys. One member is asked; that the others are there is for checks of their own.
///
/// # Errors
/// When the URL cannot be asked, or the roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, EtcdSettings};
///
/// let check = open::etcd("etcd", EtcdSettings::new("http://etcd-0:2379"))?.hard(); // http://etcd-0:2379/health
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn etcd(
    name: impl Into<String>,
    settings: EtcdSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let EtcdSettings { url, roots } = settings;
    let target = roots.target(url.reveal())?;
    if target.path() != "/" {
        return Err(Unusable::because(&[
            "the URL has a path, and etcd is asked for one of its own",
        ]));
    }
    let target = target
        .with_path("/health")
        .map_err(|_| Unusable::because(&["the URL cannot be asked"]))?;
    let connection = Arc::new(Mutex::new(Connection::new(target.clone())));
    let check = Check::with_context(name, move |context: CheckContext| {
        let connection = Arc::clone(&connection);
        async move {
            let limits = Limits {
                deadline: context.timeout(),
                max_body_bytes: MAX_BODY_BYTES,
            };
            let answer = connection.lock().await.get(&[], &limits).await;
            judge(&answer.map_err(|error| Failure::new(error.category()).caused_by(error))?)
        }
    });
    let check = check.kind("etcd").depth(Depth::Query);
    Ok(check.target(target.to_string()))
}

fn judge(answer: &Answer) -> Result<Outcome, Failure> {
    let said: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let word = |name: &str| said.as_ref()?.get(name)?.as_str().map(str::to_owned);
    match (word("health").as_deref(), answer.status) {
        (Some("true"), 200) => Ok(Outcome::Up),
        (Some("false"), 200 | 503) => Err(unhealthy(&word("reason").unwrap_or_default())),
        (_, 300..=399) => Err(Failure::new(ErrorCategory::Redirect)),
        (_, 200..=299) => {
            Err(Failure::new(ErrorCategory::Protocol).because("the answer is not that of etcd"))
        }
        (_, status) => {
            let reason = Reason::new("HTTP status").number(status);
            Err(Failure::new(ErrorCategory::HttpStatus).because(reason))
        }
    }
}

/// Its reasons are words (`etcdserver/api/etcdhttp/health.go`), which begin with one of these.
fn unhealthy(reason: &str) -> Failure {
    if reason.starts_with("ALARM NOSPACE") {
        Failure::new(ErrorCategory::ResourceExhausted)
            .because("its space is used up, and nothing can be written")
    } else if reason.starts_with("ALARM CORRUPT") {
        Failure::new(ErrorCategory::NotReady).because("its data are corrupt")
    } else if reason.starts_with("RAFT NO LEADER") {
        Failure::new(ErrorCategory::NotReady).because("its cluster has no leader")
    } else {
        Failure::new(ErrorCategory::NotReady).because("it says that it is not healthy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_words_of_our_own() {
        let cases = [
            ("", "it says that it is not healthy"),
            ("QGET ERROR:hunter2", "it says that it is not healthy"),
            ("RAFT NO LEADER", "its cluster has no leader"),
            (
                "ALARM NOSPACE",
                "its space is used up, and nothing can be written",
            ),
            ("ALARM CORRUPT", "its data are corrupt"),
        ];
        for (reason, words) in cases {
            assert_eq!(unhealthy(reason).to_string(), words);
        }
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            (
                "http://etcd:2379/v3",
                "the URL has a path, and etcd is asked for one of its own",
            ),
            (
                "http://alice:hunter2@etcd:2379",
                "a URL may not hold a user or a password; take them out of it",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = etcd("etcd", EtcdSettings::new(url)).map(|_| ());
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
