//! What must not stand in an answer: credentials, and texts of exceptions. Patterns, so a find is a find and no find is no
//! proof; what a stub planted is a proof.

/// Names before a value that is nobody's business.
const NAMED: [&str; 9] = [
    "password=",
    "passwd=",
    "pwd=",
    "secret=",
    "token=",
    "api_key=",
    "apikey=",
    "access_key=",
    "password\":\"",
];

/// Beginnings of keys and tokens.
const KEYS: [&str; 3] = ["-----begin ", "bearer ey", "eyjhbgcioi"];

/// How exceptions and stack traces of common languages look.
const EXCEPTIONS: [&str; 17] = [
    "traceback (most recent call last)",
    "exception",
    "errno",
    "os error",
    "panicked at",
    "stack backtrace",
    "operationalerror",
    "runtimeerror",
    "connectionerror",
    "econnrefused",
    "econnreset",
    "etimedout",
    "fatal:",
    "sqlstate",
    "goroutine ",
    "node:internal",
    "<urlopen error",
];

/// The credential that stands in the text, if one does.
pub(crate) fn credential(text: &str) -> Option<String> {
    let low = text.to_ascii_lowercase();
    let named = NAMED.iter().find(|name| low.contains(**name));
    if let Some(found) = named.or_else(|| KEYS.iter().find(|key| low.contains(**key))) {
        return Some((*found).to_owned());
    }
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        rest = &rest[at + 3..];
        let end = rest
            .find(|c: char| c.is_whitespace() || "/\"'<>\\?#,".contains(c))
            .unwrap_or(rest.len());
        if rest[..end].contains('@') {
            return Some("a user in a URL".to_owned());
        }
    }
    None
}

/// The mark of an exception that stands in the text, if one does.
pub(crate) fn exception(text: &str) -> Option<&'static str> {
    let low = text.to_ascii_lowercase();
    EXCEPTIONS.into_iter().find(|mark| low.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::{credential, exception};

    #[test]
    fn credentials_are_found_and_addresses_are_none() {
        for text in [
            "postgresql://bob:s3cret@db:5432/orders",
            "failed for amqp://bob@queue",
            "connect host=db PASSWORD=x",
            "Authorization: Bearer eyJhbGciOi",
        ] {
            assert!(credential(text).is_some(), "{text}");
        }
        for text in [
            r#"{"target":"postgresql://orders-db:5432/orders","owner":"team@example.org"}"#,
            "http://rates:8790/readyz",
        ] {
            assert_eq!(credential(text), None, "{text}");
        }
    }

    #[test]
    fn exceptions_are_found_and_our_own_sentences_are_none() {
        assert!(exception("[Errno 111] Connection refused").is_some());
        assert!(exception("java.net.ConnectException: refused").is_some());
        for text in [
            "timed out after 500 ms",
            "connection refused",
            "the name does not resolve",
        ] {
            assert_eq!(exception(text), None, "{text}");
        }
    }
}
