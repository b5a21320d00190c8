//! `rootward parse`: files, standard input and addresses, as text and as JSON.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::program::{Running, SOON, Scratch, rootward, run};

const SPRING: &str = r#"{"status":"DOWN","components":{"db":{"status":"DOWN","details":{"error":"java.net.ConnectException: Connection refused"}},"ping":{"status":"UP"}}}"#;

fn reading(arguments: &[&str]) -> Value {
    let arguments = [&["parse", "--json"], arguments].concat();
    let ended = run(&arguments).with(0);
    serde_json::from_str(&ended.out).expect("it is JSON")
}

#[test]
fn a_file_is_read_with_what_came_with_it() {
    let scratch = Scratch::new();
    let file = scratch.file("answer.json", SPRING);
    assert_eq!(
        reading(&[&file, "--http-status", "503"]),
        json!({
            "format": "spring-boot-actuator",
            "overall": "unhealthy",
            "components": [
                {"name": "db", "status": "down", "error_category": "connection_refused"},
                {"name": "ping", "status": "up"},
            ],
            "malformed": false,
            "why": "looks like spring-boot-actuator; it calls itself unhealthy; 2 components: 1 down",
        })
    );
    let chosen = reading(&[&file, "--http-status", "503", "--format", "http-only"]);
    assert_eq!(
        (&chosen["format"], &chosen["components"]),
        (&json!("http-only"), &json!([]))
    );
    let text = run(&["parse", &file, "--http-status", "503"]).with(0);
    text.says(&["unhealthy", "format", "db", "connection refused"]);
}

#[test]
fn headers_codes_of_grpc_and_of_commands_count() {
    let scratch = Scratch::new();
    let empty = scratch.file("empty.txt", "");
    let offline = reading(&[
        &empty,
        "--http-status",
        "200",
        "--header",
        "X-Minio-Server-Status: offline",
    ]);
    assert_eq!(
        (&offline["format"], &offline["overall"]),
        (&json!("minio"), &json!("starting"))
    );
    let ended = reading(&[&empty, "--exit-code", "-1"]);
    assert_eq!(
        (&ended["format"], &ended["overall"]),
        (&json!("docker-healthcheck"), &json!("unhealthy"))
    );
    let missing = reading(&[&empty, "--grpc-code", "NOT_FOUND"]);
    assert_eq!(
        (&missing["overall"], &missing["error_category"]),
        (&json!("unknown"), &json!("not_found"))
    );
    let pass = scratch.file("pass.json", r#"{"status":"ok"}"#);
    let typed = reading(&[
        &pass,
        "--http-status",
        "200",
        "--content-type",
        "application/health+json",
    ]);
    assert_eq!(typed["format"], "health-json-draft");
    let broken = scratch.file("broken.json", r#"{"status":"UP""#);
    let broken = reading(&[&broken, "--http-status", "200"]);
    assert_eq!(
        (&broken["malformed"], &broken["format"], &broken["overall"]),
        (&json!(true), &json!("malformed"), &json!("unknown"))
    );
}

#[test]
fn standard_input_is_read_to_its_end() {
    let mut child = rootward(&["parse", "-", "--json", "--http-status", "200"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"Degraded")
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let reading: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(
        (&reading["format"], &reading["overall"]),
        (&json!("aspnetcore-plain"), &json!("degraded"))
    );
}

#[test]
fn a_url_is_asked_for_json_and_its_answer_read() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/health", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            request.push(byte[0]);
        }
        let answer = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\ncontent-length: 54\r\n\r\n{\"initialized\":true,\"sealed\":false,\"standby\":true }   ";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    let ended = Running::start(&mut rootward(&["parse", &url, "--json"]))
        .end(SOON)
        .with(0);
    let reading: Value = serde_json::from_str(&ended.out).expect("it is JSON");
    assert_eq!(
        (&reading["format"], &reading["overall"]),
        (&json!("vault"), &json!("healthy"))
    );
    let request = asked.join().unwrap();
    let accept = "accept: application/json, application/health+json;q=0.9, text/plain;q=0.5";
    assert!(request.contains(accept), "{request}");
}

#[test]
fn what_cannot_be_read_is_said_with_its_exit_code() {
    let missing = run(&["parse", "/nowhere/answer.json"]).with(2);
    assert!(
        missing.err.contains("there is no such file"),
        "{}",
        missing.err
    );
    let format = run(&["parse", "-", "--format", "sprung"]).with(2);
    assert!(
        format.err.contains("spring-boot-actuator"),
        "{}",
        format.err
    );
    let both = run(&["parse", "http://127.0.0.1:1/health", "--http-status", "200"]).with(2);
    assert!(
        both.err.contains("a URL brings its own code"),
        "{}",
        both.err
    );
    // Port 1 of this machine: nobody listens there.
    let nobody = run(&["parse", "http://127.0.0.1:1/health"]).with(4);
    assert!(nobody.err.contains("no answer from"), "{}", nobody.err);
}
