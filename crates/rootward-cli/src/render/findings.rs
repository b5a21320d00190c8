//! What `rootward validate` found, for programs: as JSON of our own, or as SARIF for whoever shows findings beside code.
//!
//! SARIF is the one of OASIS, version 2.1.0: `level` is `error` for what is not valid and `warning` for the rest, `ruleId`
//! the kind of the problem, columns count characters.

use rootward_config::{Problem, Rule};
use serde_json::{Value, json};

/// One thing that was found.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) problem: Problem,
    /// Whether it makes the configuration invalid.
    pub(crate) is_error: bool,
}

impl Finding {
    const fn level(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) all: Vec<Finding>,
    /// Errors beyond those that are described.
    pub(crate) left_out: usize,
}

impl Findings {
    fn is_valid(&self) -> bool {
        self.left_out == 0 && !self.all.iter().any(|finding| finding.is_error)
    }

    /// `rootward-validate/1`; docs/validate.md describes it.
    pub(crate) fn json(&self) -> Value {
        let problems: Vec<Value> = self
            .all
            .iter()
            .map(|finding| {
                let problem = &finding.problem;
                json!({
                    "level": finding.level(),
                    "rule": problem.rule.as_str(),
                    "file": problem.file,
                    "line": problem.line,
                    "column": problem.column,
                    "path": problem.path,
                    "message": problem.message,
                    "help": problem.help,
                })
            })
            .collect();
        json!({
            "format": "rootward-validate/1",
            "valid": self.is_valid(),
            "problems": problems,
            "left_out": self.left_out,
        })
    }

    pub(crate) fn sarif(&self) -> Value {
        let rules: Vec<Value> = Rule::ALL
            .iter()
            .map(|rule| json!({"id": rule.as_str(), "shortDescription": {"text": rule.about()}}))
            .collect();
        let results: Vec<Value> = self
            .all
            .iter()
            .map(|finding| {
                let problem = &finding.problem;
                json!({
                    "ruleId": problem.rule.as_str(),
                    "level": finding.level(),
                    "message": {"text": problem.sentence()},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": {"uri": uri(&problem.file)},
                        "region": {"startLine": problem.line, "startColumn": problem.column},
                    }}],
                })
            })
            .collect();
        json!({
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "rootward validate",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        })
    }
}

/// A path as a URI reference (RFC 3986): a relative one stays relative.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if plain {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
