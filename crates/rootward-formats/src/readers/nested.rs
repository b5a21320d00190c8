//! Spring Boot's shape: components in components.
//!
//! Three generations: children under `components` (2.2 and later), under `details` (2.0, 2.1) and as siblings of the status (1.x).
//! Under `components`, `details` is data whatever it holds; under `details`, it is children only if every value is an
//! object with a status of its own. Source: spring-boot-actuator, `CompositeHealthDescriptor` and its predecessors.

use rootward_core::ErrorCategory;

use crate::category::Texts;
use crate::found::{Found, Part, own_texts, under};
use crate::json::{Json, Object};
use crate::words::{self, Word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    Components,
    Details,
    Siblings,
}

pub(crate) fn spring(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let mut parts = Vec::new();
    let generation = generation(object);
    match generation {
        Some(generation) => walk_children(object, generation, "", &mut parts),
        None => Word::Up,
    };
    let mut texts = own_texts(object);
    if generation.is_none() {
        // The endpoint of one component: its data stands at the top.
        object.all("details").for_each(|data| texts.add_all(data));
    }
    Found::of(said).with(parts).hinted(&texts).unless_empty()
}

/// Whether a value is an object with a status word of its own.
pub(crate) fn has_status(value: &Json) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.text("status").is_some())
}

/// Whether a value is an object whose values all are objects with a status word.
pub(crate) fn all_have_status(value: &Json) -> bool {
    value
        .as_object()
        .is_some_and(|object| !object.is_empty() && object.values().all(has_status))
}

fn generation(object: &Object) -> Option<Generation> {
    if object.object("components").is_some() {
        Some(Generation::Components)
    } else if object.get("details").is_some_and(all_have_status) {
        Some(Generation::Details)
    } else if object.entries().any(|(key, value)| is_sibling(key, value)) {
        Some(Generation::Siblings)
    } else {
        None
    }
}

fn is_sibling(key: &str, value: &Json) -> bool {
    key != "details" && has_status(value)
}

/// Adds the children of an object; the worst of them.
fn walk_children(
    object: &Object,
    generation: Generation,
    path: &str,
    parts: &mut Vec<Part>,
) -> Word {
    let mut worst = Word::Up;
    let mut child = |name: &str, value: &Json| {
        let path = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}/{name}")
        };
        worst = worst.max(walk(&path, value, generation, parts));
    };
    match generation {
        Generation::Components => {
            for children in object.all("components").filter_map(Json::as_object) {
                children
                    .entries()
                    .for_each(|(name, value)| child(name, value));
            }
        }
        Generation::Details => {
            for children in object.all("details").filter_map(Json::as_object) {
                children
                    .entries()
                    .for_each(|(name, value)| child(name, value));
            }
        }
        Generation::Siblings => {
            let siblings = object.entries();
            siblings
                .filter(|(key, value)| is_sibling(key, value))
                .for_each(|(name, value)| child(name, value));
        }
    }
    worst
}

fn walk(path: &str, value: &Json, of: Generation, parts: &mut Vec<Part>) -> Word {
    let Json::Object(object) = value else {
        parts.push(Part::new(path, Word::Unknown));
        return Word::Unknown;
    };
    let composite = match of {
        Generation::Components => object.object("components").is_some(),
        Generation::Details => object.get("details").is_some_and(all_have_status),
        Generation::Siblings => object.entries().any(|(key, value)| is_sibling(key, value)),
    };
    let at = parts.len();
    parts.push(Part::new(path, Word::Unknown));
    let worst = if composite {
        walk_children(object, of, path, parts)
    } else {
        Word::Unknown
    };
    let said = under(object, "status");
    let word = said.map_or(worst, |said| said.word);
    let part = &mut parts[at];
    part.status = word;
    part.category = said.and_then(|said| said.category);
    let mut texts = Texts::default();
    for (key, value) in object.entries() {
        // What stands in a composite belongs to its children.
        let is_text = !composite || ["description", "error", "message"].contains(&key);
        if key != "status" && is_text {
            texts.add_all(value);
        }
    }
    let out_of_service = object
        .text("status")
        .and_then(words::uniform)
        .is_some_and(|word| word == "outofservice");
    if out_of_service && path.rsplit('/').next() == Some("readinessState") {
        // It refuses traffic: not ready yet, or not any more.
        part.category = Some(ErrorCategory::NotReady);
    } else if matches!(word, Word::Down | Word::Degraded) && part.category.is_none() {
        part.category = texts.category();
    }
    word
}
