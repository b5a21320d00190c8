//! YAML as others read it: by PyYAML, which is not ours, so that what our own reader forgives is seen.

use std::process::Command;

use rootward_e2e::{Error, Run};
use serde_json::Value;

use super::started::examples;

const TO_JSON: &str =
    "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";

/// The documents of a file.
pub(super) fn documents(run: &Run, file: &str) -> Result<Vec<Value>, Error> {
    let output = Command::new(run.python()?)
        .args(["-c", TO_JSON])
        .arg(examples().join(file))
        .output()
        .expect("Python starts");
    assert!(
        output.status.success(),
        "{file}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let documents: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    Ok(documents)
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("a text is wanted here: {value}"))
}

pub(super) fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("a number is wanted here: {value}"))
}
