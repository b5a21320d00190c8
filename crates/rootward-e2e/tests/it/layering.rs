//! The house is built as ARCHITECTURE.md says: crates import only what its table allows, the bans of deny.toml hold,
//! and every crate takes part in the shared lints. Needs no servers.

mod bans;
mod metadata;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bans::Ban;
use metadata::{Kind, Metadata};
use table::Table;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// Fails with all problems at once.
fn none(problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{} problems:\n  {}",
        problems.len(),
        problems.join("\n  ")
    );
}

#[test]
fn the_table_of_architecture_md_and_the_crates_on_disk_are_the_same() {
    let table = Table::parse(&read("ARCHITECTURE.md")).unwrap();
    let metadata = Metadata::of_workspace(&root());
    let written: BTreeSet<&str> = table.crates().collect();
    let on_disk: BTreeSet<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let unknown = written
        .difference(&on_disk)
        .map(|name| format!("in the table and not on disk: {name}"));
    let missing = on_disk
        .difference(&written)
        .map(|name| format!("on disk and not in the table: {name}"));
    none(&unknown.chain(missing).collect::<Vec<_>>());
}

#[test]
fn crates_import_only_what_the_table_allows() {
    let table = Table::parse(&read("ARCHITECTURE.md")).unwrap();
    none(&table.violations(&Metadata::of_workspace(&root())));
}

#[test]
fn nobody_depends_on_the_end_to_end_tests() {
    let metadata = Metadata::of_workspace(&root());
    let importers = metadata.packages.iter().filter(|package| {
        package
            .dependencies
            .iter()
            .any(|dependency| dependency.name == env!("CARGO_PKG_NAME"))
    });
    none(
        &importers
            .map(|package| package.name.clone())
            .collect::<Vec<_>>(),
    );
}

#[test]
fn core_depends_on_nothing_but_an_error_derive() {
    let metadata = Metadata::of_workspace(&root());
    let core = metadata
        .packages
        .iter()
        .find(|package| package.name == "rootward-core")
        .unwrap();
    let dependencies: Vec<&str> = core
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != Kind::Dev)
        .map(|dependency| dependency.name.as_str())
        .collect();
    assert_eq!(dependencies, ["thiserror"]);
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let metadata = Metadata::of_workspace(&root());
    let takes_them = |manifest: &str| {
        let mut lines = manifest
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
    };
    let without = metadata.packages.iter().filter(|package| {
        let manifest = fs::read_to_string(&package.manifest_path).unwrap();
        !takes_them(&manifest)
    });
    none(
        &without
            .map(|package| format!("no `[lints] workspace = true` in {}", package.name))
            .collect::<Vec<_>>(),
    );
}

/// The nearest clippy.toml wins and is not merged with the one above it.
#[test]
fn core_repeats_all_bans_of_the_root_clippy_toml() {
    let root = bans::clippy_paths(&read("clippy.toml"));
    let core = bans::clippy_paths(&read("crates/rootward-core/clippy.toml"));
    assert!(!root.is_empty(), "no bans found in clippy.toml");
    let missing = root.difference(&core);
    none(
        &missing
            .map(|path| format!("not in crates/rootward-core/clippy.toml: {path}"))
            .collect::<Vec<_>>(),
    );
}

/// cargo-deny is not on every machine, so its bans are checked here from the same file.
#[test]
fn banned_crates_have_no_other_parents_than_deny_toml_allows() {
    let bans = Ban::parse_all(&read("deny.toml"));
    assert!(!bans.is_empty(), "no bans found in deny.toml");
    none(&bans::violations(&bans, &Metadata::resolved(&root())));
}
