//! Takes what looks like a secret out of text that goes to the service's own log.
//!
//! Errors of drivers quote connection strings and headers. This is a second line of defence, not a proof: it knows
//! the user part of addresses and values that are named as secrets, and nothing else.

/// Names whose value is a secret, in lower case. A name that ends with one of them counts as well (`db_password`).
const SECRET_NAMES: [&str; 9] = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "authorization",
];

/// Words that announce the secret rather than being it: `authorization: Bearer abc`.
const SCHEMES: [&str; 3] = ["bearer", "basic", "digest"];

const MASK: &str = "***";

/// The text with `***` in place of what looks like a secret.
pub(crate) fn redact(text: &str) -> String {
    redact_values(&redact_users(text))
}

/// `scheme://user:password@host` becomes `scheme://***@host`.
fn redact_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c))
            .unwrap_or(after.len());
        // A password may hold any of the characters that end an authority, if it was not written as it should be.
        // So the last `@` before white space ends the user part.
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let user_end = after[..end].rfind('@').or_else(|| after[..word].rfind('@'));
        rest = match user_end {
            Some(user_end) => {
                out.push_str(MASK);
                &after[user_end..]
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// `password=abc`, `token: abc`, `"secret":"abc"` lose their value.
fn redact_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        if !names_a_secret(&before[..at]) {
            continue;
        }
        let value = skip_to_value(rest);
        out.push_str(&rest[..rest.len() - value.len()]);
        out.push_str(MASK);
        rest = &value[value_len(value)..];
    }
    out.push_str(rest);
    out
}

fn names_a_secret(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'', ' ']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut characters = before.char_indices().rev();
    let begin = characters
        .find(|(_, c)| !is_name(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let name = before[begin..].to_ascii_lowercase().replace('-', "_");
    SECRET_NAMES.iter().any(|secret| name.ends_with(secret))
}

/// Leaves out quotes, spaces and the name of a scheme.
fn skip_to_value(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '"', '\'']);
    let word = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    if SCHEMES
        .iter()
        .any(|scheme| text[..word].eq_ignore_ascii_case(scheme))
    {
        return text[word..].trim_start_matches(' ');
    }
    text
}

fn value_len(value: &str) -> usize {
    value
        .find(|c: char| c.is_whitespace() || "\"',;&})]".contains(c))
        .unwrap_or(value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_the_rest_is_kept() {
        let cases = [
            (
                "cannot reach postgres://alice:hunter2@db:5432/orders now",
                "cannot reach postgres://***@db:5432/orders now",
            ),
            (
                "redis://:p/a?ss#@cache:6379 refused",
                "redis://***@cache:6379 refused",
            ),
            (
                "host=db password=hunter2 user=a",
                "host=db password=*** user=a",
            ),
            (
                r#"{"db_password": "hunter2", "port": 5432}"#,
                r#"{"db_password": "***", "port": 5432}"#,
            ),
            (
                "authorization: Bearer abc.def refused",
                "authorization: Bearer *** refused",
            ),
            ("X-Api-Key=hunter2&x=1", "X-Api-Key=***&x=1"),
            (
                "a plain text: with http://host/path and = signs",
                "a plain text: with http://host/path and = signs",
            ),
            ("größe: 4, token:ä", "größe: 4, token:***"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(text), expected);
        }
    }
}
