//! Maps from names to entries: ASP.NET's UI, alexliesenfeld, NestJS, InVision, go-sundheit, OkComputer.

use rootward_core::ErrorCategory;

use crate::answer::Answer;
use crate::category::Texts;
use crate::found::{Found, Part, Said, all_texts, own_texts, part, statement, under};
use crate::json::{Json, Object};
use crate::words::Word;

use super::strings;

/// Go's zero time, meaning never.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// ASP.NET Core: `entries` of the UI's writer, `results` of the documentation's, numbers and other cases of who serialises
/// the report itself. An integer is a status here and nowhere else: 0 Unhealthy, 1 Degraded, 2 Healthy
/// (`Microsoft.Extensions.Diagnostics.HealthChecks.HealthStatus`).
pub(crate) fn aspnet(object: &Object) -> Option<Found> {
    let mut found = Found::of_word(aspnet_status(object));
    for key in ["entries", "results"] {
        let Some(Json::Object(entries)) = object.get_any_case(key) else {
            continue;
        };
        for (name, value) in entries.entries() {
            let word = match value {
                Json::Object(entry) => aspnet_status(entry),
                Json::Text(text) => Some(Said::of(text).word),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) => None,
            };
            let mut texts = Texts::default();
            let entry = value.as_object();
            for key in ["description", "exception", "data"] {
                if let Some(text) = entry.and_then(|entry| entry.get_any_case(key)) {
                    texts.add_all(text);
                }
            }
            let part = Part::new(name, word.unwrap_or(Word::Unknown));
            found.parts.push(part.because(&texts));
        }
    }
    found.unless_empty()
}

fn aspnet_status(object: &Object) -> Option<Word> {
    under(object, "status").map(|said| said.word).or_else(|| {
        match object.get_any_case("status")?.as_small_integer()? {
            0 => Some(Word::Down),
            1 => Some(Word::Degraded),
            2 => Some(Word::Up),
            _ => None,
        }
    })
}

/// alexliesenfeld/health: `unknown` has one cause, a check that has never run; `up` with an `error` is a failure that the
/// library masks for a while.
pub(crate) fn alexliesenfeld(object: &Object) -> Option<Found> {
    let not_run = |word| {
        if word == Word::Unknown {
            Word::Starting
        } else {
            word
        }
    };
    let mut found = Found::of_word(under(object, "status").map(|said| not_run(said.word)));
    for (name, value) in object
        .object("details")
        .into_iter()
        .flat_map(Object::entries)
    {
        let said = value.as_object().and_then(|entry| under(entry, "status"));
        let mut word = said.map_or(Word::Unknown, |said| not_run(said.word));
        let error = value.as_object().and_then(|entry| entry.text("error"));
        if word == Word::Up && error.is_some_and(|error| !error.is_empty()) {
            word = Word::Degraded;
        }
        let mut texts = Texts::default();
        error.into_iter().for_each(|error| texts.add(error));
        found.parts.push(Part::new(name, word).because(&texts));
    }
    // A check that has never run matters only while nothing has failed.
    if found.said == Some(Word::Starting) && failing(&found.parts) {
        found.said = Some(Word::Unknown);
    }
    found.unless_empty()
}

fn failing(parts: &[Part]) -> bool {
    parts
        .iter()
        .any(|part| matches!(part.status, Word::Down | Word::Degraded))
}

/// @nestjs/terminus: `details` alone, for `info` and `error` are its halves. Where an exception filter wraps the body, it is
/// one level down; a status code and a message alone say that something threw that was not expected.
pub(crate) fn nestjs(object: &Object, answer: &Answer<'_>) -> Option<Found> {
    let wrapped = object
        .values()
        .filter_map(Json::as_object)
        .find(|inner| is_nestjs(inner));
    let object = if is_nestjs(object) {
        object
    } else {
        wrapped.unwrap_or(object)
    };
    let said = under(object, "status");
    if said.is_none() && is_nest_exception(object) {
        let code = object.get("statusCode").and_then(Json::as_small_integer);
        let server = code.or(answer.http_status).is_some_and(|code| code >= 500);
        return server.then(|| Found::said(Word::Down).because(ErrorCategory::HttpStatus));
    }
    let mut found = Found::of(said);
    let details = object.object("details").into_iter();
    found.parts = details
        .flat_map(Object::entries)
        .map(|(name, value)| part(name, value))
        .collect();
    found.unless_empty()
}

pub(crate) fn is_nestjs(object: &Object) -> bool {
    ["info", "error", "details"]
        .iter()
        .all(|key| object.object(key).is_some())
        && object.text("status").is_some()
}

pub(crate) fn is_nest_exception(object: &Object) -> bool {
    object.get("statusCode").is_some_and(Json::is_number) && object.has("message")
}

/// InVisionApp/go-health. Before anything has run it answers 200 and `ok`; only its message says so.
pub(crate) fn invision(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said).hinted(&own_texts(object));
    let spinning = object
        .text("message")
        .is_some_and(|text| text.contains("spinning up"));
    for (name, value) in object
        .object("details")
        .into_iter()
        .flat_map(Object::entries)
    {
        let mut part = part(name, value);
        let checked = value.as_object().and_then(|entry| entry.text("check_time"));
        if checked == Some(NEVER) && part.status == Word::Up {
            part.status = Word::Starting;
        }
        found.parts.push(part);
    }
    if spinning && found.parts.is_empty() {
        found.said = Some(Word::Starting);
    }
    found.unless_empty()
}

/// go-sundheit: what has an `error` is failing; what has not run yet says so in words. `?type=short` has words alone.
pub(crate) fn sundheit(object: &Object) -> Option<Found> {
    if object.is_empty() {
        return Some(Found::nothing());
    }
    if object.values().all(|value| value.as_text().is_some()) {
        return strings::words(object);
    }
    let mut parts = Vec::new();
    for (name, value) in object.entries() {
        let Json::Object(entry) = value else {
            continue;
        };
        let error = entry.get("error").filter(|error| **error != Json::Null);
        let not_run = |text: &str| text.contains("didn't run yet");
        let message = entry.text("message").is_some_and(not_run);
        let in_error = error
            .and_then(Json::as_object)
            .and_then(|error| error.text("message"))
            .or_else(|| error.and_then(Json::as_text))
            .is_some_and(not_run);
        let mut texts = Texts::default();
        error.into_iter().for_each(|error| texts.add_all(error));
        let word = match error {
            _ if message || in_error => Word::Starting,
            Some(_) => Word::Down,
            None if is_sundheit(entry) => Word::Up,
            None => Word::Unknown,
        };
        parts.push(Part::new(name, word).because(&texts));
    }
    Found::default().with(parts).unless_empty()
}

/// Whether an entry is one of go-sundheit.
pub(crate) fn is_sundheit(entry: &Object) -> bool {
    entry.has("contiguousFailures")
        || entry.has("timeOfFirstFailure")
        || (entry.has("timestamp") && (entry.has("message") || entry.has("error")))
}

/// OkComputer as JSON: one check, or a collection flattened.
pub(crate) fn okcomputer(object: &Object) -> Option<Found> {
    let mut parts = Vec::new();
    for (name, value) in object.entries() {
        let Json::Object(entry) = value else {
            continue;
        };
        let said = under(entry, "success").or_else(|| statement(entry));
        let part = Part::new(name, said.map_or(Word::Unknown, |said| said.word));
        parts.push(part.because(&all_texts(entry)));
    }
    let found = Found::default().with(parts);
    if object.is_empty() {
        Some(found)
    } else {
        found.unless_empty()
    }
}
