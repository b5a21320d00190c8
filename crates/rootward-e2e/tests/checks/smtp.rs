//! SMTP, against aiosmtpd.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, Roots, SmtpSettings};
use rootward_e2e::{Error, Private, Run};

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_restart, survives_silence,
};
use crate::script::answers;

const SERVER: &str = include_str!("smtp.py");

fn check(settings: SmtpSettings) -> Check<Unlabelled> {
    open::smtp("mail", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(SmtpSettings {
        password_in_clear: true,
        ..SmtpSettings::new(format!("smtp://{USER}:{PASSWORD}@{address}"))
    })
}

/// In a mode of `smtp.py`. With TLS its certificate is for `localhost` and vouches for itself.
async fn start(mode: &'static str) -> Result<Private, Error> {
    let run = Run::from_environment()?;
    let mut server = Private::python(&run, "smtp")?;
    server.write("smtp.py", SERVER)?;
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let certified = certified.expect("a certificate");
    server.write("cert.pem", &pem("CERTIFICATE", certified.cert.der()))?;
    let key = certified.signing_key.serialize_der();
    server.write("key.pem", &pem("PRIVATE KEY", &key))?;
    let port = server.port().to_string();
    server
        .run(move |command| {
            command.args(["smtp.py", &port, mode]);
        })
        .await?;
    Ok(server)
}

fn pem(what: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
}

/// At the name that its certificate has.
fn settings(scheme: &str, login: &str, server: &Private) -> SmtpSettings {
    SmtpSettings {
        roots: Roots::File(server.directory().join("cert.pem")),
        ..SmtpSettings::new(format!("{scheme}://{login}localhost:{}", server.port()))
    }
}

#[tokio::test]
async fn a_mail_server_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_mail_server_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_mail_server_is_seen_frozen_and_killed_and_comes_back_to_the_same_check()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start("plain").await?;
    let settings = settings("smtp", "", &server);
    survives_restart(&check(settings), &mut server).await
}

#[tokio::test]
async fn a_mail_server_lets_in_who_has_the_password_over_tls_and_no_mail_is_begun()
-> Result<(), Error> {
    let _turn = beside_others().await;
    for (mode, scheme) in [("starttls", "smtp"), ("smtps", "smtps")] {
        let server = start(mode).await?;
        let with = |login: &str| {
            check(SmtpSettings {
                starttls: mode == "starttls",
                ..settings(scheme, login, &server)
            })
        };
        assert_eq!(run(&with("alice:correct@"), LONG).await, "up", "{mode}");
        let wrong = with(&format!("{USER}:{PASSWORD}@"));
        assert_eq!(
            run(&wrong, LONG).await,
            "down, auth, credentials refused",
            "{mode}"
        );
        let said = server.log()?;
        assert!(!said.contains("a mail was begun"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_mail_server_with_a_certificate_that_nobody_vouches_for_gets_no_password()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("starttls").await?;
    let other = start("starttls").await?;
    let check = check(SmtpSettings {
        starttls: true,
        roots: Roots::File(other.directory().join("cert.pem")),
        ..settings("smtp", &format!("{USER}:{PASSWORD}@"), &server)
    });
    let said = run(&check, LONG).await;
    assert!(said.starts_with("down, tls, "), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_mail_server_without_starttls_is_down_for_who_wants_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("plain").await?;
    let check = check(SmtpSettings {
        starttls: true,
        ..settings("smtp", &format!("{USER}:{PASSWORD}@"), &server)
    });
    assert_eq!(
        run(&check, LONG).await,
        "down, tls, the server offers no STARTTLS"
    );
    Ok(())
}

#[tokio::test]
async fn what_a_fake_mail_server_says_has_its_category() {
    let _turn = beside_others().await;
    let cases = [
        (
            "421 closing\r\n",
            "down, shutting_down, the server refused with SMTP status 421",
        ),
        (
            "554 not you\r\n",
            "down, unknown, the server refused with SMTP status 554",
        ),
        (
            "220 hello\r\n452 full\r\n",
            "down, resource_exhausted, the server refused with SMTP status 452",
        ),
        (
            "220 hello\r\n250-fake\r\n250 SIZE\r\n",
            "down, protocol, the server offers no login with PLAIN",
        ),
        (
            "SSH-2.0-OpenSSH\r\n",
            "down, protocol, the answer is no SMTP",
        ),
    ];
    for (greeting, words) in cases {
        let fake = answers(greeting).await;
        assert_eq!(run(&check_at(fake).await, LONG).await, words);
    }
}

#[tokio::test]
async fn a_thousand_runs_against_a_mail_server_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start("plain").await?;
    leaves_nothing(&check(settings("smtp", "", &server)), "up").await;
    Ok(())
}
