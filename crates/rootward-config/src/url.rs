//! The address of a report: an `http` or `https` URL, or a `grpc` or `grpcs` one of a health service, checked for shape.
//!
//! No message repeats any part of a URL: the wrong part may be a password.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::problem::Fault;

/// The longest URL accepted.
pub(crate) const MAX_URL_BYTES: usize = 2_048;
/// What is asked for when the URL has no path.
pub(crate) const DEFAULT_PATH: &str = "/health";

const EXAMPLE: &str = "write it like http://cart.shop.svc:8790/health";

/// A URL that can be polled, in one spelling: lower-case host, no usual port, always a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TargetUrl {
    scheme: Scheme,
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    host: String,
    port: u16,
    path_and_query: String,
}

/// How it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scheme {
    Http,
    Https,
    Grpc,
    Grpcs,
}

impl Scheme {
    const ALL: [Self; 4] = [Self::Http, Self::Https, Self::Grpc, Self::Grpcs];

    const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Grpc => "grpc",
            Self::Grpcs => "grpcs",
        }
    }

    /// The port of a URL that names none. gRPC has no usual one.
    const fn usual_port(self) -> Option<u16> {
        match self {
            Self::Http => Some(80),
            Self::Https => Some(443),
            Self::Grpc | Self::Grpcs => None,
        }
    }

    const fn is_grpc(self) -> bool {
        match self {
            Self::Http | Self::Https => false,
            Self::Grpc | Self::Grpcs => true,
        }
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scheme,
            host,
            port,
            path_and_query,
        } = self;
        write!(f, "{}://{host}", scheme.word())?;
        if Some(*port) != scheme.usual_port() {
            write!(f, ":{port}")?;
        }
        f.write_str(path_and_query)
    }
}

impl TargetUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > MAX_URL_BYTES {
            let message = format!("the URL has more than {MAX_URL_BYTES} bytes");
            return Err(Fault::new(message, "shorten it"));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(Fault::new("not a URL", EXAMPLE));
        };
        let Some(scheme) = Scheme::ALL
            .into_iter()
            .find(|known| scheme.eq_ignore_ascii_case(known.word()))
        else {
            let message = "the URL begins with none of http://, https://, grpc:// and grpcs://";
            return Err(Fault::new(message, EXAMPLE));
        };
        if rest.contains('#') {
            let message = "the URL has a fragment, which is never sent";
            return Err(Fault::new(message, "remove the `#` and what follows"));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path_and_query) = rest.split_at(end);
        if authority.contains('@') {
            return Err(Fault::new(
                "the URL carries a user or password; credentials for polls are not built yet",
                "remove everything up to the `@`",
            ));
        }
        let (host, port) = split_port(authority, scheme)?;
        let service = path_and_query.strip_prefix('/').unwrap_or(path_and_query);
        if scheme.is_grpc() && service.contains(['/', '?', '%']) {
            let message =
                "the URL of a gRPC service has more than the name of the service behind its port";
            return Err(Fault::new(
                message,
                "write it like grpc://stock:50051/shop.v1.Stock",
            ));
        }
        let path_and_query = match path_and_query {
            "" if scheme.is_grpc() => "/".to_owned(),
            "" => DEFAULT_PATH.to_owned(),
            query if query.starts_with('?') => format!("{DEFAULT_PATH}{query}"),
            given => given.to_owned(),
        };
        check_path(&path_and_query)?;
        Ok(Self {
            scheme,
            host: parse_host(host)?,
            port,
            path_and_query,
        })
    }

    /// Whether it is asked over TLS.
    pub(crate) const fn is_secured(&self) -> bool {
        match self.scheme {
            Scheme::Http | Scheme::Grpc => false,
            Scheme::Https | Scheme::Grpcs => true,
        }
    }

    /// Whether a gRPC server is asked.
    pub(crate) const fn is_grpc(&self) -> bool {
        self.scheme.is_grpc()
    }

    /// Whether its host is an address and no name.
    pub(crate) fn is_of_an_address(&self) -> bool {
        self.host.starts_with('[') || self.host.parse::<Ipv4Addr>().is_ok()
    }

    /// Host and port as the name of an instance: `cart.shop.svc:8790`. An IPv6 address loses its brackets, which names
    /// may not contain, and gets a digit in front where it begins with `::`, which leaves the address the same.
    pub(crate) fn instance_name(&self) -> String {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let digit = if bare.starts_with(':') { "0" } else { "" };
        format!("{digit}{bare}:{}", self.port)
    }
}

fn split_port(authority: &str, scheme: Scheme) -> Result<(&str, u16), Fault> {
    // Colons inside the brackets of an IPv6 address are not before a port.
    let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = authority[after_brackets..].find(':') else {
        return match scheme.usual_port() {
            Some(port) => Ok((authority, port)),
            None => Err(Fault::new(
                "the URL names no port",
                "write it like grpc://stock:50051/shop.v1.Stock",
            )),
        };
    };
    let (host, port) = authority.split_at(after_brackets + colon);
    let digits = &port[1..];
    let valid = digits.bytes().all(|b| b.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(port) if port > 0 && valid => Ok((host, port)),
        Ok(_) | Err(_) => Err(Fault::new(
            "the URL has no valid port",
            "allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets",
        )),
    }
}

fn parse_host(host: &str) -> Result<String, Fault> {
    if host.is_empty() {
        return Err(Fault::new("the URL has no host", EXAMPLE));
    }
    if let Some(inside) = host.strip_prefix('[') {
        let address = inside
            .strip_suffix(']')
            .and_then(|inside| inside.parse::<Ipv6Addr>().ok())
            .ok_or_else(|| {
                let help = "write it like http://[2001:db8::1]:8790/health";
                Fault::new("the URL has no valid IPv6 address in its brackets", help)
            })?;
        let link_local = address.is_unicast_link_local()
            || address
                .to_ipv4_mapped()
                .is_some_and(|v4| v4.is_link_local());
        return match link_local {
            true => Err(link_local_fault()),
            false => Ok(format!("[{address}]")),
        };
    }
    let host = host.to_ascii_lowercase();
    // A final dot is the root of the domain name system: it keeps a resolver from trying its search list.
    let mut labels = host.strip_suffix('.').unwrap_or(&host).split('.');
    let label_is_valid = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if host.len() > 253 || !labels.clone().all(label_is_valid) {
        return Err(Fault::new(
            "the URL has no valid host name",
            "host names are made of letters, digits, - and _, with dots between; others in their xn-- form",
        ));
    }
    // What ends in a number is an address or a mistake, never a name.
    if labels
        .next_back()
        .is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()))
    {
        return match host.parse::<Ipv4Addr>() {
            Ok(address) if address.is_link_local() => Err(link_local_fault()),
            Ok(_) => Ok(host),
            Err(_) => Err(Fault::new(
                "the URL has no valid IPv4 address",
                "an IPv4 address is four numbers from 0 to 255",
            )),
        };
    }
    Ok(host)
}

fn link_local_fault() -> Fault {
    Fault::new(
        "link-local addresses are not polled: a cloud's metadata service answers there",
        "write an address that other machines can use",
    )
}

fn check_path(path_and_query: &str) -> Result<(), Fault> {
    let mut bytes = path_and_query.bytes();
    while let Some(byte) = bytes.next() {
        let valid = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_hexdigit());
                digit(bytes.next()) && digit(bytes.next())
            }
            other => other.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&other),
        };
        if !valid {
            return Err(Fault::new(
                "the path of the URL has a character that URLs do not allow",
                "write it percent-encoded, such as %20 for a space",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_url_is_kept_in_one_spelling() {
        for (written, kept, instance) in [
            ("http://cart:8790", "http://cart:8790/health", "cart:8790"),
            (
                "HTTP://Cart.Shop.svc/health",
                "http://cart.shop.svc/health",
                "cart.shop.svc:80",
            ),
            ("http://cart:80/", "http://cart/", "cart:80"),
            (
                "http://cart.:8790/h?full=1",
                "http://cart.:8790/h?full=1",
                "cart.:8790",
            ),
            ("http://cart?full=1", "http://cart/health?full=1", "cart:80"),
            (
                "http://10.0.0.7:1/a%20b",
                "http://10.0.0.7:1/a%20b",
                "10.0.0.7:1",
            ),
            (
                "HTTPS://cart:443?full=1",
                "https://cart/health?full=1",
                "cart:443",
            ),
            ("https://cart:80", "https://cart:80/health", "cart:80"),
            ("http://[::1]:8790", "http://[::1]:8790/health", "0::1:8790"),
            (
                "http://[2001:DB8::1]",
                "http://[2001:db8::1]/health",
                "2001:db8::1:80",
            ),
        ] {
            let url = TargetUrl::parse(written).expect(written);
            assert_eq!(
                (url.to_string().as_str(), url.instance_name().as_str()),
                (kept, instance)
            );
            assert_eq!("0::1".parse::<Ipv6Addr>(), "::1".parse());
        }
    }

    #[test]
    fn what_is_no_url_gets_a_sentence() {
        let long = format!("http://cart/{}", "x".repeat(MAX_URL_BYTES));
        let sentences: Vec<String> = [
            "cart:8790",
            "ftp+https://cart",
            "ftp://cart",
            "http://",
            "http://:80",
            "http://cart:0",
            "http://cart:65536",
            "http://cart:",
            "http://cart:+80",
            "http://::1:80",
            "http://[::1",
            "http://[fe80::1]",
            "http://169.254.169.254/latest",
            "http://[::ffff:169.254.169.254]",
            "http://10.0.0",
            "http://300.1.1.1",
            "http://ca rt",
            "http://-cart",
            "http://a..b",
            "http://bücher.example",
            "http://user:hunter2@cart",
            "http://cart/#top",
            "http://cart/a b",
            "http://cart/%zz",
            "http://cart/{id}",
            &long,
        ]
        .map(|text| {
            let fault = TargetUrl::parse(text).expect_err(text);
            format!("{}; {}", fault.message, fault.help.unwrap_or_default())
        })
        .into();
        assert!(
            sentences
                .iter()
                .all(|sentence| !sentence.contains("hunter2"))
        );
        insta::assert_snapshot!(sentences.join("\n"), @"
        not a URL; write it like http://cart.shop.svc:8790/health
        the URL begins with none of http://, https://, grpc:// and grpcs://; write it like http://cart.shop.svc:8790/health
        the URL begins with none of http://, https://, grpc:// and grpcs://; write it like http://cart.shop.svc:8790/health
        the URL has no host; write it like http://cart.shop.svc:8790/health
        the URL has no host; write it like http://cart.shop.svc:8790/health
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
        link-local addresses are not polled: a cloud's metadata service answers there; write an address that other machines can use
        link-local addresses are not polled: a cloud's metadata service answers there; write an address that other machines can use
        link-local addresses are not polled: a cloud's metadata service answers there; write an address that other machines can use
        the URL has no valid IPv4 address; an IPv4 address is four numbers from 0 to 255
        the URL has no valid IPv4 address; an IPv4 address is four numbers from 0 to 255
        the URL has no valid host name; host names are made of letters, digits, - and _, with dots between; others in their xn-- form
        the URL has no valid host name; host names are made of letters, digits, - and _, with dots between; others in their xn-- form
        the URL has no valid host name; host names are made of letters, digits, - and _, with dots between; others in their xn-- form
        the URL has no valid host name; host names are made of letters, digits, - and _, with dots between; others in their xn-- form
        the URL carries a user or password; credentials for polls are not built yet; remove everything up to the `@`
        the URL has a fragment, which is never sent; remove the `#` and what follows
        the path of the URL has a character that URLs do not allow; write it percent-encoded, such as %20 for a space
        the path of the URL has a character that URLs do not allow; write it percent-encoded, such as %20 for a space
        the path of the URL has a character that URLs do not allow; write it percent-encoded, such as %20 for a space
        the URL has more than 2048 bytes; shorten it
        ");
    }

    proptest! {
        /// What passes here can be polled: the HTTP library reads the same host and port from it.
        #[test]
        fn an_accepted_url_is_one_for_the_http_library_too(
            text in "https?://(\\[[0-9a-f:]{2,12}\\]|[a-zA-Z0-9._-]{1,12}|[0-9]{1,3}(\\.[0-9]{1,3}){3})(:[0-9]{0,6})?([/?][!-~]{0,12})?",
        ) {
            if let Ok(url) = TargetUrl::parse(&text) {
                let uri: http::Uri = url.to_string().parse().expect("accepted above");
                prop_assert_eq!(uri.host(), Some(url.host.as_str()));
                prop_assert_eq!(uri.port_u16().or(url.scheme.usual_port()), Some(url.port));
                prop_assert_eq!(uri.path_and_query().map(|p| p.as_str()), Some(url.path_and_query.as_str()));
                prop_assert_eq!(TargetUrl::parse(&url.to_string()), Ok(url));
            }
        }

        #[test]
        fn no_text_panics_and_none_is_repeated(text in "\\PC{0,40}") {
            if let Err(fault) = TargetUrl::parse(&format!("http://marker{text}")) {
                prop_assert!(!fault.message.contains("marker"));
            }
        }
    }
}
