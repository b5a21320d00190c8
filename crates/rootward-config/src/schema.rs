//! The schema of both files for editors: JSON Schema, draft 2020-12, made of the tables that the readers use.
//!
//! It knows which keys there are, what may stand behind each and what the documents say of it. What only a comparison of
//! values shows (a name that nothing has, a timeout above its interval) is left to `rootward validate`. It refuses nothing
//! that compiles: a value may be a variable, or stand in another file, and numbers may be quoted.

use std::time::Duration;

use rootward_core::{Criticality, Scope};
use rootward_formats::Format;
use serde_json::{Map, Value, json};

use crate::Source;
use crate::agent::{self, KindSpec};
use crate::document::Document;
use crate::duration::{UNITS, show};
use crate::keys::{self, Section};
use crate::place::Log;
use crate::shape::{KeySpec, Shape};
use crate::syntax::parse;
use crate::tree::{self, Node};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The most entries of a setting that holds several.
const MAX_ENTRIES: usize = agent::MAX_ENTRIES;

/// The schema of the aggregator's files. One file of several is enough for it, so `services` may be missing.
#[must_use]
pub fn of_aggregator() -> Value {
    let mut schema = mapping(&keys::ROOT, "", &Document::AGGREGATOR, &[]);
    dress(
        &mut schema,
        "The configuration of the aggregator of Rootward",
    );
    schema
}

/// The schema of an agent's file, with these kinds of checks.
#[must_use]
pub fn of_agent(kinds: &[KindSpec]) -> Value {
    let mut schema = mapping(&agent::keys::ROOT, "", &Document::AGENT, kinds);
    dress(&mut schema, "The file of an agent of Rootward");
    schema
}

/// What a file says, to hold it against a schema: every value as text, nothing as null. `None` if it cannot be read.
#[must_use]
pub fn instance(source: &Source) -> Option<Value> {
    let mut log = Log::new(vec![source.file.clone()]);
    parse(source, 0, &mut log).map(|document| plain(&document))
}

fn plain(node: &Node) -> Value {
    match &node.value {
        tree::Value::Null | tree::Value::Refused => Value::Null,
        tree::Value::Scalar(text) => text.as_str().into(),
        tree::Value::Sequence(items) => items.iter().map(plain).collect(),
        tree::Value::Mapping(entries) => {
            let entries = entries.iter();
            entries
                .map(|entry| (entry.key.clone(), plain(&entry.value)))
                .collect()
        }
    }
}

/// What stands at the top of a schema only.
fn dress(schema: &mut Value, title: &str) {
    schema["$schema"] = DIALECT.into();
    schema["title"] = title.into();
    schema["$defs"] = json!({
        "variable": {
            "description": "a value with a variable of the environment in it: ${NAME} or ${NAME:-default}",
            "type": "string",
            "pattern": r"\$\{",
        },
        "elsewhere": {
            "description": "a value that stands elsewhere: {file: PATH} or {env: NAME}",
            "type": "object",
            "properties": {"file": {"type": "string"}, "env": {"type": "string"}},
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1,
        },
    });
}

/// Keys and values.
fn mapping(section: &Section<'_>, path: &str, document: &Document, kinds: &[KindSpec]) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        let mut schema = of_key(key, path, document, kinds);
        if let Some(text) = document.about(path, key.name) {
            schema["description"] = text.into();
        }
        properties.insert(key.name.to_owned(), schema);
    }
    let required = section.keys.iter().filter(|key| key.required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut schema = closed(&properties, &required);
    if !section.one_of.is_empty() {
        let choices: Vec<Value> = section
            .one_of
            .iter()
            .map(|key| json!({"required": [key]}))
            .collect();
        schema["oneOf"] = choices.into();
    }
    schema
}

/// An object that has no other keys.
fn closed(properties: &Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn of_key(key: &KeySpec, path: &str, document: &Document, kinds: &[KindSpec]) -> Value {
    let inner = match path {
        "" => key.name.to_owned(),
        path => format!("{path}.{}", key.name),
    };
    // Whatever `defaults` and a service have in common is described once.
    let inside = |section, path: &str| mapping(section, path, document, kinds);
    match key.shape {
        Shape::Section(section) => inside(section, &inner),
        Shape::List(section) => list(&inside(section, &format!("{inner}[]")), 0),
        Shape::Urls(section) => {
            let long = inside(section, &format!("{inner}[]"));
            list(&json!({"anyOf": [value(Shape::Url), long]}), 1)
        }
        Shape::NoneOr(section) => {
            let section = inside(section, document.home(&inner));
            json!({"anyOf": [{"const": "none"}, section]})
        }
        Shape::TextOr(section) => {
            json!({"anyOf": [value(Shape::Text), inside(section, &inner)]})
        }
        Shape::File => json!({
            "type": "object",
            "properties": {"file": {"type": "string", "description": "the path of the file"}},
            "required": ["file"],
            "additionalProperties": false,
        }),
        Shape::Checks => list(&check(document, kinds), 0),
        Shape::Names(least) => list(&value(Shape::Name), least),
        Shape::Texts => list(&value(Shape::Text), 0),
        Shape::Setting(agent::Shape::Texts) => {
            let mut texts = list(&value(Shape::Text), 1);
            texts["maxItems"] = MAX_ENTRIES.into();
            texts
        }
        Shape::Setting(agent::Shape::Pairs) => json!({
            "type": "object",
            "additionalProperties": value(Shape::Text),
            "maxProperties": MAX_ENTRIES,
        }),
        Shape::Name
        | Shape::Text
        | Shape::Target
        | Shape::Url
        | Shape::Address
        | Shape::Date
        | Shape::Duration(_)
        | Shape::Number(..)
        | Shape::Flag
        | Shape::Criticality
        | Shape::Scope
        | Shape::Format
        | Shape::Setting(_) => value(key.shape),
    }
}

fn list(items: &Value, least: u8) -> Value {
    let mut schema = json!({"type": "array", "items": items});
    if least > 0 {
        schema["minItems"] = least.into();
    }
    schema
}

/// One of an agent's checks: what all have, and one kind.
fn check(document: &Document, kinds: &[KindSpec]) -> Value {
    let common = Section {
        keys: &agent::keys::CHECK,
        later: &[],
        one_of: &[],
        example: agent::keys::CHECK_EXAMPLE,
    };
    let mut schema = mapping(&common, agent::keys::CHECK_PATH, document, kinds);
    let built = kinds.iter().filter(|kind| kind.built);
    let mut choices = Vec::new();
    for kind in built {
        let keys: Vec<KeySpec> = kind.keys.iter().map(agent::Key::spec).collect();
        let section = Section {
            keys: &keys,
            later: &[],
            one_of: &[],
            example: kind.example,
        };
        let mut settings = mapping(&section, "", &Document::NONE, kinds);
        for key in kind.keys {
            settings["properties"][key.name()]["description"] = key.about().into();
        }
        let text = format!(
            "a check of the kind {}, such as {}",
            kind.name, kind.example
        );
        settings["description"] = text.into();
        schema["properties"][kind.name] = settings;
        choices.push(json!({"required": [kind.name]}));
    }
    schema["oneOf"] = choices.into();
    schema
}

/// One value, written there or taken from elsewhere.
fn value(shape: Shape) -> Value {
    let mut choices = written(shape);
    choices.push(json!({"$ref": "#/$defs/variable"}));
    choices.push(json!({"$ref": "#/$defs/elsewhere"}));
    json!({ "anyOf": choices })
}

/// Text that syntaxes may take for something else: `1.10`, `true`.
fn text(pattern: &str) -> Value {
    json!({"type": ["string", "number", "boolean"], "pattern": pattern})
}

fn written(shape: Shape) -> Vec<Value> {
    match shape {
        Shape::Name => vec![text("^[A-Za-z0-9][A-Za-z0-9_./:@+-]*$")],
        Shape::Target => vec![text(r"^\S+$")],
        Shape::Url => vec![
            json!({"type": "string", "pattern": "^([Hh][Tt][Tt][Pp]|[Gg][Rr][Pp][Cc])[Ss]?://"}),
        ],
        Shape::Address => vec![json!({"type": "string", "pattern": ":[0-9]+$"})],
        Shape::Date => vec![json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})],
        Shape::Duration(range) => vec![duration(range.least, range.most)],
        Shape::Number(least, most) => number(least, most),
        Shape::Flag => vec![
            json!({"type": "boolean"}),
            json!({"enum": ["true", "false"]}),
        ],
        Shape::Criticality => words(Criticality::ALL.iter().map(|word| word.as_str())),
        Shape::Scope => words(Scope::ALL.iter().map(|word| word.as_str())),
        Shape::Format => {
            let names = Format::ALL.iter().map(|format| format.as_str());
            let others = Format::ALL.iter().flat_map(|format| format.aliases());
            words(["auto"].into_iter().chain(names).chain(others.copied()))
        }
        Shape::Setting(setting) => match setting {
            agent::Shape::Duration(least, most) => vec![duration(least, most)],
            agent::Shape::Number(least, most) => number(least, most),
            agent::Shape::Flag => written(Shape::Flag),
            agent::Shape::Word(known) => words(known.iter().copied()),
            agent::Shape::Percent => vec![json!({"type": "string", "pattern": "^[0-9]+%$"})],
            agent::Shape::Size => {
                vec![json!({"type": "string", "pattern": "^[0-9]+([KMGT]i)?B$"})]
            }
            agent::Shape::Text | agent::Shape::Texts | agent::Shape::Pairs => written(Shape::Text),
        },
        Shape::Text
        | Shape::Section(_)
        | Shape::List(_)
        | Shape::Urls(_)
        | Shape::NoneOr(_)
        | Shape::TextOr(_)
        | Shape::File
        | Shape::Texts
        | Shape::Checks
        | Shape::Names(_) => vec![text(r"\S")],
    }
}

fn words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let words: Vec<&str> = words.collect();
    vec![json!({ "enum": words })]
}

fn number(least: u64, most: u64) -> Vec<Value> {
    let mut number = json!({"type": "integer", "minimum": least});
    if most < u64::MAX {
        number["maximum"] = most.into();
    }
    vec![number, json!({"type": "string", "pattern": "^[0-9]+$"})]
}

fn duration(least: Duration, most: Duration) -> Value {
    let units: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
    json!({
        "type": "string",
        "pattern": format!("^[0-9]+({})$", units.join("|")),
        "description": format!("a duration from {} to {}", show(least), show(most)),
    })
}
