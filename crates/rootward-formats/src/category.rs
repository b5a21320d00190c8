//! Foreign texts to a category: the only thing that is kept of them.
//!
//! A text is taken apart into words, camel case and error codes included, and searched for phrases of whole words. Where
//! two fit, the more specific one counts: a login that was refused says more about the cause than that something was.

use rootward_core::ErrorCategory;

use crate::code::{self, Http};
use crate::json::{Json, Object, cut};
use crate::phrases::PHRASES;

/// How much text of one component is looked at, in bytes.
const MAX_BYTES: usize = 4096;

/// How many levels below a component texts are looked for.
const MAX_DEPTH: u8 = 4;

/// Texts of one component or of the whole, gathered as words.
#[derive(Debug, Default)]
pub(crate) struct Texts(String);

impl Texts {
    /// Adds a text.
    pub(crate) fn add(&mut self, text: &str) {
        if self.0.len() < MAX_BYTES {
            words(&without_urls(cut(text, MAX_BYTES)), &mut self.0);
            // Between two texts no phrase goes on.
            self.0.push_str(" | ");
        }
    }

    /// Adds every text within a value.
    pub(crate) fn add_all(&mut self, value: &Json) {
        self.add_down_to(value, MAX_DEPTH);
    }

    fn add_down_to(&mut self, value: &Json, depth: u8) {
        if depth == 0 || self.0.len() >= MAX_BYTES {
            return;
        }
        match value {
            Json::Text(text) => self.add(text),
            Json::List(list) => list
                .iter()
                .for_each(|item| self.add_down_to(item, depth - 1)),
            Json::Object(Object(entries)) => {
                for (_, value) in entries {
                    self.add_down_to(value, depth - 1);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// The category that the texts make clear, if they do.
    pub(crate) fn category(&self) -> Option<ErrorCategory> {
        let found = PHRASES
            .iter()
            .find(|(_, phrases)| phrases.iter().any(|phrase| self.has(phrase)))
            .map(|(category, _)| *category);
        if self.has("used") && self.has("threshold") {
            return Some(ErrorCategory::ResourceExhausted);
        }
        let refusal = self.has("refused").then(|| self.refusal()).flatten();
        match (found, refusal) {
            (_, Some(ErrorCategory::Auth)) => Some(ErrorCategory::Auth),
            // What is further down in the table is less specific than a refused connection.
            (Some(found), Some(refused)) if rank(found) > rank(refused) => Some(refused),
            (Some(found), _) => Some(found),
            (None, Some(refused)) => Some(refused),
            (None, None) => self.status_in_text(),
        }
    }

    /// Whether a phrase of whole words is there.
    fn has(&self, phrase: &str) -> bool {
        let text = &self.0;
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].ends_with(' ');
            let after = text[at + phrase.len()..].starts_with(' ');
            before && after
        })
    }

    /// What was refused: a connection or a person.
    fn refusal(&self) -> Option<ErrorCategory> {
        let any = |words: &[&str]| words.iter().any(|word| self.has(word));
        if any(&[
            "login",
            "access",
            "password",
            "credentials",
            "authentication",
            "permission",
        ]) {
            Some(ErrorCategory::Auth)
        } else if any(&["connection", "connect", "connecting", "dial", "socket"]) {
            Some(ErrorCategory::ConnectionRefused)
        } else {
            None
        }
    }

    /// A code of HTTP that the text repeats: after a word that announces one, or before the words that it stands for.
    fn status_in_text(&self) -> Option<ErrorCategory> {
        let words: Vec<&str> = self.0.split_ascii_whitespace().collect();
        words.iter().enumerate().find_map(|(at, word)| {
            let number: u16 = word
                .parse()
                .ok()
                .filter(|number| (300..600).contains(number))?;
            let before = &words[at.saturating_sub(3)..at];
            let announced = before.iter().any(|word| {
                [
                    "http",
                    "status",
                    "code",
                    "statuscode",
                    "answered",
                    "returned",
                    "responded",
                    "response",
                ]
                .contains(word)
            });
            let named = words.get(at + 1).is_some_and(|next| {
                ["internal", "bad", "service", "gateway", "server"].contains(next)
            });
            if !announced && !named {
                return None;
            }
            Some(match code::http(number) {
                Http::Good => ErrorCategory::HttpStatus,
                Http::Bad(category) | Http::Silent(category) => category,
            })
        })
    }
}

/// The place of a category in the table.
fn rank(category: ErrorCategory) -> usize {
    let place = PHRASES.iter().position(|(listed, _)| *listed == category);
    place.unwrap_or(PHRASES.len())
}

/// A text without its URLs: a path named `timeout` is no timeout.
fn without_urls(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let scheme = rest[..at]
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
            .map_or(0, |before| {
                before + rest[before..].chars().next().map_or(1, char::len_utf8)
            });
        kept.push_str(&rest[..scheme]);
        kept.push(' ');
        let after = &rest[at + 3..];
        let end = after.find(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '>' | ')' | ']' | ',' | '`')
        });
        rest = &after[end.unwrap_or(after.len())..];
    }
    kept.push_str(rest);
    kept
}

/// Appends the words of a text in lower case, each between two spaces: letters and digits, parted where case or
/// anything else parts them (`SocketTimeoutException` has three).
fn words(text: &str, out: &mut String) {
    if !out.ends_with(' ') {
        out.push(' ');
    }
    let letters: Vec<char> = text.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins && !out.ends_with(' ') {
            out.push(' ');
        }
        out.extend(letter.to_lowercase());
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<ErrorCategory> {
        let mut texts = Texts::default();
        texts.add(text);
        texts.category()
    }

    #[test]
    fn the_words_of_many_libraries_have_their_category() {
        use ErrorCategory as C;
        let cases = [
            (
                "dial tcp 10.2.0.4:5432: connect: connection refused",
                Some(C::ConnectionRefused),
            ),
            (
                "Connection to orders-db:5432 refused",
                Some(C::ConnectionRefused),
            ),
            (
                "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN",
                Some(C::Auth),
            ),
            (
                "FATAL: password authentication failed for user \"app\"",
                Some(C::Auth),
            ),
            ("Connection refused: login failed", Some(C::Auth)),
            (
                "java.net.SocketTimeoutException: connect timed out",
                Some(C::Timeout),
            ),
            (
                "javax.net.ssl.SSLHandshakeException: PKIX path building failed",
                Some(C::Tls),
            ),
            ("x509: certificate has expired", Some(C::Tls)),
            ("java.net.UnknownHostException: orders-db", Some(C::Dns)),
            (
                "dial tcp: lookup db on 10.0.0.10:53: no such host",
                Some(C::Dns),
            ),
            ("getaddrinfo EAI_AGAIN redis", Some(C::Dns)),
            ("read ECONNRESET", Some(C::ConnectionReset)),
            ("unexpected EOF", Some(C::ConnectionReset)),
            (
                "FATAL: sorry, too many clients already",
                Some(C::ResourceExhausted),
            ),
            (
                "FATAL: the database system is starting up",
                Some(C::Starting),
            ),
            (
                "Received status code '502' does not match",
                Some(C::HttpStatus),
            ),
            (
                "Get \"http://stock/timeout\": 503 Service Unavailable",
                Some(C::HttpStatus),
            ),
            ("HTTP 401", Some(C::Auth)),
            (
                "Response status code does not indicate success: 404 (Not Found).",
                Some(C::NotFound),
            ),
            ("backlog above 500", None),
            ("lag 42s > 30s", None),
            ("cluster is yellow", None),
            ("no route to host", None),
            ("see https://wiki.example/timeout/refused", None),
            ("Exception Occurred.", None),
            ("reason withheld", None),
        ];
        let wrong: Vec<_> = cases
            .into_iter()
            .filter(|(text, expected)| of(text) != *expected)
            .map(|(text, expected)| format!("{text}: {:?}, not {expected:?}", of(text)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_phrase_does_not_go_on_in_the_next_text() {
        let mut texts = Texts::default();
        texts.add("connection");
        texts.add("reset button");
        assert_eq!(texts.category(), None);
    }
}
