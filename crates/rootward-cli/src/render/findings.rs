//! What `rootward validate` found, for programs: as JSON of our own, or as SARIF for what shows findings beside the code.
//!
//! docs/validate.md describes the first. The second is the Static Analysis Results Interchange Format of OASIS, version
//! 2.1.0; the sections named here are those of its specification.

use std::path::Path;

use rootward_config::{Problem, Rule, Severity};
use serde_json::{Value, json};

/// The name and version of our own format.
const FORMAT: &str = "rootward-validate/1";

/// The schema of SARIF, as its section 3.13.3 wants it to be named.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What is wrong, and what is probably not meant.
    pub(crate) problems: Vec<Problem>,
    /// How many more errors there are that nobody described.
    pub(crate) left_out: usize,
}

impl Findings {
    /// Whether the configuration can be run.
    pub(crate) fn is_valid(&self) -> bool {
        let wrong = |problem: &Problem| match problem.rule.severity() {
            Severity::Error => true,
            Severity::Warning => false,
        };
        self.left_out == 0 && !self.problems.iter().any(wrong)
    }

    /// Whether all that was given could be read, so that what was found is all there is.
    fn is_complete(&self) -> bool {
        self.left_out == 0
            && !(self.problems.iter()).any(|problem| problem.rule == Rule::UnreadableFile)
    }

    pub(crate) fn json(&self) -> Value {
        let problems: Vec<Value> = self.problems.iter().map(in_json).collect();
        json!({
            "format": FORMAT,
            "valid": self.is_valid(),
            "problems": problems,
            "left_out": self.left_out,
        })
    }

    /// `directory` is the one to which paths are relative; `exit_code` how the process ends.
    pub(crate) fn sarif(&self, directory: &Path, exit_code: u8) -> Value {
        let rules: Vec<Value> = Rule::ALL.map(reporting_descriptor).into();
        let results: Vec<Value> = (self.problems.iter())
            .map(|problem| result(problem, directory))
            .collect();
        let mut notifications = Vec::new();
        if self.left_out > 0 {
            // Section 3.58.
            let text = format!("{} more problems are not described", self.left_out);
            notifications.push(json!({"level": "error", "message": {"text": text}}));
        }
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "rootward validate",
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "invocations": [{
                    "executionSuccessful": self.is_complete(),
                    "exitCode": exit_code,
                    "toolExecutionNotifications": notifications,
                }],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        })
    }
}

fn in_json(problem: &Problem) -> Value {
    let end = problem.end;
    json!({
        "rule": problem.rule.id(),
        "severity": problem.rule.severity().as_str(),
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "end": end.map(|(line, column)| json!({"line": line, "column": column})),
        "path": problem.path,
        "message": problem.message,
        "help": problem.help,
        "nearest": problem.nearest,
    })
}

/// Section 3.49.
fn reporting_descriptor(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.about()},
        "defaultConfiguration": {"level": rule.severity().as_str()},
    })
}

/// Section 3.27.
fn result(problem: &Problem, directory: &Path) -> Value {
    let index = Rule::ALL.iter().position(|rule| *rule == problem.rule);
    let mut location = json!({"artifactLocation": {"uri": uri(&problem.file, directory)}});
    if problem.rule != Rule::UnreadableFile {
        // Section 3.30: columns count from 1, and the end is the first column that does not belong to it.
        let mut region = json!({"startLine": problem.line, "startColumn": problem.column});
        if let Some((line, column)) = problem.end {
            region["endLine"] = line.into();
            region["endColumn"] = column.into();
        }
        location["region"] = region;
    }
    let mut result = json!({
        "ruleId": problem.rule.id(),
        "ruleIndex": index,
        "level": problem.rule.severity().as_str(),
        "message": {"text": problem.sentence()},
        "locations": [{"physicalLocation": location}],
    });
    if !problem.path.is_empty() {
        // Section 3.33.
        let logical = json!([{"fullyQualifiedName": problem.path, "kind": "member"}]);
        result["locations"][0]["logicalLocations"] = logical;
    }
    result
}

/// A path as a URI reference (RFC 3986): relative to the directory where it lies below it, else as it was given.
fn uri(file: &str, directory: &Path) -> String {
    let relative = Path::new(file).strip_prefix(directory).ok();
    let relative = relative.and_then(Path::to_str).unwrap_or(file);
    let path = relative.strip_prefix("./").unwrap_or(relative);
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        // Unreserved characters and the slash (sections 2.3 and 3.3 of the RFC).
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::uri;

    #[test]
    fn a_path_is_a_uri_relative_to_the_directory_and_percent_encoded() {
        for (file, expected) in [
            ("rootward.yaml", "rootward.yaml"),
            ("./map/shop.yaml", "map/shop.yaml"),
            ("../other/a.yaml", "../other/a.yaml"),
            ("/home/me/repo/map/shop.yaml", "map/shop.yaml"),
            ("/etc/rootward.yaml", "file:///etc/rootward.yaml"),
            ("my map.yaml", "my%20map.yaml"),
            ("a:b.yaml", "a%3Ab.yaml"),
            ("100%#?.yaml", "100%25%23%3F.yaml"),
            ("bücher.yaml", "b%C3%BCcher.yaml"),
        ] {
            assert_eq!(uri(file, Path::new("/home/me/repo")), expected);
        }
    }
}
