//! `${NAME}` and `${NAME:-default}` in values.
//!
//! Expansion happens in parsed scalars, after the syntax was read: a variable can hold quotes, colons and line breaks
//! and still only ever be one value. What a variable holds is not expanded again, and messages show the value as it was
//! written, never what the variable held: it may be a secret.

use std::collections::BTreeMap;

use crate::problem::{Fault, harmless, quoted};
use crate::rule::Rule;
use crate::syntax::MAX_SCALAR_BYTES;

/// A scalar's value and how a message may show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    value: String,
    shown: String,
    expanded: bool,
}

impl Text {
    /// A value in which nothing was expanded.
    pub(crate) fn literal(text: &str) -> Self {
        Self {
            value: text.to_owned(),
            shown: quoted(text),
            expanded: false,
        }
    }

    /// A value that came from elsewhere; messages show where it came from, and no part of it.
    pub(crate) fn from_elsewhere(value: String, shown: String) -> Self {
        Self {
            value,
            shown,
            expanded: true,
        }
    }

    /// The same, as something that no message may repeat.
    pub(crate) fn hidden(mut self) -> Self {
        if !self.expanded {
            self.shown = "the value".to_owned();
            self.expanded = true;
        }
        self
    }

    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// The value for a message, in quotes.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether the environment is part of the value; then a message may not repeat any of it.
    pub(crate) fn is_expanded(&self) -> bool {
        self.expanded
    }
}

/// Replaces every reference, or lists everything that is wrong with them.
pub(crate) fn expand(written: &str, env: &BTreeMap<String, String>) -> Result<Text, Vec<Fault>> {
    let mut value = String::new();
    let mut expanded = false;
    let mut faults = Vec::new();
    let mut rest = written;
    while let Some(at) = rest.find('$') {
        let (before, from_dollar) = rest.split_at(at);
        value.push_str(before);
        if let Some(after) = from_dollar.strip_prefix("$${") {
            value.push_str("${");
            rest = after;
        } else if let Some(after) = from_dollar.strip_prefix("${") {
            let Some((inside, after)) = after.split_once('}') else {
                faults.push(Fault::new(
                    "`${` is never closed",
                    "write ${NAME}, or $${ for the characters themselves",
                ));
                return Err(faults);
            };
            match resolve(inside, env) {
                Ok(found) => value.push_str(found),
                Err(fault) => faults.push(fault),
            }
            expanded = true;
            rest = after;
        } else {
            value.push('$');
            rest = &from_dollar[1..];
        }
        if value.len() > MAX_SCALAR_BYTES {
            break;
        }
    }
    value.push_str(rest);
    if value.len() > MAX_SCALAR_BYTES {
        let message = format!("expands to more than {MAX_SCALAR_BYTES} bytes");
        faults.push(Fault::new(message, "shorten what the variable holds").of(Rule::TooLarge));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(match expanded {
        true => Text {
            shown: format!("{} (expanded)", quoted(written)),
            value,
            expanded,
        },
        false => Text::literal(&value),
    })
}

/// The value of what stands between the braces.
fn resolve<'a>(inside: &'a str, env: &'a BTreeMap<String, String>) -> Result<&'a str, Fault> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let begins_well = name
        .chars()
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !begins_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Fault::new(
            format!("`${{{}}}` names no variable", harmless(inside)),
            "write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name",
        ));
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(Fault::new(
            format!("the default of ${{{name}}} contains another `${{`"),
            "write the default out",
        ));
    }
    match (env.get(name), default) {
        // As in a shell, `:-` replaces an empty value too.
        (Some(set), Some(default)) if set.is_empty() => Ok(default),
        (Some(set), _) => Ok(set),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(Fault::new(
            format!("the environment variable {name} is not set"),
            format!("set it, or write ${{{name}:-default}}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(written: &str) -> Result<String, String> {
        let env = [("HOST", "cart"), ("EMPTY", ""), ("NESTED", "${HOST}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        expand(written, &env)
            .map(|text| text.value().to_owned())
            .map_err(|faults| {
                let line =
                    |fault: Fault| format!("{}; {}", fault.message, fault.help.unwrap_or_default());
                faults.into_iter().map(line).collect::<Vec<_>>().join("\n")
            })
    }

    #[test]
    fn references_are_replaced_and_everything_else_is_left_alone() {
        for (written, value) in [
            ("http://${HOST}:8790", "http://cart:8790"),
            ("${MISSING:-8790}", "8790"),
            ("${EMPTY:-full}", "full"),
            ("${EMPTY}", ""),
            ("${MISSING:-}", ""),
            ("a $ b $HOST $$ $", "a $ b $HOST $$ $"),
            ("$${HOST} and ${HOST}", "${HOST} and cart"),
            ("${NESTED}", "${HOST}"),
            ("${MISSING:-a:-b}", "a:-b"),
        ] {
            assert_eq!(expanded(written).as_deref(), Ok(value), "{written}");
        }
    }

    #[test]
    fn every_bad_reference_in_a_value_is_reported() {
        insta::assert_snapshot!(
            ["${A}-${B}", "${HOST", "${}", "${1A}", "${HOST-x}", "${A:-${HOST}}"]
                .map(|written| expanded(written).expect_err(written))
                .join("\n"),
            @"
            the environment variable A is not set; set it, or write ${A:-default}
            the environment variable B is not set; set it, or write ${B:-default}
            `${` is never closed; write ${NAME}, or $${ for the characters themselves
            `${}` names no variable; write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name
            `${1A}` names no variable; write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name
            `${HOST-x}` names no variable; write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name
            the default of ${A} contains another `${`; write the default out
            "
        );
    }

    #[test]
    fn a_variable_cannot_blow_a_value_up() {
        let env = [("BIG".to_owned(), "x".repeat(MAX_SCALAR_BYTES))].into();
        let written = "${BIG}".repeat(2_000);
        let faults = expand(&written, &env).expect_err("it is too long");
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn a_message_shows_the_reference_and_not_the_value() {
        let env = [("TOKEN".to_owned(), "hunter2".to_owned())].into();
        let text = expand("${TOKEN}", &env).expect("it is set");
        assert_eq!(text.shown(), r#""${TOKEN}" (expanded)"#);
    }
}
