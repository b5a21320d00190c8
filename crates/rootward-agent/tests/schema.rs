//! The schema of an agent's file and the compiler agree on the fixtures: what compiles is accepted, and unknown keys and
//! what is of the wrong kind are not. With every kind of check built.
#![cfg(feature = "all")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rootward_agent::{Plan, kind_names, schema};
use rootward_config::schema::instance;
use rootward_config::{Rule, Source};

fn sources(folder: &str) -> Vec<Source> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/agents")
        .join(folder);
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            sources.push(Source {
                file: path.display().to_string(),
                text: fs::read_to_string(&path).expect("fixtures are readable text"),
            });
        }
    }
    assert!(sources.len() > 2, "there are fixtures");
    sources
}

#[test]
fn every_agent_that_compiles_is_accepted() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for source in sources("good") {
        let value = instance(&source).expect("what compiles can be read");
        let refused: Vec<String> = (validator.iter_errors(&value))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(
            refused.is_empty(),
            "{}:\n{}",
            source.file,
            refused.join("\n")
        );
    }
}

#[test]
fn unknown_keys_and_wrong_kinds_of_an_agent_are_refused() {
    let validator = jsonschema::validator_for(&schema()).expect("it is a schema");
    let mut refused = 0;
    for source in sources("bad") {
        let Err(problems) = Plan::compile(&source, &BTreeMap::new()) else {
            panic!("{} compiles", source.file);
        };
        let by_shape = problems.as_slice().iter().any(|problem| {
            matches!(
                problem.rule,
                Rule::UnknownKey | Rule::NotBuilt | Rule::WrongType
            )
        });
        if let (Some(value), true) = (instance(&source), by_shape) {
            assert!(!validator.is_valid(&value), "{} is accepted", source.file);
            refused += 1;
        }
    }
    assert!(refused > 2, "only {refused} of them are of this kind");
}

#[test]
fn every_kind_of_check_has_its_settings_described() {
    let schema = schema();
    let check = &schema["properties"]["checks"]["items"]["properties"];
    for kind in kind_names() {
        let settings = &check[kind];
        assert!(settings["description"].is_string(), "{kind}");
        let properties = settings["properties"].as_object().expect("it has settings");
        for (key, setting) in properties {
            assert!(setting["description"].is_string(), "{kind}.{key}");
        }
    }
}
