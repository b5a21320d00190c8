//! Lists of checks that have names: MicroProfile Health, py-healthcheck, plug_checkup, the errors of NATS, and what
//! people write by hand.

use crate::answer::Answer;
use crate::found::{Found, NAME_KEYS, Part, Said, all_texts, own_texts, statement, under};
use crate::json::{Json, Object};
use crate::words::Word;

/// The name of an entry.
pub(crate) fn name(object: &Object) -> Option<&str> {
    NAME_KEYS.into_iter().find_map(|key| object.text(key))
}

/// Whether a list holds objects, one at least with a name.
pub(crate) fn is_named(list: &[Json]) -> bool {
    let has_name = |item: &Json| item.as_object().and_then(name).is_some();
    list.iter().all(|item| item.as_object().is_some()) && list.iter().any(has_name)
}

/// The entries of a list. One without a name counts and is not listed.
pub(crate) fn parts(list: &[Json], path: &str) -> Vec<Part> {
    let objects = list.iter().filter_map(Json::as_object);
    objects
        .map(|object| entry(object, path, statement(object)))
        .collect()
}

fn entry(object: &Object, path: &str, said: Option<Said>) -> Part {
    let name = name(object).map(|name| match path {
        "" => name.to_owned(),
        path => format!("{path}/{name}"),
    });
    Part {
        name,
        status: said.map_or(Word::Unknown, |said| said.word),
        category: said.and_then(|said| said.category),
    }
    .because(&all_texts(object))
}

/// A list and nothing else.
pub(crate) fn list(list: &[Json]) -> Option<Found> {
    is_named(list).then(|| Found::default().with(parts(list, "")))
}

/// MicroProfile Health 1.0 to 4.1. DOWN without checks has one meaning: they are expected and not there yet
/// (specification 4.0, "Disabling default procedures" and "Empty response").
pub(crate) fn microprofile(object: &Object, answer: &Answer<'_>) -> Option<Found> {
    let said = under(object, "status").or_else(|| under(object, "outcome"));
    let checks = object.list("checks");
    let mut found = Found::of(said).hinted(&own_texts(object));
    let unavailable = answer.http_status.is_none_or(|code| code == 503);
    if checks.is_some_and(<[Json]>::is_empty) && found.said == Some(Word::Down) && unavailable {
        found.said = Some(Word::Starting);
    }
    found.parts = object
        .all("checks")
        .filter_map(Json::as_list)
        .flat_map(|list| parts(list, ""))
        .collect();
    found.unless_empty()
}

/// py-healthcheck: `passed` may be null, which the library counts as failed.
pub(crate) fn py_healthcheck(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said);
    let results = object.list("results").unwrap_or_default();
    found.parts = results
        .iter()
        .filter_map(Json::as_object)
        .map(|result| {
            let word = match result.get("passed") {
                Some(Json::Bool(true)) => Word::Up,
                Some(Json::Bool(false) | Json::Null) => Word::Down,
                Some(Json::Number(_) | Json::Text(_) | Json::List(_) | Json::Object(_)) | None => {
                    Word::Unknown
                }
            };
            let category = None;
            entry(result, "", Some(Said { word, category }))
        })
        .collect();
    found.unless_empty()
}

/// plug_checkup: a list at the top, whose code is the only word about the whole.
pub(crate) fn plug_checkup(list: &[Json]) -> Found {
    Found::default().with(parts(list, ""))
}

/// NATS `/healthz`, with and without `?details=true`.
pub(crate) fn nats(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said).hinted(&own_texts(object));
    let errors = object.list("errors").unwrap_or_default();
    found.parts = errors
        .iter()
        .filter_map(Json::as_object)
        .map(|error| {
            let names: Vec<&str> = ["account", "stream", "consumer"]
                .into_iter()
                .filter_map(|key| error.text(key))
                .filter(|name| !name.is_empty())
                .collect();
            let mut texts = crate::category::Texts::default();
            error.all("error").for_each(|text| texts.add_all(text));
            Part {
                name: (!names.is_empty()).then(|| names.join("/")),
                status: Word::Down,
                category: None,
            }
            .because(&texts)
        })
        .collect();
    found.unless_empty()
}
