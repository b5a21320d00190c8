//! NATS: a ping in the client protocol, on a connection of the check's own.

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled};
use serde_json::{Value, json};

use super::server::Server;
use super::{Roots, Secret, Unusable};
use crate::kept::{self, Protocol};
use crate::wire::Wire;

const PORT: u16 = 4222;

/// How many lines of the server are read before its answer: it says at its own pace who joins its cluster.
const MAX_LINES: usize = 64;

/// Where a NATS server is, and who asks it.
///
/// ```
/// use rootward_checks::open::NatsSettings;
///
/// let settings = NatsSettings {
///     token: Some("hunter2".into()),
///     ..NatsSettings::new("nats://queue:4222")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// `nats://USER:PASSWORD@HOST:PORT`, or `tls://…` for a server that wants TLS. The port is 4222 unless it is there.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// A token instead of a user and a password.
    pub token: Option<Secret>,
    /// Whose certificates are believed, with `tls://`.
    pub roots: Roots,
}

impl NatsSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
            token: None,
            roots: Roots::System,
        }
    }
}

/// `PING` and `PONG` with one NATS server, on a connection of the check's own.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user, password or token refused or missing | `auth` |
/// | it has as many connections as it may have | `rate_limited` |
/// | it lets its clients go before it ends (lame duck mode) | degraded, `shutting_down` |
/// | it is ending | `shutting_down` |
/// | it wants TLS and the URL does not, or the other way round; its certificate is not to be trusted | `tls` |
/// | what answers is no NATS | `protocol` |
///
/// A run costs the server one ping ([client protocol](https://docs.nats.io/reference/reference-protocols/nats-protocol));
/// nothing is published and nothing subscribed to. Of the ways to log in it has user and password, and token; keys
/// (NKEY, JWT) are for the application's own client (feature `async-nats`).
///
/// It does not prove that your subjects may be used, that anybody listens on them, nor anything about JetStream. One
/// server is asked; that the others of its cluster are there is for checks of their own.
///
/// # Errors
/// When the URL cannot be used, there are a token and a user, or the roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, NatsSettings};
///
/// let check = open::nats("queue", NatsSettings::new("nats://cart:hunter2@queue"))?.hard(); // nats://queue:4222
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn nats(
    name: impl Into<String>,
    settings: NatsSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let NatsSettings {
        url,
        user,
        password,
        token,
        roots,
    } = settings;
    let schemes = &["nats", "tls"];
    let server = Server::read_secured(&url, user, password, schemes, [PORT; 2], &roots)?;
    let server = server.without_path()?;
    if token.is_some() && server.login().is_some() {
        return Err(Unusable::because(&[
            "there are a token and a user, and a server takes one of them",
        ]));
    }
    let target = server.identity.clone();
    let check = kept::check(name, Nats { server, token });
    Ok(check.kind("nats").depth(Depth::Ping).target(target))
}

struct Nats {
    server: Server,
    token: Option<Secret>,
}

/// What the server has said of itself.
struct Connected {
    wire: Wire,
    is_leaving: bool,
}

impl Nats {
    /// The greeting of the client. It holds the credentials.
    fn greeting(&self) -> String {
        let mut greeting = json!({
            "verbose": false,
            "pedantic": false,
            "tls_required": self.server.at.is_secured(),
            "name": "rootward",
            "lang": "rust",
            "version": env!("CARGO_PKG_VERSION"),
            // Wants to hear when the server is about to leave.
            "protocol": 1,
        });
        if let Some((user, password)) = self.server.login() {
            greeting["user"] = user.into();
            greeting["pass"] = password.into();
        }
        if let Some(token) = &self.token {
            greeting["auth_token"] = token.reveal().into();
        }
        format!("CONNECT {greeting}\r\n")
    }
}

impl Protocol for Nats {
    type Connection = Connected;

    async fn connect(&self, context: &CheckContext) -> Result<Connected, Failure> {
        // The server speaks first, and says whether TLS is to follow.
        let at = &self.server.at;
        let mut wire = Wire::connect_plainly(at, context.timeout()).await?;
        let info = match said(&wire.line().await?)? {
            Said::Info(info) => info,
            Said::Failure(failure) => return Err(failure),
            Said::Ping | Said::Pong | Said::Nothing => return Err(no_nats()),
        };
        let wants_tls = info["tls_required"] == true;
        if wants_tls && !at.is_secured() {
            return Err(Failure::new(ErrorCategory::Tls).because("the server wants TLS"));
        }
        if at.is_secured() && !wants_tls && info["tls_available"] != true {
            return Err(Failure::new(ErrorCategory::Tls).because("the server speaks no TLS"));
        }
        let mut wire = wire.secure(at, context).await?;
        wire.send(self.greeting().as_bytes()).await?;
        Ok(Connected {
            wire,
            is_leaving: info["ldm"] == true,
        })
    }

    async fn ask(&self, connected: &mut Connected) -> Result<Outcome, Failure> {
        let wire = &mut connected.wire;
        wire.send(b"PING\r\n").await?;
        for _ in 0..MAX_LINES {
            match said(&wire.line().await?)? {
                Said::Pong if connected.is_leaving => {
                    return Ok(Outcome::degraded(
                        ErrorCategory::ShuttingDown,
                        "the server lets its clients go",
                    ));
                }
                Said::Pong => return Ok(Outcome::Up),
                Said::Ping => wire.send(b"PONG\r\n").await?,
                Said::Info(info) => connected.is_leaving = info["ldm"] == true,
                Said::Failure(failure) => return Err(failure),
                Said::Nothing => {}
            }
        }
        Err(Failure::new(ErrorCategory::Protocol).because("the answer does not come"))
    }
}

/// A line of the server.
enum Said {
    Info(Value),
    Ping,
    Pong,
    Failure(Failure),
    Nothing,
}

fn said(line: &[u8]) -> Result<Said, Failure> {
    let (word, rest) = match line.iter().position(|byte| *byte == b' ') {
        Some(space) => line.split_at(space),
        None => (line, &[][..]),
    };
    Ok(match word.to_ascii_uppercase().as_slice() {
        b"INFO" => Said::Info(serde_json::from_slice(rest).map_err(|_| no_nats())?),
        b"PING" => Said::Ping,
        b"PONG" => Said::Pong,
        b"+OK" => Said::Nothing,
        b"-ERR" => Said::Failure(refusal(rest)),
        _ => return Err(no_nats()),
    })
}

fn no_nats() -> Failure {
    Failure::new(ErrorCategory::Protocol).because("the answer is no NATS")
}

/// The errors of the protocol are told apart by their words; it has no numbers.
fn refusal(words: &[u8]) -> Failure {
    let words = String::from_utf8_lossy(words).to_ascii_lowercase();
    let words = words.trim_matches([' ', '\'']);
    let (category, reason) = match words {
        "authorization violation" | "authentication timeout" => {
            return Failure::new(ErrorCategory::Auth);
        }
        "user authentication expired"
        | "user authentication revoked"
        | "account authentication expired" => {
            (ErrorCategory::Auth, "the credentials are no longer valid")
        }
        "maximum connections exceeded" | "maximum account active connections exceeded" => (
            ErrorCategory::RateLimited,
            "the server has no connection left",
        ),
        "server shutdown" => return Failure::new(ErrorCategory::ShuttingDown),
        // It has closed the connection because nobody answered its own pings.
        "stale connection" => return Failure::new(ErrorCategory::ConnectionReset),
        "secure connection - tls required" => (ErrorCategory::Tls, "the server wants TLS"),
        _ => (ErrorCategory::Unknown, "the server refused the ping"),
    };
    Failure::new(category).because(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_refuses_has_its_words() {
        let cases = [
            ("-ERR 'Authorization Violation'", "credentials refused"),
            (
                "-ERR 'maximum connections exceeded'",
                "the server has no connection left",
            ),
            ("-ERR 'Server Shutdown'", "shutting down"),
            ("-ERR 'Stale Connection'", "connection reset"),
            (
                "-ERR 'Secure Connection - TLS Required'",
                "the server wants TLS",
            ),
            ("-ERR 'hunter2'", "the server refused the ping"),
        ];
        for (line, words) in cases {
            let Ok(Said::Failure(failure)) = said(line.as_bytes()) else {
                panic!("{line} is a failure");
            };
            assert_eq!(failure.to_string(), words, "{line}");
        }
        assert!(said(b"HTTP/1.1 400 Bad Request").is_err());
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let both = NatsSettings {
            token: Some("hunter2".into()),
            ..NatsSettings::new("nats://alice:hunter2@queue")
        };
        let cases = [
            (
                both,
                "there are a token and a user, and a server takes one of them",
            ),
            (
                NatsSettings::new("amqp://queue"),
                "the URL does not begin with nats://",
            ),
        ];
        for (settings, sentence) in cases {
            let unusable = nats("queue", settings).map(|_| ());
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
