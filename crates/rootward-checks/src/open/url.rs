//! The URL of one server: `scheme://user:password@host:port/path?query`. No sentence about it repeats any part of it.

use std::net::Ipv6Addr;

use super::{Secret, Unusable};

/// The longest URL that is read.
const MAX_URL_BYTES: usize = 2_048;

/// A URL taken apart. User and password are decoded; path and query are as written.
#[derive(Debug)]
pub(crate) struct Url<'u> {
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
    /// A name in lower case or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    /// Without the slash at its beginning.
    pub(crate) path: &'u str,
    /// Without the question mark.
    pub(crate) query: &'u str,
}

impl<'u> Url<'u> {
    /// Reads a URL of one of these schemes, and says which it has. The first is the one that an operator is told to
    /// write.
    pub(crate) fn parse(
        text: &'u Secret,
        schemes: &'static [&'static str],
    ) -> Result<(&'static str, Self), Unusable> {
        let text = text.reveal();
        if text.len() > MAX_URL_BYTES {
            return Err(Unusable::because(&["the URL has more than 2048 bytes"]));
        }
        let read = text.split_once("://").and_then(|(scheme, rest)| {
            let mut known = schemes.iter();
            let scheme = known.find(|known| known.eq_ignore_ascii_case(scheme))?;
            Some((*scheme, rest))
        });
        let Some((scheme, rest)) = read else {
            let first = schemes.first().copied().unwrap_or_default();
            return Err(Unusable::because(&[
                "the URL does not begin with ",
                first,
                "://",
            ]));
        };
        if rest.contains('#') {
            return Err(Unusable::because(&[
                "the URL has a fragment; in a user or password write %23 for #",
            ]));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, server) = match authority.rsplit_once('@') {
            Some((login, server)) => (Some(login), server),
            None => (None, authority),
        };
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, "")))
        {
            Some((user, password)) => (decode(user)?, decode(password)?),
            None => (None, None),
        };
        let (host, port) = split_port(server)?;
        let url = Self {
            user,
            password,
            host: read_host(host)?,
            port: port.map(read_port).transpose()?,
            path,
            query,
        };
        Ok((scheme, url))
    }

    /// The identity of the server, as a target: `scheme://host:port/path`.
    pub(crate) fn identity(&self, scheme: &str, port: u16, path: &str) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let slash = if path.is_empty() { "" } else { "/" };
        format!(
            "{scheme}://{host}:{}{slash}{path}",
            self.port.unwrap_or(port)
        )
    }

    /// What stands in the URL or beside it, and not in both.
    pub(crate) fn login(
        &self,
        user: Option<Secret>,
        password: Option<Secret>,
    ) -> Result<(Option<Secret>, Option<Secret>), Unusable> {
        let one = |within: &Option<Secret>, beside: Option<Secret>, twice| match (within, beside) {
            (Some(_), Some(_)) => Err(Unusable::because(&[twice])),
            (within, beside) => Ok(beside.or_else(|| within.clone())),
        };
        Ok((
            one(&self.user, user, "the user stands in the URL and beside it")?,
            one(
                &self.password,
                password,
                "the password stands in the URL and beside it",
            )?,
        ))
    }
}

fn split_port(server: &str) -> Result<(&str, Option<&str>), Unusable> {
    if server.contains(',') {
        return Err(Unusable::because(&["the URL names several hosts"]));
    }
    if let Some(rest) = server.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((host, "")) => Ok((host, None)),
            Some((host, port)) if port.starts_with(':') => Ok((host, port.get(1..))),
            _ => Err(bad_host()),
        };
    }
    Ok(match server.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (server, None),
    })
}

fn read_host(host: &str) -> Result<String, Unusable> {
    if host.is_empty() {
        return Err(Unusable::because(&["the URL has no host"]));
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if host.bytes().all(is_name) {
        return Ok(host.to_ascii_lowercase());
    }
    let address: Ipv6Addr = host.parse().map_err(|_| bad_host())?;
    Ok(address.to_string())
}

fn bad_host() -> Unusable {
    Unusable::because(&["the host of the URL is neither a name nor an address"])
}

fn read_port(port: &str) -> Result<u16, Unusable> {
    match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(Unusable::because(&[
            "the port of the URL is no number from 1 to 65535",
        ])),
    }
}

/// `%40` becomes `@`. `None` for nothing.
pub(super) fn decode(text: &str) -> Result<Option<Secret>, Unusable> {
    let broken = || Unusable::because(&["a part of the URL is not percent-encoded"]);
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            decoded.push(*byte);
            continue;
        }
        let digits = rest.get(..2).ok_or_else(broken)?;
        let digits = std::str::from_utf8(digits).map_err(|_| broken())?;
        // `from_str_radix` would take a sign.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(broken());
        }
        decoded.push(u8::from_str_radix(digits, 16).map_err(|_| broken())?);
        rest = rest.get(2..).unwrap_or_default();
    }
    if decoded.is_empty() {
        return Ok(None);
    }
    let decoded = String::from_utf8(decoded).map_err(|_| broken())?;
    Ok(Some(decoded.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_user_and_password_are_decoded() {
        let text = Secret::from("DB://al%40ice:hunter%3A2@Orders-DB:6000/a/b?c=d");
        let (scheme, url) = Url::parse(&text, &["db"]).expect("a URL");
        assert_eq!(url.user, Some("al@ice".into()));
        assert_eq!(url.password, Some("hunter:2".into()));
        assert_eq!((scheme, url.path, url.query), ("db", "a/b", "c=d"));
        assert_eq!(url.identity("db", 1, url.path), "db://orders-db:6000/a/b");
        let text = Secret::from("db://[0::1]");
        let (_, url) = Url::parse(&text, &["db"]).expect("a URL");
        assert_eq!((url.user.is_none(), url.port), (true, None));
        assert_eq!(url.identity("db", 7, url.path), "db://[::1]:7");
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said_without_it() {
        let cases = [
            ("hunter2", "the URL does not begin with db://"),
            ("http://hunter2", "the URL does not begin with db://"),
            ("db://", "the URL has no host"),
            ("db://alice:hunter2@", "the URL has no host"),
            ("db://alice:hunter2@:1/", "the URL has no host"),
            ("db://alice:hunter2@a,b/", "the URL names several hosts"),
            (
                "db://alice:hun#ter2@a/",
                "the URL has a fragment; in a user or password write %23 for #",
            ),
            (
                "db://alice:hunter2",
                "the port of the URL is no number from 1 to 65535",
            ),
            (
                "db://a:0",
                "the port of the URL is no number from 1 to 65535",
            ),
            (
                "db://alice:hunter2%@a",
                "a part of the URL is not percent-encoded",
            ),
            (
                "db://alice:%+2@a",
                "a part of the URL is not percent-encoded",
            ),
            (
                "db://[::1",
                "the host of the URL is neither a name nor an address",
            ),
            (
                "db://hunter 2",
                "the host of the URL is neither a name nor an address",
            ),
        ];
        for (text, sentence) in cases {
            let text = Secret::from(text);
            let unusable = Url::parse(&text, &["db", "database"]).expect_err("it is unusable");
            assert_eq!(unusable.to_string(), sentence);
        }
        let text = Secret::from("db://alice@a");
        let (_, url) = Url::parse(&text, &["db"]).expect("a URL");
        let twice = url.login(Some("bob".into()), None).expect_err("two users");
        assert_eq!(
            twice.to_string(),
            "the user stands in the URL and beside it"
        );
        let login = url
            .login(None, Some("hunter2".into()))
            .expect("one of each");
        assert_eq!(login, (Some("alice".into()), Some("hunter2".into())));
    }
}
