//! Texts that are made to hurt: each ends in a sentence, and costs no more than its size.

use std::collections::BTreeMap;

use rootward_config::{
    MAX_DEPTH, MAX_NODES, MAX_PROBLEMS, MAX_SCALAR_BYTES, MAX_TEXT_BYTES, Problems, Source, compile,
};

fn refused(text: impl Into<String>) -> Problems {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: text.into(),
    };
    compile(&[source], &BTreeMap::new()).expect_err("it is hostile")
}

/// The only problem, as it is shown.
fn the_problem(text: impl Into<String>) -> String {
    let problems = refused(text);
    assert_eq!(problems.as_slice().len(), 1, "{problems}");
    problems.as_slice()[0].to_string()
}

#[test]
fn a_bomb_of_aliases_does_not_go_off() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let problems = refused(text);
    // Ten anchors, ninety aliases, ten unknown keys, and nothing to watch: one for each place in the text.
    assert_eq!(problems.as_slice().len(), 111);
}

#[test]
fn an_anchor_that_holds_itself_is_only_a_problem() {
    let problems = refused("services: &all [*all]").to_string();
    assert!(
        problems.contains("YAML aliases are not supported"),
        "{problems}"
    );
}

#[test]
fn ten_mebibytes_in_one_value_are_not_read() {
    let text = format!("services: \"{}\"", "x".repeat(10 * 1024 * 1024));
    insta::assert_snapshot!(the_problem(text), @"rootward.yaml:1:1: the file has more than 8388608 bytes, and no more are read; split it, or look whether it is the right file");
}

#[test]
fn a_value_that_fits_the_file_but_not_the_limit_is_refused_where_it_stands() {
    let long = "x".repeat(MAX_SCALAR_BYTES + 1);
    for (open, close, place, bytes) in [
        ("", "", "3:10", MAX_SCALAR_BYTES + 1),
        ("\"", "\"", "3:10", MAX_SCALAR_BYTES + 1),
        ("'", "'", "3:10", MAX_SCALAR_BYTES + 1),
        // A block begins on the next line and keeps its line break.
        ("|\n    ", "\n", "4:5", MAX_SCALAR_BYTES + 2),
    ] {
        let text = format!(
            "services:\n- name: cart\n  owner: {open}{long}{close}\n  health: {{url: http://cart}}\n"
        );
        assert_eq!(
            the_problem(text),
            format!(
                "rootward.yaml:{place}: services[0].owner: a text of {bytes} bytes; at most 16384 are allowed; shorten it"
            )
        );
    }
    let fits = "x".repeat(MAX_TEXT_BYTES - 100);
    assert!(the_problem(format!("services: {fits}")).contains("at most 16384 are allowed"));
}

#[test]
fn ten_thousand_levels_are_refused_at_the_thirty_third() {
    for text in [
        "[".repeat(10_000),
        "{a: ".repeat(10_000),
        "- ".repeat(10_000),
        (0..4_000)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect(),
        format!("services: {}1{}", "[".repeat(10_000), "]".repeat(10_000)),
    ] {
        let problem = the_problem(text);
        let expected = format!(
            "nested too deep; at most {MAX_DEPTH} levels are read; look for brackets that are never closed"
        );
        assert!(problem.ends_with(&expected), "{problem}");
    }
}

#[test]
fn mappings_that_the_parser_does_not_count_are_counted() {
    let problems = refused(format!("[{}]", ": ".repeat(1_000_000)));
    let last = problems.as_slice().last().expect("there is a problem");
    assert!(last.message.starts_with("nested too deep"), "{last}");
    // One for each key that is not text, until the depth ends it.
    assert_eq!(problems.as_slice().len(), MAX_DEPTH);
}

#[test]
fn a_million_values_are_the_most() {
    let text = format!("[{}]", "a,".repeat(MAX_NODES));
    insta::assert_snapshot!(the_problem(text), @"rootward.yaml:1:2000000: the file has more than 1000000 keys and values; split it, or look whether it is the right file");
}

#[test]
fn one_key_a_hundred_thousand_times_is_a_thousand_problems_and_a_count() {
    let problems = refused("a: 1\n".repeat(100_000));
    assert_eq!(problems.as_slice().len(), MAX_PROBLEMS);
    // One is unknown, all but the first are repeated, and there are no services.
    assert_eq!(problems.left_out(), 100_001 - MAX_PROBLEMS);
    assert!(problems.to_string().ends_with("\nand 99001 more\n"));
}

#[test]
fn ten_thousand_services_with_unknown_dependencies_are_answered_soon() {
    let service = |n: usize| {
        format!(
            "- {{name: service-{n}, health: {{url: 'http://host-{n}'}}, dependencies: [{{name: servise-{n}, criticality: hard}}]}}\n"
        )
    };
    let text = format!(
        "services:\n{}",
        (0..10_000).map(service).collect::<String>()
    );
    let problems = refused(text);
    assert_eq!(problems.as_slice().len() + problems.left_out(), 10_000);
    let help = |at: usize| problems.as_slice()[at].help.as_deref();
    assert_eq!(help(7), Some("did you mean `service-7`?"));
    assert_eq!(
        help(700),
        Some("add it to `services` or `resources`, or remove it here")
    );
}

#[test]
fn what_a_terminal_would_obey_does_not_reach_it() {
    for text in [
        "\"\\e[2J\": 1",
        "services:\n- name: \"\\e[2J\"\n  owner: \"\\u202e\"\n  health: {url: \"http://\\e[2J\"}",
        "? \"\\e[2J\"\n: &x 1",
    ] {
        let rendered = refused(text).to_string();
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!rendered.contains(obeyed), "{rendered:?}");
    }
}

#[test]
fn bytes_that_are_no_text_for_yaml_are_a_problem() {
    for text in [
        "\0",
        "a: \0",
        "\u{feff}\u{feff}",
        "\u{fffe}",
        "%",
        "\r",
        "---\n---",
        "...",
        "!",
        "&",
        "*",
        "|",
        ">-",
        "? ",
        ": ",
        "- ",
        "\t",
        "`",
    ] {
        assert!(!refused(text).as_slice().is_empty());
    }
}

#[test]
fn a_byte_order_mark_in_front_is_no_part_of_the_first_key() {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: "\u{feff}services: [{name: cart, health: {url: http://cart}}]".to_owned(),
    };
    assert!(compile(&[source], &BTreeMap::new()).is_ok());
}
