//! One question on a connection of its own: what each way to misbehave is called, and that all of them end in time.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::{HeaderName, HeaderValue, LOCATION, USER_AGENT};
use rootward_core::ErrorCategory;
use rootward_fetch::{Answer, FetchError, Limits, Method, Phase, Request, Target, fetch};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::server::{
    MAX_BODY, PLENTY, SOON, Server, Silence, closed_address, has_ipv6, read_request, within,
};

async fn ask(server: &Server, deadline: Duration) -> Result<Answer, FetchError> {
    fetch(&Request::get(&server.target()), &within(deadline)).await
}

fn said(error: &FetchError) -> (ErrorCategory, String) {
    (error.category(), error.to_string())
}

fn timed_out(phase: &str) -> (ErrorCategory, String) {
    let sentence = format!("timed out after 300 ms while {phase}");
    (ErrorCategory::Timeout, sentence)
}

fn protocol(sentence: &str) -> (ErrorCategory, String) {
    (ErrorCategory::Protocol, sentence.to_owned())
}

fn broken(phase: &str) -> (ErrorCategory, String) {
    let sentence = format!("the connection broke while {phase}");
    (ErrorCategory::ConnectionReset, sentence)
}

#[tokio::test]
async fn an_answer_has_status_headers_body_and_the_address_that_gave_it() {
    let server =
        Server::saying("HTTP/1.1 503 No\r\nx-why: db\r\ncontent-length: 4\r\n\r\ndown").await;
    let answer = ask(&server, PLENTY).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (503, &b"down"[..]));
    assert_eq!(answer.headers["x-why"], "db");
    assert_eq!(answer.remote, server.address);
    assert!(answer.connected.unwrap() <= answer.took);
}

#[tokio::test]
async fn the_question_says_who_asks_and_that_no_encoding_is_wanted() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    let server = Server::start(move |mut stream, _| {
        let hearing = Arc::clone(&hearing);
        async move {
            let request = read_request(&mut stream).await.unwrap();
            hearing.lock().unwrap().push(request);
            let _ = stream.write_all(b"HTTP/1.1 204 Fine\r\n\r\n").await;
        }
    })
    .await;
    let target = server.target();
    let headers = [
        (
            HeaderName::from_static("rootward-check-from"),
            HeaderValue::from_static("cart"),
        ),
        (USER_AGENT, HeaderValue::from_static("cart/1")),
    ];
    for request in [
        Request::get(&target),
        Request {
            target: &target,
            method: Method::Head,
            headers: &headers,
        },
    ] {
        fetch(&request, &within(PLENTY)).await.unwrap();
    }
    let heard = heard.lock().unwrap().join("");
    let port = server.address.port().to_string();
    insta::assert_snapshot!(heard.replace(&port, "PORT").replace("\r\n", "\n").trim_end(), @"
GET /health?deep=1 HTTP/1.1
host: 127.0.0.1:PORT
user-agent: rootward/0.1.0
accept-encoding: identity
connection: close

HEAD /health?deep=1 HTTP/1.1
host: 127.0.0.1:PORT
user-agent: cart/1
accept-encoding: identity
rootward-check-from: cart
connection: close
");
}

#[tokio::test]
async fn nobody_listens() {
    let address = closed_address("127.0.0.1:0").await;
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    let error = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap_err();
    assert_eq!(
        said(&error),
        (
            ErrorCategory::ConnectionRefused,
            "connection refused".to_owned()
        )
    );
    assert_eq!(error.remote(), Some(address));
}

#[tokio::test]
async fn a_name_that_does_not_resolve() {
    // Longer than a label may be, so that no resolver sends it anywhere.
    let target = Target::parse(&format!("http://{}.invalid/", "a".repeat(64))).unwrap();
    let error = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap_err();
    assert_eq!(
        said(&error),
        (ErrorCategory::Dns, "the name does not resolve".to_owned())
    );
    assert_eq!(error.remote(), None);
}

#[tokio::test]
async fn a_name_of_a_metadata_service_is_not_asked() {
    let addresses = [
        "169.254.169.254:80",
        "[fe80::1]:80",
        "[::ffff:169.254.0.1]:80",
    ]
    .map(|address| address.parse().unwrap());
    let refusing = |addresses: &[SocketAddr]| {
        let target = Target::parse("http://orders/").unwrap();
        target.pinned(addresses).refusing_link_local()
    };
    let error = fetch(&Request::get(&refusing(&addresses)), &within(PLENTY))
        .await
        .unwrap_err();
    assert_eq!(
        said(&error),
        (
            ErrorCategory::Dns,
            "the name resolves to a link-local address, which is not asked".to_owned()
        )
    );
    // Another address of the same name is.
    let server = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let target = refusing(&[addresses[0], server.address]);
    let answer = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
    assert_eq!(answer.remote, server.address);
}

#[tokio::test]
async fn a_name_is_resolved() {
    let server = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let target = Target::parse(&format!("http://localhost:{}/", server.address.port())).unwrap();
    let answer = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
    assert_eq!(answer.remote, server.address);
}

#[tokio::test]
async fn an_ipv6_address() {
    if !has_ipv6() {
        return;
    }
    let server = Server::start_on("[::1]:0", |mut stream, _| async move {
        let request = read_request(&mut stream).await.unwrap();
        assert!(request.contains("host: [::1]:"), "{request}");
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .await;
    })
    .await;
    assert_eq!(ask(&server, PLENTY).await.unwrap().status, 200);
}

#[tokio::test]
async fn kf_020_a_refusing_address_of_one_family_does_not_hide_the_live_one_of_the_other() {
    if !has_ipv6() {
        return;
    }
    for (live, dead) in [("127.0.0.1:0", "[::1]:0"), ("[::1]:0", "127.0.0.1:0")] {
        let server = Server::start_on(live, fine).await;
        let addresses = [closed_address(dead).await, server.address];
        let target = server.target().pinned(&addresses);
        let answer = fetch(&Request::get(&target), &within(PLENTY))
            .await
            .unwrap();
        assert_eq!(answer.remote, server.address);
    }
}

#[tokio::test]
async fn kf_020_a_silent_address_leaves_time_for_the_live_one() {
    let silence = Silence::new().await;
    let server = Server::start(fine).await;
    let target = server.target().pinned(&[silence.address, server.address]);
    let answer = fetch(&Request::get(&target), &within(3 * SOON))
        .await
        .unwrap();
    assert_eq!(answer.remote, server.address);
    assert!(
        answer.connected.unwrap() >= SOON,
        "the silent one had its share"
    );
}

#[tokio::test]
async fn nobody_answers_at_all() {
    let silence = Silence::new().await;
    let target = Target::parse(&format!("http://{}/", silence.address)).unwrap();
    let error = fetch(&Request::get(&target), &within(SOON))
        .await
        .unwrap_err();
    assert_eq!(said(&error), timed_out("connecting"));
    assert_eq!(error.remote(), Some(silence.address));
}

#[tokio::test]
async fn a_refusal_says_more_than_silence_whichever_was_tried_first() {
    let silence = Silence::new().await.address;
    let closed = closed_address("127.0.0.1:0").await;
    for addresses in [[silence, closed], [closed, silence]] {
        let target = Target::parse("http://orders/").unwrap().pinned(&addresses);
        let error = fetch(&Request::get(&target), &within(SOON))
            .await
            .unwrap_err();
        assert_eq!(error.category(), ErrorCategory::ConnectionRefused);
    }
}

#[tokio::test]
async fn accepts_and_never_answers() {
    let server = Server::start(|stream, _| hold(stream)).await;
    let error = ask(&server, SOON).await.unwrap_err();
    assert_eq!(said(&error), timed_out("waiting for the answer"));
    assert_eq!(
        (error.is_timeout(), error.phase()),
        (true, Some(Phase::Waiting))
    );
    assert_eq!(error.remote(), Some(server.address));
}

#[tokio::test]
async fn sends_headers_and_then_nothing() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")
            .await;
        hold(stream).await;
    })
    .await;
    let error = ask(&server, SOON).await.unwrap_err();
    assert_eq!(said(&error), timed_out("reading the body"));
}

#[tokio::test]
async fn kf_014_drips_the_body_byte_by_byte() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
            .await;
        let mut pace = tokio::time::interval(SOON / 10);
        loop {
            pace.tick().await;
            if stream.write_all(b".").await.is_err() {
                break;
            }
        }
    })
    .await;
    let begun = std::time::Instant::now();
    let error = ask(&server, SOON).await.unwrap_err();
    assert_eq!(said(&error), timed_out("reading the body"));
    assert!(
        begun.elapsed() < 10 * SOON,
        "each byte must not extend the deadline"
    );
}

#[tokio::test]
async fn never_stops_sending() {
    for head in ["", "transfer-encoding: chunked\r\n"] {
        let chunked = !head.is_empty();
        let server = Server::start(move |mut stream, _| async move {
            read_request(&mut stream).await.unwrap();
            let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n");
            let chunk = if chunked {
                format!("400\r\n{}\r\n", "x".repeat(0x400))
            } else {
                "x".repeat(0x400)
            };
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(chunk.as_bytes()).await.is_ok() {}
        })
        .await;
        let error = ask(&server, PLENTY).await.unwrap_err();
        assert_eq!(said(&error), protocol("the body is larger than 16 KiB"));
        assert!(error.is_too_large());
    }
}

#[tokio::test]
async fn announces_more_than_is_read_and_is_refused_before_it_is_sent() {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
        MAX_BODY + 1
    );
    let server = Server::start(move |mut stream, _| {
        let head = head.clone();
        async move {
            read_request(&mut stream).await.unwrap();
            let _ = stream.write_all(head.as_bytes()).await;
            hold(stream).await;
        }
    })
    .await;
    let error = ask(&server, PLENTY).await.unwrap_err();
    assert_eq!(said(&error), protocol("the body is larger than 16 KiB"));
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {MAX_BODY}\r\n\r\n");
    let server = Server::saying(head + &"x".repeat(MAX_BODY)).await;
    let answer = ask(&server, PLENTY).await.unwrap();
    assert_eq!(answer.body, vec![b'x'; MAX_BODY]);
}

#[tokio::test]
async fn a_body_in_pieces_is_put_together() {
    let server = Server::saying(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n3\r\ndef\r\n0\r\nx-trailer: 1\r\n\r\n",
    )
    .await;
    assert_eq!(ask(&server, PLENTY).await.unwrap().body, "abcdef");
}

#[tokio::test]
async fn huge_and_countless_headers() {
    let huge = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1024 * 1024));
    let countless = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(200));
    for answer in [huge, countless] {
        let error = ask(&Server::saying(answer).await, PLENTY)
            .await
            .unwrap_err();
        assert_eq!(
            said(&error),
            protocol("the headers of the answer are longer than 64 KiB")
        );
    }
}

#[tokio::test]
async fn talks_something_else() {
    for garbage in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "\0\u{1}\u{2}garbage\r\n\r\n",
        "HTTP/1.1 banana\r\n\r\n",
    ] {
        let error = ask(&Server::saying(garbage).await, PLENTY)
            .await
            .unwrap_err();
        assert_eq!(
            said(&error),
            protocol("the answer is not HTTP"),
            "{garbage:?}"
        );
    }
}

#[tokio::test]
async fn speaks_before_it_is_asked() {
    let server = Server::start(|mut stream, _| async move {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n").await;
        hold(stream).await;
    })
    .await;
    let error = ask(&server, PLENTY).await.unwrap_err();
    assert_eq!(said(&error), protocol("the answer is not HTTP"));
}

#[tokio::test]
async fn frames_the_body_wrongly() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nbanana\r\n").await;
    let error = ask(&server, PLENTY).await.unwrap_err();
    assert_eq!(
        said(&error),
        protocol("the body is not framed as its headers say")
    );
}

#[tokio::test]
async fn closes_too_early() {
    for (answer, phase) in [
        ("", "waiting for the answer"),
        ("HTTP/1.1 200 O", "waiting for the answer"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
            "reading the body",
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf",
            "reading the body",
        ),
    ] {
        let error = ask(&Server::saying(answer).await, PLENTY)
            .await
            .unwrap_err();
        assert_eq!(said(&error), broken(phase), "{answer:?}");
    }
}

#[tokio::test]
async fn resets_the_connection() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        stream.set_zero_linger().unwrap();
    })
    .await;
    let error = ask(&server, PLENTY).await.unwrap_err();
    assert_eq!(said(&error), broken("waiting for the answer"));
    let source = std::error::Error::source(&error).expect("the log gets the whole chain");
    assert_ne!(source.to_string(), error.to_string(), "and nothing twice");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let elsewhere = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let server = Server::saying(format!(
        "HTTP/1.1 301 Moved\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
        elsewhere.address
    ))
    .await;
    let answer = ask(&server, PLENTY).await.unwrap();
    assert_eq!(answer.status, 301);
    assert!(answer.headers.contains_key(LOCATION));
    assert_eq!(elsewhere.accepted(), 0);
}

#[tokio::test]
async fn an_answer_of_http_1_0() {
    let server = Server::saying("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    assert_eq!(ask(&server, PLENTY).await.unwrap().body, "until the end");
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for() {
    let server = Server::saying(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f\u{b}",
    )
    .await;
    let error = ask(&server, PLENTY).await.unwrap_err();
    assert_eq!(
        said(&error),
        protocol("the body has a content encoding, which was not asked for")
    );
    let server = Server::saying(
        "HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-length: 2\r\n\r\nok",
    )
    .await;
    assert_eq!(ask(&server, PLENTY).await.unwrap().body, "ok");
}

#[tokio::test]
async fn a_head_request_reads_no_body() {
    let server = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
    let target = server.target();
    let request = Request {
        method: Method::Head,
        ..Request::get(&target)
    };
    let limits = Limits {
        deadline: PLENTY,
        max_body_bytes: 0,
    };
    assert_eq!(fetch(&request, &limits).await.unwrap().body, "");
}

/// The shortest good answer.
async fn fine(mut stream: TcpStream, _: usize) {
    if read_request(&mut stream).await.is_some() {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .await;
    }
}

/// Keeps the connection open and silent until the test is over.
async fn hold(stream: TcpStream) {
    std::future::pending::<()>().await;
    drop(stream);
}
