//! Who may ask for what, and how browsers are told to treat the answers.
//!
//! The detailed routes are for this machine: the configuration allows only a loopback address to listen on. A browser
//! on this machine is a way around that, if a foreign page makes it ask under a name that resolves to a loopback
//! address; so only names and addresses of this machine are answered.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method};

use crate::api::problem::Problem;
use crate::api::reports;

/// Lets nothing through that could want to change something, but reports that are sent.
pub(super) async fn only_reading(request: Request) -> Result<Request, Problem> {
    match *request.method() {
        Method::GET | Method::HEAD => Ok(request),
        Method::POST if request.uri().path() == reports::PATH => Ok(request),
        _ => Err(Problem::method_not_allowed()),
    }
}

/// Lets nothing through that was asked under a foreign name. A request without any name is none of a browser.
pub(super) async fn only_loopback_names(request: Request) -> Result<Request, Problem> {
    let named = request.headers().get_all(HOST).iter();
    let all_loopback = named.into_iter().all(|host| {
        let host = host.to_str().unwrap_or_default();
        is_loopback(host)
    });
    // `GET http://name/path`: then the name in the request line is what counts.
    let absolute = request.uri().authority();
    if all_loopback && absolute.is_none_or(|authority| is_loopback(authority.as_str())) {
        Ok(request)
    } else {
        Err(Problem::misdirected())
    }
}

/// Sets what holds for every answer: nothing is stored, nothing is guessed, nothing is told to other sites.
pub(super) async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // The page brings its own policy; everything else needs nothing at all.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    response
}

/// Whether a `Host` names this machine, with or without a port.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    if let Some(address) = name.strip_prefix('[') {
        let address = address.strip_suffix(']').and_then(|a| a.parse().ok());
        return address.is_some_and(|address: Ipv6Addr| address.is_loopback());
    }
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse()
            .is_ok_and(|address: Ipv4Addr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn names_of_this_machine_are_answered() {
        for host in [
            "localhost",
            "LocalHost:8791",
            "127.0.0.1",
            "127.0.0.1:8791",
            "127.8.8.8:1",
            "[::1]",
            "[::1]:8791",
        ] {
            assert!(is_loopback(host), "{host}");
        }
    }

    #[test]
    fn names_that_a_foreign_page_could_use_are_not() {
        for host in [
            "",
            "evil.example",
            "evil.example:8791",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1:8791",
            "0.0.0.0",
            "2130706433",
            "[::ffff:127.0.0.1]",
            "[::1",
            "localhost:8791@evil.example",
            "localhost:port",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
