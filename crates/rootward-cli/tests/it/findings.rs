//! `rootward validate --format json` and `--format sarif`: the same findings for programs, and the same exit codes.
//!
//! The sections named in the tests of SARIF are those of its specification, version 2.1.0 (OASIS, errata 01).

use serde_json::{Value, json};

use crate::program::{Scratch, run};

const BAD: &str = "\
services:
- name: front
  health: {url: http://127.0.0.1:8790, timeout: 5}
  dependencis: []
- name: cart
  health: {url: http://127.0.0.1:8791}
  dependencies: [{name: ratse, criticality: hard}]
resources: [{name: rates}]
";

const GOOD: &str = "services: [{name: front, health: {url: http://127.0.0.1:8790}}]\n";

const WARNED: &str = "\
services: [{name: front, health: {url: http://127.0.0.1:8790}}]
resources: [{name: nobody-uses-it}]
";

fn found(format: &str, file: &str, code: i32) -> Value {
    let ended = run(&["validate", "--format", format, file]).with(code);
    assert_eq!(ended.err, "", "all of it is in the document");
    serde_json::from_str(&ended.out).expect("one JSON document")
}

#[test]
fn each_problem_is_an_object_with_its_rule_its_place_and_the_way_out() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", BAD);
    let document = found("json", &file, 2);
    assert_eq!(document["format"], "rootward-validate/1");
    assert_eq!(document["valid"], false);
    assert_eq!(document["left_out"], 0);
    assert_eq!(
        document["problems"],
        json!([
            {
                "rule": "config/invalid-value",
                "severity": "error",
                "file": file,
                "line": 3,
                "column": 49,
                "end": {"line": 3, "column": 50},
                "path": "services[0].health.timeout",
                "message": "\"5\" has no unit",
                "help": "write \"5s\" or \"500ms\"",
                "nearest": null,
            },
            {
                "rule": "config/unknown-key",
                "severity": "error",
                "file": file,
                "line": 4,
                "column": 3,
                "end": {"line": 4, "column": 14},
                "path": "services[0]",
                "message": "unknown key `dependencis`",
                "help": "did you mean `dependencies`?",
                "nearest": "dependencies",
            },
            {
                "rule": "config/unknown-name",
                "severity": "error",
                "file": file,
                "line": 7,
                "column": 25,
                "end": {"line": 7, "column": 30},
                "path": "services[1].dependencies[0].name",
                "message": "nothing is named `ratse`",
                "help": "did you mean `rates`?",
                "nearest": "rates",
            },
        ])
    );
}

#[test]
fn a_valid_configuration_has_an_empty_list_of_problems() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", GOOD);
    assert_eq!(
        found("json", &file, 0),
        json!({"format": "rootward-validate/1", "valid": true, "problems": [], "left_out": 0})
    );
    let log = found("sarif", &file, 0);
    // Section 3.14.23: an empty array says that nothing was found, none that nothing was looked for.
    assert_eq!(log["runs"][0]["results"], json!([]));
}

#[test]
fn a_warning_is_listed_and_leaves_the_configuration_valid() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", WARNED);
    let document = found("json", &file, 0);
    assert_eq!(document["valid"], true);
    assert_eq!(document["problems"][0]["severity"], "warning");
    assert_eq!(document["problems"][0]["rule"], "config/unused-resource");
    let log = found("sarif", &file, 0);
    assert_eq!(log["runs"][0]["results"][0]["level"], "warning");
}

#[test]
fn a_file_that_cannot_be_read_or_parsed_is_a_finding() {
    let scratch = Scratch::new();
    let broken = scratch.file("broken.toml", "services = [\n");
    let document = found("json", &broken, 2);
    assert_eq!(document["problems"][0]["rule"], "config/syntax");

    let missing = format!("{}/missing.yaml", scratch.path());
    let document = found("json", &missing, 2);
    assert_eq!(document["valid"], false);
    assert_eq!(document["problems"][0]["rule"], "config/unreadable-file");
    assert_eq!(document["problems"][0]["file"], missing.as_str());

    let log = found("sarif", &missing, 2);
    let run = &log["runs"][0];
    assert_eq!(run["results"][0]["ruleId"], "config/unreadable-file");
    // Nobody knows a line of it.
    let location = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location.get("region"), None);
    // Section 3.20.14: what was asked for could not be done in full.
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn problems_of_agents_and_aggregators_are_in_one_document() {
    let scratch = Scratch::new();
    scratch.file("a.yaml", BAD);
    scratch.file(
        "b.yaml",
        "service: {name: cart}\nchecks: [{name: cache, redis: {url: redis://cache}}]\n",
    );
    let document = found("json", scratch.path(), 2);
    let files: Vec<&str> = (document["problems"].as_array().expect("a list").iter())
        .filter_map(|problem| problem["file"].as_str()?.rsplit('/').next())
        .collect();
    assert_eq!(files, ["a.yaml", "a.yaml", "a.yaml", "b.yaml"]);
    assert_eq!(document["problems"][3]["rule"], "config/missing");
}

#[test]
fn sarif_has_what_its_specification_requires() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", BAD);
    let log = found("sarif", &file, 2);
    assert_eq!(log["version"], "2.1.0", "3.13.2");
    let schema = log["$schema"].as_str().expect("3.13.3");
    assert!(schema.ends_with("/sarif-schema-2.1.0.json"), "{schema}");
    let runs = log["runs"].as_array().expect("3.13.4");
    assert_eq!(runs.len(), 1);
    let run = &runs[0];

    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "rootward validate", "3.14.6, 3.19.8");
    assert!(driver["semanticVersion"].is_string(), "3.19.12");
    let rules = driver["rules"].as_array().expect("3.19.23");
    let mut ids: Vec<&str> = (rules.iter())
        .map(|rule| rule["id"].as_str().expect("3.49.3"))
        .collect();
    assert!(ids.iter().all(|id| id.starts_with("config/")));
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string(), "3.49.9, 3.12");
        let level = &rule["defaultConfiguration"]["level"];
        assert!(*level == "error" || *level == "warning", "3.50.3: {level}");
    }

    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true, "3.20.14");
    assert_eq!(invocation["exitCode"], 2, "3.20.9");
    assert_eq!(run["columnKind"], "unicodeCodePoints", "3.14.27");

    let results = run["results"].as_array().expect("3.14.23");
    assert_eq!(results.len(), 3);
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("3.27.6");
        let index = usize::try_from(index).expect("a small number");
        assert_eq!(result["ruleId"], ids[index], "3.27.5");
        assert_eq!(result["level"], "error", "3.27.10");
        assert!(result["message"]["text"].is_string(), "3.27.11, 3.11.8");
        let locations = result["locations"].as_array().expect("3.27.12");
        assert_eq!(locations.len(), 1);
        let physical = &locations[0]["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().expect("3.4.3");
        assert!(uri.starts_with("file:///") && uri.ends_with("/rootward.yaml"));
        for (property, section) in [
            ("startLine", "3.30.5"),
            ("startColumn", "3.30.6"),
            ("endLine", "3.30.7"),
            ("endColumn", "3.30.8"),
        ] {
            let number = physical["region"][property].as_u64();
            assert!(number.is_some_and(|number| number >= 1), "{section}");
        }
    }
    assert_eq!(
        results[1]["locations"][0]["physicalLocation"]["region"],
        json!({"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 14})
    );
    // Section 3.19.23: no two rules are the same.
    let before = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), before);
}

#[test]
fn a_format_that_does_not_exist_is_refused_with_those_that_do() {
    let ended = run(&["validate", "--format", "xml", "rootward.yaml"]).with(2);
    for format in ["human", "json", "sarif"] {
        assert!(ended.err.contains(format), "{}", ended.err);
    }
}
