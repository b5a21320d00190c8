//! `rootward probe`: one line and an exit code for whatever is at the other end, and never longer than allowed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::program::{Ended, run};

/// A server that does this with each connection, until the process of the test ends.
fn server(serve: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().flatten().for_each(serve));
    addr
}

/// One that says this to every question.
fn saying(answer: String) -> SocketAddr {
    server(move |mut stream| {
        let mut question = [0; 4096];
        let _ = stream.read(&mut question);
        // A client that has gone is its own business.
        let _ = stream.write_all(answer.as_bytes());
    })
}

fn http(status: &str, more: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Generous: the machine may be busy with other tests.
const AMPLE: &[&str] = &["--timeout", "60s"];

/// What it says about this server, with the address and the line breaks that come from its width taken out.
#[track_caller]
fn probe(addr: SocketAddr, arguments: &[&str], code: i32) -> Ended {
    let url = format!("http://{addr}/readyz?token=s3cret");
    let ended = run(&[&["probe", url.as_str()], arguments].concat()).with(code);
    let known = addr.to_string();
    Ended {
        out: ended.out.replace(&known, "HOST"),
        err: ended
            .err
            .replace("\n          ", " ")
            .replace(&known, "HOST"),
        ..ended
    }
}

#[test]
fn a_success_is_one_line_on_standard_output() {
    for status in ["200 OK", "204 No Content", "299 Fine"] {
        let ended = probe(saying(http(status, "", "")), AMPLE, 0);
        assert_eq!(ended.err, "");
        let begin = format!("{} from http://HOST/readyz after ", &status[..3]);
        let took = ended.out.strip_prefix(&begin).expect("the beginning");
        let took = took.strip_suffix(" ms\n").expect("the end");
        assert!(took.parse::<u64>().is_ok(), "{took}");
    }
}

#[test]
fn an_answer_that_is_no_success_is_one_sentence_with_the_reasons_of_the_service() {
    let not_ready = r#"{"ready":false,"reasons":["disk is down: no space left","draining"]}"#;
    let dead = r#"{"alive":false,"reason":"the event loop has not answered for 30 s"}"#;
    let held = r#"{"started":false,"held":["migrations"]}"#;
    let errors = [
        http("503 Service Unavailable", "", not_ready),
        http("503 Service Unavailable", "", dead),
        http("503 Service Unavailable", "", held),
        http(
            "503 Service Unavailable",
            "",
            r#"{"status":"DOWN","reasons":[]}"#,
        ),
        http("503 Service Unavailable", "", "<html>"),
        http("404 Not Found", "", ""),
        http("302 Found", "location: /elsewhere\r\n", ""),
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_owned(),
        "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
    ]
    .map(|answer| {
        let ended = probe(saying(answer), AMPLE, 1);
        assert_eq!(ended.out, "");
        ended.err
    });
    insta::assert_snapshot!(errors.concat(), @"
    rootward: http://HOST/readyz answers 503: disk is down: no space left; draining
    rootward: http://HOST/readyz answers 503: the event loop has not answered for 30 s
    rootward: http://HOST/readyz answers 503: migrations
    rootward: http://HOST/readyz answers 503: DOWN
    rootward: http://HOST/readyz answers 503
    rootward: http://HOST/readyz answers 404
    rootward: http://HOST/readyz answers 302, and redirects are not followed
    rootward: no answer from http://HOST/readyz: the connection broke while reading the body
    rootward: no answer from http://HOST/readyz: the answer is not HTTP
    ");
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = saying(http("200 OK", "", ""));
    let location = format!("location: http://{elsewhere}/\r\n");
    probe(saying(http("302 Found", &location, "")), AMPLE, 1);
}

#[test]
fn nobody_there_is_one_sentence() {
    // A port that was free a moment ago.
    let addr = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ended = probe(addr, AMPLE, 1);
    insta::assert_snapshot!(ended.err, @"rootward: no answer from http://HOST/readyz: connection refused");
}

#[test]
fn silence_and_slowness_end_with_the_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let ended = probe(silent.local_addr().unwrap(), &[], 1);
    insta::assert_snapshot!(ended.err, @"rootward: no answer from http://HOST/readyz: timed out after 800 ms while waiting for the answer");

    // A byte now and then, for ever.
    let slow = server(|mut stream| {
        while stream.write_all(b"H").is_ok() {
            crate::program::pause();
        }
    });
    let ended = probe(slow, &["--timeout", "300ms"], 1);
    assert!(ended.err.contains("HOST"), "{}", ended.err);

    let late = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n");
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let ended = probe(late, &["--timeout", "300ms"], 1);
    insta::assert_snapshot!(ended.err, @"rootward: no answer from http://HOST/readyz: timed out after 300 ms while reading the body");
}

#[test]
fn an_answer_without_an_end_costs_no_more_than_the_bound() {
    let endless = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while stream.write_all(&[b'a'; 64 * 1024]).is_ok() {}
    });
    let ended = probe(endless, AMPLE, 1);
    insta::assert_snapshot!(ended.err, @"rootward: no answer from http://HOST/readyz: the body is larger than 1 MiB");
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_owned();
    assert_eq!(probe(saying(announced), AMPLE, 1).err, ended.err);
}

#[test]
fn what_a_service_says_is_cut_and_cleaned() {
    let body = serde_json::json!({"reason": format!("\u{1b}[2J{}", "a".repeat(10_000))});
    let answer = http("503 Service Unavailable", "", &body.to_string());
    let ended = probe(saying(answer), AMPLE, 1);
    assert!(!ended.err.contains('\u{1b}'), "{}", ended.err);
    assert!(ended.err.len() < 1000, "{}", ended.err.len());
}

#[test]
fn what_is_typed_wrong_ends_with_2_and_no_secret_is_repeated() {
    for arguments in [
        &["probe"][..],
        &["probe", "http://127.0.0.1/", "--timeout", "1"],
        &["probe", "http://127.0.0.1/", "--timeout", "0s"],
        &["probe", "http://127.0.0.1/", "http://127.0.0.1/"],
        &["probe", "127.0.0.1:8790"],
        &["probe", "ftp://127.0.0.1/"],
        &["probe", "http://user:s3cret@127.0.0.1/"],
    ] {
        let ended = run(arguments).with(2);
        assert_eq!(ended.out, "");
        assert!(!ended.err.contains("s3cret"), "{}", ended.err);
    }
}
