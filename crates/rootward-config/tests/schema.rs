//! The schema for editors and the compiler agree: nothing that compiles is refused by the schema, and no unknown key,
//! no planned one and nothing of the wrong kind is accepted by it.
//!
//! The judge is an implementation of JSON Schema that is not ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use proptest::prelude::*;
use rootward_config::schema::{instance, of_aggregator};
use rootward_config::{Rule, Source, compile};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../docs/configuration.md");
const README: &str = include_str!("../../../README.md");

fn validator() -> Validator {
    jsonschema::validator_for(&of_aggregator()).expect("it is a schema")
}

/// The variables that the fixtures refer to.
fn env() -> BTreeMap<String, String> {
    let variables = [
        ("CART_HOST", "cart.shop.svc"),
        ("CART_PORT", "8790"),
        ("INTERVAL", "5s"),
        ("FALL", "4"),
        ("EMPTY", ""),
        ("SECRET", "hunter2"),
    ];
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn fixtures(folder: &str) -> Vec<Source> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/configs")
        .join(folder);
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).expect("there are fixtures") {
        let path = entry.expect("it can be listed").path();
        if path
            .extension()
            .is_some_and(|extension| extension != "expected")
        {
            sources.push(Source {
                file: path.display().to_string(),
                text: fs::read_to_string(&path).expect("fixtures are text"),
            });
        }
    }
    assert!(sources.len() > 3, "the fixtures were not found");
    sources
}

fn examples() -> Vec<Source> {
    let mut sources = Vec::new();
    for (fence, extension) in [("```yaml\n", "yaml"), ("```toml\n", "toml")] {
        for document in [DOCUMENT, README] {
            for rest in document.split(fence).skip(1) {
                let text = rest.split("```").next().expect("a split has a first part");
                sources.push(Source {
                    file: format!("example.{extension}"),
                    text: text.to_owned(),
                });
            }
        }
    }
    sources
}

/// As an editor reads it: numbers and booleans are no text.
fn resolved(value: &Value) -> Value {
    match value {
        Value::String(text) => match (text.parse::<u64>(), text.parse::<bool>()) {
            (Ok(number), _) if number.to_string() == *text => number.into(),
            (_, Ok(flag)) => flag.into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(resolved).collect(),
        Value::Object(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, value)| (key.clone(), resolved(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn accepts(validator: &Validator, value: &Value, what: &str) {
    for value in [value.clone(), resolved(value)] {
        let refused: Vec<String> = (validator.iter_errors(&value))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(refused.is_empty(), "{what}:\n{}", refused.join("\n"));
    }
}

/// Every document with one more key in one of its mappings.
fn with_one_more_key(value: &Value) -> Vec<Value> {
    let mut more = Vec::new();
    match value {
        Value::Object(entries) => {
            let mut extended = entries.clone();
            extended.insert("no_such_key".to_owned(), "x".into());
            more.push(Value::Object(extended));
            for (key, inner) in entries {
                for inner in with_one_more_key(inner) {
                    let mut changed = entries.clone();
                    changed.insert(key.clone(), inner);
                    more.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                for inner in with_one_more_key(inner) {
                    let mut changed = items.clone();
                    changed[index] = inner;
                    more.push(Value::Array(changed));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    more
}

#[test]
fn the_schema_is_one_by_the_rules_of_its_dialect() {
    let schema = of_aggregator();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn every_configuration_that_compiles_is_accepted() {
    let validator = validator();
    let mut seen = 0;
    for source in fixtures("good").into_iter().chain(examples()) {
        if compile(std::slice::from_ref(&source), &env()).is_ok() {
            let value = instance(&source).expect("what compiles can be read");
            accepts(&validator, &value, &source.file);
            seen += 1;
        }
    }
    assert!(seen > 5, "only {seen} compile");
}

#[test]
fn one_key_too_many_is_refused_wherever_it_stands() {
    let validator = validator();
    let mut tried = 0;
    for source in fixtures("good") {
        let value = instance(&source).expect("it can be read");
        for changed in with_one_more_key(&value) {
            assert!(!validator.is_valid(&changed), "{changed:#}");
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} were tried");
}

#[test]
fn unknown_keys_planned_ones_and_wrong_kinds_are_refused() {
    let validator = validator();
    let mut refused = BTreeMap::new();
    for source in fixtures("bad") {
        let Err(problems) = compile(std::slice::from_ref(&source), &env()) else {
            panic!("{} compiles", source.file);
        };
        let rules = problems.as_slice().iter().map(|problem| problem.rule);
        let by_shape =
            |rule: &Rule| matches!(rule, Rule::UnknownKey | Rule::NotBuilt | Rule::WrongType);
        let rules: Vec<Rule> = rules.filter(by_shape).collect();
        if let (Some(value), false) = (instance(&source), rules.is_empty()) {
            assert!(!validator.is_valid(&value), "{} is accepted", source.file);
            for rule in rules {
                *refused.entry(rule).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(refused.len(), 3, "a kind has no fixture: {refused:?}");
}

#[test]
fn every_key_says_what_it_is() {
    fn look(schema: &Value, path: &str, silent: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            for (key, inner) in properties {
                let path = format!("{path}.{key}");
                if !inner["description"].is_string() {
                    silent.push(path.clone());
                }
                look(inner, &path, silent);
            }
        }
        if schema["items"].is_object() {
            look(&schema["items"], &format!("{path}[]"), silent);
        }
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            look(choice, path, silent);
        }
    }
    let mut silent = Vec::new();
    look(&of_aggregator(), "", &mut silent);
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn what_an_editor_shows_is_the_row_of_the_document() {
    let schema = of_aggregator();
    let health = &schema["properties"]["services"]["items"]["properties"]["health"]["properties"];
    assert_eq!(
        health["timeout"]["description"],
        "the whole exchange of one poll, from the first packet to the last byte\n\
         default: 2s, whatever the interval\nallowed: 10ms to 60s, and below the interval\nexample: 500ms"
    );
    assert_eq!(
        schema["properties"]["services"]["items"]["properties"]["dependencies"]["items"]["properties"]
            ["criticality"]["anyOf"][0],
        serde_json::json!({"enum": ["hard", "soft", "informational"]})
    );
}

proptest! {
    /// What the compiler takes, whatever it looks like, the schema takes too.
    #[test]
    fn no_value_that_compiles_is_refused(
        (key, value) in prop_oneof![
            (Just("interval"), "[0-9]{1,3}(ms|s|m|h|d)"),
            (Just("timeout"), "[0-9]{1,4}(ms|s| s)?"),
            (Just("fall"), "[0-9]{1,2}"),
            (Just("rise"), "\"?[0-9]{1,2}\"?"),
            (Just("roots"), "[a-z/.0-9]{1,9}"),
            (Just("format"), "auto|spring|rust-axum-health|vault|rfc"),
            (Just("stale_after"), "\\$\\{INTERVAL\\}|[0-9]{2}s|\\{env: INTERVAL\\}"),
        ],
        url in "([Hh]ttp|Grpc|grpc)s?://[a-z]{1,5}(:[0-9]{1,4})?(/[a-z]{0,3})?",
        owner in "[a-z0-9.-]{1,6}|true|1\\.10",
    ) {
        let text = format!(
            "services:\n- name: cart\n  owner: {owner}\n  health:\n    url: {url}\n    {key}: {value}\n"
        );
        let source = Source { file: "rootward.yaml".to_owned(), text };
        if compile(std::slice::from_ref(&source), &env()).is_ok() {
            accepts(&validator(), &instance(&source).expect("it compiles"), &source.text);
        }
    }
}
