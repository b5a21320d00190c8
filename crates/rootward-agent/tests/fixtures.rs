//! Every file in `fixtures/agents` compiles to exactly what stands beside it in `NAME.expected`: in `good` to the number
//! of its checks and its warnings, in `bad` to the exact text that an operator sees. `UPDATE_EXPECTED=1` writes the
//! expectations anew; read the diff. With every kind of check built.
#![cfg(feature = "all")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rootward_agent::{Plan, kind_names};
use rootward_config::Source;
use rootward_config::agent::is_agent_file;

/// Stands in the environment and in the files that the fixtures refer to, from the folder of this crate.
const SECRET: &str = "hunter2";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/agents")
        .join(name)
}

fn env() -> BTreeMap<String, String> {
    [
        (
            "DATABASE_URL",
            "postgresql://cart:hunter2@carts-db:5432/carts",
        ),
        ("BAD_URL", "ftp://cart:hunter2@carts-db/carts"),
        ("SECRET", SECRET),
        ("EMPTY", ""),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn compile(path: &Path) -> Result<Plan, String> {
    let file = path.file_name().expect("it was listed").to_string_lossy();
    let text = fs::read_to_string(path).expect("fixtures are readable text");
    let source = Source {
        file: file.into_owned(),
        text,
    };
    Plan::compile(&source, &env()).map_err(|problems| {
        // The list grows with every kind.
        let kinds = kind_names().collect::<Vec<_>>().join(", ");
        problems.to_string().replace(&kinds, "KINDS")
    })
}

fn files(name: &str) -> (Vec<PathBuf>, BTreeSet<PathBuf>) {
    let mut files = Vec::new();
    let mut expectations = BTreeSet::new();
    for entry in fs::read_dir(folder(name)).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_some_and(|ending| ending == "expected") {
            expectations.insert(path);
        } else {
            files.push(path);
        }
    }
    files.sort();
    assert!(files.len() > 2, "there are fixtures");
    (files, expectations)
}

/// Holds a folder against its expectations.
fn check_folder(name: &str, render: impl Fn(&Path) -> String) {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let (files, mut expectations) = files(name);
    let mut failures = Vec::new();
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
    check_folder("bad", |path| match compile(path) {
        Ok(_) => format!("{} compiles\n", path.display()),
        Err(problems) => problems,
    });
}

#[test]
fn every_good_file_compiles_to_what_is_written_beside_it() {
    check_folder("good", |path| match compile(path) {
        Ok(plan) => {
            let warnings = plan.warnings().iter();
            let warnings: String = warnings.map(|warning| format!("{warning}\n")).collect();
            format!("checks: {}\n{warnings}", plan.checks())
        }
        Err(problems) => format!("it should compile\n{problems}"),
    });
}

#[test]
fn kf_095_no_message_and_no_debug_output_shows_a_secret() {
    for folder in ["bad", "good"] {
        for path in files(folder).0 {
            let said = match compile(&path) {
                Ok(plan) => format!("{plan:?} {:?}", plan.warnings()),
                Err(problems) => problems,
            };
            assert!(!said.contains(SECRET), "{}: {said}", path.display());
        }
    }
}

#[test]
fn every_kind_has_a_good_file_one_of_its_mistakes_and_a_row_in_the_document() {
    let document = include_str!("../../../docs/sidecar.md");
    for kind in kind_names() {
        for folder_name in ["good", "bad"] {
            let path = folder(folder_name).join(format!("{kind}.yaml"));
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(text.contains(&format!("{kind}:")), "{}", path.display());
        }
        let begins = format!("| `{kind}` |");
        let keys: Vec<_> = rootward_agent::keys_of(kind).collect();
        let mut rows = document.lines().filter(|line| line.starts_with(&begins));
        assert!(
            rows.any(|row| keys.iter().all(|key| row.contains(&format!("`{key}`")))),
            "{kind}: no row of docs/sidecar.md has {keys:?}"
        );
    }
}

#[test]
fn the_first_example_of_the_readme_compiles() {
    let readme = include_str!("../../../README.md");
    let examples = readme.split("```yaml\n").skip(1);
    let examples = examples.filter_map(|rest| rest.split("```").next());
    let sources = examples.map(|text| Source {
        file: "README.md".to_owned(),
        text: text.to_owned(),
    });
    let ours: Vec<Source> = sources.filter(is_agent_file).collect();
    assert_eq!(ours.len(), 1);
    let plan = Plan::compile(&ours[0], &env()).unwrap_or_else(|problems| panic!("{problems}"));
    // Three, and the component `application`.
    assert_eq!((plan.checks(), plan.warnings()), (4, &[][..]));
}
