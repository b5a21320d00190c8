//! Maps from names to words or texts, without a word about the whole: heptiolabs, go-sundheit short, django-health-check,
//! fastapi-health, Grafana. The code is the whole.

use crate::category::Texts;
use crate::found::{Found, Part, part};
use crate::json::{Json, Object};
use crate::words::{self, Word};

/// Every value a status word.
pub(crate) fn words(object: &Object) -> Option<Found> {
    let parts = object.entries().map(|(name, value)| part(name, value));
    Found::default().with(parts.collect()).unless_empty()
}

/// heptiolabs/healthcheck: `OK`, or the text of an error. Without `?full=1` the map is empty.
pub(crate) fn heptiolabs(object: &Object) -> Option<Found> {
    let read = |(name, value): (&str, &Json)| {
        let text = value.as_text()?;
        let word = match words::uniform(text).as_deref() {
            Some("ok") => Word::Up,
            Some("nodatayet") => Word::Starting,
            _ => Word::Down,
        };
        Some(failure(name, word, text))
    };
    let parts: Option<Vec<_>> = object.entries().map(read).collect();
    Some(Found::default().with(parts?))
}

fn failure(name: &str, word: Word, text: &str) -> Part {
    let mut texts = Texts::default();
    texts.add(text);
    Part::new(name, word).because(&texts)
}

/// django-health-check 3 and 4: a word for what works, which is translated, or `type: message`, several joined by lines.
pub(crate) fn django(object: &Object) -> Option<Found> {
    let read = |(name, value): (&str, &Json)| Some(django_part(name, value.as_text()?));
    let parts: Option<Vec<_>> = object.entries().map(read).collect();
    Some(Found::default().with(parts?))
}

/// One plugin.
pub(crate) fn django_part(name: &str, text: &str) -> Part {
    let line = |line: &str| match line.split_once(':') {
        Some((kind, _)) if words::read(kind) == Word::Degraded => Word::Degraded,
        Some(_) => Word::Down,
        // Version 4 names a plugin as Python writes it, and says `OK` or why not.
        None if name.contains('(') => words::known(line).unwrap_or(Word::Down),
        None => words::read(line),
    };
    let worst = text.lines().map(line).max();
    failure(name, worst.unwrap_or(Word::Unknown), text)
}

/// fastapi-health: what the conditions return, merged. A condition that returns a truth value leaves no trace.
pub(crate) fn fastapi(object: &Object) -> Option<Found> {
    let mut parts = Vec::new();
    for (name, value) in object.entries() {
        match value {
            Json::Text(_) | Json::Bool(_) | Json::Object(_) => parts.push(part(name, value)),
            Json::Null | Json::Number(_) | Json::List(_) => {}
        }
    }
    let found = Found::default().with(parts);
    if object.is_empty() {
        Some(found)
    } else {
        found.unless_empty()
    }
}

/// Grafana: one component, and data beside it.
pub(crate) fn grafana(object: &Object) -> Option<Found> {
    let database = object.get("database")?;
    Some(Found::default().with(vec![part("database", database)]))
}
