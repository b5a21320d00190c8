//! Questions over TLS, to servers that can be trusted and to others.

use std::time::{Duration, SystemTime};

use rootward_core::ErrorCategory;
use rootward_fetch::{
    Connection, FetchError, Limits, Phase, Request, Target, TlsFault, fetch, reach,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::authority::{Authority, ENDED, NOW, Valid};
use crate::server::{Heard, PLENTY, SOON, Server, within};

async fn refused(server: &Server, authority: &Authority) -> FetchError {
    let target = server.target(&authority.trusted());
    let error = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .expect_err("it cannot be trusted");
    let reaching = reach(&target, PLENTY).await;
    if let Err(other) = reaching {
        assert_eq!(other.to_string(), error.to_string());
    }
    error
}

fn said(error: &FetchError) -> (ErrorCategory, Option<TlsFault>, String) {
    (error.category(), error.tls_fault(), error.to_string())
}

fn tls(fault: TlsFault, sentence: &str) -> (ErrorCategory, Option<TlsFault>, String) {
    (ErrorCategory::Tls, Some(fault), sentence.to_owned())
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

#[tokio::test]
async fn a_server_with_a_good_certificate_answers_and_the_end_of_its_certificate_is_known() {
    let authority = Authority::new();
    let server = Server::start(authority.server("orders", NOW)).await;
    let target = server.target(&authority.trusted());
    let answer = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"ok"[..]));
    let expires = answer.certificate_expires.expect("it showed one");
    assert!(seconds(expires).abs_diff(seconds(NOW.until())) < 120);
    let heard = Heard {
        name: Some("orders".to_owned()),
        protocol: None,
    };
    assert_eq!(server.heard_times(1).await, [heard]);
}

#[tokio::test]
async fn a_server_that_chooses_a_protocol_is_offered_http_1_1_and_one_that_is_only_reached_none() {
    let authority = Authority::new();
    let mut config = authority.server("orders", NOW);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let server = Server::start(config).await;
    let target = server.target(&authority.trusted());
    fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
    reach(&target, PLENTY).await.unwrap();
    let protocols: Vec<_> = server
        .heard_times(2)
        .await
        .into_iter()
        .map(|heard| heard.protocol)
        .collect();
    assert_eq!(protocols, [Some(b"http/1.1".to_vec()), None]);
}

#[tokio::test]
async fn an_address_is_a_name_that_a_certificate_can_have() {
    let authority = Authority::new();
    let server = Server::start(authority.server("127.0.0.1", NOW)).await;
    let url = format!("https://{}/", server.address);
    let target = Target::parse_with(&url, &authority.trusted()).unwrap();
    let answer = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        server.heard_times(1).await[0].name,
        None,
        "an address is not sent"
    );
}

#[tokio::test]
async fn a_kept_connection_makes_one_handshake() {
    let authority = Authority::new();
    let server = Server::start(authority.server("orders", NOW)).await;
    let mut connection = Connection::new(server.target(&authority.trusted()));
    for number in 0..5 {
        let answer = connection.get(&[], &within(PLENTY)).await.unwrap();
        assert_eq!(answer.connected.is_some(), number == 0);
        assert!(answer.certificate_expires.is_some());
    }
    let posted = connection.post(&[], "{}".into(), &within(PLENTY)).await;
    assert_eq!(posted.unwrap().body, "ok");
    assert_eq!(server.heard_times(1).await.len(), 1);
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_seen_on_the_next_connection() {
    let authority = Authority::new();
    let server = Server::start(authority.server("orders", NOW)).await;
    let mut connection =
        Connection::new(server.target(&authority.trusted())).max_age(Duration::ZERO);
    connection.get(&[], &within(PLENTY)).await.unwrap();
    server.shows(authority.server("orders", ENDED));
    let error = connection.get(&[], &within(PLENTY)).await.unwrap_err();
    assert_eq!(error.tls_fault(), Some(TlsFault::Expired));
    server.shows(authority.server("orders", NOW));
    connection.get(&[], &within(PLENTY)).await.unwrap();
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said_in_words_of_ours() {
    let (authority, stranger) = (Authority::new(), Authority::named("stranger"));
    let cases = [
        (
            authority.server("orders", ENDED),
            tls(
                TlsFault::Expired,
                "the certificate of the server has expired",
            ),
        ),
        (
            authority.server("orders", Valid(1, 90)),
            tls(
                TlsFault::NotYetValid,
                "the certificate of the server is not valid yet",
            ),
        ),
        (
            authority.server("rates", NOW),
            tls(
                TlsFault::WrongName,
                "the certificate of the server is for another name",
            ),
        ),
        (
            stranger.server("orders", NOW),
            tls(
                TlsFault::UnknownIssuer,
                "the issuer of the server's certificate is not trusted here",
            ),
        ),
    ];
    for (config, expected) in cases {
        let server = Server::start(config).await;
        let error = refused(&server, &authority).await;
        assert_eq!(said(&error), expected);
        assert_eq!(error.remote(), Some(server.address));
        let source = std::error::Error::source(&error).expect("the log gets the whole chain");
        assert_ne!(source.to_string(), error.to_string());
    }
}

#[tokio::test]
async fn a_server_that_speaks_only_another_protocol_ends_the_handshake() {
    let authority = Authority::new();
    let mut config = authority.server("orders", NOW);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let server = Server::start(config).await;
    let error = refused(&server, &authority).await;
    let expected = tls(TlsFault::Handshake, "the TLS handshake failed");
    assert_eq!(said(&error), expected);
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_of_ours_is_said_to() {
    let authority = Authority::new();
    let server = Server::start(authority.server_for_clients_with_certificates("orders")).await;
    let target = server.target(&authority.trusted());
    let error = fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap_err();
    let expected = tls(
        TlsFault::ClientCertificateWanted,
        "the server wants a client certificate",
    );
    assert_eq!(said(&error), expected);
}

#[tokio::test]
async fn a_server_that_speaks_plain_http_is_said_to_speak_no_tls() {
    let server = Server::raw(|mut stream| async move {
        let mut question = [0; 16];
        let _ = stream.read(&mut question).await;
        let _ = stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            .await;
        hold(stream).await;
    })
    .await;
    let error = refused(&server, &Authority::new()).await;
    let expected = tls(TlsFault::NotTls, "the server does not speak TLS");
    assert_eq!(said(&error), expected);
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_handshake_is_no_fault_of_a_certificate() {
    let server = Server::raw(|mut stream| async move {
        let mut question = [0; 16];
        let _ = stream.read(&mut question).await;
    })
    .await;
    let error = refused(&server, &Authority::new()).await;
    let sentence = "the connection broke while making the TLS handshake".to_owned();
    assert_eq!(
        said(&error),
        (ErrorCategory::ConnectionReset, None, sentence)
    );
    assert_eq!(error.phase(), Some(Phase::Securing));
}

#[tokio::test]
async fn kf_014_a_handshake_that_gets_no_answer_or_one_byte_at_a_time_ends_with_the_deadline() {
    let silent = Server::raw(hold).await;
    let dripping = Server::raw(|mut stream| async move {
        // The head of a record of 16 KiB, which then comes as slowly as it can.
        let _ = stream.write_all(&[0x16, 3, 3, 0x40, 0]).await;
        while stream.write_all(&[0]).await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    for server in [silent, dripping] {
        let target = server.target(&Authority::new().trusted());
        let began = Instant::now();
        let error = fetch(&Request::get(&target), &within(SOON))
            .await
            .unwrap_err();
        let took = began.elapsed();
        assert!(took < SOON * 10, "it took {took:?}");
        let sentence = "timed out after 300 ms while making the TLS handshake".to_owned();
        assert_eq!(said(&error), (ErrorCategory::Timeout, None, sentence));
        assert!(reach(&target, SOON).await.unwrap_err().is_timeout());
    }
}

#[tokio::test]
async fn reaching_a_server_asks_it_nothing_and_tells_when_its_certificate_ends() {
    let authority = Authority::new();
    let server = Server::start(authority.server("orders", Valid(-1, 5))).await;
    let reached = reach(&server.target(&authority.trusted()), PLENTY)
        .await
        .unwrap();
    let expires = reached.certificate_expires.expect("it showed one");
    assert!(seconds(expires).abs_diff(seconds(Valid(-1, 5).until())) < 120);
    assert_eq!(reached.remote, server.address);
    let plain = Target::parse(&format!("http://{}/", server.address)).unwrap();
    let reached = reach(&plain, PLENTY).await.unwrap();
    assert_eq!(reached.certificate_expires, None);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_without_a_farewell_is_a_broken_connection() {
    let authority = Authority::new();
    let config = std::sync::Arc::new(authority.server("orders", NOW));
    let server = Server::raw(move |stream| {
        let acceptor = tokio_rustls::TlsAcceptor::from(config.clone());
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut question = [0; 1024];
            let _ = stream.read(&mut question).await;
            // A body without a length ends with the connection; an attacker could end it, too (RFC 8446, section 6.1).
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf").await;
            let _ = stream.flush().await;
        }
    })
    .await;
    let target = server.target(&authority.trusted());
    let limits = Limits {
        deadline: PLENTY,
        max_body_bytes: 100,
    };
    let error = fetch(&Request::get(&target), &limits).await.unwrap_err();
    assert_eq!(error.category(), ErrorCategory::ConnectionReset);
}

/// Keeps the connection open and silent until the test is over.
async fn hold(stream: TcpStream) {
    std::future::pending::<()>().await;
    drop(stream);
}
