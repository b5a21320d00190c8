//! The certificate of a server, whatever the server speaks behind it.

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{Roots, TlsSettings};
use rootward_checks::tls;

use crate::authority::{Authority, DAY};
use crate::every::{
    LONG, alone, beside_others, leaves_nothing, run, run_until, survives_refusal, survives_silence,
};
use crate::scripted::{Scripted, answer};

fn settings(address: SocketAddr, authority: &Authority) -> TlsSettings {
    TlsSettings {
        roots: authority.roots(),
        ..TlsSettings::new(address.ip().to_string(), address.port())
    }
}

fn check(settings: TlsSettings) -> Check<Unlabelled> {
    tls("certificate", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(settings(address, &Authority::new("authority")))
}

#[tokio::test]
async fn a_server_that_says_nothing_in_the_handshake_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_server_with_a_certificate_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn the_end_of_a_certificate_comes_nearer() {
    let _turn = beside_others().await;
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    for (config, expected) in [
        (authority.server("127.0.0.1", 22), "up"),
        (
            authority.server("127.0.0.1", 20),
            "degraded, tls, the certificate of the server ends in 20 days",
        ),
        (
            authority.server("127.0.0.1", 2),
            "down, tls, the certificate of the server ends in 2 days",
        ),
        (
            authority.server("127.0.0.1", -1),
            "down, tls, the certificate of the server has expired",
        ),
        (
            authority.server("planted.internal", 90),
            "down, tls, the certificate of the server is for another name",
        ),
        (
            stranger.server("127.0.0.1", 90),
            "down, tls, the issuer of the server's certificate is not trusted here",
        ),
    ] {
        let server = Scripted::secured(answer("200 OK", ""), config).await;
        let check = check(TlsSettings {
            fail_before: DAY * 3,
            ..settings(server.address, &authority)
        });
        assert_eq!(run(&check, LONG).await, expected);
        assert!(server.asked().is_empty(), "it is asked nothing");
    }
}

#[tokio::test]
async fn a_server_that_comes_back_with_a_new_certificate_is_up_for_the_same_check() {
    let _turn = beside_others().await;
    let authority = Authority::new("authority");
    let server = Scripted::secured(answer("200 OK", ""), authority.server("127.0.0.1", 1)).await;
    let address = server.address;
    let check = check(settings(address, &authority));
    run_until(&check, LONG, "degraded, tls, ").await;
    drop(server);
    run_until(&check, LONG, "down, connection_refused, ").await;
    let again = Scripted::at(
        address,
        answer("200 OK", ""),
        Some(authority.server("127.0.0.1", 90)),
    )
    .await;
    run_until(&check, LONG, "up").await;
    drop(again);
}

#[tokio::test]
async fn a_thousand_handshakes_leave_nothing() {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let server = Scripted::secured(answer("200 OK", ""), authority.server("127.0.0.1", 90)).await;
    leaves_nothing(&check(settings(server.address, &authority)), "up").await;
}

#[test]
fn settings_that_cannot_be_get_a_sentence_without_them() {
    let sentence = |settings| {
        let error = tls("certificate", settings).err();
        error.map(|error| error.to_string()).unwrap_or_default()
    };
    let late = TlsSettings {
        warn_before: Duration::ZERO,
        fail_before: DAY,
        ..TlsSettings::new("planted", 443)
    };
    assert_eq!(sentence(late), "the warning would come after the failure");
    let no_roots = TlsSettings {
        roots: Roots::File("/planted".into()),
        ..TlsSettings::new("planted", 443)
    };
    assert_eq!(
        sentence(no_roots),
        "the file of root certificates cannot be read"
    );
}
