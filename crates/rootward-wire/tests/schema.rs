//! What `docs/spec` publishes is what the types say.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_wire::v1::{api, schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/spec")
        .join(name)
}

/// Compares with the file, or rewrites it where the environment asks for that.
fn pin(name: &str, generated: &Value) {
    let path = published(name);
    if std::env::var_os("ROOTWARD_WRITE_SCHEMA").is_some() {
        let text = serde_json::to_string_pretty(generated).expect("a schema is JSON") + "\n";
        fs::write(&path, text).expect("docs/spec can be written");
    }
    let stored: Option<Value> = fs::read(&path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    assert!(
        stored.as_ref() == Some(generated),
        "docs/spec/{name} is not what the types say; if the change is wanted, rewrite it with\n    \
         ROOTWARD_WRITE_SCHEMA=1 cargo test -p rootward-wire --test schema"
    );
}

#[test]
fn the_published_schema_of_the_report_is_the_one_of_the_types() {
    pin("report-v1.schema.json", &schema::report());
}

#[test]
fn the_published_schema_of_the_api_is_the_one_of_the_types() {
    pin("api-v1.schema.json", &schema::api());
}

/// The JSON blocks of a specification, each with the heading above it.
fn examples(document: &str) -> Vec<(String, String)> {
    let text =
        fs::read_to_string(published(document)).expect("the specification is in the repository");
    let (mut heading, mut found) = (String::new(), Vec::new());
    let mut block: Option<String> = None;
    for line in text.lines() {
        match &mut block {
            Some(json) if line == "```" => {
                found.push((heading.clone(), std::mem::take(json)));
                block = None;
            }
            Some(json) => {
                json.push_str(line);
                json.push('\n');
            }
            None if line == "```json" => block = Some(String::new()),
            None if line.starts_with('#') => {
                line.trim_start_matches(['#', ' ']).clone_into(&mut heading);
            }
            None => {}
        }
    }
    found
}

/// An example is exactly what would be written: nothing in it is unknown, and nothing is missing.
fn is_written_as<T: DeserializeOwned + Serialize>(heading: &str, json: &str) {
    let shape: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{heading}: {error}"));
    let example: Value = serde_json::from_str(json).expect("it was JSON a line ago");
    let written = serde_json::to_value(&shape).expect("a shape is JSON");
    assert_eq!(written, example, "{heading}");
}

#[test]
fn the_examples_of_the_api_specification_are_exactly_what_is_written() {
    let examples = examples("api-v1.md");
    for (heading, json) in &examples {
        match heading.as_str() {
            "GET /api/v1/overview" => is_written_as::<api::Overview>(heading, json),
            "GET /api/v1/services/{name}" => is_written_as::<api::ServiceDetail>(heading, json),
            "GET /api/v1/resources/{name}" => is_written_as::<api::ResourceDetail>(heading, json),
            "GET /api/v1/diagnosis" => is_written_as::<api::Diagnosis>(heading, json),
            "GET /api/v1/incidents" => is_written_as::<api::Incidents>(heading, json),
            "GET /api/v1/incidents/{id}" => is_written_as::<api::Incident>(heading, json),
            "GET /api/v1/transitions" => is_written_as::<api::Transitions>(heading, json),
            "Errors" => is_written_as::<api::Problem>(heading, json),
            other => panic!("an example under {other:?}, which no shape belongs to"),
        }
    }
    assert_eq!(examples.len(), 8, "one example for each shape");
}

#[test]
fn the_examples_of_the_report_specification_are_read_as_they_are_meant() {
    use rootward_wire::v1;
    let examples = examples("report-v1.md");
    for (heading, json) in &examples {
        match heading.as_str() {
            "/livez" => assert!(serde_json::from_str::<v1::LivezBody<'_>>(json).is_ok()),
            "/readyz and /healthz" => {
                assert!(serde_json::from_str::<v1::ReadyzBody<'_>>(json).is_ok());
            }
            "/startupz" => assert!(serde_json::from_str::<v1::StartupzBody<'_>>(json).is_ok()),
            "/status" => assert!(serde_json::from_str::<v1::StatusBody>(json).is_ok()),
            "/health" => {
                let report = v1::parse(json.as_bytes()).unwrap();
                let written: Value = serde_json::from_slice(&report.to_json()).unwrap();
                assert_eq!(written, serde_json::from_str::<Value>(json).unwrap());
                let reading =
                    v1::read_noting(json.as_bytes(), rootward_core::Moment::ZERO).unwrap();
                assert_eq!(reading.notes, Vec::<String>::new());
            }
            other => panic!("an example under {other:?}, which no shape belongs to"),
        }
    }
    assert_eq!(
        examples.len(),
        5,
        "one example for each endpoint that is built"
    );
}
