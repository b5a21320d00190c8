//! Who gets which answer with which code, over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health};

use crate::support::{Dependency, any_port, ask, cart, get, try_ask, until};

const ENDPOINTS: [&str; 6] = [
    "/livez",
    "/readyz",
    "/healthz",
    "/startupz",
    "/status",
    "/health",
];

async fn started(builder: rootward::Builder) -> (Health, SocketAddr) {
    let health = builder.listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || {
        let report = health.report();
        health.is_started() && report.components.iter().all(|c| c.seq.is_some())
    })
    .await;
    (health, address)
}

fn codes(address: SocketAddr) -> Vec<(&'static str, u16)> {
    let code = |path| (path, get(address, path).code);
    ENDPOINTS.into_iter().map(code).collect()
}

#[tokio::test]
async fn a_healthy_instance() {
    let (health, address) = started(cart().check(Dependency::default().check("db").hard())).await;
    for (path, code) in codes(address) {
        assert_eq!(code, 200, "{path}");
    }
    assert_eq!(get(address, "/livez").body, r#"{"alive":true}"#);
    assert_eq!(
        get(address, "/readyz").body_without_lag(),
        r#"{"ready":true,"reasons":[],"serving":true}"#
    );
    assert_eq!(
        get(address, "/healthz").body_without_lag(),
        get(address, "/readyz").body_without_lag()
    );
    assert_eq!(
        get(address, "/startupz").body,
        r#"{"started":true,"held":[]}"#
    );
    assert_eq!(get(address, "/status").body, r#"{"status":"up"}"#);
    health.stop().await;
}

/// KF-032 and KF-003: a shared dependency changes the detailed and the public answer, and no probe.
#[tokio::test]
async fn kf_032_a_hard_shared_dependency_that_is_down_fails_no_probe() {
    let (health, address) = started(
        cart().check(
            Dependency::broken()
                .check("orders-db")
                .hard()
                .kind("postgresql"),
        ),
    )
    .await;
    assert_eq!(
        codes(address),
        [
            ("/livez", 200),
            ("/readyz", 200),
            ("/healthz", 200),
            ("/startupz", 200),
            ("/status", 503),
            ("/health", 503),
        ]
    );
    assert_eq!(get(address, "/status").body, r#"{"status":"down"}"#);
    assert_eq!(
        get(address, "/readyz").body_without_lag(),
        r#"{"ready":true,"reasons":[],"serving":false}"#,
        "it cannot serve, and says so without a code"
    );
    let report = get(address, "/health").json();
    assert_eq!(report["status"], "unhealthy");
    assert_eq!(report["errors"], serde_json::json!(["orders-db"]));
    health.stop().await;
}

#[tokio::test]
async fn a_soft_loss_is_degraded_and_never_503() {
    let (health, address) = started(cart().check(Dependency::broken().check("cache").soft())).await;
    for (path, code) in codes(address) {
        assert_eq!(code, 200, "{path}");
    }
    assert_eq!(get(address, "/status").body, r#"{"status":"degraded"}"#);
    let report = get(address, "/health").json();
    assert_eq!(report["warnings"], serde_json::json!(["cache"]));
    assert_eq!(report["serving"], true);
    health.stop().await;
}

/// A service that is called does not make the caller stop serving: two that call each other would hold each other.
#[tokio::test]
async fn a_called_service_that_is_down_leaves_serving_true() {
    let check = Dependency::broken().check("orders").hard().kind("service");
    let (health, address) = started(cart().check(check)).await;
    let ready = get(address, "/readyz").json();
    assert_eq!(ready["serving"], true);
    assert_eq!(get(address, "/health").code, 503);
    health.stop().await;
}

#[tokio::test]
async fn a_local_hard_condition_gates_readiness_while_it_is_down_and_only_then() {
    let disk = Check::new("disk", || async {
        Err::<(), _>(Failure::new(ErrorCategory::ResourceExhausted).because("the disk is full"))
    });
    let degraded = Check::new("pool", || async {
        Ok(rootward::Outcome::degraded(
            ErrorCategory::ResourceExhausted,
            "the pool is nearly used up",
        ))
    });
    let (health, address) = started(
        cart()
            .check(degraded.hard().local())
            .check(disk.hard().local()),
    )
    .await;
    let ready = get(address, "/readyz");
    assert_eq!(ready.code, 503);
    assert_eq!(
        ready.body_without_lag(),
        r#"{"ready":false,"reasons":["disk is down: the disk is full"],"serving":false}"#
    );
    assert_eq!(get(address, "/healthz").code, 503);
    assert_eq!(get(address, "/livez").code, 200);
    health.stop().await;
}

#[tokio::test]
async fn starting_is_503_everywhere_but_in_liveness() {
    let mut builder = cart().listen(any_port());
    let warm = builder.latch("cache warm");
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    assert_eq!(
        codes(address),
        [
            ("/livez", 200),
            ("/readyz", 503),
            ("/healthz", 503),
            ("/startupz", 503),
            ("/status", 503),
            ("/health", 503),
        ]
    );
    assert_eq!(
        get(address, "/readyz").body_without_lag(),
        r#"{"ready":false,"reasons":["still starting: cache warm"],"serving":true}"#
    );
    assert_eq!(
        get(address, "/startupz").body,
        r#"{"started":false,"held":["cache warm"]}"#
    );
    assert_eq!(get(address, "/status").body, r#"{"status":"starting"}"#);
    drop(warm);
    for (path, code) in codes(address) {
        assert_eq!(code, 200, "{path}, at once");
    }
    health.set_not_ready("the catalogue is reloading");
    let ready = get(address, "/readyz");
    assert_eq!(ready.code, 503);
    assert_eq!(
        ready.json()["reasons"],
        serde_json::json!(["the catalogue is reloading"])
    );
    health.stop().await;
}

/// KF-028.
#[tokio::test]
async fn kf_028_every_answer_says_no_store_and_what_it_is() {
    let (health, address) = started(cart()).await;
    for path in ENDPOINTS.into_iter().chain(["/", "/health/deeper"]) {
        for method in ["GET", "HEAD", "DELETE"] {
            let answer = ask(address, method, path, "");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }
    health.stop().await;
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let (health, address) = started(cart()).await;
    for path in ["/livez", "/readyz", "/startupz", "/status"] {
        let got = get(address, path);
        let head = ask(address, "HEAD", path, "");
        assert_eq!((head.code, head.body.as_str()), (got.code, ""));
        assert_eq!(head.header("content-length"), got.header("content-length"));
    }
    health.stop().await;
}

#[tokio::test]
async fn what_is_not_there_and_what_is_not_done_gets_a_sentence() {
    let (health, address) = started(cart()).await;
    let answer = get(address, "/metric");
    assert_eq!(answer.code, 404);
    insta::assert_snapshot!(answer.body, @r#"{"error":{"code":"not_found","message":"nothing is served here; there are /livez, /readyz, /healthz, /startupz, /status, /health, /health/deep and /metrics"}}"#);
    let answer = ask(address, "POST", "/readyz", "content-length: 0\r\n");
    assert_eq!(
        (answer.code, answer.header("allow")),
        (405, Some("GET, HEAD, OPTIONS"))
    );
    insta::assert_snapshot!(answer.body, @r#"{"error":{"code":"method_not_allowed","message":"only GET, HEAD and OPTIONS are answered here"}}"#);
    // Where a check of another service must ask instead.
    let answer = ask(address, "GET", "/health", "Rootward-Check-From: front\r\n");
    assert_eq!(answer.code, 508);
    insta::assert_snapshot!(answer.body, @r#"{"error":{"code":"check_of_a_check","message":"a check of another service must ask /readyz, not the detailed report: checks that ask checks walk the graph"}}"#);
    let answer = ask(address, "GET", "/readyz", "Rootward-Check-From: front\r\n");
    assert_eq!(answer.code, 200);
    // A proxy on this machine speaks for somebody else.
    for header in ["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7"] {
        let answer = ask(address, "GET", "/health", &format!("{header}\r\n"));
        assert_eq!(answer.code, 401);
        insta::allow_duplicates! { insta::assert_snapshot!(answer.body, @r#"{"error":{"code":"unauthorized","message":"the detailed answers are given to callers who are known only; /status has the public word"}}"#); }
    }
    health.stop().await;
}

/// OPTIONS says how a path may be asked, and nothing that would give an answer to a page of another origin.
#[tokio::test]
async fn options_names_the_methods_and_allows_no_other_origin() {
    let (health, address) = started(cart()).await;
    for path in ENDPOINTS {
        let headers = "Origin: http://elsewhere.example\r\nAccess-Control-Request-Method: GET\r\n";
        for method in ["OPTIONS", "GET"] {
            let answer = ask(address, method, path, headers);
            assert!(
                !answer.head.to_lowercase().contains("access-control"),
                "{path}"
            );
        }
        let answer = ask(address, "OPTIONS", path, headers);
        assert_eq!((answer.code, answer.body.as_str()), (204, ""));
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    assert_eq!(ask(address, "OPTIONS", "/none", "").code, 404);
    health.stop().await;
}

/// KF-080: a thousand answers, and no more runs than without them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_080_no_request_runs_a_check() {
    let db = Dependency::default();
    let (health, address) = started(cart().check(db.check("orders-db").hard())).await;
    let asked = db.asked();
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).expect("a connection");
        let mut buffer = [0; 4096];
        for _ in 0..200 {
            for path in ["/health", "/readyz", "/livez", "/status", "/startupz"] {
                let request = format!("GET {path} HTTP/1.1\r\nhost: probe\r\n\r\n");
                stream.write_all(request.as_bytes()).expect("sent");
                let read = stream.read(&mut buffer).expect("an answer");
                let answer = &buffer[..read];
                // The detailed report is limited; a refusal runs no check either.
                let refused = path == "/health" || path == "/status";
                let refused = refused && answer.starts_with(b"HTTP/1.1 429");
                assert!(answer.starts_with(b"HTTP/1.1 200") || refused);
            }
        }
    })
    .await
    .expect("a thousand answers");
    assert!(db.asked() <= asked + 1, "its own schedule only");
    health.stop().await;
}

/// Whoever holds connections open, on purpose or not, keeps no probe out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_silent_connections_than_may_be_keep_no_probe_out() {
    let (health, address) = started(cart()).await;
    let held: Vec<_> = (0..300)
        .map(|index| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            if index % 2 == 0 {
                stream.write_all(b"GET /livez HT").expect("half a request");
            }
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(get(address, "/livez").code, 200);
    }
    // The first ones were closed to make room; the newest are still open.
    let closed = |stream: &TcpStream| {
        let mut stream = stream;
        stream
            .set_read_timeout(Some(Duration::from_millis(50)))
            .expect("a limit");
        matches!(stream.read(&mut [0; 1]), Ok(0))
    };
    assert!(closed(&held[0]));
    assert!(!closed(&held[299]));
    health.stop().await;
}

/// Slow or silent from the beginning: closed after five seconds. Silent after an answer: kept, for the next poll.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_never_asks_is_closed_and_one_that_asked_is_kept() {
    let (health, address) = started(cart()).await;
    let connect = || {
        let stream = TcpStream::connect(address).expect("a connection");
        let limit = Some(Duration::from_secs(20));
        stream.set_read_timeout(limit).expect("a limit");
        stream
    };
    let (mut silent, mut slow, mut polite) = (connect(), connect(), connect());
    slow.write_all(b"GET /livez HTTP/1.1\r\nhost:")
        .expect("half a request");
    let request = b"GET /livez HTTP/1.1\r\nhost: probe\r\n\r\n";
    let mut buffer = [0; 1024];
    polite.write_all(request).expect("sent");
    assert!(polite.read(&mut buffer).expect("an answer") > 0);
    tokio::task::block_in_place(|| {
        assert_eq!(silent.read(&mut buffer).expect("closed, not silent"), 0);
        assert_eq!(slow.read(&mut buffer).expect("closed, not silent"), 0);
    });
    polite.write_all(request).expect("sent");
    assert!(polite.read(&mut buffer).expect("an answer") > 0);
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_too_large_is_refused_and_the_listener_goes_on() {
    let (health, address) = started(cart()).await;
    let huge = format!("x-padding: {}\r\n", "x".repeat(64 * 1024));
    if let Ok(answer) = try_ask(address, "GET", "/livez", &huge) {
        assert_eq!(answer.code, 431);
    }
    assert_eq!(get(address, "/livez").code, 200);
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_idle_connections_and_frees_the_port() {
    let (health, address) = started(cart()).await;
    let mut idle = TcpStream::connect(address).expect("a connection");
    write!(idle, "GET /livez HTTP/1.1\r\nhost: probe\r\n\r\n").expect("sent");
    let mut buffer = [0; 1024];
    assert!(idle.read(&mut buffer).expect("an answer") > 0);
    health.stop().await;
    idle.set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a limit");
    assert_eq!(idle.read(&mut buffer).expect("closed, not silent"), 0);
    assert!(TcpStream::connect(address).is_err(), "nobody listens");
    let again = Health::builder("cart").listen(address).start();
    again.expect("the port is free at once").stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_handle_ends_the_listener_and_the_checks() {
    let db = Dependency::default();
    let (health, address) = started(
        cart().check(
            db.check("db")
                .hard()
                .interval(Duration::from_millis(20))
                .timeout(Duration::from_millis(10)),
        ),
    )
    .await;
    drop(health);
    until(Duration::from_secs(10), || {
        TcpStream::connect(address).is_err()
    })
    .await;
    let asked = db.asked();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(db.asked() <= asked + 1);
}

/// `printf 'GET /livez …' | nc -N` and simple probers do that. It is no reason for a restart.
#[tokio::test]
async fn a_prober_that_closes_its_direction_after_the_question_gets_the_answer() {
    use std::io::{Read, Write};
    let (health, address) = started(cart()).await;
    let asked = tokio::task::spawn_blocking(move || {
        for path in ["/livez", "/readyz", "/health/deep"] {
            for version in ["1.0", "1.1"] {
                for _ in 0..20 {
                    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
                    let question = format!("GET {path} HTTP/{version}\r\nhost: probe\r\n\r\n");
                    stream.write_all(question.as_bytes()).expect("it is sent");
                    stream
                        .shutdown(std::net::Shutdown::Write)
                        .expect("it is closed");
                    let mut answer = String::new();
                    stream.read_to_string(&mut answer).expect("it is read");
                    assert!(
                        answer.starts_with("HTTP/1."),
                        "{path} over {version}: {answer:?}"
                    );
                }
            }
        }
    });
    asked.await.expect("it ends");
    health.stop().await;
}
