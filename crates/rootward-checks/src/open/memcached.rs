//! memcached: its version, asked in its text protocol.

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled};

use super::server::Server;
use super::{Secret, Unusable};
use crate::kept::{self, Protocol};
use crate::wire::Wire;

const PORT: u16 = 11_211;

/// Where a memcached is, and who asks it.
///
/// ```
/// use rootward_checks::open::MemcachedSettings;
///
/// let settings = MemcachedSettings::new("memcached://cache:11211");
/// ```
#[derive(Debug, Clone)]
pub struct MemcachedSettings {
    /// `memcached://USER:PASSWORD@HOST:PORT`. The port is 11211 unless it is there. Most servers know no users.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
}

impl MemcachedSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
        }
    }
}

/// The version of a memcached, asked on a connection of the check's own.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | it wants a login and there is none, or refuses it | `auth` |
/// | it has as many connections as it may have, and says so | `rate_limited` |
/// | the answer is no version | `protocol` |
///
/// A run costs the server one command, `version` ([protocol.txt](https://github.com/memcached/memcached/blob/master/doc/protocol.txt)),
/// which touches no key and no lock of the cache; a library that your application talks to memcached with is not used,
/// because none of them shows its connections. A login is the one of the text protocol (`-Y FILE`), not SASL, and is
/// sent only to a server that has asked for one.
///
/// It does not prove that there is memory left for what you store, nor that keys are found: an empty cache is up. With
/// `-o no_maxconns_fast` a server without a connection left lets clients wait, which is `timeout` here.
///
/// # Errors
/// When the URL cannot be used.
///
/// ```
/// use rootward_checks::open::{self, MemcachedSettings};
///
/// let check = open::memcached("sessions", MemcachedSettings::new("memcached://sessions"))?.soft();
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn memcached(
    name: impl Into<String>,
    settings: MemcachedSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let MemcachedSettings {
        url,
        user,
        password,
    } = settings;
    let server = Server::read(&url, user, password, &["memcached"], PORT)?.without_path()?;
    let target = server.identity.clone();
    let check = kept::check(name, Memcached(server));
    Ok(check.kind("memcached").depth(Depth::Ping).target(target))
}

struct Memcached(Server);

impl Protocol for Memcached {
    type Connection = Wire;

    async fn connect(&self, context: &CheckContext) -> Result<Wire, Failure> {
        let mut wire = Wire::connect(&self.0.at, context).await?;
        let Some((user, password)) = self.0.login() else {
            return Ok(wire);
        };
        // Only one that says that it wants a login gets it: to others it would look like something to store.
        wire.send(b"version\r\n").await?;
        if wire.line().await? == UNAUTHENTICATED {
            let login = format!("{user} {password}");
            let message = format!("set login 0 0 {}\r\n{login}\r\n", login.len());
            wire.send(message.as_bytes()).await?;
            if wire.line().await? != b"STORED" {
                return Err(Failure::new(ErrorCategory::Auth));
            }
        }
        Ok(wire)
    }

    async fn ask(&self, wire: &mut Wire) -> Result<Outcome, Failure> {
        wire.send(b"version\r\n").await?;
        judge(&wire.line().await?)
    }
}

const UNAUTHENTICATED: &[u8] = b"CLIENT_ERROR unauthenticated";

fn judge(answer: &[u8]) -> Result<Outcome, Failure> {
    if answer.starts_with(b"VERSION ") {
        return Ok(Outcome::Up);
    }
    Err(match answer {
        UNAUTHENTICATED => Failure::new(ErrorCategory::Auth).because("it wants a login"),
        b"ERROR Too many open connections" => {
            Failure::new(ErrorCategory::RateLimited).because("the server has no connection left")
        }
        _ => Failure::new(ErrorCategory::Protocol).because("the answer is no version"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_answers_has_its_words() {
        let cases: [(&[u8], &str); 4] = [
            (b"VERSION 1.6.18", "up"),
            (b"CLIENT_ERROR unauthenticated", "it wants a login"),
            (
                b"ERROR Too many open connections",
                "the server has no connection left",
            ),
            (b"HTTP/1.1 400 hunter2", "the answer is no version"),
        ];
        for (answer, words) in cases {
            let said = judge(answer).map_or_else(|failure| failure.to_string(), |_| "up".into());
            assert_eq!(said, words);
        }
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            ("redis://cache", "the URL does not begin with memcached://"),
            (
                "memcached://cache/1",
                "the URL has a path, which means nothing here",
            ),
            (
                "memcached://cache?a=b",
                "the URL has parameters, which are not read",
            ),
            (
                "memcached://alice@cache",
                "a user and a password are given together or not at all",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = memcached("cache", MemcachedSettings::new(url)).map(|_| ());
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
