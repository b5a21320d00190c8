//! Every file in `fixtures/configs` compiles to exactly what stands beside it in `NAME.expected`.
//!
//! `good` holds configurations, with a summary of what they compile to and their warnings; `bad` holds one mistake, or
//! a few that have to be reported together, with the exact text that an operator sees. A file without an expectation
//! fails, and so does an expectation without a file. `UPDATE_EXPECTED=1` writes the expectations anew; read the diff.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rootward_config::{Checked, Source, compile};
use rootward_core::NodeKind;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/configs")
        .join(name)
}

/// The variables that the fixtures refer to.
fn env() -> BTreeMap<String, String> {
    [
        ("CART_HOST", "cart.shop.svc"),
        ("CART_PORT", "8790"),
        ("INTERVAL", "5s"),
        ("FALL", "4"),
        ("EMPTY", ""),
        ("SECRET", "hunter2"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn compile_file(path: &Path) -> Result<Checked, String> {
    let file = path
        .file_name()
        .expect("it was listed")
        .to_string_lossy()
        .into_owned();
    let text = fs::read_to_string(path).expect("fixtures are readable text");
    compile(&[Source { file, text }], &env()).map_err(|problems| problems.to_string())
}

/// What a configuration compiled to, one line for each thing.
fn summary(checked: &Checked) -> String {
    let mut lines = Vec::new();
    let aggregator = &checked.aggregator;
    lines.push(format!(
        "aggregator environment={:?} zone={:?} page_within={:?} page_unknown_after={:?}",
        aggregator.environment,
        aggregator.zone,
        aggregator.page_within,
        aggregator.page_unknown_after
    ));
    lines.push(format!("listen.internal {}", checked.listen_internal));
    for node in checked.map.nodes() {
        let (name, owner, zone) = (&node.name, &node.owner, &node.zone);
        lines.push(match &node.kind {
            NodeKind::Service { at_least } => {
                format!("service {name} owner={owner:?} zone={zone:?} at_least={at_least}")
            }
            NodeKind::Resource { kind } => format!(
                "resource {name} owner={owner:?} zone={zone:?} kind={kind:?} target={:?} aliases={:?}",
                node.target, node.aliases
            ),
        });
    }
    for edge in checked.map.edges() {
        lines.push(format!(
            "edge {} -> {} {:?} override={} owner={:?} reason={:?}",
            checked.map.name(edge.caller),
            checked.map.name(edge.callee),
            edge.declared,
            edge.overrides,
            edge.owner,
            edge.reason
        ));
    }
    for target in &checked.targets {
        lines.push(format!(
            "target {} {} every {:?} timeout {:?} stale after {:?} fall {} rise {}{}",
            target.id,
            target.url,
            target.interval,
            target.timeout,
            target.stale_after,
            target.thresholds.fall(),
            target.thresholds.rise(),
            match &target.auth {
                Some(auth) => format!(" {auth:?}"),
                None => String::new(),
            }
        ));
    }
    for group in &checked.groups {
        lines.push(format!(
            "group {} {:?} public_name={:?}",
            group.name, group.members, group.public_name
        ));
    }
    for (service, namespace) in &checked.namespaces {
        lines.push(format!("namespace {service}={namespace}"));
    }
    for review in &checked.reviews {
        lines.push(format!(
            "review {} -> {} on {} every {:?}",
            review.caller, review.callee, review.reviewed, review.every
        ));
    }
    lines.join("\n") + "\n" + &checked.warnings_text()
}

/// Holds a folder against its expectations.
fn check_folder(name: &str, render: impl Fn(&Path) -> String) {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut failures = Vec::new();
    let mut expectations = BTreeSet::new();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder(name)).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "expected")
        {
            expectations.insert(path);
        } else {
            files.push(path);
        }
    }
    files.sort();
    assert!(files.len() > 2, "there are fixtures");
    for path in files {
        let expected_path = path.with_extension("expected");
        let text = render(&path);
        if update {
            fs::write(&expected_path, &text).expect("the fixtures can be written");
        }
        expectations.remove(&expected_path);
        match fs::read_to_string(&expected_path) {
            Ok(expected) if expected == text => {}
            Ok(expected) => failures.push(format!(
                "{}:\nexpected\n{expected}\ngot\n{text}",
                path.display()
            )),
            Err(_) => failures.push(format!(
                "{} has no expectation; it gives\n{text}",
                path.display()
            )),
        }
    }
    let orphans = expectations
        .iter()
        .map(|path| format!("{} belongs to no file", path.display()));
    failures.extend(orphans);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_mistake_gets_the_sentence_that_is_written_beside_it() {
    check_folder("bad", |path| match compile_file(path) {
        Ok(_) => format!("{} compiles\n", path.display()),
        Err(problems) => problems,
    });
}

#[test]
fn every_good_file_compiles_to_what_is_written_beside_it() {
    check_folder("good", |path| match compile_file(path) {
        Ok(checked) => summary(&checked),
        Err(problems) => format!("it should compile\n{problems}"),
    });
}

#[test]
fn no_bad_file_compiles_and_no_message_shows_a_secret() {
    for entry in fs::read_dir(folder("bad")).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "expected")
        {
            continue;
        }
        let problems = compile_file(&path).expect_err("it is a bad one");
        assert!(
            !problems.contains("hunter2"),
            "{}: {problems}",
            path.display()
        );
    }
}
