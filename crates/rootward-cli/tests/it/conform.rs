//! `rootward conform`: what is typed wrong, what cannot be reached, and what an answer for programs looks like.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Instant;

use rustix::process::Signal;

use crate::aggregator::Aggregator;
use crate::program::{Running, SOON, Scratch, pause, rootward, run};

/// An address that was free a moment ago.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    format!("http://{addr}")
}

#[test]
fn nobody_there_is_an_exit_code_of_its_own() {
    let ended = run(&["conform", &free_address()]).with(4);
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
        &["conform", "http://127.0.0.1:1", "--drain-within", "5s"],
        &["conform", "http://127.0.0.1:1", "sleep", "5"],
        &["conform", "http://127.0.0.1:1", "--grpc", "50051"],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--grpc",
            "http://127.0.0.1:50051",
        ],
        &[
            "conform",
            "http://127.0.0.1:1",
            "--",
            "/nowhere/there-is-no-such-program",
        ],
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
    let ended = run(&["conform", "--json", "--limits", &other.url()]).with(1);
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
        "R-HTTP-10",
        "R-QUERY-4",
        "R-QUERY-5",
        "R-REPORT-1",
        "R-ACCESS-1",
        "R-GRAPH-1",
    ] {
        assert_eq!(result(broken), "broken", "{broken}");
    }
    for untested in [
        "R-LIVE-2",
        "R-QUERY-1",
        "R-DRAIN-1",
        "R-GRPC-1",
        "R-CHECK-2",
        "R-ACCESS-2",
        "R-REPORT-4",
    ] {
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

#[test]
fn a_program_that_is_not_there_is_named() {
    let ended = run(&["conform", &free_address(), "--", "/no/such/program"]).with(2);
    let sentence = "/no/such/program cannot be started: there is no such program";
    assert!(ended.err.contains(sentence), "{}", ended.err);
}

#[test]
fn a_program_that_ends_at_once_is_told_with_its_last_words() {
    let script = "for n in 1 2 3; do echo line $n; done; echo 'no such table: orders' >&2; exit 7";
    let ended = run(&["conform", &free_address(), "--", "/bin/sh", "-c", script]).with(4);
    assert!(ended.err.contains("exit code 7"), "{}", ended.err);
    assert!(
        ended.err.contains("  no such table: orders"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("  line 3"), "{}", ended.err);
    assert_eq!(ended.out, "");
}

#[test]
fn a_program_that_never_answers_is_ended_after_the_time_for_its_start() {
    let scratch = Scratch::new();
    let script = format!(
        "echo $$ > {}/id; echo waiting; exec sleep 600",
        scratch.path()
    );
    let ended = run(&[
        "conform",
        &free_address(),
        "--start-within",
        "1s",
        "--",
        "/bin/sh",
        "-c",
        &script,
    ])
    .with(4);
    assert!(
        ended.err.contains("has not started within 1 s") && ended.err.contains("  waiting"),
        "{}",
        ended.err
    );
    is_gone(&id(&scratch));
}

#[test]
fn ctrl_c_takes_the_program_and_its_children_along() {
    let scratch = Scratch::new();
    // Ended by neither Ctrl-C nor SIGTERM, and with a child that is no leader of a group.
    let script = format!(
        "trap '' INT TERM; sleep 600 & echo $$ $! > {0}/new; mv {0}/new {0}/id; wait",
        scratch.path()
    );
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let arguments = ["conform", &free_address(), "--", "/bin/sh", "-c", &script];
        let running = Running::start(&mut rootward(&arguments));
        let ids = id(&scratch);
        fs::remove_file(Path::new(scratch.path()).join("id")).unwrap();
        running.signal(signal);
        running.end(SOON).with(code);
        for id in ids.split(' ') {
            is_gone(id);
        }
    }
}

#[test]
fn what_answers_already_is_not_taken_for_the_program() {
    let other = Aggregator::always(200, r#"{"alive":true}"#);
    let ended = run(&["conform", &other.url(), "--", "/bin/sleep", "600"]).with(2);
    assert!(
        ended.err.contains("not started for the test"),
        "{}",
        ended.err
    );
}

/// Waits for the file in which the program writes its number.
fn id(scratch: &Scratch) -> String {
    let path = Path::new(scratch.path()).join("id");
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(&path).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().to_owned();
        }
        assert!(begun.elapsed() < SOON, "it was not started");
        pause();
    }
}

/// Waits until there is no such process any more, or only its entry.
fn is_gone(id: &str) {
    let begun = Instant::now();
    loop {
        let stat = fs::read_to_string(Path::new("/proc").join(id).join("stat"));
        if stat.map_or(true, |stat| stat.contains(") Z ")) {
            return;
        }
        assert!(begun.elapsed() < SOON, "{id} is still there");
        pause();
    }
}
