//! The cases of `fixtures/rootcause` can be read, and come out as they went in.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_core::localise::Settings;
use rootward_sim::Localiser as _;
use rootward_sim::engine::CoreEngine;
use rootward_sim::scenario::{Case, Event, read_case, read_scenario, write_line};

fn cases() -> Vec<(PathBuf, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rootcause");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
            let case =
                read_case(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
            (path, case)
        })
        .collect()
}

#[test]
fn there_are_eighteen_cases_and_each_expects_something() {
    let cases = cases();
    assert_eq!(cases.len(), 18);
    for (path, case) in &cases {
        assert!(!case.expect.is_empty(), "{}", path.display());
        assert!(
            case.expect
                .iter()
                .all(|want| case.events.iter().any(|event| event.recv() <= want.t)),
            "{} asks before anything was received",
            path.display()
        );
    }
}

#[test]
fn the_engine_says_what_each_case_wants() {
    let mut wrong = Vec::new();
    for (_, case) in cases() {
        for want in &case.expect {
            let mut engine =
                CoreEngine::new(&case.graph, Settings::default()).expect("the map is good");
            for event in case.events.iter().filter(|event| event.recv() <= want.t) {
                engine.apply(event);
            }
            for difference in want.differences(&engine.answer(want.t)) {
                wrong.push(format!("{} at {}: {difference}", case.case, want.t));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_case_written_as_lines_reads_as_the_same_map_and_events() {
    for (path, case) in cases() {
        let mut text = write_line(&case.graph).unwrap();
        for event in &case.events {
            text.push('\n');
            text.push_str(&write_line(event).unwrap());
        }
        let scenario =
            read_scenario(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        assert_eq!(scenario.graph, case.graph, "{}", path.display());
        assert_eq!(scenario.events, case.events, "{}", path.display());
    }
}

#[test]
fn expected_impact_names_nodes_of_the_map() {
    for (path, case) in cases() {
        let known = |name: &String| case.graph.nodes.iter().any(|node| node.id == *name);
        for want in &case.expect {
            let all = want.impacted.iter().chain(&want.not_impacted);
            for name in all {
                assert!(known(name), "{}: {name}", path.display());
            }
        }
    }
}

#[test]
fn events_of_a_case_tell_the_kinds_apart() {
    let cases = cases();
    let silences = cases
        .iter()
        .flat_map(|(_, case)| &case.events)
        .filter(|event| matches!(event, Event::NoAnswer(_)))
        .count();
    assert!(silences > 0);
}
