//! A status with whatever stands beside it: what people write by hand, terminus, RabbitMQ, Meilisearch.

use rootward_core::ErrorCategory;

use crate::found::{Found, Part, own_texts, part, statement, statement_of, under};
use crate::json::{Json, Object};
use crate::words::{self, Word};

use super::named;
use super::nested::has_status;

/// Keys under which people put their components. Every entry below them is one.
const COMPONENTS: [&str; 8] = [
    "checks",
    "components",
    "dependencies",
    "services",
    "subsystems",
    "indicators",
    "probes",
    "entries",
];

/// Keys under which components stand among data: only an entry with a status is one.
const MAYBE: [&str; 3] = ["details", "results", "info"];

/// A status word or truth value, with components in one of the usual places.
pub(crate) fn generic(object: &Object) -> Option<Found> {
    let said = statement(object);
    let mut found = Found::of(said).hinted(&own_texts(object));
    if object.bool("degraded") == Some(true) && found.said.is_none_or(|word| word == Word::Up) {
        found.said = Some(Word::Degraded);
    }
    found.parts = children(object, "");
    if found.parts.is_empty() && (said.is_some() || is_map(object)) {
        let siblings = object
            .entries()
            .filter(|(_, value)| said.is_none() || has_status(value));
        for (name, value) in siblings {
            add(name, value, &mut found.parts);
        }
    }
    found.unless_empty()
}

/// Whether every entry of an object says how it is, as an object or as a truth value.
pub(crate) fn is_map(object: &Object) -> bool {
    let says = |value: &Json| match value {
        Json::Object(entry) => statement(entry).is_some(),
        Json::Bool(_) => true,
        Json::Null | Json::Number(_) | Json::Text(_) | Json::List(_) => false,
    };
    !object.is_empty() && object.values().all(says)
}

/// The components below an object.
fn children(object: &Object, path: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for (key, value) in object.entries() {
        let all = COMPONENTS.contains(&key);
        if !all && !MAYBE.contains(&key) {
            continue;
        }
        match value {
            Json::Object(entries) => {
                for (name, value) in entries.entries() {
                    let is_one = all || has_statement(value);
                    if is_one {
                        add(&below(path, name), value, &mut parts);
                    }
                }
            }
            Json::List(list) => parts.extend(named::parts(list, path)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
        }
    }
    parts
}

fn has_statement(value: &Json) -> bool {
    match value {
        Json::Text(text) => words::known(text).is_some(),
        other => statement_of(other).is_some(),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}/{name}")
    }
}

/// Adds an entry and what is nested in it.
fn add(name: &str, value: &Json, parts: &mut Vec<Part>) {
    let nested = value
        .as_object()
        .map(|object| children(object, name))
        .unwrap_or_default();
    let mut own = part(name, value);
    if !nested.is_empty() {
        let object = value.as_object();
        let said = object.and_then(statement);
        if said.is_none() {
            own.status = nested
                .iter()
                .map(|part| part.status)
                .max()
                .unwrap_or(Word::Unknown);
        }
        // What its children say is not its own.
        own.category = said.and_then(|said| said.category);
        if let Some(object) = object {
            own = own.because(&own_texts(object));
        }
    }
    parts.push(own);
    parts.extend(nested);
}

/// @godaddy/terminus. What the function returned stands under `info` and again under `details`, or merged beside the status;
/// causes are a list without names, or a map whose entries failed.
pub(crate) fn terminus(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said).hinted(&own_texts(object));
    let causes = object.object("error");
    let named = object
        .object("details")
        .or_else(|| object.object("info"))
        .or(causes);
    for (name, value) in named.into_iter().flat_map(Object::entries) {
        let mut part = part(name, value);
        let is_cause = causes.is_some_and(|causes| causes.has(name));
        if is_cause && part.status == Word::Unknown && found.said == Some(Word::Down) {
            part.status = Word::Down;
            let mut texts = crate::category::Texts::default();
            texts.add_all(value);
            part = part.because(&texts);
        }
        found.parts.push(part);
    }
    if named.is_none() {
        let siblings = object.entries().filter(|(_, value)| has_status(value));
        found.parts = siblings.map(|(name, value)| part(name, value)).collect();
    }
    found.unless_empty()
}

/// RabbitMQ `/api/health/checks/…`: an alarm is about memory or disk.
pub(crate) fn rabbitmq(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said).hinted(&own_texts(object));
    let alarms = object.list("alarms").unwrap_or_default();
    let of_space = alarms.iter().filter_map(Json::as_object).any(|alarm| {
        alarm
            .text("resource")
            .is_some_and(|what| ["memory", "disk"].contains(&what))
    });
    if of_space {
        found.hint = Some(ErrorCategory::ResourceExhausted);
    }
    found.unless_empty()
}
