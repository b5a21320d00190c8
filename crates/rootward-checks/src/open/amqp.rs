//! AMQP 0-9-1: a connection of the check's own, without a driver.
//!
//! A driver keeps a thread, buffers of megabytes and a mind of its own about connecting again. A check wants none of
//! it: it wants to know what went wrong, and to leave nothing behind when it is cut off.

mod frame;

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled};

use super::server::Server;
use super::url::decode;
use super::{Roots, Secret, Unusable};
use crate::amqp_words::{closed, no_amqp, short_of_resources};
use crate::kept::{self, Protocol};
use crate::wire::Wire;
use frame::{Arguments, Method, Writer};

const PORT: u16 = 5672;
const PORT_WITH_TLS: u16 = 5671;

/// What a server says before its answer, at most: that it lives, that it is short of something.
const MAX_FRAMES: usize = 16;

/// Where an AMQP broker is, and who asks it.
///
/// ```
/// use rootward_checks::open::AmqpSettings;
///
/// let settings = AmqpSettings {
///     password: Some("hunter2".into()),
///     ..AmqpSettings::new("amqp://cart@broker:5672/orders")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct AmqpSettings {
    /// `amqp://USER:PASSWORD@HOST:PORT/VHOST`, or `amqps://…` for TLS. The port is 5672, or 5671, and the virtual host
    /// `/` unless they are there; as everywhere, `/` in the name of a virtual host is written `%2F`. Without a user it
    /// is `guest` with the password `guest`.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// Whose certificates are believed, with `amqps://`.
    pub roots: Roots,
}

impl AmqpSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
            roots: Roots::System,
        }
    }
}

/// A question to an AMQP 0-9-1 broker (RabbitMQ, LavinMQ), on a connection and a channel of the check's own.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused, or the user may not enter the virtual host | `auth` |
/// | the virtual host does not exist | `not_found` |
/// | the broker ends connections because it is stopping, or an operator closed this one | `shutting_down` |
/// | it has as many connections or channels as it may have | `rate_limited` |
/// | it has stopped this connection because memory or disk are short | degraded, `resource_exhausted` |
/// | what answers is no AMQP 0-9-1 | `protocol` |
///
/// A run costs the broker one method on a channel that is kept, `channel.flow` that asks for what is so already
/// ([AMQP 0-9-1](https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf), section 1.5.2.3). Nothing is declared,
/// published or consumed.
///
/// It does not prove that your queues and exchanges are there or that anybody consumes from them. A broker that is short
/// of memory or disk stops those connections that publish, and this one never does: whether yours are stopped is seen
/// on the application's own connection (feature `lapin`).
///
/// # Errors
/// When the URL cannot be used, or the roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, AmqpSettings};
///
/// let check = open::amqp("broker", AmqpSettings::new("amqp://cart:hunter2@broker/orders"))?.hard(); // amqp://broker:5672/orders
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn amqp(
    name: impl Into<String>,
    settings: AmqpSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let AmqpSettings {
        url,
        user,
        password,
        roots,
    } = settings;
    let ports = [PORT, PORT_WITH_TLS];
    let schemes = &["amqp", "amqps"];
    let server = Server::read_secured(&url, user, password, schemes, ports, &roots)?;
    let vhost = match decode(&server.path)? {
        Some(name) => name.reveal().to_owned(),
        None => "/".to_owned(),
    };
    if vhost.len() > usize::from(u8::MAX) {
        return Err(Unusable::because(&[
            "the virtual host has more than 255 bytes",
        ]));
    }
    let path = if server.path.is_empty() {
        "%2F"
    } else {
        &server.path
    };
    let target = format!("{}/{path}", server.identity);
    let check = kept::check(name, Amqp { server, vhost });
    Ok(check.kind("amqp").depth(Depth::Ping).target(target))
}

struct Amqp {
    server: Server,
    vhost: String,
}

impl Protocol for Amqp {
    type Connection = Wire;

    async fn connect(&self, context: &CheckContext) -> Result<Wire, Failure> {
        let mut wire = Wire::connect(&self.server.at, context).await?;
        wire.send(b"AMQP\x00\x00\x09\x01").await?;
        expect(&mut wire, Method::ConnectionStart).await?;
        let (user, password) = self.server.login().unwrap_or(("guest", "guest"));
        let start_ok = Writer::method(0, Method::ConnectionStartOk)
            .capabilities(&["authentication_failure_close", "connection.blocked"])
            .short("PLAIN")
            .long(format!("\0{user}\0{password}").as_bytes())
            .short("en_US");
        wire.send(&start_ok.frame()).await?;
        let mut tune = expect(&mut wire, Method::ConnectionTune).await?;
        let (channels, frame_bytes) = (tune.u16()?, tune.u32()?);
        // No heartbeats: a run asks often enough, and nobody is here between runs to send them.
        let tune_ok = Writer::method(0, Method::ConnectionTuneOk)
            .u16(channels)
            .u32(frame_bytes)
            .u16(0);
        wire.send(&tune_ok.frame()).await?;
        let open = Writer::method(0, Method::ConnectionOpen)
            .short(&self.vhost)
            .short("")
            .u8(0);
        wire.send(&open.frame()).await?;
        expect(&mut wire, Method::ConnectionOpenOk).await?;
        wire.send(&Writer::method(1, Method::ChannelOpen).short("").frame())
            .await?;
        expect(&mut wire, Method::ChannelOpenOk).await?;
        Ok(wire)
    }

    async fn ask(&self, wire: &mut Wire) -> Result<Outcome, Failure> {
        wire.send(&Writer::method(1, Method::ChannelFlow).u8(1).frame())
            .await?;
        match answer(wire).await? {
            (Method::ChannelFlowOk, _) => Ok(Outcome::Up),
            (Method::ConnectionBlocked, _) => Ok(Outcome::Degraded(short_of_resources())),
            _ => Err(no_amqp()),
        }
    }
}

async fn expect(wire: &mut Wire, wanted: Method) -> Result<Arguments, Failure> {
    match answer(wire).await? {
        (method, arguments) if method == wanted => Ok(arguments),
        _ => Err(no_amqp()),
    }
}

/// The next method that is an answer; that the connection is closed is a failure.
async fn answer(wire: &mut Wire) -> Result<(Method, Arguments), Failure> {
    for _ in 0..MAX_FRAMES {
        let Some((method, mut arguments)) = frame::read(wire).await? else {
            continue;
        };
        match method {
            Method::ConnectionClose | Method::ChannelClose => {
                let code = arguments.u16()?;
                return Err(of_close(code, arguments.short()?));
            }
            Method::ConnectionUnblocked => {}
            _ => return Ok((method, arguments)),
        }
    }
    Err(no_amqp())
}

/// RabbitMQ has one code for all that has to do with a virtual host; only its words tell which.
fn of_close(code: u16, words: &[u8]) -> Failure {
    let words = String::from_utf8_lossy(words);
    if code != 530 {
        closed(code)
    } else if words.ends_with(" not found") {
        Failure::new(ErrorCategory::NotFound).because("the virtual host does not exist")
    } else if words.contains("' refused for user '") {
        closed(code)
    } else if words.contains("limit") {
        Failure::new(ErrorCategory::RateLimited)
            .because("the virtual host or the user has no connection left")
    } else {
        closed(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_closes_a_connection_has_its_words() {
        let cases: [(u16, &str, &str); 7] = [
            (
                320,
                "CONNECTION_FORCED - hunter2",
                "the broker ended the connection",
            ),
            (403, "ACCESS_REFUSED - hunter2", "credentials refused"),
            (
                530,
                "NOT_ALLOWED - vhost limit not found",
                "the virtual host does not exist",
            ),
            (
                530,
                "NOT_ALLOWED - access to vhost 'limit' refused for user 'hunter2'",
                "the user may not enter the virtual host",
            ),
            (
                530,
                "NOT_ALLOWED - access to vhost 'a' refused: connection limit (1) is reached",
                "the virtual host or the user has no connection left",
            ),
            (501, "FRAME_ERROR", "the answer is no AMQP 0-9-1"),
            (
                599,
                "hunter2",
                "the broker ended the connection with code 599",
            ),
        ];
        for (code, text, words) in cases {
            assert_eq!(of_close(code, text.as_bytes()).to_string(), words, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let long = format!("amqp://broker/{}", "v".repeat(300));
        let cases = [
            ("nats://broker", "the URL does not begin with amqp://"),
            (&long, "the virtual host has more than 255 bytes"),
            (
                "amqp://alice@broker",
                "a user and a password are given together or not at all",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = amqp("broker", AmqpSettings::new(url)).map(|_| ());
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
