//! SMTP: a mail server is greeted and asked to do nothing. No mail is sent.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Reason, Unlabelled};
use rootward_fetch::Target;

use super::server::Server;
use super::{Roots, Secret, Unusable};
use crate::wire::Wire;

const PORT: u16 = 25;
const PORT_WITH_TLS: u16 = 465;

/// The most lines of one reply.
const MAX_LINES: usize = 128;

/// Where a mail server is, and who asks it.
///
/// ```
/// use rootward_checks::open::SmtpSettings;
///
/// let settings = SmtpSettings {
///     starttls: true,
///     user: Some("shop".into()),
///     password: Some("hunter2".into()),
///     ..SmtpSettings::new("smtp://mail:587")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// `smtp://USER:PASSWORD@HOST:PORT`, or `smtps://…` for a server that speaks TLS from the first byte. The port is 25,
    /// or 465, unless it is there.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// Go over to TLS before anything else (RFC 3207), as a server on port 587 wants it. One that does not offer it is
    /// down, and gets no password.
    pub starttls: bool,
    /// Send the password also without TLS: to a server on this machine, or through a tunnel.
    pub password_in_clear: bool,
    /// Whose certificates are believed where TLS is spoken.
    pub roots: Roots,
    /// How the check calls itself (`EHLO`).
    pub hello: String,
}

impl SmtpSettings {
    /// Whatever the URL says, without TLS beyond it; the check calls itself `rootward.invalid`.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
            starttls: false,
            password_in_clear: false,
            roots: Roots::System,
            hello: "rootward.invalid".into(),
        }
    }
}

/// Greets a mail server, goes over to TLS and logs in where that is wanted, asks it to do nothing, and says goodbye.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused (535), or a login is wanted (530) or too weak (534, 538) | `auth` |
/// | it offers no STARTTLS, or its certificate is not to be trusted | `tls` |
/// | it is closing down (421) | `shutting_down` |
/// | it is short of disk or memory (452) | `resource_exhausted` |
/// | it cannot now (other 4xx) | `not_ready`, with the number |
/// | it refuses (other 5xx), such as to talk to this machine | `unknown`, with the number |
/// | what answers is no SMTP, or offers no login that this check has | `protocol` |
///
/// A run costs the server a connection of its own: `EHLO`, with a login `AUTH`, `NOOP`, `QUIT`
/// ([RFC 5321](https://www.rfc-editor.org/rfc/rfc5321)). There is never a `MAIL FROM`. The connection is not kept:
/// servers count commands that do nothing on one connection, and close it (Postfix:
/// `smtpd_junk_command_limit`). Each run is a line in the server's log, and a login may be slow on purpose; an interval
/// of a minute is often enough.
///
/// It does not prove that a mail would be accepted, relayed or delivered. The login is `AUTH PLAIN` (RFC 4616).
///
/// # Errors
/// When the URL cannot be used, the roots cannot be read, a password would go in clear text, or the name is none.
///
/// ```
/// use rootward_checks::open::{self, SmtpSettings};
///
/// let settings = SmtpSettings { starttls: true, ..SmtpSettings::new("smtp://shop:hunter2@mail:587") };
/// let check = open::smtp("mail", settings)?.soft(); // smtp://mail:587
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn smtp(
    name: impl Into<String>,
    settings: SmtpSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let smtp = Arc::new(Smtp::new(settings)?);
    let target = smtp.server.identity.clone();
    let check = Check::with_context(name, move |context| {
        let smtp = Arc::clone(&smtp);
        async move { smtp.ask(&context).await }
    });
    Ok(check.kind("smtp").depth(Depth::Ping).target(target))
}

struct Smtp {
    server: Server,
    /// With whom TLS is begun by STARTTLS.
    starttls: Option<Target>,
    hello: String,
}

impl Smtp {
    fn new(settings: SmtpSettings) -> Result<Self, Unusable> {
        let SmtpSettings {
            url,
            user,
            password,
            starttls,
            password_in_clear,
            roots,
            hello,
        } = settings;
        let ports = [PORT, PORT_WITH_TLS];
        let schemes = &["smtp", "smtps"];
        let server = Server::read_secured(&url, user, password, schemes, ports, &roots)?;
        let server = server.without_path()?;
        if starttls && server.at.is_secured() {
            return Err(Unusable::because(&[
                "with smtps:// TLS is there from the first byte, and there is no STARTTLS",
            ]));
        }
        let is_clear = !starttls && !server.at.is_secured();
        if is_clear && !password_in_clear && server.login().is_some() {
            return Err(Unusable::because(&[
                "the password would go in clear text: use STARTTLS or smtps://, or allow it",
            ]));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-[]:".contains(&byte);
        if hello.is_empty() || hello.len() > 255 || !hello.bytes().all(is_name) {
            return Err(Unusable::because(&[
                "the name for EHLO is no name of a host",
            ]));
        }
        let starttls = match starttls {
            true => Some(server.secured(&roots)?),
            false => None,
        };
        Ok(Self {
            server,
            starttls,
            hello,
        })
    }

    async fn ask(&self, context: &CheckContext) -> Result<(), Failure> {
        let mut wire = Wire::connect(&self.server.at, context).await?;
        good(&reply(&mut wire).await?)?;
        let mut offers = self.greet(&mut wire).await?;
        if let Some(target) = &self.starttls {
            if !offers.has("STARTTLS") {
                return Err(
                    Failure::new(ErrorCategory::Tls).because("the server offers no STARTTLS")
                );
            }
            good(&say(&mut wire, "STARTTLS").await?)?;
            wire = wire.secure(target, context).await?;
            // What it offered before counts no more (RFC 3207, section 4.2).
            offers = self.greet(&mut wire).await?;
        }
        if let Some((user, password)) = self.server.login() {
            if !offers.has_plain() {
                return Err(Failure::new(ErrorCategory::Protocol)
                    .because("the server offers no login with PLAIN"));
            }
            let login = STANDARD.encode(format!("\0{user}\0{password}"));
            good(&say(&mut wire, &format!("AUTH PLAIN {login}")).await?)?;
        }
        good(&say(&mut wire, "NOOP").await?)?;
        // It has answered; how it says goodbye is its own affair.
        let _ = say(&mut wire, "QUIT").await;
        Ok(())
    }

    async fn greet(&self, wire: &mut Wire) -> Result<Reply, Failure> {
        let offers = say(wire, &format!("EHLO {}", self.hello)).await?;
        good(&offers)?;
        Ok(offers)
    }
}

/// A reply: its number, and the text of its lines (RFC 5321, section 4.2).
struct Reply {
    code: u16,
    lines: Vec<String>,
}

impl Reply {
    /// The words of what it offers, one offer a line. The first line is its name.
    fn offers(&self) -> impl Iterator<Item = Vec<String>> {
        let lines = self.lines.iter().skip(1);
        lines.map(|line| {
            let line = line.to_ascii_uppercase();
            line.split_whitespace().map(str::to_owned).collect()
        })
    }

    fn has(&self, offer: &str) -> bool {
        let mut offers = self.offers();
        offers.any(|words| words.first().is_some_and(|word| word == offer))
    }

    fn has_plain(&self) -> bool {
        let mut offers = self.offers();
        offers.any(|words| {
            words.first().is_some_and(|word| word == "AUTH") && words[1..].contains(&"PLAIN".into())
        })
    }
}

async fn say(wire: &mut Wire, command: &str) -> Result<Reply, Failure> {
    wire.send(format!("{command}\r\n").as_bytes()).await?;
    reply(wire).await
}

async fn reply(wire: &mut Wire) -> Result<Reply, Failure> {
    let mut lines = Vec::new();
    for _ in 0..MAX_LINES {
        let line = wire.line().await?;
        let (code, is_last, text) = parse(&line).ok_or_else(no_smtp)?;
        lines.push(text);
        if is_last {
            return Ok(Reply { code, lines });
        }
    }
    Err(no_smtp())
}

/// `250-text` goes on, `250 text` and `250` end.
fn parse(line: &[u8]) -> Option<(u16, bool, String)> {
    let (code, rest) = line.split_at_checked(3)?;
    if !code.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let code = std::str::from_utf8(code).ok()?.parse().ok()?;
    let is_last = match rest.first() {
        None | Some(b' ') => true,
        Some(b'-') => false,
        Some(_) => return None,
    };
    let text = rest.get(1..).unwrap_or_default();
    Some((code, is_last, String::from_utf8_lossy(text).into_owned()))
}

fn no_smtp() -> Failure {
    Failure::new(ErrorCategory::Protocol).because("the answer is no SMTP")
}

fn good(reply: &Reply) -> Result<(), Failure> {
    let category = match reply.code {
        200..=299 => return Ok(()),
        421 => ErrorCategory::ShuttingDown,
        452 => ErrorCategory::ResourceExhausted,
        530 | 534 | 535 | 538 => return Err(Failure::new(ErrorCategory::Auth)),
        400..=499 => ErrorCategory::NotReady,
        500..=599 => ErrorCategory::Unknown,
        _ => return Err(no_smtp()),
    };
    let reason = Reason::new("the server refused with SMTP status").number(reply.code);
    Err(Failure::new(category).because(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_replies_have_their_categories() {
        let cases = [
            (
                421,
                "shutting_down",
                "the server refused with SMTP status 421",
            ),
            (450, "not_ready", "the server refused with SMTP status 450"),
            (
                452,
                "resource_exhausted",
                "the server refused with SMTP status 452",
            ),
            (535, "auth", "credentials refused"),
            (554, "unknown", "the server refused with SMTP status 554"),
            (354, "protocol", "the answer is no SMTP"),
        ];
        for (code, category, words) in cases {
            let failure = good(&Reply {
                code,
                lines: vec![],
            })
            .expect_err("a failure");
            assert_eq!(failure.category().to_string(), category);
            assert_eq!(failure.to_string(), words);
        }
        assert!(
            good(&Reply {
                code: 250,
                lines: vec![]
            })
            .is_ok()
        );
    }

    #[test]
    fn offers_are_read_from_the_lines_behind_the_name() {
        let lines = ["mail STARTTLS", "starttls", "AUTH LOGIN PLAIN", "SIZE 1"];
        let reply = Reply {
            code: 250,
            lines: lines.map(str::to_owned).to_vec(),
        };
        assert!(reply.has("STARTTLS") && reply.has_plain() && !reply.has("MAIL"));
        assert_eq!(parse(b"250-a b"), Some((250, false, "a b".into())));
        assert_eq!(parse(b"250"), Some((250, true, String::new())));
        assert_eq!(parse(b"HTTP/1.1 400 Bad Request"), None);
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let with = |change: fn(&mut SmtpSettings)| {
            let mut settings = SmtpSettings::new("smtp://alice:hunter2@mail");
            change(&mut settings);
            smtp("mail", settings)
                .map(|_| ())
                .expect_err("unusable")
                .to_string()
        };
        assert_eq!(
            with(|_| ()),
            "the password would go in clear text: use STARTTLS or smtps://, or allow it"
        );
        assert_eq!(
            with(|settings| {
                settings.password_in_clear = true;
                settings.hello = "hunter2\r\nMAIL FROM:<>".into();
            }),
            "the name for EHLO is no name of a host"
        );
        assert_eq!(
            with(|settings| settings.url = "smtp://mail/hunter2".into()),
            "the URL has a path, which means nothing here"
        );
    }
}
