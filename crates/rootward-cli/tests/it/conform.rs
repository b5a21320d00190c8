//! `rootward conform`: what is typed wrong, what cannot be reached, and what an answer for programs looks like.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use crate::aggregator::Aggregator;
use crate::program::{Scratch, run};

#[test]
fn nobody_there_is_an_exit_code_of_its_own() {
    // A port that was free a moment ago.
    let addr = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ended = run(&["conform", &format!("http://{addr}")]).with(4);
    assert!(ended.err.contains("connection refused"), "{}", ended.err);
    assert_eq!(ended.out, "");
}

#[test]
fn what_is_typed_wrong_is_refused_before_anything_is_asked() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let scratch = Scratch::new();
    let empty = scratch.file("token", "\n");
    for arguments in [
        &["conform"][..],
        &["conform", "127.0.0.1:8790"],
        &["conform", "http://127.0.0.1:1", "--stub", "db"],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--stub",
            "db=mongodb://127.0.0.1:1",
        ],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--stub",
            "db=tcp://10.0.0.1:1",
        ],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--stub",
            "a=tcp://127.0.0.1:9",
            "--stub",
            "a=tcp://127.0.0.1:8",
        ],
        &["conform", "http://127.0.0.1:1", "--fall", "0"],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--token-file",
            "/nowhere/token",
        ],
        &["conform", "http://127.0.0.1:1", "--token-file", &empty],
    ] {
        let ended = run(arguments).with(2);
        assert_eq!(ended.out, "");
    }
    drop(taken);
}

#[test]
fn a_stub_whose_port_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let service = Aggregator::always(200, r#"{"alive":true}"#);
    let stub = format!("db=tcp://127.0.0.1:{port}");
    let ended = run(&["conform", &service.url(), "--stub", &stub]).with(2);
    assert!(ended.err.contains("in the place of db"), "{}", ended.err);
}

/// Something that answers everything alike keeps some promises and breaks most, and no wait is without an end.
#[test]
fn something_else_is_told_promise_by_promise() {
    let other = Aggregator::always(200, r#"{"alive":true,"status":"up"}"#);
    let ended = run(&["conform", "--json", &other.url()]).with(1);
    let outcome: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let result = |id: &str| {
        let rules = outcome["rules"].as_array().unwrap();
        let rule = rules.iter().find(|rule| rule["rule"] == id).unwrap();
        rule["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(result("R-LIVE-1"), "kept");
    assert_eq!(result("R-STATUS-1"), "kept");
    for broken in [
        "R-READY-1",
        "R-HTTP-2",
        "R-HTTP-6",
        "R-REPORT-1",
        "R-ACCESS-1",
        "R-GRAPH-1",
    ] {
        assert_eq!(result(broken), "broken", "{broken}");
    }
    for untested in ["R-LIVE-2", "R-CHECK-2", "R-ACCESS-2", "R-REPORT-4"] {
        assert_eq!(result(untested), "not_tested", "{untested}");
    }
    let count = |word: &str| outcome[word].as_u64().unwrap();
    let all = outcome["rules"].as_array().unwrap().len() as u64;
    assert_eq!(count("kept") + count("broken") + count("not_tested"), all);
    assert!(
        !ended.err.contains('\u{1b}'),
        "progress in a pipe: {}",
        ended.err
    );
}

/// It says that it lives and nothing else: questions that are never answered do not add up to hours.
#[test]
fn a_service_that_answers_one_question_and_then_none_costs_no_more_than_the_time_that_is_given() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = [0; 4096];
        let _ = stream.read(&mut question).unwrap();
        let answer =
            "HTTP/1.1 200 OK\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{\"alive\":true}";
        stream.write_all(answer.as_bytes()).unwrap();
        // Kept open: the kernel accepts what is never answered.
        listener
    });
    let ended = run(&["conform", "--json", "--at-most", "3s", &url]).with(1);
    let outcome: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert!(
        outcome["not_tested"].as_u64().unwrap() > 40,
        "{}",
        ended.out
    );
    assert!(
        ended.out.contains("the time of 3 s was over"),
        "{}",
        ended.out
    );
    drop(server.join());
}
