//! A service that is stood in for answers what it was told, hangs, refuses, and comes back.

use std::io;
use std::net::SocketAddr;

use rootward_testkit::Mood;
use rootward_testkit::http::StandInHttp;
use rootward_testkit::tcp::StandInTcp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{stalls, within};

async fn ask(addr: SocketAddr, more: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(addr).await?;
    let question = format!("GET /readyz HTTP/1.1\r\nhost: x\r\n{more}connection: close\r\n\r\n");
    stream.write_all(question.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_service_says_what_it_was_told_to_say() {
    let service = StandInHttp::start(0).unwrap();
    let answer = within(ask(service.addr(), "")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.ends_with(r#"{"ready":true,"reasons":[],"serving":true}"#));
    assert_eq!((service.queries_seen(), service.checks_seen()), (1, 0));

    service.answer_with(500, "ouch");
    let answer = within(ask(service.addr(), "Rootward-Check-From: cart\r\n"));
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 500 ") && answer.ends_with("\r\n\r\nouch"));
    assert_eq!((service.queries_seen(), service.checks_seen()), (2, 1));

    service.mood().change(Mood::Frozen).await.unwrap();
    assert!(stalls(ask(service.addr(), "")).await);
    service.mood().change(Mood::Refusing).await.unwrap();
    let refused = within(ask(service.addr(), "")).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    service.answer_ready();
    service.mood().change(Mood::Healthy).await.unwrap();
    assert!(
        within(ask(service.addr(), ""))
            .await
            .unwrap()
            .contains("true")
    );
    within(service.stop()).await;
}

#[tokio::test]
async fn what_is_no_request_gets_a_400_and_an_end() {
    let service = StandInHttp::start(0).unwrap();
    for wrong in [
        "PING\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nbody",
    ] {
        let mut stream = TcpStream::connect(service.addr()).await.unwrap();
        stream.write_all(wrong.as_bytes()).await.unwrap();
        let mut answer = String::new();
        // What it did not read ends the connection with a reset, behind the answer.
        let _ = within(stream.read_to_string(&mut answer)).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400 "),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_listener_accepts_and_says_nothing() {
    let listener = StandInTcp::start(0).unwrap();
    let mut stream = within(TcpStream::connect(listener.addr())).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    assert!(stalls(stream.read_u8()).await);
    assert_eq!(listener.connections_seen(), 1);
    listener.mood().change(Mood::Refusing).await.unwrap();
    assert!(within(stream.read_u8()).await.is_err());
    within(listener.stop()).await;
}
