//! `rootward status`: one screen, an exit code for scripts, and a sentence when nobody answers.

use std::net::TcpListener;

use crate::aggregator::Aggregator;
use crate::program::{Running, SOON, rootward, run};

fn aggregator(name: &str) -> Aggregator {
    let (overview, diagnosis) = (format!("overview-{name}"), format!("diagnosis-{name}"));
    Aggregator::with(&[("overview", &overview), ("diagnosis", &diagnosis)])
}

#[test]
fn the_exit_code_says_whether_all_is_well() {
    for (name, code) in [
        ("healthy", 0),
        ("incident", 1),
        ("unknown", 1),
        ("held", 1),
        ("nothing", 1),
        ("empty", 1),
    ] {
        let aggregator = aggregator(name);
        let ended = run(&["status", "--url", &aggregator.url()]).with(code);
        assert!(!ended.out.is_empty(), "{name}");
        assert!(
            !ended.out.contains('\u{1b}'),
            "colours in a pipe: {}",
            ended.out
        );
        assert_eq!(ended.err, "");
    }
}

#[test]
fn with_json_the_answer_comes_as_it_came() {
    let aggregator = aggregator("incident");
    let ended = run(&["status", "--json", "--url", &aggregator.url()]).with(1);
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/overview-incident.json"
    );
    assert_eq!(
        ended.out.trim_end(),
        std::fs::read_to_string(fixture).unwrap().trim_end()
    );
}

#[test]
fn an_aggregator_that_does_not_run_gets_a_sentence() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let ended = run(&["status", "--url", &format!("http://127.0.0.1:{port}/")]).with(4);
    insta::assert_snapshot!(ended.err.replace(&port.to_string(), "PORT"), @"
    rootward: cannot reach the aggregator at http://127.0.0.1:PORT: connection refused
              is it running? `rootward serve --config FILE` starts one; `--url URL` asks another one
    ");
    assert_eq!(ended.out, "");
}

#[test]
fn an_url_that_cannot_be_asked_gets_a_sentence() {
    let errors = [
        "localhost:8791",
        "https://localhost:8791",
        "http://:8791",
        "http://user:secret@localhost",
    ]
    .map(|url| run(&["status", "--url", url]).with(2).err);
    insta::assert_snapshot!(errors.concat(), @"
    rootward: --url cannot be asked: a URL begins with http://, such as http://orders:8790/health
              write it like http://127.0.0.1:8791
    rootward: --url cannot be asked: TLS is not built yet: only http:// URLs can be asked
              write it like http://127.0.0.1:8791
    rootward: --url cannot be asked: the URL names no host
              write it like http://127.0.0.1:8791
    rootward: --url cannot be asked: a URL may not hold a user or a password; take them out of it
              write it like http://127.0.0.1:8791
    ");
}

#[test]
fn something_else_that_answers_is_not_taken_for_an_aggregator() {
    let pages = [
        (404, "<html>no</html>"),
        (200, "<html>hello</html>"),
        (200, "{}"),
    ];
    let errors = pages.map(|(status, body)| {
        let other = Aggregator::always(status, body);
        let ended = run(&["status", "--url", &other.url()]).with(4);
        ended.err.replace(&other.url(), "URL")
    });
    insta::assert_snapshot!(errors.concat(), @"
    rootward: URL answers, but not as a Rootward aggregator: the answer to
              /api/v1/overview has the status 404
              does --url name the aggregator, and not a service?
    rootward: URL answers, but not as a Rootward aggregator: the answer to
              /api/v1/overview is not the JSON of one: expected value at line 1 column 1
              does --url name the aggregator, and not a service?
    rootward: URL answers, but not as a Rootward aggregator: the answer to
              /api/v1/overview is not the JSON of one: missing field `api` at line 1 column 2
              does --url name the aggregator, and not a service?
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let aggregator = aggregator("incident");
    let mut command = rootward(&["status", "--url", &aggregator.url()]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = Running::start(command.stdout(writer)).end(SOON).with(0);
    assert_eq!(ended.err, "");
}
