//! The same report for other readers: some components, health+json, text, all checks run now.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rootward::{Builder, Check, ErrorCategory, Failure, Health};

use crate::support::{Answer, Dependency, any_port, ask, cart, get, until};

async fn started(builder: Builder) -> (Health, SocketAddr) {
    let health = builder.listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || {
        health.report().components.iter().all(|c| c.seq.is_some())
    })
    .await;
    (health, address)
}

/// One hard and down, one soft and down, one up.
fn mixed() -> Builder {
    cart()
        .version("1.4.2")
        .check(
            Dependency::broken()
                .check("orders-db")
                .hard()
                .kind("postgresql")
                .target("postgresql://orders-db:5432/orders"),
        )
        .check(Dependency::broken().check("cache").soft().kind("redis"))
        .check(Check::new("disk", || async { Ok(()) }).hard().local())
}

fn names(answer: &Answer) -> Vec<String> {
    let report = answer.json();
    let components = report["components"].as_array().expect("an array").iter();
    components
        .map(|component| component["name"].as_str().expect("a name").to_owned())
        .collect()
}

fn accepting(address: SocketAddr, path: &str, accept: &str) -> Answer {
    ask(address, "GET", path, &format!("accept: {accept}\r\n"))
}

#[tokio::test]
async fn a_report_about_some_components_has_their_code_and_says_so() {
    let (health, address) = started(mixed()).await;
    for (query, code, status, shown) in [
        ("component=disk", 200, "healthy", &["disk"][..]),
        ("component=orders-db", 503, "unhealthy", &["orders-db"]),
        (
            "component=cache&component=disk",
            200,
            "degraded",
            &["cache", "disk"],
        ),
        ("exclude=orders-db", 200, "degraded", &["cache", "disk"]),
        ("exclude=cache&exclude=orders-db", 200, "healthy", &["disk"]),
        (
            "component=cache&component=orders-db&exclude=orders-db",
            200,
            "degraded",
            &["cache"],
        ),
        ("component=orders%2Ddb", 503, "unhealthy", &["orders-db"]),
        // Against caches.
        ("component=disk&_=1796008360", 200, "healthy", &["disk"]),
    ] {
        let answer = get(address, &format!("/health?{query}"));
        assert_eq!(answer.code, code, "{query}");
        assert_eq!(answer.json()["status"], status, "{query}");
        assert_eq!(names(&answer), shown, "{query}");
        let finding = &answer.json()["findings"][0];
        assert_eq!(finding["kind"], "selection", "{query}");
        let text = format!(
            "{} of 3 components, as asked for: the status and the code are theirs alone",
            shown.len()
        );
        assert_eq!(finding["text"], text.as_str());
    }
    for query in ["", "?", "?_=1796008360", "?components=disk"] {
        let whole = get(address, &format!("/health{query}"));
        assert_eq!(whole.json()["findings"], serde_json::json!([]), "{query}");
        assert_eq!(names(&whole).len(), 3, "{query}");
    }
    // It stays the same instance: what holds its start holds every selection.
    assert_eq!(
        get(address, "/health?component=disk").json()["serving"],
        false
    );
    health.stop().await;
}

#[tokio::test]
async fn a_query_that_makes_no_sense_is_told_so_all_at_once_and_only_where_it_matters() {
    let (health, address) = started(mixed()).await;
    let message = |query: &str| {
        let answer = get(address, &format!("/health?{query}"));
        assert_eq!(answer.code, 400, "{query}");
        answer.json()["error"]["message"]
            .as_str()
            .map(str::to_owned)
    };
    insta::assert_snapshot!(message("component=dsik&exclude=chache&component=%zz&component=%3Cscript%3E").unwrap_or_default(), @"a value of component is not percent-encoded UTF-8 (RFC 3986, section 2.1); component=dsik: there is no such component; exclude=chache: there is no such component; a value of component is no name; there are: orders-db, cache, disk");
    insta::assert_snapshot!(message("component=disk&exclude=disk").unwrap_or_default(), @"nothing is left of what was asked for");
    insta::assert_snapshot!(message("component=").unwrap_or_default(), @"a value of component is no name; there are: orders-db, cache, disk");
    let long = get(address, &format!("/health?component={}", "x".repeat(5000)));
    assert_eq!(long.code, 414);
    insta::assert_snapshot!(long.body, @r#"{"error":{"code":"query_too_long","message":"the query may have at most 4096 bytes"}}"#);
    // An orchestrator acts on the code: no query makes a probe fail.
    for path in ["/livez", "/readyz", "/healthz", "/startupz"] {
        for query in ["component=none", "exclude=disk", "%zz", &"x".repeat(5000)] {
            let plain = get(address, path);
            let asked = get(address, &format!("{path}?{query}"));
            assert_eq!(asked.code, plain.code, "{path}?{query}");
            assert_eq!(asked.header("content-type"), Some("application/json"));
        }
    }
    // Strangers learn no names.
    let stranger = ask(
        address,
        "GET",
        "/health?component=dsik",
        "forwarded: for=a\r\n",
    );
    assert_eq!(stranger.code, 401);
    assert!(!stranger.body.contains("orders-db"));
    health.stop().await;
}

/// The text without times and durations.
fn steady(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let checks = value["checks"].as_object_mut().expect("an object");
    for element in checks
        .values_mut()
        .flat_map(|checks| checks.as_array_mut().expect("an array"))
    {
        assert!(
            element["observedValue"]
                .as_f64()
                .is_some_and(|value| value < 500.0)
        );
        element["observedValue"] = 1.into();
        element["time"] = "T".into();
    }
    serde_json::to_string_pretty(&value).expect("JSON")
}

#[tokio::test]
async fn health_json_in_full_for_who_asks_for_it() {
    let (health, address) = started(mixed()).await;
    let answer = accepting(address, "/health", "application/health+json");
    assert_eq!(answer.code, 503);
    assert_eq!(
        answer.header("content-type"),
        Some("application/health+json")
    );
    assert_eq!(answer.header("vary"), Some("accept"));
    insta::assert_snapshot!(steady(&answer.body), @r#"
    {
      "checks": {
        "cache:responseTime": [
          {
            "componentId": "cache",
            "componentType": "datastore",
            "observedUnit": "ms",
            "observedValue": 1,
            "output": "connection refused",
            "status": "fail",
            "time": "T"
          }
        ],
        "disk:responseTime": [
          {
            "componentId": "disk",
            "componentType": "system",
            "observedUnit": "ms",
            "observedValue": 1,
            "status": "pass",
            "time": "T"
          }
        ],
        "orders-db:responseTime": [
          {
            "componentId": "orders-db",
            "componentType": "datastore",
            "observedUnit": "ms",
            "observedValue": 1,
            "output": "connection refused",
            "status": "fail",
            "time": "T"
          }
        ]
      },
      "description": "instance cart-0",
      "output": "orders-db: down; cache: down",
      "releaseId": "1.4.2",
      "serviceId": "cart",
      "status": "fail"
    }
    "#);
    // Both formats of one moment, one after the other: neither is given for the other.
    for accept in [
        "application/json",
        "*/*",
        "text/html",
        "application/health+json;q=0",
    ] {
        let ours = accepting(address, "/health", accept);
        assert_eq!(
            ours.header("content-type"),
            Some("application/json"),
            "{accept}"
        );
        assert_eq!(ours.json()["contract"], "rootward/1");
    }
    let some = accepting(address, "/health?component=disk", "application/health+json");
    assert_eq!(
        (some.code, some.json()["status"].as_str()),
        (200, Some("pass"))
    );
    assert!(some.json()["output"].is_null());
    health.stop().await;
}

/// No evidence is never a pass, and a name with a colon stays one component.
#[tokio::test]
async fn health_json_says_nothing_where_nothing_is_known() {
    let slow = Check::new("queue:orders", std::future::pending::<Result<(), Failure>>)
        .hard()
        .interval(Duration::from_secs(60))
        .timeout(Duration::from_secs(30));
    let health = cart()
        .listen(any_port())
        .check(slow)
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let answer = accepting(address, "/health", "application/health+json");
    assert_eq!(answer.code, 503);
    insta::assert_snapshot!(answer.body, @r#"{"status":"fail","serviceId":"cart","description":"instance cart-0","output":"still starting","checks":{"queue-orders:responseTime":[{"componentId":"queue:orders","componentType":"component","output":"no result yet"}]}}"#);
    health.stop().await;
}

#[tokio::test]
async fn verbose_text_as_kubernetes_writes_it() {
    let full = Check::new("disk", || async {
        Err::<(), _>(Failure::new(ErrorCategory::ResourceExhausted).because("the disk is full"))
    });
    let (health, address) = started(
        mixed_without_disk()
            .check(full.hard().local())
            .check(Check::new("pool", || async { Ok(()) }).hard().local()),
    )
    .await;
    let answer = get(address, "/readyz?verbose");
    assert_eq!(answer.code, 503);
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    insta::assert_snapshot!(answer.body, @r#"
    [+]shutdown ok
    [+]startup ok
    [+]application ok
    [+]loop-lag ok
    [-]disk failed: the disk is full
    [+]pool ok
    readyz check failed
    "#);
    let stranger = ask(address, "GET", "/readyz?verbose", "forwarded: for=a\r\n");
    assert_eq!(stranger.code, 503);
    insta::assert_snapshot!(stranger.body, @r#"
    [+]shutdown ok
    [+]startup ok
    [+]application ok
    [+]loop-lag ok
    [-]disk failed: reason withheld
    readyz check failed
    "#);
    insta::assert_snapshot!(get(address, "/livez?verbose").body, @r#"
    [+]ping ok
    [+]runtime ok
    [+]heartbeats ok
    [+]application ok
    livez check passed
    "#);
    insta::assert_snapshot!(get(address, "/startupz?verbose=1").body, @r#"
    [+]startup ok
    startupz check passed
    "#);
    assert!(
        get(address, "/healthz?verbose")
            .body
            .ends_with("healthz check failed\n")
    );
    // The public word is one word.
    assert_eq!(get(address, "/status?verbose").body, r#"{"status":"down"}"#);
    health.stop().await;
}

fn mixed_without_disk() -> Builder {
    cart().check(Dependency::broken().check("orders-db").hard())
}

#[tokio::test]
async fn verbose_text_of_a_start_that_is_held() {
    let mut builder = cart().listen(any_port());
    let warm = builder.latch("cache warm");
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    insta::assert_snapshot!(get(address, "/startupz?verbose").body, @r#"
    [-]cache warm failed: still waited for
    startupz check failed
    "#);
    drop(warm);
    insta::assert_snapshot!(get(address, "/startupz?verbose").body, @r#"
    [+]startup ok
    startupz check passed
    "#);
    health.stop().await;
}

/// KF-029: whatever is asked in whatever form, with as many failing checks as may be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_029_the_small_answers_stay_below_a_kibibyte_in_every_form() {
    let mut builder = cart().listen(any_port());
    for index in 0..rootward::MAX_CHECKS {
        let failing = Check::new(format!("{}-{index}", "a".repeat(100)), || async {
            Err::<(), _>(
                Failure::new(ErrorCategory::ResourceExhausted)
                    .because("there is no room left at all"),
            )
        });
        builder = builder.check(failing.hard().local());
    }
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(20), || {
        health.report().components.iter().all(|c| c.seq.is_some())
    })
    .await;
    health.set_not_ready("ä".repeat(10_000));
    for path in ["/livez", "/readyz", "/healthz", "/startupz", "/status"] {
        for query in ["", "?verbose"] {
            for headers in [
                "",
                "forwarded: for=a\r\n",
                "accept: application/health+json\r\n",
            ] {
                let answer = ask(address, "GET", &format!("{path}{query}"), headers);
                assert!(
                    answer.body.len() <= 1024,
                    "{path}{query}: {}",
                    answer.body.len()
                );
            }
        }
    }
    let text = get(address, "/readyz?verbose").body;
    assert!(text.contains("warn: ") && text.contains("[-]"), "{text}");
    assert!(text.ends_with("readyz check failed\n"), "{text}");
    health.stop().await;
}

/// KF-004: twenty checks that hang; each is listed as a timeout, and the other answers go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_004_health_deep_waits_for_all_checks_at_once() {
    let mut builder = cart();
    let dependencies: Vec<_> = (0..20).map(|_| Dependency::default()).collect();
    for (index, dependency) in dependencies.iter().enumerate() {
        let check = dependency.check(&format!("check-{index}")).hard();
        builder = builder.check(
            check
                .fall(1)
                .interval(Duration::from_secs(60))
                .timeout(Duration::from_millis(300)),
        );
    }
    let (health, address) = started(builder).await;
    dependencies.iter().for_each(Dependency::hangs);
    let deep = tokio::task::spawn_blocking(move || {
        let began = Instant::now();
        (get(address, "/health/deep"), began.elapsed())
    });
    let began = Instant::now();
    assert_eq!(get(address, "/livez").code, 200);
    assert!(began.elapsed() < Duration::from_millis(250));
    let (answer, took) = deep.await.expect("an answer");
    assert!(took < Duration::from_millis(300 + 500), "{took:?}");
    assert_eq!(answer.code, 503);
    let report = answer.json();
    let components = report["components"].as_array().expect("an array");
    assert!(components.iter().all(|c| c["error_category"] == "timeout"));
    health.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_deep_shares_a_run_and_refuses_the_next_for_a_while() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let slow = Check::new("db", move || {
        let counts = Arc::clone(&counts);
        async move {
            counts.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok(())
        }
    });
    let (health, address) = started(cart().check(slow.hard())).await;
    let before = asked.load(Ordering::SeqCst);
    let asking: Vec<_> = (0..4)
        .map(|_| tokio::task::spawn_blocking(move || get(address, "/health/deep?component=db")))
        .collect();
    for answer in asking {
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.code, 200);
        assert_eq!(names(&answer), ["db"]);
    }
    assert_eq!(asked.load(Ordering::SeqCst), before + 1, "one run for all");
    let refused = get(address, "/health/deep");
    assert_eq!(refused.code, 429);
    let wait: u64 = refused
        .header("retry-after")
        .and_then(|seconds| seconds.parse().ok())
        .expect("seconds");
    assert!((1..=5).contains(&wait), "{wait}");
    insta::assert_snapshot!(refused.body, @r#"{"error":{"code":"too_many_runs","message":"all checks run at most once in 5 s, for at most 16 callers at a time; /health has their last results"}}"#);
    let refused = ask(
        address,
        "GET",
        "/health/deep",
        "Rootward-Check-From: front\r\n",
    );
    assert_eq!(refused.code, 508);
    let stranger = ask(address, "GET", "/health/deep", "forwarded: for=a\r\n");
    assert_eq!(stranger.code, 401);
    let bad = get(address, "/health/deep?component=none");
    assert_eq!(bad.code, 400, "before anything is run");
    health.stop().await;
}
