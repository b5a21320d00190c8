//! Whom to ask for what: an address in a form that can be asked, or a sentence about what is wrong with it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use http::HeaderValue;
use http::uri::PathAndQuery;

use crate::tls::Secured;

/// The longest host name accepted, in bytes (RFC 1035).
const MAX_HOST_BYTES: usize = 253;

/// A URL that can be asked, checked once. Cheap to clone.
///
/// Shown without its query, which may hold a token; user and password are refused.
///
/// ```
/// use rootward_fetch::Target;
/// let target = Target::parse("http://orders:8790/readyz")?;
/// assert_eq!((target.host(), target.port(), target.path()), ("orders", 8790, "/readyz"));
/// let refused = Target::parse("http://bob:secret@orders/").unwrap_err();
/// assert_eq!(refused.to_string(), "a URL may not hold a user or a password; take them out of it");
/// # Ok::<(), rootward_fetch::TargetError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    host: Arc<str>,
    ip: Option<IpAddr>,
    port: u16,
    path: PathAndQuery,
    pinned: Option<Arc<[SocketAddr]>>,
    secured: Option<Secured>,
    link_local: LinkLocal,
}

/// Whether addresses that are valid on one link alone are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LinkLocal {
    Asked,
    Refused,
}

impl Target {
    /// Reads a URL, or says what is wrong with it.
    ///
    /// # Errors
    /// When it is not `http://`, holds a user or a password, has no host, or has a port or a path that cannot be.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(Problem::NoScheme.into());
        };
        if scheme.eq_ignore_ascii_case("https") {
            return Err(Problem::Tls.into());
        }
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(Problem::Scheme.into());
        }
        Ok(Self::of_rest(rest, 80)?)
    }

    /// As [`Target::parse`], and `https://` is asked, too: by a server whose certificate is for this host and comes from
    /// whom `tls` trusts.
    ///
    /// # Errors
    /// When it is neither `http://` nor `https://`, and as with [`Target::parse`].
    #[cfg(feature = "tls")]
    pub fn parse_with(url: &str, tls: &crate::Tls) -> Result<Self, TargetError> {
        match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => {
                let target = Self::of_rest(rest, 443)?;
                let secured = Some(Secured::new(tls, &target.host)?);
                Ok(Self { secured, ..target })
            }
            _ => Self::parse(url),
        }
    }

    /// What stands behind the scheme.
    fn of_rest(rest: &str, default_port: u16) -> Result<Self, Problem> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // A password may hold a slash or a question mark that nobody escaped.
        if authority.contains('@')
            || (path.contains('@') && authority.contains(':') && bad_port(authority))
        {
            return Err(Problem::Credentials);
        }
        let (host, port) = split_port(authority, default_port)?;
        let ip = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            Some(inner) => Some(IpAddr::V6(
                inner.parse::<Ipv6Addr>().map_err(|_| Problem::Ipv6)?,
            )),
            None => host.parse().ok(),
        };
        if ip.is_none() {
            check_host(host)?;
        }
        Ok(Self {
            host: host.into(),
            ip,
            port,
            path: parse_path(path)?,
            pinned: None,
            secured: None,
            link_local: LinkLocal::Asked,
        })
    }

    /// The same host, asked for something else.
    ///
    /// # Errors
    /// When the path cannot be sent.
    pub fn with_path(&self, path: &str) -> Result<Self, TargetError> {
        Ok(Self {
            path: parse_path(path)?,
            ..self.clone()
        })
    }

    /// The same target at addresses that are known: no name is resolved. None given means that it is, again.
    #[must_use]
    pub fn pinned(self, addresses: &[SocketAddr]) -> Self {
        Self {
            pinned: (!addresses.is_empty()).then(|| addresses.into()),
            ..self
        }
    }

    /// The same target, never asked at a link-local address (RFC 3927, RFC 4291), whoever resolves its name to one: the
    /// metadata service of a cloud answers there, and hands out credentials.
    #[must_use]
    pub fn refusing_link_local(self) -> Self {
        Self {
            link_local: LinkLocal::Refused,
            ..self
        }
    }

    /// Those of the addresses that may be asked.
    pub(crate) fn allowed(&self, mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
        match self.link_local {
            LinkLocal::Asked => {}
            LinkLocal::Refused => addresses.retain(|address| !is_link_local(address.ip())),
        }
        addresses
    }

    /// The host: a name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether its address has to be looked up: it is neither written nor pinned.
    #[must_use]
    pub const fn is_by_name(&self) -> bool {
        self.ip.is_none() && self.pinned.is_none()
    }

    /// The port; 80 if the URL names none, 443 for `https`.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.path.path()
    }

    /// Host and port as the header `host` has them: without the port where it is that of the scheme.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == self.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    const fn default_port(&self) -> u16 {
        match self.secured {
            None => 80,
            Some(_) => 443,
        }
    }

    /// TLS is spoken.
    #[must_use]
    pub const fn is_secured(&self) -> bool {
        self.secured.is_some()
    }

    /// With whom to speak TLS, if it is spoken.
    pub(crate) const fn secured(&self) -> Option<&Secured> {
        self.secured.as_ref()
    }

    /// The URL of this host with another path, as HTTP/2 asks for it.
    #[cfg(feature = "grpc")]
    pub(crate) fn uri_of(&self, path: &'static str) -> http::Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(match self.secured {
            None => http::uri::Scheme::HTTP,
            Some(_) => http::uri::Scheme::HTTPS,
        });
        parts.authority = self.authority().parse().ok();
        parts.path_and_query = Some(PathAndQuery::from_static(path));
        http::Uri::from_parts(parts).unwrap_or_default()
    }

    pub(crate) fn path_and_query(&self) -> PathAndQuery {
        self.path.clone()
    }

    /// Addresses that need no lookup.
    pub(crate) fn addresses(&self) -> Option<Vec<SocketAddr>> {
        match (&self.pinned, self.ip) {
            (Some(pinned), _) => Some(pinned.to_vec()),
            (None, Some(ip)) => Some(vec![SocketAddr::new(ip, self.port)]),
            (None, None) => None,
        }
    }

    pub(crate) fn host_header(&self) -> HeaderValue {
        HeaderValue::try_from(self.authority())
            .expect("a checked host and a port are visible ASCII")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.secured {
            None => "http",
            Some(_) => "https",
        };
        write!(f, "{scheme}://{}{}", self.authority(), self.path())
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target")
            .field(&format_args!("{self}"))
            .field(&self.pinned)
            .finish()
    }
}

/// What is wrong with a URL. Never repeats the URL, which may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct TargetError(#[from] Problem);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("a URL begins with http://, such as http://orders:8790/health")]
    NoScheme,
    #[error("TLS is not built yet: only http:// URLs can be asked")]
    Tls,
    #[cfg(feature = "tls")]
    #[error("the host cannot be a name in a certificate")]
    CertificateName,
    #[error("only http:// URLs can be asked")]
    Scheme,
    #[error("a URL may not hold a user or a password; take them out of it")]
    Credentials,
    #[error("the URL names no host")]
    NoHost,
    #[error("the host has more than 253 bytes")]
    LongHost,
    #[error(
        "the host may have letters, digits and - _ . (an international name in its xn-- form, an IPv6 address in brackets)"
    )]
    Host,
    #[error("an IPv6 address is written in brackets, such as http://[::1]:8790/health")]
    Ipv6,
    #[error("the port is not a number from 1 to 65535")]
    Port,
    #[error("the path holds a character that must be percent-encoded")]
    Path,
}

/// In whatever way it is written: an IPv4 address inside an IPv6 one is that IPv4 address.
const fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.is_link_local(),
            None => v6.is_unicast_link_local(),
        },
    }
}

/// Host and port of an authority without credentials.
fn split_port(authority: &str, default: u16) -> Result<(&str, u16), Problem> {
    let after_host = authority.rfind(']').map_or(0, |at| at + 1);
    if after_host == 0 && (authority.starts_with('[') || authority.matches(':').count() > 1) {
        return Err(Problem::Ipv6);
    }
    match authority[after_host..].find(':') {
        None => Ok((authority, default)),
        Some(at) => {
            let (host, port) = authority.split_at(after_host + at);
            let port = &port[1..];
            let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            match port.parse() {
                Ok(port) if digits && port != 0 => Ok((host, port)),
                _ => Err(Problem::Port),
            }
        }
    }
}

fn bad_port(authority: &str) -> bool {
    split_port(authority, 80).is_err()
}

fn check_host(host: &str) -> Result<(), Problem> {
    if host.is_empty() {
        return Err(Problem::NoHost);
    }
    if host.len() > MAX_HOST_BYTES {
        return Err(Problem::LongHost);
    }
    if host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        Ok(())
    } else {
        Err(Problem::Host)
    }
}

fn parse_path(path: &str) -> Result<PathAndQuery, Problem> {
    let path = path.split('#').next().unwrap_or_default();
    let path = match path.as_bytes().first() {
        Some(b'/') => path.to_owned(),
        Some(_) | None => format!("/{path}"),
    };
    // The parser lets these through, and they would reach the request line.
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::Path);
    }
    PathAndQuery::try_from(path).map_err(|_| Problem::Path)
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_url_is_taken_apart() {
        for (url, host, port, path, shown) in [
            (
                "http://orders:8790/readyz",
                "orders",
                8790,
                "/readyz",
                "http://orders:8790/readyz",
            ),
            ("HTTP://orders", "orders", 80, "/", "http://orders/"),
            (
                "http://orders?token=s3cret",
                "orders",
                80,
                "/",
                "http://orders/",
            ),
            (
                "http://10.0.0.1:80/a#b",
                "10.0.0.1",
                80,
                "/a",
                "http://10.0.0.1/a",
            ),
            (
                "http://[::1]:8790/",
                "[::1]",
                8790,
                "/",
                "http://[::1]:8790/",
            ),
            (
                "http://[fd00::2]",
                "[fd00::2]",
                80,
                "/",
                "http://[fd00::2]/",
            ),
            (
                "http://orders:8790/@me",
                "orders",
                8790,
                "/@me",
                "http://orders:8790/@me",
            ),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(
                (target.host(), target.port(), target.path()),
                (host, port, path),
                "{url}"
            );
            assert_eq!(target.to_string(), shown);
            assert!(!format!("{target:?}").contains("s3cret"));
        }
    }

    #[test]
    fn a_url_that_cannot_be_asked_gets_a_sentence() {
        let sentences: Vec<String> = [
            "orders:8790",
            "https://orders/",
            "ftp://orders/",
            "http://bob:s3cret@orders/",
            "http://bob@orders/",
            "http://bob:s3/cret@orders/",
            "http://",
            "http://:8790/",
            "http://orders:/",
            "http://orders:0/",
            "http://orders:65536/",
            "http://orders:+80/",
            "http://or ders/",
            "http://bücher/",
            "http://[::1/",
            "http://[orders]/",
            "http://::1/",
            "http://orders/a b",
            "http://orders/a\r\nx: y",
            &format!("http://{}/", "a".repeat(254)),
        ]
        .into_iter()
        .map(|url| {
            let refused = Target::parse(url).unwrap_err().to_string();
            assert!(!refused.contains("s3cret"));
            format!("{:<30.30} {refused}", url.escape_debug().to_string())
        })
        .collect();
        insta::assert_snapshot!(sentences.join("\n"), @r#"
orders:8790                    a URL begins with http://, such as http://orders:8790/health
https://orders/                TLS is not built yet: only http:// URLs can be asked
ftp://orders/                  only http:// URLs can be asked
http://bob:s3cret@orders/      a URL may not hold a user or a password; take them out of it
http://bob@orders/             a URL may not hold a user or a password; take them out of it
http://bob:s3/cret@orders/     a URL may not hold a user or a password; take them out of it
http://                        the URL names no host
http://:8790/                  the URL names no host
http://orders:/                the port is not a number from 1 to 65535
http://orders:0/               the port is not a number from 1 to 65535
http://orders:65536/           the port is not a number from 1 to 65535
http://orders:+80/             the port is not a number from 1 to 65535
http://or ders/                the host may have letters, digits and - _ . (an international name in its xn-- form, an IPv6 address in brackets)
http://bücher/                 the host may have letters, digits and - _ . (an international name in its xn-- form, an IPv6 address in brackets)
http://[::1/                   an IPv6 address is written in brackets, such as http://[::1]:8790/health
http://[orders]/               an IPv6 address is written in brackets, such as http://[::1]:8790/health
http://::1/                    an IPv6 address is written in brackets, such as http://[::1]:8790/health
http://orders/a b              the path holds a character that must be percent-encoded
http://orders/a\r\nx: y        the path holds a character that must be percent-encoded
http://aaaaaaaaaaaaaaaaaaaaaaa the host has more than 253 bytes
"#);
    }
}
