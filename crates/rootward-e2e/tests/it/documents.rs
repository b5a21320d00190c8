//! What the documents say of the code is so: probe snippets ask three different paths, and the tests named as proofs
//! exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below some folders of the repository that end like this.
fn files(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder that can be read");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if endings
            .iter()
            .any(|ending| path.to_string_lossy().ends_with(ending))
        {
            found.push(path);
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing in {folders:?}");
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path that a probe of this kind asks, for each of the kind in the text.
fn paths<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    text.match_indices(kind)
        .filter_map(|(at, _)| {
            let probe = &text[at..];
            let from = probe.find("path:")? + "path:".len();
            // Of this probe and not of the next.
            (!probe[kind.len()..from].contains("Probe:")).then_some(())?;
            let value = probe[from..].trim_start();
            value.split([',', '}', '\n', ' ']).next()
        })
        .collect()
}

/// KF-003: generated manifests pointed liveness and readiness at the same path, so one failure restarted everything.
#[test]
fn kf_003_probe_snippets_use_three_different_paths() {
    let mut snippets = 0;
    for file in files(
        &["docs", "examples", "README.md", "crates"],
        &[".md", ".yaml", ".yml", ".rs"],
    ) {
        if file.ends_with("documents.rs") {
            continue;
        }
        let text = read(&file);
        let of = |kind| paths(&text, kind).into_iter().collect::<BTreeSet<_>>();
        let (live, ready, startup) = (
            of("livenessProbe:"),
            of("readinessProbe:"),
            of("startupProbe:"),
        );
        snippets += live.len();
        for (a, b) in [(&live, &ready), (&live, &startup), (&ready, &startup)] {
            assert!(a.is_disjoint(b), "{}: {a:?} and {b:?}", file.display());
        }
        for path in live {
            assert!(
                !path.contains("health") && !path.contains("ready"),
                "{}: {path}",
                file.display()
            );
        }
    }
    assert!(
        snippets > 0,
        "no snippet was found: the test looks at nothing"
    );
}

#[test]
fn every_proof_named_in_known_failures_exists() {
    let page = read(&root().join("docs/known-failures.md"));
    let code: String = files(&["crates"], &[".rs"])
        .iter()
        .map(|file| read(file))
        .collect();
    let rows = page.lines().filter(|line| line.starts_with("| KF-"));
    let mut named = 0;
    for row in rows {
        let proof = row.rsplit(" | ").next().unwrap_or_default();
        for test in proof.split('`').skip(1).step_by(2) {
            named += 1;
            assert!(
                code.contains(&format!("fn {test}(")),
                "there is no test {test}: {row}"
            );
        }
    }
    assert!(named > 30, "only {named} proofs were found");
}

/// The kinds that concern a service are complete: each entry has a row.
#[test]
fn every_known_failure_that_concerns_a_service_has_a_row() {
    let page = read(&root().join("docs/known-failures.md"));
    let numbers = (1..=19).chain(30..=35).chain(90..=97).chain(104..=106);
    for number in numbers {
        assert!(
            page.contains(&format!("| KF-{number:03} |")),
            "KF-{number:03}"
        );
    }
}
