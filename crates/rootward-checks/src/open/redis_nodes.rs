//! Several Redis servers that belong together: a connection to each that is asked, kept over the runs.

use std::collections::BTreeMap;

use redis::aio::MultiplexedConnection;
use redis::{
    Client, Cmd, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    ServerErrorKind, Value,
};
use rootward::{ErrorCategory, Failure};
use tokio::time::{Instant, timeout};

use super::url::Url;
use super::{Secret, Unusable};
use crate::redis::{connect, of_driver};

/// The most servers that are named in settings.
const MAX_NODES: usize = 64;

/// A host and a port.
pub(crate) type Node = (String, u16);

/// Reads URLs without user and password: those are the same for all.
pub(crate) fn read(urls: &[Secret], port: u16) -> Result<Vec<Node>, Unusable> {
    if urls.is_empty() {
        return Err(Unusable::because(&["no URL is given"]));
    }
    if urls.len() > MAX_NODES {
        return Err(Unusable::because(&["there are more than 64 URLs"]));
    }
    let read = |url: &Secret| {
        let (scheme, url) = Url::parse(url, &["redis", "rediss"])?;
        if scheme == "rediss" {
            return Err(Unusable::because(&["TLS to Redis is not built yet"]));
        }
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
        Ok((url.host, port))
    };
    urls.iter().map(read).collect()
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
}

/// Connections, by where they lead to.
pub(crate) type Connections = BTreeMap<Node, MultiplexedConnection>;

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
        match ask_on(&mut kept, commands).await {
            Ok(answers) => {
                open.insert(node.clone(), kept);
                return Ok(answers);
            }
            Err(failure) if failure.category() == ErrorCategory::ConnectionReset => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut info = RedisConnectionInfo::default();
    if let Some(user) = &login.user {
        info = info.set_username(user.reveal());
    }
    if let Some(password) = &login.password {
        info = info.set_password(password.reveal());
    }
    let client = ConnectionAddr::Tcp(node.0.clone(), node.1)
        .into_connection_info()
        .and_then(|address| Client::open(address.set_redis_settings(info)))
        .map_err(of_driver)?;
    let mut connection = connect(&client).await?;
    let answers = ask_on(&mut connection, commands).await?;
    open.insert(node.clone(), connection);
    Ok(answers)
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
            ("rediss://cache", "TLS to Redis is not built yet"),
            ("redis://alice@cache", own_login),
            ("redis://:hunter2@cache", own_login),
            ("redis://cache/1", own_database),
            ("redis://cache?password=hunter2", own_database),
        ];
        for (url, sentence) in cases {
            let unusable = read(&["redis://cache".into(), url.into()], 1).expect_err("unusable");
            assert_eq!(unusable.to_string(), sentence);
        }
        let none = read(&[], 1).expect_err("unusable");
        assert_eq!(none.to_string(), "no URL is given");
        let many = vec![Secret::from("redis://cache"); MAX_NODES + 1];
        let many = read(&many, 1).expect_err("unusable");
        assert_eq!(many.to_string(), "there are more than 64 URLs");
    }

    #[test]
    fn nodes_are_read_with_their_ports_or_the_usual_one() {
        let urls = ["redis://Cache-0".into(), "redis://[::1]:7/0".into()];
        let nodes = read(&urls, 26_379).expect("URLs");
        assert_eq!(nodes, [("cache-0".into(), 26_379), ("::1".into(), 7)]);
    }
}
