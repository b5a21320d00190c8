//! What stands behind the question mark: which components, and in words or as JSON.
//!
//! The small endpoints never refuse a query, because an orchestrator acts on the code: they look for `verbose` and
//! ignore the rest. The detailed ones say what is wrong with a query, all of it.

use rootward_core::Name;

use crate::report::Selection;
use crate::shared::Entry;

/// The longest query that is read, in bytes.
pub(super) const MAX_QUERY_BYTES: usize = 4096;

/// How many names an answer lists.
const MAX_LISTED: usize = 20;

/// What is wrong with a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BadQuery {
    TooLong,
    /// Each in a sentence.
    Problems(Vec<String>),
}

/// Whether the text for people is wanted: the parameter is there, whatever its value, as in Kubernetes.
pub(super) fn is_verbose(query: Option<&str>) -> bool {
    parameters(query.unwrap_or_default()).any(|(key, _)| key == "verbose")
}

/// The components that are asked for: those of `component`, else all, and of these none of `exclude`. Other parameters
/// are ignored, because pollers add some of their own against caches.
pub(super) fn selection(query: Option<&str>, checks: &[Entry]) -> Result<Selection, BadQuery> {
    let query = query.unwrap_or_default();
    if query.len() > MAX_QUERY_BYTES {
        return Err(BadQuery::TooLong);
    }
    let mut named = vec![false; checks.len()];
    let mut excluded = vec![false; checks.len()];
    let (mut names, mut excludes) = (false, false);
    let mut unknown = Vec::new();
    let mut problems = Vec::new();
    for (key, value) in parameters(query) {
        let marks = match key {
            "component" => {
                names = true;
                &mut named
            }
            "exclude" => {
                excludes = true;
                &mut excluded
            }
            _ => continue,
        };
        let Some(name) = decoded(value) else {
            problems.push(format!(
                "a value of {key} is not percent-encoded UTF-8 (RFC 3986, section 2.1)"
            ));
            continue;
        };
        let called = |check: &Entry| check.facts.name.as_str() == name;
        match checks.iter().position(called) {
            Some(index) => marks[index] = true,
            // Only what could be a name is repeated: it may have come from anywhere.
            None => unknown.push(Name::parse(&name).map_or_else(
                |_| format!("a value of {key} is no name"),
                |name| format!("{key}={name}: there is no such component"),
            )),
        }
    }
    if !unknown.is_empty() {
        problems.append(&mut unknown);
        problems.push(format!("there are: {}", listed(checks)));
    }
    if !problems.is_empty() {
        return Err(BadQuery::Problems(problems));
    }
    if !names && !excludes {
        return Ok(Selection::All);
    }
    let shown: Box<[bool]> = named
        .into_iter()
        .zip(excluded)
        .map(|(named, excluded)| (named || !names) && !excluded)
        .collect();
    // An answer about nothing would be a good one.
    if !shown.contains(&true) {
        return Err(BadQuery::Problems(vec![
            "nothing is left of what was asked for".to_owned(),
        ]));
    }
    Ok(Selection::Only(shown))
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn listed(checks: &[Entry]) -> String {
    if checks.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<_> = checks
        .iter()
        .take(MAX_LISTED)
        .map(|check| check.facts.name.as_str())
        .collect();
    let more = checks.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        format!("{} and {more} more", names.join(", "))
    } else {
        names.join(", ")
    }
}

/// The text behind `%41`; none if it is not well-formed. A plus is a plus and no space: a name may hold the one and
/// never the other.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let code = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percent_encoding_is_read_or_refused() {
        for (written, read) in [
            ("orders-db", Some("orders-db")),
            ("a%2Fb", Some("a/b")),
            ("a%2fb", Some("a/b")),
            ("a+b", Some("a+b")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+4", None),
            ("%ff", None),
            ("", Some("")),
        ] {
            assert_eq!(decoded(written).as_deref(), read, "{written}");
        }
    }

    #[test]
    fn verbose_is_a_parameter_and_no_part_of_another() {
        for query in ["verbose", "verbose=", "a=b&verbose=1", "&&verbose"] {
            assert!(is_verbose(Some(query)), "{query}");
        }
        for query in [
            None,
            Some(""),
            Some("verbosely"),
            Some("a=verbose"),
            Some("%76erbose"),
        ] {
            assert!(!is_verbose(query), "{query:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_byte_by_byte_is_read_as_it_was(text in ".{0,40}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decoded(&encoded), Some(text));
        }
    }
}
