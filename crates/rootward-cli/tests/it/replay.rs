//! `rootward replay`: an answer a line, a sentence for each wrong line.

use std::io::Write as _;
use std::process::Stdio;

use crate::program::{Scratch, rootward, run};

/// A database that two services use dies at 30 s.
fn recording() -> String {
    let mut text = r#"{"type":"graph","scenario":"small","interval_s":10,"nodes":[{"id":"api","kind":"service","polled":true},{"id":"jobs","kind":"service","polled":true},{"id":"db","kind":"database","polled":false}],"edges":[{"from":"api","to":"db","label":"hard","check":"ping"},{"from":"jobs","to":"db","label":"hard","check":"ping"}],"instances":[{"id":"api#0","service":"api"},{"id":"jobs#0","service":"jobs"}]}
{"type":"remark","text":"a newer writer may say more"}
"#
    .to_owned();
    for round in 0..7 {
        for (instance, phase) in [("api#0", 2), ("jobs#0", 6)] {
            let sent = 10 * round + phase;
            let (status, error) = if sent > 30 {
                ("down", "\"refused\"")
            } else {
                ("up", "null")
            };
            text.push_str(&format!(
                "{{\"type\":\"report\",\"recv\":{sent}.5,\"sent\":{sent},\"instance\":\"{instance}\",\"deps\":[{{\"to\":\"db\",\"status\":\"{status}\",\"error\":{error},\"age_s\":1}}]}}\n"
            ));
        }
    }
    text
}

fn causes(answer: &serde_json::Value) -> Vec<&str> {
    let causes = answer["root_causes"].as_array().expect("a list of causes");
    causes
        .iter()
        .filter_map(|cause| cause["id"].as_str())
        .collect()
}

#[test]
fn every_interval_up_to_the_last_event_has_its_answer() {
    let scratch = Scratch::new();
    let file = scratch.file("incident.jsonl", &recording());
    let ended = run(&["replay", &file]).with(0);
    assert_eq!(ended.err, "");
    let answers: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("an answer is JSON"))
        .collect();
    let times: Vec<f64> = answers
        .iter()
        .filter_map(|answer| answer["t"].as_f64())
        .collect();
    assert_eq!(times, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    assert_eq!(causes(&answers[2]), Vec::<&str>::new());
    let last = &answers[5];
    assert_eq!(causes(last), ["node:db"]);
    assert_eq!(last["root_causes"][0]["evidence_count"], 2);
    assert_eq!(last["impacted"], serde_json::json!(["api", "jobs"]));
    assert_eq!(last["rank"][0]["id"], "node:db");
}

#[test]
fn a_recording_can_come_through_a_pipe() {
    let mut child = rootward(&["replay", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(recording().as_bytes()).expect("it reads");
    drop(pipe);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stdout).lines().count(), 6);
}

#[test]
fn a_wrong_line_is_told_left_out_and_the_rest_is_played() {
    let scratch = Scratch::new();
    let mut lines: Vec<String> = recording().lines().map(str::to_owned).collect();
    lines.insert(
        3,
        r#"{"type":"report","recv":3,"sent":3,"instance":"web#0","deps":[]}"#.to_owned(),
    );
    lines.push("{\"type\":\"rep".to_owned());
    let file = scratch.file("incident.jsonl", &lines.join("\n"));
    let ended = run(&["replay", &file]).with(2);
    insta::assert_snapshot!(ended.err, @"
    rootward: line 4: instance `web#0` is not among those of the map
    rootward: line 18: it is not JSON at column 12
    ");
    assert_eq!(ended.out.lines().count(), 6);
}

#[test]
fn without_a_map_nothing_is_played() {
    let scratch = Scratch::new();
    let file = scratch.file("incident.jsonl", r#"{"type":"graph","nodes":[]}"#);
    let ended = run(&["replay", &file]).with(2);
    insta::assert_snapshot!(ended.err, @"
    rootward: line 1: the field `interval_s` is missing
              the format is described in fixtures/rootcause/README.md
    ");
    let file = scratch.file("empty.jsonl", "");
    let ended = run(&["replay", &file]).with(2);
    insta::assert_snapshot!(ended.err, @"
    rootward: it has no line of type `graph`, which must come before the events
              the format is described in fixtures/rootcause/README.md
    ");
    assert_eq!(ended.out, "");
}

#[test]
fn a_recording_that_is_missing_is_wrong_input() {
    let ended = run(&["replay", "/nowhere/incident.jsonl"]).with(2);
    insta::assert_snapshot!(ended.err, @"rootward: cannot read /nowhere/incident.jsonl: there is no such file");
}
