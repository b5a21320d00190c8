//! A configuration in several files: lists are joined, what exists once is given once, positions name their file.

use std::collections::BTreeMap;

use rootward_config::{Checked, Problems, Source, compile};

fn compile_files(files: &[(&str, &str)]) -> Result<Checked, Problems> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(file, text)| Source {
            file: (*file).to_owned(),
            text: (*text).to_owned(),
        })
        .collect();
    compile(&sources, &BTreeMap::new())
}

#[test]
fn a_team_can_own_its_file() {
    let checked = compile_files(&[
        ("rootward.yaml", "aggregator: {environment: demo}\ndefaults: {health: {interval: 5s}}"),
        ("map/shop.yaml", "services:\n- {name: cart, health: {url: http://cart}, dependencies: [{name: carts-db, criticality: hard}]}"),
        ("map/data.yaml", "resources:\n- {name: carts-db, kind: postgresql}"),
    ])
    .expect("together they are complete");
    assert_eq!(checked.targets[0].interval.as_secs(), 5);
    assert_eq!(checked.map.nodes().len(), 2);
    assert_eq!(checked.warnings_text(), "");
}

#[test]
fn problems_are_listed_file_by_file_and_point_into_the_others() {
    let problems = compile_files(&[
        ("b.yaml", "listen: {internal: {bind: 10.0.0.1:1}}\nservices:\n- {name: cart, health: {url: http://cart}}\n"),
        ("a.yaml", "services:\n- {name: cart, health: {url: http://cart}}\nlisten: {internal: {bind: 127.0.0.1:1}}\n"),
        ("broken.yaml", "services: ["),
    ])
    .expect_err("there is a lot wrong");
    insta::assert_snapshot!(problems, @"
    b.yaml: 1 problem
      1:27  listen.internal.bind: tokens are not built yet, so the detailed API listens on loopback only; write 127.0.0.1:1 or [::1]:1
    a.yaml: 3 problems
      2:10  services[0].name: `cart` is already the name of the service at b.yaml:3:10; give each its own name, or remove one
      2:30  services[0].health.url: this URL is already polled: b.yaml:3:30; an instance has one URL, and a URL one instance
      3:9   listen: `listen` is already given at b.yaml:1:9; keep one of them
    broken.yaml: 1 problem
      1:11  not valid YAML: `[` is never closed; close it, or put quotes around text that contains brackets
    ");
}

#[test]
fn no_file_is_no_configuration() {
    insta::assert_snapshot!(compile_files(&[]).expect_err("nothing was given"), @"
    configuration: 1 problem
      1:1  no file was given; name at least one
    ");
}

#[test]
fn a_source_shows_no_text_in_a_log() {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: "password".to_owned(),
    };
    assert_eq!(
        format!("{source:?}"),
        r#"Source { file: "rootward.yaml", bytes: 8, .. }"#
    );
}
