//! Servers that are asked over gRPC and answer badly, frame by frame; and a few that answer well.

use std::io::Write;
use std::time::Duration;

use crate::authority::Authority;
use crate::fleet;
use crate::lines;
use crate::running::{Pace, Running, configuration};
use crate::server::Step::{self, Call, Close, Forever, Reset, Send};
use crate::server::Zoo;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A header as a literal that is not indexed, without Huffman (RFC 7541, section 6.2.2).
fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        bytes.push(u8::try_from(text.len()).unwrap());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

fn headers(flags: u8, status: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut list = header(":status", status);
    for (name, value) in more {
        list.extend(header(name, value));
    }
    frame(HEADERS, flags | END_HEADERS, 1, &list)
}

fn trailers(code: &str) -> Vec<u8> {
    frame(
        HEADERS,
        END_STREAM | END_HEADERS,
        1,
        &header("grpc-status", code),
    )
}

const GRPC: (&str, &str) = ("content-type", "application/grpc");

/// A message of so many bytes, whatever stands in front of it.
fn message(bytes: &[u8]) -> Vec<u8> {
    let mut framed = vec![0];
    framed.extend_from_slice(&u32::try_from(bytes.len()).unwrap().to_be_bytes());
    framed.extend_from_slice(bytes);
    framed
}

/// Answers a call with these frames.
fn answers(frames: &[Vec<u8>]) -> Vec<Step> {
    vec![
        Send(frame(SETTINGS, 0, 0, &[])),
        Call,
        Send(frames.concat()),
    ]
}

/// A whole answer with this message.
fn says(bytes: &[u8]) -> Vec<Step> {
    answers(&[
        headers(0, "200", &[GRPC]),
        frame(DATA, 0, 1, &message(bytes)),
        trailers("0"),
    ])
}

/// An answer of trailers alone.
fn refuses(code: &str) -> Vec<Step> {
    answers(&[headers(END_STREAM, "200", &[GRPC, ("grpc-status", code)])])
}

fn all() -> Vec<(&'static str, Vec<Step>)> {
    let never_ending = [vec![0, 1, b'x', 200], vec![b'y'; 200]].concat();
    let goaway = |code: u32| {
        frame(
            GOAWAY,
            0,
            0,
            &[0_u32.to_be_bytes(), code.to_be_bytes()].concat(),
        )
    };
    let rst = |code: u32| frame(RST_STREAM, 0, 1, &code.to_be_bytes());
    let without_end = frame(HEADERS, 0, 1, &header(":status", "200"));
    vec![
        ("serving", says(&[8, 1])),
        ("not-serving", says(&[8, 2])),
        ("knows-no-such-service", says(&[8, 3])),
        ("says-nothing-of-itself", says(&[])),
        ("says-a-word-of-its-own", says(&[8, 9])),
        ("says-no-protobuf", says(&[0xff])),
        ("not-found", refuses("5")),
        ("unimplemented", refuses("12")),
        ("unavailable", refuses("14")),
        ("wants-credentials", refuses("16")),
        ("a-status-that-is-none", refuses("99")),
        ("ok-and-nothing-else", refuses("0")),
        (
            "a-web-server",
            answers(&[headers(END_STREAM, "200", &[("content-type", "text/html")])]),
        ),
        (
            "a-proxy-without-a-server",
            answers(&[headers(END_STREAM, "503", &[])]),
        ),
        (
            "ends-without-a-status",
            answers(&[headers(END_STREAM, "200", &[GRPC])]),
        ),
        (
            "goes-away-at-once",
            vec![
                Send(frame(SETTINGS, 0, 0, &[])),
                Call,
                Send(goaway(0)),
                Close,
            ],
        ),
        (
            "goes-away-with-an-error",
            vec![
                Send(frame(SETTINGS, 0, 0, &[])),
                Call,
                Send(goaway(11)),
                Close,
            ],
        ),
        ("resets-the-stream", answers(&[rst(7)])),
        (
            "resets-the-stream-in-the-message",
            answers(&[headers(0, "200", &[GRPC]), rst(2)]),
        ),
        ("resets-the-connection", vec![Call, Reset]),
        ("closes-the-connection", vec![Call, Close]),
        ("accepts-and-is-silent", vec![]),
        (
            "is-silent-after-the-headers",
            answers(&[headers(0, "200", &[GRPC])]),
        ),
        (
            "speaks-http-1",
            vec![Send(
                b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_vec(),
            )],
        ),
        (
            "headers-without-end",
            vec![
                Send(frame(SETTINGS, 0, 0, &[])),
                Call,
                Send(without_end),
                Forever(frame(CONTINUATION, 0, 1, &never_ending)),
            ],
        ),
        (
            "a-message-that-is-too-short",
            answers(&[
                headers(0, "200", &[GRPC]),
                frame(DATA, 0, 1, &[0, 0, 0, 0, 9, 8, 1]),
                trailers("0"),
            ]),
        ),
        (
            "a-compressed-message",
            answers(&[
                headers(0, "200", &[GRPC]),
                frame(DATA, 0, 1, &[1, 0, 0, 0, 2, 8, 1]),
                trailers("0"),
            ]),
        ),
        (
            "a-body-without-end",
            vec![
                Send(frame(SETTINGS, 0, 0, &[])),
                Call,
                Send(headers(0, "200", &[GRPC])),
                Forever(frame(DATA, 0, 1, &[0; 16_000])),
            ],
        ),
        (
            "settings-without-end",
            vec![Forever(frame(SETTINGS, 0, 0, &[]).repeat(200))],
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_over_grpc_and_answers_badly_gets_a_sentence() {
    let zoo = Zoo::new();
    let mut targets = vec![("refuses", fleet::nobody())];
    for (name, script) in all() {
        targets.push((name, zoo.start(script, None)));
    }
    let authority = Authority::new();
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(authority.pem().as_bytes()).unwrap();
    let shown = Some(authority.server("127.0.0.1", 90));
    targets.push(("serving-over-tls", zoo.start(says(&[8, 1]), shown)));
    // Long enough for who answers, on whatever machine; who does not, costs one round.
    let pace = Pace {
        interval: Duration::from_secs(60),
        timeout: Duration::from_secs(5),
    };
    let mut config = configuration(pace, &targets);
    for target in &mut config.targets {
        target.url =
            target
                .url
                .replacen("http:", "grpc:", 1)
                .replacen("/health", "/shop.v1.Stock", 1);
        target.interval = Duration::from_secs(8);
        if target.id.service.as_str() == "serving-over-tls" {
            target.url = target.url.replacen("grpc:", "grpcs:", 1);
            target.roots = Some(roots.path().to_path_buf());
        }
        target.stale_after = Duration::from_secs(60);
    }
    let mut running = Running::start(config);
    let snapshot = running
        .until("a poll of every target has ended", |snapshot| {
            let mut services = snapshot.services.iter();
            services.all(|service| service.instances[0].last_poll.is_some())
        })
        .await;
    insta::assert_snapshot!(lines(&snapshot), @r"
    a-body-without-end: unknown, malformed: the answer is not HTTP/2 within its bounds
    a-compressed-message: unknown, malformed: the body has a content encoding, which was not asked for
    a-message-that-is-too-short: unknown, malformed: the body is not one message of gRPC
    a-proxy-without-a-server: unhealthy, error_status: answered HTTP 503 without a report
    a-status-that-is-none: unknown, malformed: answered with 99, which no status of gRPC is
    a-web-server: unknown, malformed: answered HTTP 200, which is no answer of gRPC
    accepts-and-is-silent: unknown, no_answer: timed out after 5 s while waiting for the answer
    closes-the-connection: unknown, no_answer: the connection broke while waiting for the answer
    ends-without-a-status: unknown, malformed: answered HTTP 200, which is no answer of gRPC
    goes-away-at-once: unknown, no_answer: the connection broke while waiting for the answer
    goes-away-with-an-error: unknown, no_answer: the connection broke while waiting for the answer
    headers-without-end: unknown, malformed: the answer is not HTTP/2 within its bounds
    is-silent-after-the-headers: unknown, no_answer: timed out after 5 s while reading the body
    knows-no-such-service: unknown, malformed: answered over gRPC with a status that does not tell how it is
    not-found: unknown, malformed: answered NOT_FOUND over gRPC: it knows no service of that name
    not-serving: unhealthy, report: answered with a report
    ok-and-nothing-else: unknown, malformed: answered OK over gRPC without a message
    refuses: unknown, no_answer: connection refused
    resets-the-connection: unknown, no_answer: the connection broke while waiting for the answer
    resets-the-stream: unknown, no_answer: the connection broke while waiting for the answer
    resets-the-stream-in-the-message: unknown, no_answer: the connection broke while reading the body
    says-a-word-of-its-own: unknown, malformed: answered with a status that grpc.health.v1 does not have
    says-no-protobuf: unknown, malformed: answered with a message that is no HealthCheckResponse
    says-nothing-of-itself: unknown, malformed: answered over gRPC with a status that does not tell how it is
    serving: healthy, report: answered with a report
    serving-over-tls: healthy, report: answered with a report
    settings-without-end: unknown, no_answer: timed out after 5 s while waiting for the answer
    speaks-http-1: unknown, malformed: the answer is not HTTP/2 within its bounds
    unavailable: unhealthy, report: answered with a report
    unimplemented: unknown, malformed: answered UNIMPLEMENTED over gRPC: it has no health service
    wants-credentials: unknown, malformed: answered UNAUTHENTICATED over gRPC: it wants credentials
    ");
    running.stop().await;
}
