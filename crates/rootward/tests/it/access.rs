//! Who may read the detailed report, over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Access, Builder, Health, Token, Tokens, TokensError};

use crate::support::{Answer, any_port, ask, cart, get, until};

const OPEN: [&str; 4] = ["/livez", "/readyz", "/healthz", "/startupz"];

fn token(seed: u8) -> Token {
    Token::from_random([seed; 40])
}

fn tokens(seeds: &[u8]) -> Tokens {
    Tokens::digests(seeds.iter().map(|seed| token(*seed).digest().to_string()))
}

fn bearer(token: &Token) -> String {
    format!("Authorization: Bearer {}\r\n", token.expose())
}

fn health_with(address: SocketAddr, token: &Token) -> u16 {
    ask(address, "GET", "/health", &bearer(token)).code
}

async fn started(builder: Builder) -> (Health, SocketAddr) {
    let health = builder.listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || health.is_started()).await;
    (health, address)
}

#[tokio::test]
async fn a_token_opens_the_detailed_report_and_strangers_get_a_401_without_a_hint() {
    let access = Access::loopback().without_loopback().tokens(tokens(&[1]));
    let (health, address) = started(cart().access(access)).await;
    assert_eq!(health_with(address, &token(1)), 200);
    let half = &token(1).expose().to_owned()[..60];
    let strangers = [
        String::new(),
        bearer(&token(2)),
        format!("Authorization: Bearer {half}\r\n"),
        "Authorization: Basic YWxpY2U6aHVudGVyMg==\r\n".to_owned(),
    ];
    let mut texts: Vec<_> = strangers
        .iter()
        .map(|headers| {
            let answer = ask(address, "GET", "/health", headers);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            let head: Vec<_> = answer
                .head
                .lines()
                .filter(|line| !line.starts_with("date"))
                .collect();
            format!("{}\n{}", head.join("\n"), answer.body)
        })
        .collect();
    texts.dedup();
    assert_eq!(texts.len(), 1, "all of them get the same: {texts:#?}");
    // Not in a URL: it would stand in logs.
    let path = format!("/health?token={0}&access_token={0}", token(1).expose());
    assert_eq!(get(address, &path).code, 401);
    for path in OPEN {
        assert_eq!(get(address, path).code, 200, "{path}");
    }
    health.stop().await;
}

#[tokio::test]
async fn a_wrong_token_is_wrong_on_this_machine_too() {
    let (health, address) = started(cart().access(Access::loopback().tokens(tokens(&[1])))).await;
    assert_eq!(get(address, "/health").code, 200);
    assert_eq!(health_with(address, &token(2)), 401);
    health.stop().await;
}

#[tokio::test]
async fn kf_099_a_token_that_was_taken_back_is_refused_at_once() {
    let access = Access::loopback().without_loopback().tokens(tokens(&[1]));
    let (health, address) = started(cart().access(access)).await;
    health
        .set_tokens([token(1).digest(), token(2).digest()])
        .expect("two");
    assert_eq!(health_with(address, &token(1)), 200);
    assert_eq!(health_with(address, &token(2)), 200);
    health.set_tokens([token(2).digest()]).expect("one");
    assert_eq!(health_with(address, &token(1)), 401);
    assert_eq!(health_with(address, &token(2)), 200);
    let three = [1, 2, 3].map(|seed| token(seed).digest());
    assert_eq!(health.set_tokens(three), Err(TokensError::TooMany(3)));
    assert_eq!(health_with(address, &token(2)), 200, "nothing changed");
    health.set_tokens([]).expect("none");
    assert_eq!(health_with(address, &token(2)), 401);
    health.stop().await;
}

#[tokio::test]
async fn kf_099_a_token_expires() {
    let wall = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let digest = token(1).digest();
    let soon = wall + Duration::from_secs(1);
    let access = Access::loopback().without_loopback().tokens(tokens(&[9]));
    let builder = cart().access(access).wall_clock(move || wall);
    let (health, address) = started(builder).await;
    health
        .set_tokens([
            digest.clone().expiring(soon),
            token(2).digest().expiring(wall),
        ])
        .expect("two");
    assert_eq!(health_with(address, &token(1)), 200);
    assert_eq!(health_with(address, &token(2)), 401);
    health.stop().await;
}

#[tokio::test]
async fn guesses_are_slowed_down_and_probes_are_not() {
    let access = Access::loopback().tokens(tokens(&[1]));
    let (health, address) = started(cart().access(access)).await;
    let codes: Vec<_> = (0..8).map(|_| health_with(address, &token(2))).collect();
    assert_eq!(codes, [401, 401, 401, 401, 401, 429, 429, 429]);
    let answer = ask(address, "GET", "/health", &bearer(&token(2)));
    assert_eq!(answer.header("retry-after"), Some("1"));
    insta::assert_snapshot!(answer.body, @r#"{"error":{"code":"too_many_requests","message":"asked too often: ask again after the time in Retry-After"}}"#);
    // Whoever shows nothing shows nothing wrong.
    assert_eq!(get(address, "/health").code, 200);
    for path in OPEN {
        assert_eq!(ask(address, "GET", path, &bearer(&token(2))).code, 200);
    }
    health.stop().await;
}

#[tokio::test]
async fn the_public_word_and_the_report_are_limited_and_probes_never() {
    let (health, address) = started(cart()).await;
    let limited = |path: &str, times: usize| -> Option<Answer> {
        let mut answers = (0..times).map(|_| get(address, path));
        answers.find(|answer| answer.code != 200)
    };
    for path in ["/status", "/health"] {
        let answer = limited(path, 5000).expect("it is limited");
        assert_eq!(answer.code, 429, "{path}");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    for path in OPEN {
        assert!(limited(path, 300).is_none(), "{path}");
    }
    health.stop().await;
}

#[tokio::test]
async fn all_problems_with_access_come_with_all_others() {
    let access = Access::loopback().tokens(Tokens::digests(["hunter2", token(1).expose()]));
    let error = Health::builder("the cart")
        .access(access)
        .start()
        .unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "the cart" has 3 problems
      service: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
      tokens: number 1: not the digest of a token: expected rw1_, 16 hexadecimal digits, :sha256: and 64 more, as `rootward token` prints it
      tokens: number 2: this is a token, not its digest: `rootward token` prints both
    "#);
    let access = Access::loopback().without_loopback();
    let error = cart().access(access).start().unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      access: without loopback, tokens or client certificates nobody may read the detailed report
    "#);
    let access = Access::loopback().tokens(tokens(&[1, 2, 3]));
    let error = cart().access(access).start().unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      tokens: 3 tokens are too many, at most 2 can be valid at a time
    "#);
    let access = Access::loopback().tokens(Tokens::secrets(Vec::new()));
    let error = cart().access(access).start().unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      tokens: there are none: without tokens, say nothing about them
    "#);
    let access = Access::loopback().tokens(Tokens::file("/nowhere/tokens"));
    let error = cart().access(access).start().unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      tokens: the file /nowhere/tokens cannot be read: there is none
    "#);
}

#[tokio::test]
async fn a_prober_on_the_report_is_a_finding_whether_it_is_let_in_or_not() {
    let access = Access::loopback().without_loopback().tokens(tokens(&[1]));
    let (health, address) = started(cart().access(access)).await;
    let finding = |health: &Health| -> Vec<String> {
        let report = health.report();
        let findings = report.findings.iter();
        findings
            .map(|finding| {
                format!(
                    "{}: {}",
                    finding.kind,
                    finding.text.as_deref().unwrap_or("")
                )
            })
            .collect()
    };
    for agent in [
        "curl/8.5.0",
        "rootward/0.1.0",
        "Prometheus/3.0",
        "Mozilla/5.0",
    ] {
        ask(
            address,
            "GET",
            "/health",
            &format!("User-Agent: {agent}\r\n"),
        );
    }
    ask(address, "GET", "/readyz", "User-Agent: kube-probe/1.33\r\n");
    assert_eq!(finding(&health), [""; 0]);
    for _ in 0..3 {
        let answer = ask(address, "GET", "/health", "User-Agent: kube-probe/1.33\r\n");
        assert_eq!(answer.code, 401);
    }
    let headers = format!("{}User-Agent: ELB-HealthChecker/2.0\r\n", bearer(&token(1)));
    let answer = ask(address, "GET", "/health", &headers);
    assert_eq!(answer.code, 200);
    assert_eq!(answer.json()["findings"].as_array().map(Vec::len), Some(2));
    insta::assert_snapshot!(finding(&health).join("\n"), @r"
    probe_misuse: a Kubernetes probe asks for /health, which nobody may act on: it speaks of dependencies that others share; point it at /livez for liveness, /readyz for readiness and /startupz for startup
    probe_misuse: an AWS load balancer asks for /health, which nobody may act on: it speaks of dependencies that others share; point it at /readyz
    ");
    health.stop().await;
}

/// In a network of its own, where this machine has an address besides the loopback ones. Connections to it come from it.
#[test]
fn the_report_is_not_for_other_addresses_than_loopback() {
    let this = std::env::current_exe().expect("this test");
    let script = "ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec \"$0\" --exact \
                  access::in_a_network_of_its_own --ignored --nocapture";
    let made = std::process::Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", script])
        .arg(this)
        .output();
    let Ok(ended) = made else {
        eprintln!("SKIPPED: there is no unshare here");
        return;
    };
    let out = String::from_utf8_lossy(&ended.stdout);
    if !out.contains("in_a_network_of_its_own") {
        let why = String::from_utf8_lossy(&ended.stderr);
        eprintln!("SKIPPED: no network namespace can be made here: {why}");
        return;
    }
    assert!(ended.status.success() && out.contains("1 passed"), "{out}");
}

#[tokio::test]
#[ignore = "the test above runs it where 192.0.2.1 is an address of this machine"]
async fn in_a_network_of_its_own() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let builder = cart().access(Access::loopback().tokens(tokens(&[1])));
    let health = builder.listen(everywhere).start().expect("it starts");
    let port = health.listen_addr().expect("it listens").port();
    until(Duration::from_secs(10), || health.is_started()).await;
    let here = SocketAddr::from(([127, 0, 0, 1], port));
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], port));
    for path in OPEN.into_iter().chain(["/status"]) {
        assert_eq!(get(elsewhere, path).code, 200, "{path}");
    }
    assert_eq!(get(here, "/health").code, 200);
    assert_eq!(get(elsewhere, "/health").code, 401);
    assert_eq!(get(elsewhere, "/metrics").code, 401);
    let claim = "X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n";
    assert_eq!(ask(elsewhere, "GET", "/health", claim).code, 401);
    assert_eq!(health_with(elsewhere, &token(2)), 401);
    assert_eq!(health_with(elsewhere, &token(1)), 200);
    health.stop().await;
}

/// Within 5 s, and by then nobody is let in who was not before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_099_a_token_that_is_taken_out_of_the_file_is_refused() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let path = directory.path().join("tokens");
    let write = |text: String| std::fs::write(&path, text).expect("written");
    write(format!("# in use\n{}\n", token(1).digest()));
    let access = Access::loopback()
        .without_loopback()
        .unlimited_rates()
        .tokens(Tokens::file(&path));
    let (health, address) = started(cart().access(access)).await;
    assert_eq!(health_with(address, &token(1)), 200);
    assert_eq!(
        health.set_tokens([token(2).digest()]),
        Err(TokensError::FromFile)
    );
    // Torn, empty, not tokens: what was accepted stays accepted.
    for text in ["", "rw1_0101", "\u{0}\u{1}"] {
        write(text.to_owned());
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(4500) {
            assert_eq!(health_with(address, &token(1)), 200, "{text:?}");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
    write(format!("{}\n", token(2).digest()));
    let began = std::time::Instant::now();
    while health_with(address, &token(1)) == 200 {
        let took = began.elapsed();
        // Five seconds are promised; a test machine may have no time for a moment.
        assert!(
            took < Duration::from_secs(8),
            "still accepted after {took:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(health_with(address, &token(2)), 200);
    write("# none\n".to_owned());
    let began = std::time::Instant::now();
    while health_with(address, &token(2)) == 200 {
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(8),
            "still accepted after {took:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    health.stop().await;
}
