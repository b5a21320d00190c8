//! The draft `application/health+json` of the IETF, 00 to 06: a map from `component[:measurement]` to lists of measurements.
//!
//! The nodes and the measurements of one component are one component here, as bad as the worst of them. Source:
//! draft-inadarei-api-health-check; drafts 00 to 02 say `details` for `checks`.

use crate::found::{Found, Part, all_texts, own_texts, under};
use crate::json::{Json, Object};
use crate::words::Word;

pub(crate) fn draft(object: &Object) -> Option<Found> {
    let said = under(object, "status");
    let maps = object.all("checks").chain(object.all("details"));
    let mut parts = Vec::new();
    for (key, value) in maps.filter_map(Json::as_object).flat_map(Object::entries) {
        let name = key.split_once(':').map_or(key, |(component, _)| component);
        match value {
            Json::List(nodes) if nodes.is_empty() => parts.push(Part::new(name, Word::Unknown)),
            Json::List(nodes) => component(name, nodes, &mut parts),
            // Some write one measurement without the list around it.
            one => component(name, std::slice::from_ref(one), &mut parts),
        }
    }
    Found::of(said)
        .with(parts)
        .hinted(&own_texts(object))
        .unless_empty()
}

/// The measurements of one key. A measurement without a status is no statement, unless none has one.
fn component(name: &str, nodes: &[Json], parts: &mut Vec<Part>) {
    let before = parts.len();
    for node in nodes.iter().filter_map(Json::as_object) {
        if let Some(said) = under(node, "status") {
            let mut part = Part::new(name, said.word);
            part.category = said.category;
            parts.push(part.because(&all_texts(node)));
        }
    }
    if parts.len() == before {
        parts.push(Part::new(name, Word::Unknown));
    }
}
