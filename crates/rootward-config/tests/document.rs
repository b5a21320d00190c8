//! What `docs/configuration.md` and the README show of the aggregator is true: their examples compile. Those of the sidecar
//! are compiled with its kinds of checks, by rootward-agent.

use std::collections::BTreeMap;

use rootward_config::agent::is_agent_file;
use rootward_config::{Source, compile};

const DOCUMENT: &str = include_str!("../../../docs/configuration.md");

const README: &str = include_str!("../../../README.md");

#[test]
fn every_example_in_the_documents_compiles() {
    for document in [DOCUMENT, README] {
        compile_examples(document);
    }
}

fn compile_examples(document: &str) {
    let examples: Vec<Source> = document
        .split("```yaml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("a split has a first part"))
        .map(|text| Source {
            file: "example.yaml".to_owned(),
            text: text.to_owned(),
        })
        .filter(|source| !is_agent_file(source))
        .collect();
    assert!(!examples.is_empty());
    for source in examples {
        let checked =
            compile(&[source], &BTreeMap::new()).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(checked.warnings_text(), "");
    }
}

/// Every row of a table of keys that gives a default duration or number says what the compiler does.
#[test]
fn the_defaults_in_the_document_are_the_ones_in_force() {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: "services: [{name: cart, health: {url: http://cart}}]".to_owned(),
    };
    let checked = compile(&[source], &BTreeMap::new()).expect("it is complete");
    let target = &checked.targets[0];
    for (key, default) in [
        ("interval", format!("`{}s`", target.interval.as_secs())),
        (
            "timeout",
            format!("`{}s`, whatever the interval", target.timeout.as_secs()),
        ),
        ("fall", format!("`{}`", target.thresholds.fall())),
        ("rise", format!("`{}`", target.thresholds.rise())),
        (
            "page_within",
            format!("`{}s`", checked.aggregator.page_within.as_secs()),
        ),
        (
            "page_unknown_after",
            format!(
                "`{}m`",
                checked.aggregator.page_unknown_after.as_secs() / 60
            ),
        ),
        ("bind", format!("`{}`", checked.listen_internal)),
    ] {
        let row = DOCUMENT
            .lines()
            .find(|line| line.starts_with(&format!("| `{key}` |")))
            .unwrap_or_else(|| panic!("{key} has no row"));
        assert!(row.contains(&format!("| {default} |")), "{row}");
    }
}
