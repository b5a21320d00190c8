//! Several Redis servers that belong together: a connection to each that is asked, kept over the runs.

use std::collections::BTreeMap;

use redis::aio::MultiplexedConnection;
use redis::{
    Client, Cmd, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    ServerErrorKind, Value,
};
use rootward::{ErrorCategory, Failure};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::url::Url;
use super::{Roots, Secret, Unusable};
use crate::redis::{connect, of_driver};

/// The most servers that are named in settings.
const MAX_NODES: usize = 64;

/// A host and a port.
pub(crate) type Node = (String, u16);

#[cfg(feature = "redis-tls")]
pub(crate) use super::redis_tls::Authority;
/// There is none without TLS.
#[cfg(not(feature = "redis-tls"))]
#[derive(Debug, Clone)]
pub(crate) enum Authority {}

/// Whom to trust, if the scheme is the one of TLS.
pub(crate) fn authority(scheme: &str, roots: &Roots) -> Result<Option<Authority>, Unusable> {
    if scheme == "rediss" {
        return secured(roots).map(Some);
    }
    match roots {
        Roots::System => Ok(None),
        Roots::File(_) => Err(Unusable::because(&[
            "roots are of no use without rediss://",
        ])),
    }
}

#[cfg(feature = "redis-tls")]
fn secured(roots: &Roots) -> Result<Authority, Unusable> {
    Authority::read(roots)
}

#[cfg(not(feature = "redis-tls"))]
fn secured(_: &Roots) -> Result<Authority, Unusable> {
    Err(Unusable::because(&["TLS to Redis is not built in"]))
}

/// Reads URLs without user and password: those are the same for all, and so is TLS.
pub(crate) fn read(
    urls: &[Secret],
    port: u16,
    roots: &Roots,
) -> Result<(Vec<Node>, Option<Authority>), Unusable> {
    if urls.is_empty() {
        return Err(Unusable::because(&["no URL is given"]));
    }
    if urls.len() > MAX_NODES {
        return Err(Unusable::because(&["there are more than 64 URLs"]));
    }
    let read = |url: &Secret| {
        let (scheme, url) = Url::parse(url, &["redis", "rediss"])?;
        if url.login(None, None)? != (None, None) {
            return Err(Unusable::because(&[
                "a URL has a user or a password; those of all stand beside it",
            ]));
        }
        if !url.query.is_empty() || !matches!(url.path, "" | "0") {
            return Err(Unusable::because(&[
                "the URL has a database or parameters, which mean nothing here",
            ]));
        }
        let port = url.port.unwrap_or(port);
        Ok((scheme, (url.host, port)))
    };
    let read: Vec<(&str, Node)> = urls.iter().map(read).collect::<Result<_, _>>()?;
    let scheme = read.first().map_or("redis", |(scheme, _)| scheme);
    if read.iter().any(|(other, _)| *other != scheme) {
        return Err(Unusable::because(&[
            "some URLs begin with redis:// and some with rediss://",
        ]));
    }
    let authority = authority(scheme, roots)?;
    Ok((read.into_iter().map(|(_, node)| node).collect(), authority))
}

/// Who asks, of which database, and who vouches for the servers where TLS is spoken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
    pub(crate) database: i64,
    pub(crate) authority: Option<Authority>,
}

/// An open connection, and the task that reads it where that is our own; it ends with the connection.
pub(crate) struct Open {
    connection: MultiplexedConnection,
    _driving: Option<JoinSet<()>>,
}

/// Connections, by where they lead to.
pub(crate) type Connections = BTreeMap<Node, Open>;

/// Asks this node, on the connection that is there or on a new one; after a good answer it is there for the next run.
///
/// One that was closed while nobody used it says nothing about the server, so that a new one is asked then.
pub(crate) async fn ask(
    node: &Node,
    open: &mut Connections,
    login: &Login,
    commands: &[Cmd],
) -> Result<Vec<Value>, Failure> {
    if let Some(mut kept) = open.remove(node) {
        match ask_on(&mut kept.connection, commands).await {
            Ok(answers) => {
                open.insert(node.clone(), kept);
                return Ok(answers);
            }
            Err(failure) if failure.category() == ErrorCategory::ConnectionReset => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut info = RedisConnectionInfo::default().set_db(login.database);
    if let Some(user) = &login.user {
        info = info.set_username(user.reveal());
    }
    if let Some(password) = &login.password {
        info = info.set_password(password.reveal());
    }
    let mut made = match &login.authority {
        Some(authority) => secure(authority, node, &info).await?,
        None => {
            let client = ConnectionAddr::Tcp(node.0.clone(), node.1)
                .into_connection_info()
                .and_then(|address| Client::open(address.set_redis_settings(info)))
                .map_err(of_driver)?;
            Open {
                connection: connect(&client).await?,
                _driving: None,
            }
        }
    };
    let answers = ask_on(&mut made.connection, commands).await?;
    open.insert(node.clone(), made);
    Ok(answers)
}

#[cfg(feature = "redis-tls")]
async fn secure(
    authority: &Authority,
    node: &Node,
    info: &RedisConnectionInfo,
) -> Result<Open, Failure> {
    let (connection, driving) = authority.connect(node, info).await?;
    Ok(Open {
        connection,
        _driving: Some(driving),
    })
}

#[cfg(not(feature = "redis-tls"))]
async fn secure(authority: &Authority, _: &Node, _: &RedisConnectionInfo) -> Result<Open, Failure> {
    match *authority {}
}

async fn ask_on(
    connection: &mut MultiplexedConnection,
    commands: &[Cmd],
) -> Result<Vec<Value>, Failure> {
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        let answer = match command.query_async::<Value>(connection).await {
            // An answer of a sentinel in the form of an error.
            Err(error) if error.code() == Some("NOQUORUM") => Value::Nil,
            // A server that is no cluster or no sentinel knows no such command.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::ResponseError) => {
                return Err(Failure::new(ErrorCategory::Protocol)
                    .because("the command was refused")
                    .caused_by(error));
            }
            answer => answer.map_err(of_driver)?,
        };
        answers.push(answer);
    }
    Ok(answers)
}

/// Asks the nodes in turn until one answers, and says which: each gets a share of the time that is left, the last gets
/// all of it. Of several failures the first is told.
pub(crate) async fn first_that_answers<'n>(
    nodes: &'n [Node],
    open: &mut Connections,
    login: &Login,
    ends: Instant,
    commands: &[Cmd],
) -> Result<(&'n Node, Vec<Value>), Failure> {
    let mut first = None;
    for (index, node) in nodes.iter().enumerate() {
        let left = ends.saturating_duration_since(Instant::now());
        let others = u32::try_from(nodes.len() - index).unwrap_or(u32::MAX);
        let failure = match timeout(left / others, ask(node, open, login, commands)).await {
            Ok(Ok(answers)) => return Ok((node, answers)),
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(ErrorCategory::Timeout),
        };
        first = first.or(Some(failure));
    }
    Err(first.unwrap_or_else(|| Failure::new(ErrorCategory::Unknown)))
}

/// A host and a port in an answer.
pub(crate) fn node_of(host: &Value, port: &Value, otherwise: &str) -> Option<Node> {
    let host: Option<String> = redis::from_redis_value(host.clone()).ok()?;
    // A node that does not know its own name is where it was asked.
    let host = host.filter(|host| !host.is_empty() && host != "?");
    // Asked for a `u16`, the driver cuts off what is larger.
    let port: i64 = redis::from_redis_value(port.clone()).ok()?;
    let port = u16::try_from(port).ok()?;
    Some((host.unwrap_or_else(|| otherwise.to_owned()), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let own_login = "a URL has a user or a password; those of all stand beside it";
        let own_database = "the URL has a database or parameters, which mean nothing here";
        let cases = [
            ("http://cache", "the URL does not begin with redis://"),
            (
                "rediss://cache",
                "some URLs begin with redis:// and some with rediss://",
            ),
            ("redis://alice@cache", own_login),
            ("redis://:hunter2@cache", own_login),
            ("redis://cache/1", own_database),
            ("redis://cache?password=hunter2", own_database),
        ];
        for (url, sentence) in cases {
            let unusable = read(&["redis://cache".into(), url.into()], 1, &Roots::System)
                .expect_err("unusable");
            assert_eq!(unusable.to_string(), sentence);
        }
        let none = read(&[], 1, &Roots::System).expect_err("unusable");
        assert_eq!(none.to_string(), "no URL is given");
        let many = vec![Secret::from("redis://cache"); MAX_NODES + 1];
        let many = read(&many, 1, &Roots::System).expect_err("unusable");
        assert_eq!(many.to_string(), "there are more than 64 URLs");
    }

    #[test]
    fn nodes_are_read_with_their_ports_or_the_usual_one() {
        let urls = ["redis://Cache-0".into(), "redis://[::1]:7/0".into()];
        let (nodes, authority) = read(&urls, 26_379, &Roots::System).expect("URLs");
        assert!(authority.is_none());
        assert_eq!(nodes, [("cache-0".into(), 26_379), ("::1".into(), 7)]);
    }
}
