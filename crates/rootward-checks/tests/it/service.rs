//! Another service: a real one that embeds `rootward`, and one that answers whatever a test wants.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rootward::{Check, Depth, ErrorCategory, Failure, Health, Unlabelled};
use rootward_checks::service;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::support::{LONG, report_until, run};

const LIMIT: Duration = Duration::from_millis(200);

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn readiness_of(health: &Health) -> Check<Unlabelled> {
    let address = health.listen_addr().expect("it listens");
    service("orders", &format!("http://{address}/readyz"))
}

/// Answers every request with the same bytes, and keeps what it was asked.
struct Other {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
    task: JoinHandle<()>,
}

impl Other {
    async fn answers(bytes: String) -> Self {
        let listener = TcpListener::bind(any_port()).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let connections: Arc<Mutex<usize>> = Arc::default();
        let (kept, counted) = (Arc::clone(&asked), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                *counted.lock().expect("not poisoned") += 1;
                let mut buffer = [0; 2048];
                while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                    let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                    kept.lock().expect("not poisoned").push(text);
                    if stream.write_all(bytes.as_bytes()).await.is_err() {
                        break;
                    }
                }
            }
        });
        Self {
            address,
            asked,
            connections,
            task,
        }
    }

    async fn status(status: &str, body: &str) -> Self {
        let length = body.len();
        Self::answers(format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nlocation: http://alice:hunter2@elsewhere/\r\n\r\n{body}"
        ))
        .await
    }

    fn check(&self) -> Check<Unlabelled> {
        service("orders", &format!("http://{}/readyz", self.address))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn every_status_has_its_result() {
    let cases = [
        ("200 OK", "OK", "up"),
        ("204 No Content", "", "up"),
        ("200 OK", r#"{"ready":true,"serving":true}"#, "up"),
        (
            "200 OK",
            r#"{"ready":true,"serving":false}"#,
            "degraded, not_serving, ready but not serving",
        ),
        ("200 OK", r#"{"ready":false}"#, "down, not_ready, not ready"),
        (
            "503 Service Unavailable",
            "hunter2",
            "down, not_ready, not ready",
        ),
        (
            "503 Service Unavailable",
            r#"{"ready":false,"reasons":["still starting: cache warm"]}"#,
            "down, starting, still starting",
        ),
        (
            "503 Service Unavailable",
            r#"{"ready":false,"reasons":["shutting down"]}"#,
            "down, shutting_down, shutting down",
        ),
        (
            "503 Service Unavailable",
            r#"{"ready":false,"reasons":["disk is down: still starting"]}"#,
            "down, not_ready, not ready",
        ),
        ("302 Found", "", "down, redirect, answered with a redirect"),
        (
            "404 Not Found",
            "hunter2",
            "down, http_status, HTTP status 404",
        ),
        ("401 Unauthorized", "", "down, http_status, HTTP status 401"),
        (
            "500 Internal Server Error",
            "hunter2",
            "down, http_status, HTTP status 500",
        ),
        ("599 Strange", "", "down, http_status, HTTP status 599"),
    ];
    for (status, body, expected) in cases {
        let other = Other::status(status, body).await;
        assert_eq!(run(&other.check(), LONG).await, expected, "{status} {body}");
    }
    let other = Other::answers("hunter2\r\n\r\n".to_owned()).await;
    assert_eq!(
        run(&other.check(), LONG).await,
        "down, protocol, not a valid answer"
    );
}

#[tokio::test]
async fn it_says_who_asks_and_keeps_its_connection() {
    let other = Other::status("200 OK", "{}").await;
    let check = other.check();
    for _ in 0..200 {
        assert_eq!(run(&check, LONG).await, "up");
    }
    let asked = other.asked.lock().expect("not poisoned");
    assert_eq!(asked.len(), 200);
    for text in asked.iter() {
        assert!(text.starts_with("GET /readyz HTTP/1.1\r\n"), "{text}");
        assert!(text.contains("\r\nrootward-check-from: cart\r\n"), "{text}");
    }
    assert_eq!(*other.connections.lock().expect("not poisoned"), 1);
}

#[tokio::test]
async fn a_service_that_never_answers_is_cut_off_and_one_that_is_gone_is_refused() {
    let silent = std::net::TcpListener::bind(any_port()).expect("a port");
    let address = silent.local_addr().expect("an address");
    let check = service("orders", &format!("http://{address}/readyz"));
    for _ in 0..3 {
        let outcome = run(&check, LIMIT).await;
        assert!(
            outcome == "cut off" || outcome.starts_with("down, timeout, timed out"),
            "{outcome}"
        );
    }
    drop(silent);
    assert_eq!(
        run(&check, LONG).await,
        "down, connection_refused, connection refused"
    );
}

/// Its own readiness: what it depends on itself does not count, but that it cannot serve does.
#[tokio::test]
async fn a_real_service_is_starting_then_up_then_not_serving_then_gone() {
    let mut builder = Health::builder("orders").listen(any_port());
    let warm = builder.latch("cache warm");
    let orders = builder
        .check(
            Check::new("orders-db", || async {
                Err::<(), _>(Failure::new(ErrorCategory::ConnectionRefused))
            })
            .soft(),
        )
        .start()
        .expect("it starts");
    let address = orders.listen_addr().expect("it listens");
    let check = readiness_of(&orders);
    assert_eq!(run(&check, LONG).await, "down, starting, still starting");
    drop(warm);
    report_until(&orders, |report| report.status.as_str() != "starting").await;
    assert_eq!(
        run(&check, LONG).await,
        "up",
        "a soft loss is its own affair"
    );
    orders.set_not_ready("the catalogue is reloading");
    assert_eq!(run(&check, LONG).await, "down, not_ready, not ready");
    orders.stop().await;
    assert_eq!(
        run(&check, LONG).await,
        "down, connection_refused, connection refused"
    );

    // Back at the same address, with a hard dependency that is down.
    let orders = Health::builder("orders")
        .listen(address)
        .check(
            Check::new("orders-db", || async {
                Err::<(), _>(Failure::new(ErrorCategory::ConnectionRefused))
            })
            .hard()
            .kind("postgresql"),
        )
        .start()
        .expect("it starts");
    report_until(&orders, |report| report.status.as_str() == "unhealthy").await;
    assert_eq!(
        run(&check, LONG).await,
        "degraded, not_serving, ready but not serving"
    );
    orders.stop().await;
}

/// KF-075: a ring of three settles healthy, and nobody asks for a detailed report.
#[tokio::test]
async fn kf_075_services_that_ask_each_other_in_a_ring_are_all_healthy() {
    let addresses: Vec<_> = (0..3)
        .map(|_| {
            let listener = std::net::TcpListener::bind(any_port()).expect("a port");
            listener.local_addr().expect("an address")
        })
        .collect();
    let ring: Vec<_> = (0..3)
        .map(|index| {
            let next = addresses[(index + 1) % 3];
            Health::builder(format!("service-{index}"))
                .listen(addresses[index])
                .check(
                    service("next", &format!("http://{next}/readyz"))
                        .interval(Duration::from_millis(300))
                        .timeout(Duration::from_millis(250))
                        .hard(),
                )
                .start()
                .expect("it starts")
        })
        .collect();
    for health in &ring {
        report_until(health, |report| report.status.as_str() == "healthy").await;
    }
    for health in ring {
        health.stop().await;
    }
}

#[tokio::test]
async fn asking_for_the_detailed_report_is_refused_with_508() {
    let orders = Health::builder("orders")
        .listen(any_port())
        .start()
        .expect("it starts");
    let address = orders.listen_addr().expect("it listens");
    let check = service("orders", &format!("http://{address}/health"));
    assert_eq!(
        run(&check, LONG).await,
        "down, http_status, HTTP status 508"
    );
    orders.stop().await;
}

#[tokio::test]
async fn a_wrong_url_is_that_checks_failure_and_repeats_no_password() {
    let health = Health::builder("cart")
        .check(service("orders", "http://alice:hunter2@orders/readyz").hard())
        .check(service("rates", "rates:8790").soft())
        .start()
        .expect("it starts");
    assert_eq!(health.check_now().await, Ok(true));
    let report = health.report();
    let errors: Vec<_> = report
        .components
        .iter()
        .map(|component| component.error.as_deref().unwrap_or_default())
        .collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    configuration: url: a URL may not hold a user or a password; take them out of it
    configuration: url: a URL begins with http://, such as http://orders:8790/health
    ");
    drop(report);
    health.stop().await;
}

#[tokio::test]
async fn the_report_says_what_is_checked_and_how() {
    let other = Other::status("200 OK", "{}").await;
    let health = Health::builder("cart")
        .check(
            service(
                "orders",
                &format!("http://{}/readyz?token=hunter2", other.address),
            )
            .hard(),
        )
        .start()
        .expect("it starts");
    let report = health.report();
    let component = &report.components[0];
    assert_eq!(component.kind.as_deref(), Some("service"));
    assert_eq!(component.depth, Some(Depth::Readiness.into()));
    let target = format!("http://{}/readyz", other.address);
    assert_eq!(component.target.as_deref(), Some(target.as_str()));
    drop(report);
    health.stop().await;
}
