//! Names of components, which are foreign text that is kept: without what a terminal would obey and without passwords.

use crate::json::cut;
use crate::reading::MAX_NAME_BYTES;

/// Words before `=` or `:` whose value is nobody's business.
const SECRETS: [&str; 9] = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "sig",
];

/// What is hidden is shown like this.
const HIDDEN: &str = "***";

/// A name as it is kept; `None` if nothing is left of it.
pub(crate) fn shown(name: &str) -> Option<String> {
    let harmless: String = cut(name, 4 * MAX_NAME_BYTES)
        .chars()
        .filter(|letter| !letter.is_control() && !is_direction(*letter))
        .collect();
    let name = without_secrets(&without_users(harmless.trim()));
    let name = cut(&name, MAX_NAME_BYTES).trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Marks that turn the direction of text (Unicode TR9, 2.1 to 2.6) and lines.
const fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// URLs without user and password.
fn without_users(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        kept.push_str(before);
        let end = after.find(['/', '?', '#', ' ']).unwrap_or(after.len());
        let host = after[..end].rfind('@').map_or(0, |at| at + 1);
        rest = &after[host..];
    }
    kept.push_str(rest);
    kept
}

/// Settings like `password=…` without their values.
fn without_secrets(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at + 1);
        kept.push_str(before);
        let key = before[..at].to_ascii_lowercase();
        rest = after;
        if SECRETS
            .iter()
            .any(|secret| key.trim_end().ends_with(secret))
        {
            let end = after.find([' ', '&', ';', ',', ')']).unwrap_or(after.len());
            kept.push_str(HIDDEN);
            rest = &after[end..];
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kf_094_a_name_keeps_no_password_and_nothing_that_a_terminal_obeys() {
        let cases = [
            ("Database(alias='default')", "Database(alias='default')"),
            (
                "postgres://app:s3cret@db:5432/orders",
                "postgres://db:5432/orders",
            ),
            (
                "Server=db;Password=s3cret;Timeout=3",
                "Server=db;Password=***;Timeout=3",
            ),
            ("https://x/?a=1&token=abc", "https://x/?a=1&token=***"),
            ("\u{1b}[31mred\u{202e}", "[31mred"),
        ];
        for (name, expected) in cases {
            assert_eq!(shown(name).as_deref(), Some(expected));
        }
        assert_eq!(shown(" \n\u{0}"), None);
        assert_eq!(
            shown(&"é".repeat(1 << 20)).map(|name| name.len()),
            Some(MAX_NAME_BYTES)
        );
    }
}
