//! What a service author reads at docs.rs teaches and is true: every public item of `rootward` and `rootward-checks`
//! has an example, everything that can fail says when, and the tables of the front page are those of the code. Reads
//! the sources; needs no servers. That the examples compile and run is for `cargo test --doc`.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use source::{Item, Kind, items_of};

const CRATES: [&str; 2] = ["rootward", "rootward-checks"];

/// Public items that need no example, and why.
const WITHOUT_EXAMPLE: [(&str, &str); 5] = [
    (
        "ResponseFuture",
        "what calling a mounted service returns; the examples await it and nobody names it",
    ),
    (
        "MAX_DETAIL_BYTES",
        "a bound of what is logged: nothing can be done with it",
    ),
    (
        "MAX_DEEP_WAITING",
        "who meets it gets TooMany, whose example shows what to do",
    ),
    (
        "MAX_WATCHES",
        "who meets it is a client, and gets RESOURCE_EXHAUSTED",
    ),
    (
        "Number",
        "nobody names it: Reason::number takes what becomes one",
    ),
];

fn source_of(krate: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(krate)
        .join("src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

fn manifest_of(krate: &str) -> String {
    read(&source_of(krate).join("../Cargo.toml"))
}

fn public_items(krate: &str) -> Vec<Item> {
    let items = items_of(&source_of(krate));
    assert!(
        items.len() > 3,
        "{krate}: {} public items found",
        items.len()
    );
    items
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
fn every_public_item_has_an_example_or_is_used_in_one() {
    let mut problems = Vec::new();
    let mut allowed: BTreeSet<_> = WITHOUT_EXAMPLE.iter().map(|(name, _)| *name).collect();
    for krate in CRATES {
        let items = public_items(krate);
        let all_examples: Vec<_> = items.iter().flat_map(Item::examples).collect();
        for item in &items {
            let is_shown = match item.kind {
                Kind::Type | Kind::Function => item.has_example(),
                // A method may be shown where its type is, by an example that calls it.
                Kind::Method => {
                    let on_type = items
                        .iter()
                        .filter(|other| other.kind == Kind::Type && other.name == item.owner())
                        .flat_map(Item::examples);
                    item.has_example()
                        || on_type
                            .into_iter()
                            .any(|example| source::calls(&example, item.method()))
                }
                // A constant may be shown by any example that names it, or names the method that it bounds.
                Kind::Constant => {
                    item.has_example()
                        || all_examples
                            .iter()
                            .any(|example| source::names(example, &item.name))
                }
            };
            let is_allowed = allowed.remove(item.name.as_str());
            match (is_shown, is_allowed) {
                (false, false) => problems.push(format!("{}: no example", item.place())),
                (true, true) => problems.push(format!(
                    "{}: has an example and is listed as one that needs none",
                    item.place()
                )),
                (true, false) | (false, true) => {}
            }
        }
    }
    problems.extend(
        allowed
            .iter()
            .map(|name| format!("{name}: listed as one that needs no example, and not there")),
    );
    none(&problems);
}

#[test]
fn everything_that_can_fail_says_when() {
    let mut problems = Vec::new();
    for krate in CRATES {
        let items = public_items(krate);
        let failing = items.iter().filter(|item| item.can_fail());
        let silent = failing.filter(|item| !item.docs.contains("# Errors"));
        problems.extend(silent.map(|item| format!("{}: no section \"# Errors\"", item.place())));
    }
    none(&problems);
}

#[test]
fn the_front_pages_name_every_feature_and_what_it_pulls_in() {
    let mut problems = Vec::new();
    for krate in CRATES {
        let page = read(&source_of(krate).join("lib.rs"));
        let mut rows: BTreeMap<_, _> = page
            .lines()
            .filter_map(|line| line.strip_prefix("//! | `")?.split_once("` | "))
            .filter(|(feature, _)| !feature.starts_with('/'))
            .collect();
        // Those that begin with an underscore are parts of others, which nobody asks for.
        let features = source::features(&manifest_of(krate)).into_iter();
        for (feature, dependencies) in features.filter(|(name, _)| !name.starts_with('_')) {
            let Some(row) = rows.remove(feature.as_str()) else {
                problems.push(format!("{krate}: lib.rs has no row for feature {feature}"));
                continue;
            };
            let missing = dependencies
                .iter()
                .filter(|dependency| !row.contains(&format!("`{dependency}`")));
            problems.extend(missing.map(|dependency| {
                format!("{krate}: the row of feature {feature} does not name {dependency}")
            }));
        }
        let invented = rows.keys();
        problems.extend(invented.map(|feature| format!("{krate}: there is no feature {feature}")));
    }
    none(&problems);
}

#[test]
fn the_front_page_names_the_paths_that_are_answered_and_no_others() {
    let routes = read(&source_of("rootward").join("probe/route.rs"));
    let answered: BTreeSet<_> = source::strings(&routes, "=> \"/").collect();
    assert!(answered.len() >= 7, "{answered:?}");
    let page = read(&source_of("rootward").join("lib.rs"));
    let rows = page.lines().filter(|line| line.starts_with("//! | `/"));
    let named: BTreeSet<_> = rows
        .flat_map(|row| source::strings(row.split(" | ").nth(1).unwrap_or(""), "`/"))
        .collect();
    assert_eq!(named, answered);
}
