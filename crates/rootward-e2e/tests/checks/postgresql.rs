//! PostgreSQL, through the pools that applications use and from settings, with TLS and without.

use std::net::SocketAddr;
use std::time::Duration;

use bb8_postgres::PostgresConnectionManager;
use deadpool_postgres::{Manager, Pool};
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, PostgresqlSettings};
use rootward_checks::{postgresql, postgresql_bb8};
use rootward_e2e::{Error, Run};
use tokio_postgres::{Config, NoTls};

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_lost_packets, survives_refusal, survives_silence,
};

/// How many connections the pool of a test has.
const CONNECTIONS: u32 = 4;

type Bb8 = bb8::Pool<PostgresConnectionManager<NoTls>>;

fn check(config: Config) -> Check<Unlabelled> {
    let pool = Pool::builder(Manager::new(config, NoTls))
        .max_size(4)
        .build();
    postgresql("db", pool.expect("a pool"))
}

fn bb8_pool(url: &str) -> Bb8 {
    let manager = PostgresConnectionManager::new(url.parse().expect("a URL"), NoTls);
    bb8::Pool::builder()
        .max_size(CONNECTIONS)
        .build_unchecked(manager)
}

fn with_bb8(url: &str) -> Check<Unlabelled> {
    postgresql_bb8("db", bb8_pool(url))
}

fn opened(url: &str) -> Check<Unlabelled> {
    open::postgresql("db", PostgresqlSettings::new(url)).expect("settings")
}

fn url_at(address: SocketAddr) -> String {
    format!("postgresql://{USER}:{PASSWORD}@{address}/orders")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(url_at(address).parse().expect("a URL"))
}

async fn bb8_at(address: SocketAddr) -> Check<Unlabelled> {
    with_bb8(&url_at(address))
}

async fn opened_at(address: SocketAddr) -> Check<Unlabelled> {
    opened(&url_at(address))
}

/// The shared server with this password.
fn shared(password: Option<&str>) -> Result<String, Error> {
    let right = Run::from_environment()?.postgres_url().to_owned();
    let Some(password) = password else {
        return Ok(right);
    };
    let (before, server) = right.split_once('@').expect("a user");
    let (user, _) = before.rsplit_once(':').expect("a password");
    Ok(format!("{user}:{password}@{server}"))
}

#[tokio::test]
async fn a_postgresql_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
    survives_silence(opened_at).await;
}

/// The pool's own attempts go on, in bb8's tasks; what the check opened beside it is closed.
#[tokio::test]
async fn a_postgresql_that_says_nothing_costs_one_time_limit_with_bb8_too() {
    let _turn = beside_others().await;
    survives_silence(bb8_at).await;
}

#[tokio::test]
async fn a_postgresql_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
    survives_refusal(opened_at).await;
    survives_refusal(bb8_at).await;
}

#[tokio::test]
async fn a_wrong_password_of_postgresql_is_said_without_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let wrong = shared(Some(PASSWORD))?;
    let checks = [
        check(wrong.parse().expect("a URL")),
        opened(&wrong),
        with_bb8(&wrong),
    ];
    for check in checks {
        assert_eq!(run(&check, LONG).await, "down, auth, credentials refused");
    }
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_postgresql_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let url = shared(None)?;
    leaves_nothing(&check(url.parse().expect("a URL")), "up").await;
    leaves_nothing(&opened(&url), "up").await;
    leaves_nothing(&with_bb8(&url), "up").await;
    Ok(())
}

#[tokio::test]
async fn kf_022_after_packets_of_postgresql_are_lost_one_run_fails_and_not_all_that_follow()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let url = shared(None)?;
    let config: Config = url.parse().expect("a URL");
    let port = config.get_ports().first().copied().expect("a port");
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    let url_at = |address: SocketAddr| url.replacen(&server.to_string(), &address.to_string(), 1);
    survives_lost_packets(server, async |address| {
        check(url_at(address).parse().expect("a URL"))
    })
    .await;
    survives_lost_packets(server, async |address| opened(&url_at(address))).await;
    Ok(())
}

mod servers {
    use base64::Engine as _;
    use rootward_e2e::{Postgres, Private};

    use super::*;

    #[tokio::test]
    async fn a_postgresql_is_seen_frozen_and_killed_and_comes_back_to_the_same_checks()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let mut server = Postgres::start(&Run::from_environment()?).await?;
        let url = server.url();
        let checks = [
            check(url.parse().expect("a URL")),
            opened(&url),
            with_bb8(&url),
        ];
        for check in &checks {
            run_until(check, LONG, "up").await;
        }
        server.freeze()?;
        for check in &checks {
            assert_eq!(run(check, SHORT).await, "cut off");
        }
        server.thaw()?;
        for check in &checks {
            run_until(check, LONG, "up").await;
        }
        server.kill().await?;
        for check in &checks {
            run_until(check, LONG, "down, connection_refused, ").await;
        }
        server.start_again().await?;
        for check in &checks {
            run_until(check, LONG, "up").await;
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_pool_of_bb8_that_is_used_up_is_its_own_trouble_only_while_postgresql_answers_beside_it()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let server = Postgres::start(&Run::from_environment()?).await?;
        let pool = bb8_pool(&server.url());
        let check = postgresql_bb8("db", pool.clone());
        let mut all = Vec::new();
        for _ in 0..CONNECTIONS {
            all.push(pool.get().await.expect("a connection"));
        }
        let limit = Duration::from_secs(4);
        assert_eq!(
            run(&check, limit).await,
            "down, resource_exhausted, all 4 connections of the pool are in use"
        );
        server.freeze()?;
        // However often it asks, it leaves one connection beside the pool.
        for _ in 0..3 {
            assert_eq!(run(&check, SHORT).await, "cut off");
        }
        server.thaw()?;
        run_until(&check, limit, "down, resource_exhausted, ").await;
        drop(all);
        run_until(&check, limit, "up").await;
        Ok(())
    }

    /// As files hold it (RFC 7468).
    fn pem(label: &str, der: &[u8]) -> String {
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        let lines: Vec<_> = text
            .as_bytes()
            .chunks(64)
            .map(String::from_utf8_lossy)
            .collect();
        let lines = lines.join("\n");
        format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
    }

    /// Certificates in a directory that the server's user may read: of an authority, of the server, and of another
    /// authority that has signed nothing.
    fn write_certificates(place: &Private) -> Result<(), Error> {
        let authority = |name: &str| {
            let mut parameters = rcgen::CertificateParams::new(Vec::new()).expect("no names");
            parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            parameters
                .distinguished_name
                .push(rcgen::DnType::CommonName, name);
            let key = rcgen::KeyPair::generate().expect("a key");
            let certificate = parameters.self_signed(&key).expect("a certificate");
            (
                pem("CERTIFICATE", certificate.der()),
                rcgen::Issuer::new(parameters, key),
            )
        };
        let (root, issuer) = authority("the authority of the test");
        let (other, _) = authority("another authority");
        let key = rcgen::KeyPair::generate().expect("a key");
        let parameters =
            rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        let certificate = parameters.signed_by(&key, &issuer).expect("a certificate");
        place.write("root.pem", &root)?;
        place.write("other.pem", &other)?;
        place.write("server.pem", &pem("CERTIFICATE", certificate.der()))?;
        place.write("key.pem", &pem("PRIVATE KEY", &key.serialize_der()))
    }

    #[tokio::test]
    async fn a_postgresql_with_tls_is_verified_by_the_named_roots_and_for_its_name()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let run_of_tests = Run::from_environment()?;
        // Only its directory is used.
        let place = Private::new(&run_of_tests, "certificates", "redis-server")?;
        write_certificates(&place)?;
        let file = |name: &str| place.directory().join(name).display().to_string();
        let settings = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("server.pem")),
            format!("ssl_key_file={}", file("key.pem")),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let server = Postgres::start_with(&run_of_tests, &settings).await?;
        let with = |roots: &str, host: &str| {
            let url = server.url().replace("127.0.0.1", host);
            opened(&format!(
                "{url}?sslmode=verify-full&sslrootcert={}",
                file(roots)
            ))
        };
        assert_eq!(run(&with("root.pem", "127.0.0.1"), LONG).await, "up");
        assert_eq!(
            run(&with("other.pem", "127.0.0.1"), LONG).await,
            "down, tls, the issuer of the server's certificate is not trusted here"
        );
        assert_eq!(
            run(&with("root.pem", "localhost"), LONG).await,
            "down, tls, the certificate of the server is for another name"
        );
        Ok(())
    }

    #[tokio::test]
    async fn a_thousand_runs_over_tls_leave_nothing() -> Result<(), Error> {
        let _turn = alone().await;
        let run_of_tests = Run::from_environment()?;
        let place = Private::new(&run_of_tests, "certificates", "redis-server")?;
        write_certificates(&place)?;
        let file = |name: &str| place.directory().join(name).display().to_string();
        let settings = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("server.pem")),
            format!("ssl_key_file={}", file("key.pem")),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let server = Postgres::start_with(&run_of_tests, &settings).await?;
        let url = server.url();
        let roots = file("root.pem");
        let check = opened(&format!("{url}?sslmode=verify-full&sslrootcert={roots}"));
        leaves_nothing(&check, "up").await;
        Ok(())
    }
}
