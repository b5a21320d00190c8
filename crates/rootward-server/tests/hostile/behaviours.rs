//! The ways in which a server can answer a poll badly, and a few odd ones that are right.

use super::server::Step::{self, Always, Close, Echo, Forever, Question, Reset, Send, Trickle};

/// One behaviour: in whose name, and what is done. The name becomes that of the service.
pub(crate) type Behaviour = (&'static str, Vec<Step>);

/// A good report in this name.
pub(crate) fn report(service: &str) -> String {
    format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"0","status":"healthy"}}"#
    )
}

/// An answer whose length is right.
pub(crate) fn answer(head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// What is sent once a question has come.
fn asked(name: &'static str, bytes: impl Into<Vec<u8>>) -> Behaviour {
    (name, vec![Question, Send(bytes.into())])
}

/// What every question is answered with.
fn always(name: &'static str, bytes: impl Into<Vec<u8>>) -> Behaviour {
    (name, vec![Always(bytes.into())])
}

fn good(head: &str, service: &str) -> Vec<u8> {
    answer(head, &report(service))
}

fn json(name: &'static str, body: &str) -> Behaviour {
    always(
        name,
        answer("200 OK\r\ncontent-type: application/json", body),
    )
}

/// Everything that is done without TLS.
pub(crate) fn all() -> Vec<Behaviour> {
    [
        connections(),
        heads(),
        framing(),
        statuses(),
        bodies(),
        right(),
    ]
    .concat()
}

/// What happens before an answer could begin, or instead of one.
fn connections() -> Vec<Behaviour> {
    vec![
        ("accepts-and-is-silent", vec![]),
        ("reads-and-is-silent", vec![Question]),
        ("closes-at-once", vec![Close]),
        ("resets-at-once", vec![Reset]),
        ("reads-and-closes", vec![Question, Close]),
        ("reads-and-resets", vec![Question, Reset]),
        ("echoes", vec![Echo]),
        (
            "greets-like-mail",
            vec![Send(b"220 mail.example ESMTP\r\n".to_vec())],
        ),
        (
            "greets-like-ssh",
            vec![Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())],
        ),
        (
            "speaks-tls",
            asked("", b"\x15\x03\x01\x00\x02\x02\x46".to_vec()).1,
        ),
        (
            "speaks-http2",
            asked(
                "",
                b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
            )
            .1,
        ),
        (
            "answers-unasked",
            vec![Send(answer("200 OK", r#"{"contract":"rootward/1"}"#))],
        ),
        (
            "noise",
            asked("", (0..=255_u8).rev().collect::<Vec<u8>>()).1,
        ),
    ]
}

/// What is wrong with status line and headers.
fn heads() -> Vec<Behaviour> {
    let long = "x".repeat(512 * 1024);
    let many = "a: b\r\n".repeat(10_000);
    vec![
        asked("status-line-alone", "HTTP/1.1 200 OK\r\n"),
        asked("half-a-status-line", "HTTP/1.1 20"),
        asked(
            "headers-without-end",
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n",
        ),
        (
            "head-in-drops",
            vec![
                Question,
                Trickle("HTTP/1.1 200 OK\r\nx-slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            ],
        ),
        (
            "headers-forever",
            vec![
                Question,
                Send(b"HTTP/1.1 200 OK\r\n".to_vec()),
                Forever(b"x-more: yes\r\n".to_vec()),
            ],
        ),
        (
            "continues-forever",
            vec![Question, Forever(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())],
        ),
        asked(
            "one-huge-header",
            format!("HTTP/1.1 200 OK\r\nx-long: {long}\r\n\r\n"),
        ),
        asked(
            "ten-thousand-headers",
            format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        ),
        asked(
            "header-without-colon",
            "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
        ),
        asked(
            "header-with-a-nul",
            "HTTP/1.1 200 OK\r\nx-nul: a\0b\r\n\r\n",
        ),
        asked(
            "folded-header",
            "HTTP/1.1 200 OK\r\nx-folded: a\r\n b\r\ncontent-length: 0\r\n\r\n",
        ),
        asked("body-alone", "<html>it works</html>"),
        asked("version-3", "HTTP/3.0 200 OK\r\n\r\n"),
        asked("status-of-four-digits", "HTTP/1.1 2000 OK\r\n\r\n"),
        always("status-999", answer("999 Odd", "")),
        asked("status-in-words", "HTTP/1.1 OK\r\n\r\n"),
        asked(
            "switches-protocols",
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        ),
    ]
}

/// Bodies that are not as long as was said.
fn framing() -> Vec<Behaviour> {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let piece = format!("{:x}\r\n{}\r\n", 64 * 1024, "x".repeat(64 * 1024));
    vec![
        asked(
            "body-never-comes",
            "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n",
        ),
        (
            "body-in-drops",
            vec![
                Question,
                Send(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n".to_vec()),
                Trickle(
                    "{\"contract\":\"rootward/1\",\"service\":\"body-in-drops\",\"status\":\"healthy\"}",
                ),
            ],
        ),
        (
            "body-forever",
            vec![
                Question,
                Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
                Forever(vec![b'x'; 64 * 1024]),
            ],
        ),
        (
            "chunks-forever",
            vec![Question, Send(chunked.into()), Forever(piece.into())],
        ),
        asked(
            "chunk-of-all-bytes-there-are",
            format!("{chunked}ffffffffffffffff\r\nx"),
        ),
        asked(
            "chunk-size-overflows",
            format!("{chunked}fffffffffffffffff\r\nx"),
        ),
        asked("chunk-size-is-a-word", format!("{chunked}zz\r\nx\r\n")),
        (
            "chunk-extension-forever",
            vec![
                Question,
                Send(format!("{chunked}1;").into()),
                Forever(b"aaaaaaaaaaaaaaaa".to_vec()),
            ],
        ),
        (
            "chunks-end-in-the-middle",
            vec![Question, Send(format!("{chunked}5\r\nab").into()), Close],
        ),
        (
            "trailers-forever",
            vec![
                Question,
                Send(format!("{chunked}0\r\n").into()),
                Forever(b"x-more: yes\r\n".to_vec()),
            ],
        ),
        asked(
            "length-of-five-gibibytes",
            "HTTP/1.1 200 OK\r\ncontent-length: 5368709120\r\n\r\n",
        ),
        asked(
            "negative-length",
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        ),
        asked(
            "length-in-words",
            "HTTP/1.1 200 OK\r\ncontent-length: ten\r\n\r\n",
        ),
        asked(
            "two-lengths",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc",
        ),
        (
            "closes-before-the-end",
            vec![
                Question,
                Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"contract\":".to_vec()),
                Close,
            ],
        ),
        (
            "resets-after-the-headers",
            vec![
                Question,
                Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n".to_vec()),
                Reset,
            ],
        ),
        always(
            "gzip-bomb",
            [
                &b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\n"[..],
                &b"\x1f\x8b\x08\0\0\0\0\0"[..],
            ]
            .concat(),
        ),
        always(
            "gzip-unsaid",
            [
                &b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n"[..],
                &b"\x1f\x8b\x08\0\0\0\0\0"[..],
            ]
            .concat(),
        ),
    ]
}

/// Statuses that are about the question, or about nothing.
fn statuses() -> Vec<Behaviour> {
    vec![
        always(
            "redirects-to-itself",
            answer("302 Found\r\nlocation: /health", ""),
        ),
        always(
            "redirects-elsewhere",
            answer(
                "307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest/meta-data",
                "",
            ),
        ),
        always(
            "redirects-with-a-report",
            good(
                "308 Permanent Redirect\r\nlocation: /other",
                "redirects-with-a-report",
            ),
        ),
        always(
            "wants-a-proxy-login",
            answer("407 Proxy Authentication Required", ""),
        ),
        always("forbids", answer("403 Forbidden", "")),
        always("finds-nothing", answer("404 Not Found", "")),
        always(
            "asks-for-patience",
            answer("429 Too Many Requests\r\nretry-after: 86400", ""),
        ),
        always(
            "gives-a-part",
            answer("206 Partial Content\r\ncontent-range: bytes 0-1/100", "{}"),
        ),
        always("not-modified", "HTTP/1.1 304 Not Modified\r\n\r\n"),
        always(
            "unavailable-page",
            answer(
                "503 Service Unavailable\r\ncontent-type: text/html",
                "<html>back soon</html>",
            ),
        ),
        always(
            "bad-gateway",
            answer(
                "502 Bad Gateway",
                "upstream connect error, 10.0.0.7:5432 password=hunter2",
            ),
        ),
        always("gateway-timeout", answer("504 Gateway Timeout", "")),
    ]
}

/// Bodies that are no report, or not ours.
fn bodies() -> Vec<Behaviour> {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let components: Vec<String> = (0..15_000)
        .map(|n| format!(r#"{{"name":"c{n}","status":"up","criticality":"soft"}}"#))
        .collect();
    let countless = format!(
        r#"{{"contract":"rootward/1","service":"countless-components","instance":"0","status":"healthy","components":[{}]}}"#,
        components.join(",")
    );
    let too_long = format!("{}{}", report("a-byte-too-long"), " ".repeat(1024 * 1024));
    let shouting =
        report("very-long-name").replace("\"0\"", &format!("\"{}\"", "n".repeat(100_000)));
    vec![
        json("deeply-nested", &deep),
        json("countless-components", &countless),
        json("a-byte-too-long", &too_long),
        json("very-long-name", &shouting),
        json("half-a-report", &report("half-a-report")[..40]),
        json(
            "not-a-number",
            r#"{"contract":"rootward/1","service":"not-a-number","instance":"0","status":"healthy","time":NaN}"#,
        ),
        json(
            "status-twice",
            r#"{"contract":"rootward/1","service":"status-twice","instance":"0","status":"healthy","status":"unhealthy"}"#,
        ),
        json(
            "of-a-later-contract",
            r#"{"contract":"rootward/9","service":"of-a-later-contract","instance":"0","status":"healthy"}"#,
        ),
        json(
            "unknown-status",
            r#"{"contract":"rootward/1","service":"unknown-status","instance":"0","status":"groovy"}"#,
        ),
        json("somebody-elses-report", &report("somebody-else")),
        always(
            "not-utf-8",
            [
                &b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"[..],
                &b"{\xff\xfe}"[..],
            ]
            .concat(),
        ),
        always(
            "utf-16",
            [
                &b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n"[..],
                &b"\xff\xfe[\0]\0"[..],
            ]
            .concat(),
        ),
    ]
}

/// Odd, and all the same a good report.
fn right() -> Vec<Behaviour> {
    let early = [
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".to_vec(),
        good("200 OK", "hints-early"),
    ];
    let surplus = [
        good("200 OK", "sends-a-second-answer"),
        answer("500 Oops", ""),
    ];
    vec![
        always("hints-early", early.concat()),
        (
            "speaks-http-1-0",
            vec![
                Question,
                Send(format!("HTTP/1.0 200 OK\r\n\r\n{}", report("speaks-http-1-0")).into()),
                Close,
            ],
        ),
        (
            "closes-after-each-answer",
            vec![
                Question,
                Send(good("200 OK", "closes-after-each-answer")),
                Close,
            ],
        ),
        (
            "resets-after-each-answer",
            vec![
                Question,
                Send(good("200 OK", "resets-after-each-answer")),
                Question,
                Reset,
            ],
        ),
        // Whoever keeps the connection takes the second answer for that to the next question.
        always("sends-a-second-answer", surplus.concat()),
    ]
}
