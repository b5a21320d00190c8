//! Every path at every mount: the same code, the same headers, the same bytes, ages aside.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rootward::{Access, Check, Health};
use serde_json::Value;

use crate::servers_of_ours::{axum_app, bare};
use crate::support::{self, Answer, Dependency, any_port, cart, until};

const PATHS: [&str; 7] = [
    "/livez",
    "/readyz",
    "/healthz",
    "/startupz",
    "/status",
    "/health",
    "/metrics",
];

const QUERIES: [&str; 4] = ["", "?verbose", "?component=disk", "?exclude=db"];

const METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "POST"];

const HEADERS: [&str; 4] = [
    "",
    "accept: application/health+json\r\n",
    "x-forwarded-for: 192.0.2.7\r\n",
    "rootward-check-from: orders\r\n",
];

/// Asked from outside the runtime: one of its threads may be the only one.
async fn ask(address: SocketAddr, method: &str, path: String, headers: &'static str) -> Answer {
    let method = method.to_owned();
    tokio::task::spawn_blocking(move || support::ask(address, &method, &path, headers))
        .await
        .expect("an answer")
}

/// What an answer says, without what differs between two moments.
fn said(answer: &Answer) -> (u16, Vec<String>, String) {
    let mut headers: Vec<String> = answer
        .head
        .lines()
        .skip(1)
        .map(str::to_lowercase)
        // An age of one more digit makes the body longer.
        .filter(|line| !line.starts_with("date:") && !line.starts_with("content-length:"))
        .collect();
    headers.sort();
    let body = match serde_json::from_str(&answer.body) {
        Ok(mut json) => {
            forget_ages(&mut json);
            json.to_string()
        }
        // What is counted differs between two moments; what there is to be counted does not.
        Err(_) if answer.body.ends_with("# EOF\n") => {
            let lines = answer.body.lines().filter(|line| line.starts_with('#'));
            lines.collect()
        }
        Err(_) => answer.body.clone(),
    };
    (answer.code, headers, body)
}

fn forget_ages(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "age_ms" | "since_age_ms" | "uptime_s" | "loop_lag_ms" => *value = Value::Null,
                    _ => forget_ages(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forget_ages),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

async fn started() -> Health {
    let health = cart()
        .interval(Duration::from_secs(3600))
        .listen(any_port())
        // Asked more often than anybody should.
        .access(Access::loopback().unlimited_rates())
        .check(Dependency::default().check("disk").hard().local())
        .check(Dependency::broken().check("db").soft())
        .start()
        .expect("it starts");
    until(Duration::from_secs(5), || health.is_started()).await;
    health
}

async fn every_mount_answers_as_the_own_port_does() {
    let health = started().await;
    let own = health.listen_addr().expect("it listens");
    let app = Router::new()
        .route("/orders", get(async || "none"))
        .merge(health.router())
        .nest("/internal", health.router())
        .nest_service("/service", health.service());
    let app = axum_app(app).await;
    let bare = bare(health.service()).await;
    let mounts = [
        ("router", app.address, ""),
        ("nested router", app.address, "/internal"),
        ("nested service", app.address, "/service"),
        ("service on a bare server", bare.address, ""),
    ];
    for path in PATHS {
        for query in QUERIES {
            for method in METHODS {
                for headers in HEADERS {
                    let expected = ask(own, method, format!("{path}{query}"), headers).await;
                    for (mount, address, prefix) in mounts {
                        let asked = format!("{prefix}{path}{query}");
                        let answer = ask(address, method, asked, headers).await;
                        assert_eq!(
                            said(&answer),
                            said(&expected),
                            "{method} {path}{query} with {headers:?}: {mount}"
                        );
                    }
                }
            }
        }
    }
    let nowhere = ask(own, "GET", "/nowhere".to_owned(), "").await;
    let mounted = ask(bare.address, "GET", "/nowhere".to_owned(), "").await;
    assert_eq!(said(&mounted), said(&nowhere));
    health.stop().await;
}

#[tokio::test]
async fn every_path_answers_alike_at_every_mount_on_one_thread() {
    every_mount_answers_as_the_own_port_does().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_answers_alike_at_every_mount_on_several_threads() {
    every_mount_answers_as_the_own_port_does().await;
}

/// The walk is about something: the answers differ among each other.
#[tokio::test]
async fn the_report_names_the_components_and_the_small_answers_do_not() {
    let health = started().await;
    let app = axum_app(health.router()).await;
    let report = ask(app.address, "GET", "/health".to_owned(), "").await;
    assert_eq!(report.code, 200);
    assert!(report.body.contains("\"disk\""), "{}", report.body);
    for path in ["/livez", "/readyz", "/startupz", "/status"] {
        let answer = ask(app.address, "GET", path.to_owned(), "").await;
        assert!(!answer.body.contains("disk"), "{path}: {}", answer.body);
    }
    health.stop().await;
}

#[tokio::test]
async fn many_instances_in_one_process_answer_each_for_itself() {
    let one = cart().start().expect("it starts");
    let other = Health::builder("orders")
        .lag_budget(Duration::from_secs(10))
        .check(Check::new("disk", || async { Ok(()) }).soft())
        .start()
        .expect("it starts");
    other.set_not_ready("closed for the night");
    let app = Router::new()
        .nest("/cart", one.router())
        .nest("/orders", other.router());
    let app = axum_app(app).await;
    let cart = ask(app.address, "GET", "/cart/readyz".to_owned(), "").await;
    let orders = ask(app.address, "GET", "/orders/readyz".to_owned(), "").await;
    assert_eq!((cart.code, orders.code), (200, 503));
    let report = ask(app.address, "GET", "/orders/health".to_owned(), "").await;
    assert_eq!(report.json()["service"], "orders");
    one.stop().await;
    other.stop().await;
}
