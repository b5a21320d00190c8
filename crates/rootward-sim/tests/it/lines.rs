//! What a reader of lines says about lines that are wrong, and what it skips.

use rootward_sim::scenario::{Line, LineReader, read_scenario};

const GRAPH: &str = r#"{"type":"graph","scenario":"small","interval_s":10,
"nodes":[{"id":"api","kind":"service","polled":true},{"id":"db","kind":"database","polled":false}],
"edges":[{"from":"api","to":"db","label":"hard","check":"ping"}],
"instances":[{"id":"api#0","service":"api"}],"hosts":[]}"#;

fn graph() -> String {
    GRAPH.replace('\n', "")
}

/// What is said about a line after the map.
fn problem(line: &str) -> String {
    let mut reader = LineReader::new();
    reader.read(graph().as_bytes()).expect("the map is good");
    match reader.read(line.as_bytes()) {
        Ok(read) => panic!("was read: {read:?}"),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn lines_of_unknown_types_and_empty_lines_are_skipped() {
    let text = format!(
        "{{\"type\":\"remark\",\"of\":[1,2]}}\n\n{}\n{{\"type\":\"truth\",\"causes\":[]}}\n{}\n",
        graph(),
        r#"{"type":"no_answer","recv":3,"sent":1,"instance":"api#0","error":"timeout","later":true}"#
    );
    let scenario = read_scenario(&text).unwrap();
    assert_eq!(scenario.events.len(), 1);
}

#[test]
fn the_number_of_the_line_counts_skipped_lines() {
    let text = format!("{}\n\nnonsense\n", graph());
    let problem = read_scenario(&text).unwrap_err();
    assert_eq!(problem.line(), Some(3));
    assert_eq!(problem.to_string(), "line 3: it is not JSON at column 2");
}

#[test]
fn a_missing_field_is_named() {
    assert_eq!(
        problem(r#"{"type":"no_answer","recv":3,"instance":"api#0"}"#),
        "line 2: the field `sent` is missing"
    );
    assert_eq!(
        problem(r#"{"type":"report","recv":3,"sent":2,"instance":"api#0","deps":[{"to":"db"}]}"#),
        "line 2: `deps[0]`: the field `status` is missing"
    );
}

#[test]
fn a_word_that_is_none_of_ours_gets_the_words_that_are() {
    assert_eq!(
        problem(
            r#"{"type":"report","recv":3,"sent":2,"instance":"api#0","deps":[{"to":"db","status":"fine","age_s":1}]}"#
        ),
        "line 2: `deps[0].status`: something else than expected: one of `up`, `degraded`, `down`, `unknown`"
    );
}

#[test]
fn names_that_are_not_on_the_map_are_refused() {
    assert_eq!(
        problem(r#"{"type":"no_answer","recv":3,"sent":1,"instance":"cart#0"}"#),
        "line 2: instance `cart#0` is not among those of the map"
    );
    assert_eq!(
        problem(
            r#"{"type":"report","recv":3,"sent":2,"instance":"api#0","deps":[{"to":"queue","status":"up","age_s":1}]}"#
        ),
        "line 2: `queue` is not among the nodes of the map"
    );
}

#[test]
fn events_stand_in_the_order_of_their_arrival() {
    let mut reader = LineReader::new();
    reader.read(graph().as_bytes()).unwrap();
    let at =
        |recv: u32| format!(r#"{{"type":"no_answer","recv":{recv},"sent":1,"instance":"api#0"}}"#);
    reader.read(at(9).as_bytes()).unwrap();
    let problem = reader.read(at(8).as_bytes()).unwrap_err().to_string();
    assert_eq!(
        problem,
        "line 3: recv 8 is before 9 of an earlier line; events stand in the order of recv"
    );
    // The reader goes on.
    assert!(matches!(reader.read(at(9).as_bytes()), Ok(Line::Event(_))));
}

#[test]
fn a_map_that_changes_is_known_from_its_line_on() {
    let more = graph()
        .replace(r#""type":"graph""#, r#""type":"map""#)
        .replace("api#0", "api#1");
    let at =
        |instance| format!(r#"{{"type":"no_answer","recv":9,"sent":1,"instance":"{instance}"}}"#);
    let mut reader = LineReader::new();
    assert_eq!(
        reader.read(more.as_bytes()).unwrap_err().to_string(),
        "line 1: a line of type `map` before that of type `graph`"
    );
    reader.read(graph().as_bytes()).unwrap();
    reader.read(at("api#0").as_bytes()).unwrap();
    assert!(reader.read(at("api#1").as_bytes()).is_err());
    assert!(matches!(reader.read(more.as_bytes()), Ok(Line::Map(_))));
    reader.read(at("api#1").as_bytes()).unwrap();
    assert!(reader.read(at("api#0").as_bytes()).is_err());
}

#[test]
fn the_map_comes_first_and_once() {
    let event = r#"{"type":"no_answer","recv":3,"sent":1,"instance":"api#0"}"#;
    assert_eq!(
        LineReader::new()
            .read(event.as_bytes())
            .unwrap_err()
            .to_string(),
        "line 1: an event before the map; the line of type `graph` comes first"
    );
    assert_eq!(
        problem(&graph()),
        "line 2: a second line of type `graph`; a map that changes stands in lines of type `map`"
    );
    assert_eq!(
        read_scenario("\n").unwrap_err().to_string(),
        "it has no line of type `graph`, which must come before the events"
    );
}

#[test]
fn all_problems_of_a_map_come_at_once() {
    let broken = graph()
        .replace(r#""interval_s":10"#, r#""interval_s":0"#)
        .replace(r#""to":"db","label""#, r#""to":"store","label""#);
    assert_eq!(
        LineReader::new()
            .read(broken.as_bytes())
            .unwrap_err()
            .to_string(),
        "line 1: interval_s is 0, and must be more than 0; edge `api->store` names `store`, which is not among the nodes"
    );
}

#[test]
fn bytes_that_are_not_text_and_lines_without_a_type_are_refused_with_a_sentence() {
    assert_eq!(
        LineReader::new()
            .read(b"{\"type\xff\"")
            .unwrap_err()
            .to_string(),
        "line 1: byte 7 is not UTF-8"
    );
    assert_eq!(
        problem("{}"),
        "line 2: it has no `type`; known are graph, map, report, no_answer and change"
    );
}
