//! Mutual TLS on the probe port, over real sockets, with certificates made for the test.

mod authority;
mod client;

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Access, Builder, ClientCertificates, Health, Token, Tokens};

use crate::support::{any_port, ask, cart, get, try_ask, until};
use authority::{Authority, Files, days};
use client::{Client, Version};

const AGGREGATOR: &str = "spiffe://example.org/aggregator";

fn access(files: &Files) -> Access {
    let certificates = ClientCertificates::new(&files.certificate, &files.key, &files.authority)
        .allow_uri(AGGREGATOR)
        .allow_dns("Aggregator.internal")
        .check_every(Duration::from_millis(100));
    Access::loopback()
        .without_loopback()
        .client_certificates(certificates)
}

async fn started(builder: Builder) -> (Health, SocketAddr) {
    let health = builder.listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || health.is_started()).await;
    (health, address)
}

const PROBES: [&str; 5] = ["/livez", "/readyz", "/healthz", "/startupz", "/status"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_025_probes_without_a_certificate_work_in_plain_and_over_tls() {
    let authority = Authority::new("ca");
    let files = Files::new(&authority.server(days(90)), &authority);
    let (health, address) = started(cart().access(access(&files))).await;
    let stranger = Client::new(&authority, None);
    for version in [Version::Tls12, Version::Tls13] {
        for path in PROBES {
            assert_eq!(get(address, path).code, 200, "{path} in plain");
            let answer = stranger.get_with(version, address, path).await;
            assert_eq!(
                answer.as_ref().ok(),
                Some(&200),
                "{path} over TLS: {answer:?}"
            );
        }
    }
    assert_eq!(get(address, "/health").code, 401);
    assert_eq!(stranger.get(address, "/health").await.ok(), Some(401));
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_with_an_allowed_name_opens_the_report() {
    let authority = Authority::new("ca");
    let files = Files::new(&authority.server(days(90)), &authority);
    let (health, address) = started(cart().access(access(&files))).await;
    for (names, code) in [
        (vec![AGGREGATOR], 200),
        (vec!["front.internal", "AGGREGATOR.internal"], 200),
        (vec!["front.internal"], 401),
        (vec!["spiffe://example.org/aggregator/2"], 401),
        (vec!["*.internal"], 401),
    ] {
        let client = Client::new(&authority, Some(authority.client(&names, days(1))));
        for version in [Version::Tls12, Version::Tls13] {
            let answer = client.get_with(version, address, "/health").await;
            assert_eq!(answer.ok(), Some(code), "{names:?}");
        }
        assert_eq!(client.get(address, "/livez").await.ok(), Some(200));
    }
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_expired_or_of_an_unknown_authority_gets_no_connection() {
    let authority = Authority::new("ca");
    let stranger = Authority::new("another");
    let files = Files::new(&authority.server(days(90)), &authority);
    let (health, address) = started(cart().access(access(&files))).await;
    for certificate in [
        authority.client(&[AGGREGATOR], days(-1)),
        stranger.client(&[AGGREGATOR], days(1)),
    ] {
        let client = Client::new(&authority, Some(certificate));
        for version in [Version::Tls12, Version::Tls13] {
            let answer = client.get_with(version, address, "/health").await;
            assert!(answer.is_err(), "{answer:?}");
        }
    }
    assert_eq!(get(address, "/livez").code, 200);
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_works_over_tls_and_without_a_certificate() {
    let authority = Authority::new("ca");
    let files = Files::new(&authority.server(days(90)), &authority);
    let token = Token::from_random([1; 40]);
    let tokens = Tokens::digests([token.digest().to_string()]);
    let (health, address) = started(cart().access(access(&files).tokens(tokens))).await;
    let headers = format!("Authorization: Bearer {}\r\n", token.expose());
    assert_eq!(ask(address, "GET", "/health", &headers).code, 200);
    let client = Client::new(&authority, None);
    let answer = client
        .ask(Version::Tls13, address, "/health", &headers)
        .await;
    assert_eq!(answer.ok(), Some(200));
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_027_what_is_replaced_is_used_and_what_cannot_be_used_changes_nothing() {
    let old = Authority::new("old");
    let files = Files::new(&old.server(days(90)), &old);
    let (health, address) = started(cart().access(access(&files))).await;
    let serial = |client: &Client| {
        let client = client.clone();
        async move { client.serial(address).await }
    };
    let of_old = Client::new(&old, Some(old.client(&[AGGREGATOR], days(1))));
    let first = serial(&of_old).await.expect("a certificate");
    // A torn pair, half a certificate, nothing at all: the ones before stay in use.
    let next = old.server(days(90));
    for (certificate, key) in [
        (next.certificate.clone(), None),
        (
            next.certificate[..next.certificate.len() / 2].to_owned(),
            None,
        ),
        (String::new(), Some(String::new())),
    ] {
        files.write(&certificate, key.as_deref());
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(serial(&of_old).await.ok(), Some(first.clone()));
        assert_eq!(of_old.get(address, "/health").await.ok(), Some(200));
    }
    // The pair is whole again.
    files.write(&next.certificate, Some(&next.key));
    let began = std::time::Instant::now();
    while serial(&of_old).await.ok() == Some(first.clone()) {
        assert!(began.elapsed() < Duration::from_secs(60), "not in use");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Another authority: who was issued by it is let in, who was issued by the old one gets no connection.
    let new = Authority::new("new");
    let of_new = Client::new(&old, Some(new.client(&[AGGREGATOR], days(1))));
    assert!(of_new.get(address, "/health").await.is_err());
    files.write_authority(&new);
    let began = std::time::Instant::now();
    while of_new.get(address, "/health").await.ok() != Some(200) {
        assert!(began.elapsed() < Duration::from_secs(60), "not in use");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(of_old.get(address, "/health").await.is_err());
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_ends_soon_is_a_finding() {
    let authority = Authority::new("ca");
    for (left, found) in [(60, false), (20, true), (6, true), (-1, true)] {
        let files = Files::new(&authority.server(days(left)), &authority);
        let wall = std::time::SystemTime::now;
        let (health, _) = started(cart().wall_clock(wall).access(access(&files))).await;
        let report = health.report();
        let finding = report
            .findings
            .iter()
            .find(|finding| finding.kind == "certificate_expiry");
        assert_eq!(finding.is_some(), found, "{left} days: {finding:?}");
        health.stop().await;
    }
}

/// Whoever begins a handshake and says no more is closed, and keeps no probe out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_stops_is_closed_after_five_seconds() {
    use std::io::{Read, Write};
    let authority = Authority::new("ca");
    let files = Files::new(&authority.server(days(90)), &authority);
    let (health, address) = started(cart().access(access(&files))).await;
    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a limit");
    stream.write_all(&[0x16, 3, 1]).expect("sent");
    assert_eq!(get(address, "/livez").code, 200);
    let began = std::time::Instant::now();
    let ended = tokio::task::block_in_place(|| stream.read(&mut [0; 16]));
    assert!(matches!(ended, Ok(0)), "closed, not silent: {ended:?}");
    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(try_ask(address, "GET", "/livez", "").is_ok());
    health.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_the_files_is_said_at_the_start() {
    let authority = Authority::new("ca");
    let server = authority.server(days(90));
    let files = Files::new(&server, &authority);
    let problem = || {
        let certificates =
            ClientCertificates::new(&files.certificate, &files.key, &files.authority).allow_dns("");
        let access = Access::loopback().client_certificates(certificates);
        let error = cart().access(access).start().unwrap_err();
        let text = error.to_string();
        text.replace(&*files.directory.path().to_string_lossy(), "DIR")
    };
    files.write(&server.certificate, Some(&authority.server(days(90)).key));
    insta::assert_snapshot!(problem(), @r#"
    the health of "cart" has 2 problems
      client certificates: an allowed name is empty
      client certificates: the certificate and the key do not belong together
    "#);
    files.write("", Some(&server.key));
    insta::assert_snapshot!(problem(), @r#"
    the health of "cart" has 2 problems
      client certificates: an allowed name is empty
      client certificates: the certificate has no certificate in PEM
    "#);
    std::fs::remove_file(&files.key).expect("it was there");
    insta::assert_snapshot!(problem(), @r#"
    the health of "cart" has 2 problems
      client certificates: an allowed name is empty
      client certificates: the file DIR/tls.key cannot be read: there is none
    "#);
}
