//! HTTP: against the server of Python's library, and against fakes that say what a real one says rarely.

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, HttpBody, HttpMethod, HttpSettings, Roots};
use rootward_e2e::{Error, Private, Run};
use serde_json::json;

use crate::authority::{Authority, DAY};
use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_restart, survives_silence,
};
use crate::scripted::{Scripted, answer};

fn settings(address: SocketAddr) -> HttpSettings {
    HttpSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        headers: vec![("x-api-key".into(), PASSWORD.into())],
        ..HttpSettings::new(format!("http://{address}/health?token={PASSWORD}"))
    }
}

fn check(settings: HttpSettings) -> Check<Unlabelled> {
    open::http("site", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(settings(address))
}

async fn start(run: &Run) -> Result<Private, Error> {
    let mut server = Private::python(run, "http")?;
    let port = server.port().to_string();
    let arguments = move |command: &mut std::process::Command| {
        command.args(["-m", "http.server", "--bind", "127.0.0.1", &port]);
    };
    server.run(arguments).await?;
    Ok(server)
}

fn of_server(server: &Private) -> Check<Unlabelled> {
    check(HttpSettings::new(format!(
        "http://127.0.0.1:{}/",
        server.port()
    )))
}

#[tokio::test]
async fn a_site_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
    survives_silence(async |address| {
        let authority = Authority::new("authority");
        check(HttpSettings {
            roots: authority.roots(),
            ..HttpSettings::new(format!("https://{address}/"))
        })
    })
    .await;
}

#[tokio::test]
async fn a_site_that_says_nothing_is_said_to_have_been_waited_for() {
    let _turn = beside_others().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let seen = run(&check(settings(address)), SHORT).await;
    assert!(
        // On a machine that is very busy the runner's limit is seen first.
        seen == "down, timeout, timed out after 300 ms while waiting for the answer"
            || seen == "cut off",
        "{seen}"
    );
}

#[tokio::test]
async fn a_site_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_site_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start(&Run::from_environment()?).await?;
    let check = of_server(&server);
    survives_restart(&check, &mut server).await
}

#[tokio::test]
async fn a_thousand_runs_against_a_site_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start(&Run::from_environment()?).await?;
    leaves_nothing(&of_server(&server), "up").await;
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_over_tls_leave_nothing() {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let config = authority.server("127.0.0.1", 90);
    let site = Scripted::secured(answer("200 OK", "ok"), config).await;
    let check = check(HttpSettings {
        roots: authority.roots(),
        ..HttpSettings::new(format!("https://{}/", site.address))
    });
    leaves_nothing(&check, "up").await;
}

#[tokio::test]
async fn every_status_of_a_fake_site_has_its_category() {
    let _turn = beside_others().await;
    let site = Scripted::plain("").await;
    let check = check(settings(site.address));
    for (status, expected) in [
        ("200 OK", "up"),
        ("204 No Content", "up"),
        ("299 Strange", "up"),
        ("301 Moved", "down, redirect, HTTP status 301"),
        ("304 Not Modified", "down, redirect, HTTP status 304"),
        ("400 Bad Request", "down, http_status, HTTP status 400"),
        ("401 Unauthorized", "down, auth, HTTP status 401"),
        ("403 Forbidden", "down, auth, HTTP status 403"),
        ("404 Not Found", "down, not_found, HTTP status 404"),
        ("429 Too Many", "down, rate_limited, HTTP status 429"),
        ("500 Oh", "down, http_status, HTTP status 500"),
        ("503 No", "down, http_status, HTTP status 503"),
    ] {
        site.answers(format!(
            "HTTP/1.1 {status}\r\nlocation: http://{USER}:{PASSWORD}@127.0.0.1/\r\ncontent-length: 0\r\n\r\n"
        ));
        assert_eq!(run(&check, LONG).await, expected, "{status}");
    }
    site.answers(format!("{PASSWORD}\r\n\r\n"));
    assert_eq!(
        run(&check, LONG).await,
        "down, protocol, not a valid answer"
    );
}

#[tokio::test]
async fn other_statuses_are_good_if_they_are_wanted() {
    let _turn = beside_others().await;
    let site = Scripted::plain(answer("302 Found", "")).await;
    let wanted = |status| {
        check(HttpSettings {
            status,
            ..settings(site.address)
        })
    };
    assert_eq!(run(&wanted(302..=302), LONG).await, "up");
    site.answers(answer("200 OK", ""));
    assert_eq!(
        run(&wanted(302..=302), LONG).await,
        "down, http_status, HTTP status 200"
    );
}

#[tokio::test]
async fn what_the_body_says_counts_if_it_is_asked_for() {
    let _turn = beside_others().await;
    let site = Scripted::plain("").await;
    let wants = |body| {
        check(HttpSettings {
            body: Some(body),
            max_body_bytes: 100,
            ..settings(site.address)
        })
    };
    let text = wants(HttpBody::Contains("all good".into()));
    let value = wants(HttpBody::Json {
        pointer: "/checks/0/status".into(),
        value: json!("green"),
    });
    let long = "x".repeat(101);
    for (body, of_text, of_value) in [
        (
            "so far all good.",
            "up",
            "down, protocol, the answer is not JSON",
        ),
        (
            r#"{"checks":[{"status":"green"}]}"#,
            "down, not_serving, the answer does not contain the text",
            "up",
        ),
        (
            r#"{"checks":[{"status":"planted"}]}"#,
            "down, not_serving, the answer does not contain the text",
            "down, not_serving, the answer has another value there",
        ),
        (
            r#"{"checks":[]}"#,
            "down, not_serving, the answer does not contain the text",
            "down, not_serving, the answer has no such value",
        ),
        (
            long.as_str(),
            "down, protocol, the answer is too large",
            "down, protocol, the answer is too large",
        ),
    ] {
        site.answers(answer("200 OK", body));
        assert_eq!(run(&text, LONG).await, of_text, "{body}");
        assert_eq!(run(&value, LONG).await, of_value, "{body}");
    }
}

#[tokio::test]
async fn a_site_is_told_who_asks_and_with_which_credentials_on_one_connection() {
    let _turn = beside_others().await;
    let site = Scripted::plain(answer("200 OK", "ok")).await;
    let check = check(HttpSettings {
        method: HttpMethod::Head,
        ..settings(site.address)
    });
    for _ in 0..3 {
        assert_eq!(run(&check, LONG).await, "up");
    }
    let asked = site.asked();
    assert_eq!(asked.len(), 3);
    for text in asked {
        assert!(text.starts_with("HEAD /health?token="), "{text}");
        for header in [
            "rootward-check-from: cart",
            &format!("x-api-key: {PASSWORD}"),
            // USER:PASSWORD, as RFC 7617 has it.
            "authorization: Basic cGxhbnRlZC11c2VyLWFsaWNlOnBsYW50ZWQtcGFzc3dvcmQtaHVudGVyMg==",
        ] {
            assert!(text.contains(&format!("\r\n{header}\r\n")), "{text}");
        }
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_the_failure_and_its_end_a_warning() {
    let _turn = beside_others().await;
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    for (config, expected) in [
        (authority.server("127.0.0.1", 90), "up"),
        (
            authority.server("127.0.0.1", 12),
            "degraded, tls, the certificate of the server ends in 12 days",
        ),
        (
            authority.server("127.0.0.1", 0),
            "degraded, tls, the certificate of the server ends within a day",
        ),
        (
            authority.server("127.0.0.1", -2),
            "down, tls, the certificate of the server has expired",
        ),
        (
            authority.server("rates.internal", 90),
            "down, tls, the certificate of the server is for another name",
        ),
        (
            stranger.server("127.0.0.1", 90),
            "down, tls, the issuer of the server's certificate is not trusted here",
        ),
    ] {
        let site = Scripted::secured(answer("200 OK", "ok"), config).await;
        let check = check(HttpSettings {
            roots: authority.roots(),
            ..HttpSettings::new(format!("https://{}/", site.address))
        });
        assert_eq!(run(&check, LONG).await, expected);
    }
    let bytes = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = bytes.local_addr().expect("its address");
    let talking = tokio::spawn(async move {
        while let Ok((mut stream, _)) = bytes.accept().await {
            let _ =
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"SSH-2.0-OpenSSH_9.9\r\n").await;
        }
    });
    let check = check(HttpSettings {
        roots: authority.roots(),
        ..HttpSettings::new(format!("https://{address}/"))
    });
    let seen = run(&check, LONG).await;
    assert!(
        seen == "down, tls, the server does not speak TLS"
            || seen.starts_with("down, connection_reset, "),
        "{seen}"
    );
    talking.abort();
}

#[tokio::test]
async fn a_warning_can_be_earlier_or_never() {
    let _turn = beside_others().await;
    let authority = Authority::new("authority");
    let config = authority.server("127.0.0.1", 12);
    let site = Scripted::secured(answer("200 OK", "ok"), config).await;
    let warned = |warn_before| {
        check(HttpSettings {
            roots: authority.roots(),
            warn_before,
            ..HttpSettings::new(format!("https://{}/", site.address))
        })
    };
    assert_eq!(run(&warned(DAY * 11), LONG).await, "up");
    assert_eq!(run(&warned(Duration::ZERO), LONG).await, "up");
    assert!(
        run(&warned(DAY * 13), LONG)
            .await
            .starts_with("degraded, tls, ")
    );
}

#[test]
fn settings_of_which_no_check_can_be_made_get_a_sentence_without_them() {
    let of = |settings: HttpSettings| {
        let sentence = open::http("site", settings)
            .err()
            .map(|error| error.to_string());
        let sentence = sentence.unwrap_or_else(|| "it can".to_owned());
        assert!(!sentence.contains("planted"), "{sentence}");
        sentence
    };
    let good = || HttpSettings::new("http://site/");
    let header = |name: &str, value: &str| HttpSettings {
        headers: vec![(name.to_owned(), value.into())],
        ..good()
    };
    let sentences = [
        of(HttpSettings::new(format!("http://{USER}:{PASSWORD}@site/"))),
        of(HttpSettings::new(PASSWORD)),
        of(HttpSettings {
            roots: Roots::File("/planted/ca.pem".into()),
            ..HttpSettings::new("https://site/")
        }),
        of(header("planted header", "x")),
        of(header("x-key", "planted\n")),
        of(header("Host", "planted")),
        of(HttpSettings {
            password: Some(PASSWORD.into()),
            ..good()
        }),
        of(HttpSettings {
            user: Some("planted:".into()),
            ..good()
        }),
        of(HttpSettings {
            status: 200..=1000,
            ..good()
        }),
        of(HttpSettings {
            method: HttpMethod::Head,
            body: Some(HttpBody::Contains("planted".into())),
            ..good()
        }),
        of(HttpSettings {
            body: Some(HttpBody::Json {
                pointer: "planted".into(),
                value: json!(1),
            }),
            ..good()
        }),
        of(HttpSettings {
            max_body_bytes: usize::MAX,
            ..good()
        }),
    ];
    assert_eq!(
        sentences.join("\n"),
        "a URL may not hold a user or a password; take them out of it\n\
         a URL begins with http://, such as http://orders:8790/health\n\
         the file of root certificates cannot be read\n\
         the name of a header cannot be sent\n\
         the value of a header cannot be sent\n\
         a header is one that the check sends itself\n\
         there is a password and no user\n\
         the user has a colon, which no user of basic authentication may have\n\
         the statuses are no range from 100 to 599\n\
         HEAD has no body that could say anything\n\
         a JSON pointer begins with a slash, or is empty\n\
         more than 8 MiB of an answer are not read"
    );
}
