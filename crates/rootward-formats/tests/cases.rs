//! The cases of `fixtures/health-formats`, or of another folder in the same layout (`ROOTWARD_FIXTURES`): every mismatch of
//! every case is printed at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rootward_formats::{Answer, Choice, Format, Reading, read};
use serde_json::Value;

/// One case: what was answered and how it should be read.
struct Case {
    name: String,
    body: Vec<u8>,
    expected: Value,
}

/// The folder of the cases: `health-formats` in the fixtures, or the given folder itself.
fn folder() -> PathBuf {
    let fixtures = std::env::var_os("ROOTWARD_FIXTURES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"),
        PathBuf::from,
    );
    let inside = fixtures.join("health-formats");
    if inside.is_dir() { inside } else { fixtures }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in files(&folder()).iter().filter(|path| path.is_dir()) {
        let inside = files(format);
        for path in &inside {
            let text = path.to_string_lossy().into_owned();
            let Some(stem) = text.strip_suffix(".expect.json") else {
                continue;
            };
            let body = inside
                .iter()
                .find(|other| *other != path && other.with_extension("") == Path::new(stem));
            let body = body.unwrap_or_else(|| panic!("{stem} has no body"));
            let expected = fs::read(path).expect("an expectation can be read");
            cases.push(Case {
                name: stem
                    .rsplit('/')
                    .take(2)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect::<Vec<_>>()
                    .join("/"),
                body: fs::read(body).expect("a body can be read"),
                expected: serde_json::from_slice(&expected)
                    .unwrap_or_else(|error| panic!("{text}: {error}")),
            });
        }
    }
    assert!(!cases.is_empty(), "no cases in {}", folder().display());
    cases
}

impl Case {
    fn text(&self, field: &str) -> Option<&str> {
        self.expected[field].as_str()
    }

    fn is_auto(&self) -> bool {
        let over_http = self.text("transport").is_none();
        over_http && self.expected["auto_detect"] != Value::Bool(false)
    }

    /// How it is read with the format chosen in this way, with or without its content type.
    fn read(&self, choice: Choice, typed: bool) -> Reading {
        let headers: Vec<(&str, &str)> = self.expected["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect();
        let mut answer = Answer::new(&self.body).headers(&headers);
        if let Some(code) = self.expected["http_status"].as_u64() {
            answer = answer.http_status(u16::try_from(code).expect("a code of HTTP"));
        }
        if let (true, Some(content_type)) = (typed, self.text("content_type")) {
            answer = answer.content_type(content_type);
        }
        if let Some(code) = self.text("grpc_code") {
            answer = answer.grpc_code(code.parse().expect("a code of gRPC"));
        }
        if let Some(code) = self.expected["exit_code"].as_i64() {
            answer = answer.exit_code(i32::try_from(code).expect("an exit code"));
        }
        read(&answer, choice)
    }

    /// What differs from the expectation, in the reading that comes nearest.
    fn mismatches(&self, reading: &Reading) -> Vec<String> {
        let others = self.expected["accept_also"].as_array().cloned();
        let others = others.unwrap_or_default().into_iter().map(|other| {
            let mut expected = self.expected.clone();
            for (field, value) in other.as_object().into_iter().flatten() {
                expected[field] = value.clone();
            }
            expected
        });
        let all = std::iter::once(self.expected.clone()).chain(others);
        let mut nearest = all
            .map(|expected| differences(&expected, reading))
            .min_by_key(Vec::len)
            .unwrap_or_default();
        let everything = format!("{reading:?}");
        for secret in self.expected["must_not_appear"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let secret = secret.as_str().expect("a text");
            if everything.contains(secret) {
                nearest.push(format!("{secret:?} appears"));
            }
        }
        nearest
    }
}

fn differences(expected: &Value, reading: &Reading) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |field: &str, expected: &str, got: &str| {
        if expected != got {
            found.push(format!("{field} is {got}, not {expected}"));
        }
    };
    let overall = expected["overall"]
        .as_str()
        .expect("every case says how it is");
    compare("overall", overall, reading.overall.as_str());
    if let Some(category) = expected["error_category"].as_str() {
        let got = reading
            .error_category
            .map_or("none", |category| category.as_str());
        compare("error_category", category, got);
    }
    let malformed = expected["malformed"].as_bool().unwrap_or_default();
    compare(
        "malformed",
        &malformed.to_string(),
        &reading.is_malformed().to_string(),
    );
    if let Some(components) = expected["components"].as_array() {
        let expected = components.iter().map(|component| {
            let text = |field: &str| component[field].as_str().unwrap_or("none").to_owned();
            (text("name"), (text("status"), text("error_category")))
        });
        let got = reading.components.iter().map(|component| {
            let category = component
                .error_category
                .map_or("none", |category| category.as_str());
            let seen = (component.status.as_str().to_owned(), category.to_owned());
            (component.name.clone(), seen)
        });
        let (expected, got): (BTreeMap<_, _>, BTreeMap<_, _>) = (expected.collect(), got.collect());
        for name in expected
            .keys()
            .chain(got.keys())
            .collect::<std::collections::BTreeSet<_>>()
        {
            let none = ("none".to_owned(), "none".to_owned());
            let one = |map: &BTreeMap<String, (String, String)>| {
                let (status, category) = map.get(name).unwrap_or(&none);
                format!("{status} ({category})")
            };
            compare(&format!("component {name:?}"), &one(&expected), &one(&got));
        }
    }
    found
}

/// Bodies that several products share: the reading counts there, and not whose it is taken for.
fn is_shared(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).trim().to_lowercase();
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    compact.is_empty()
        || ["{}", "ok", "okay"].contains(&compact.as_str())
        || compact
            .strip_prefix("{\"status\":\"")
            .and_then(|rest| rest.strip_suffix("\"}"))
            .is_some_and(|word| !word.contains('"'))
}

fn all_as_expected(readings: impl Fn(&Case) -> Vec<(String, Reading)>, names: bool) {
    let mut wrong = Vec::new();
    let mut read = 0;
    for case in cases() {
        for (how, reading) in readings(&case) {
            read += 1;
            let mut differences = case.mismatches(&reading);
            let format = case.text("format").expect("every case names its reader");
            if names && !is_shared(&case.body) && reading.format.as_str() != format {
                differences.push(format!(
                    "format is {}, not {format}",
                    reading.format.as_str()
                ));
            }
            for difference in differences {
                wrong.push(format!(
                    "{} {how}: {difference} [{}]",
                    case.name, reading.why
                ));
            }
        }
    }
    assert!(read > 0, "nothing was read");
    assert!(
        wrong.is_empty(),
        "{} mismatches in {read} readings:\n  {}",
        wrong.len(),
        wrong.join("\n  ")
    );
}

/// The format that a case is read with when it is configured; a broken body has none of its own.
fn configured(case: &Case) -> Option<Format> {
    let name = case.text("format").expect("every case names its reader");
    if name == "malformed" {
        return None;
    }
    Some(
        name.parse()
            .unwrap_or_else(|_| panic!("{}: no format is named {name}", case.name)),
    )
}

#[test]
fn every_case_is_read_as_expected_by_what_it_holds() {
    let auto = |case: &Case| {
        let how = "found out".to_owned();
        case.is_auto()
            .then(|| (how, case.read(Choice::Auto, true)))
            .into_iter()
            .collect()
    };
    all_as_expected(auto, true);
}

#[test]
fn every_case_is_read_as_expected_whatever_its_content_type_says() {
    let untyped = |case: &Case| {
        let how = "found out without a content type".to_owned();
        case.is_auto()
            .then(|| (how, case.read(Choice::Auto, false)))
            .into_iter()
            .collect()
    };
    all_as_expected(untyped, true);
}

#[test]
fn every_case_is_read_as_expected_with_its_format_configured() {
    let named = |case: &Case| {
        let reading = |format| {
            let how = format!("as {format}");
            (how, case.read(Choice::Named(format), true))
        };
        configured(case).map(reading).into_iter().collect()
    };
    all_as_expected(named, true);
}

#[test]
fn a_broken_body_is_broken_in_every_format_that_reads_json() {
    let formats = [
        "spring-boot-actuator",
        "generic-status",
        "http-only",
        "vault",
    ];
    let broken = |case: &Case| {
        if configured(case).is_some() {
            return Vec::new();
        }
        let read = |name: &str| {
            let choice = name.parse().expect("a format");
            (format!("as {name}"), case.read(choice, true))
        };
        formats.into_iter().map(read).collect()
    };
    all_as_expected(broken, true);
}
