//! KF-094: what a foreign error says never reaches an endpoint; it goes to the log, without what looks like a secret.

use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Outcome};

use crate::support::{Log, any_port, ask, cart, until};

const SECRET: &str = "hunter2-s3cr3t";

#[derive(Debug, thiserror::Error)]
#[error(
    "password authentication failed for user \"alice\" at postgres://alice:{SECRET}@db-7/orders"
)]
struct Refused;

#[tokio::test]
async fn kf_094_a_planted_secret_reaches_no_endpoint() {
    let (log, _guard) = Log::capture();
    let health = cart()
        .listen(any_port())
        .check(
            Check::new("question-mark", || async { Ok(Err::<(), _>(Refused)?) })
                .hard()
                .local(),
        )
        .check(
            Check::new("caused", || async {
                Err::<(), _>(Failure::new(ErrorCategory::Auth).caused_by(Refused))
            })
            .hard(),
        )
        .check(
            Check::new("degraded", || async {
                Ok(Outcome::Degraded(
                    Failure::new(ErrorCategory::Protocol)
                        .because("not what was expected")
                        .caused_by(format!("token={SECRET}")),
                ))
            })
            .soft(),
        )
        .check(
            Check::new("panics", || async {
                if true {
                    panic!("cannot use password={SECRET}");
                }
                Ok(())
            })
            .soft(),
        )
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || {
        let report = health.report();
        report.components.iter().all(|c| c.seq.is_some())
    })
    .await;
    let paths = [
        "/livez",
        "/readyz",
        "/healthz",
        "/startupz",
        "/status",
        "/health",
        "/health?component=panics",
        "/health?component=none",
        "/health/deep",
        "/metrics",
        "/livez?verbose",
        "/readyz?verbose",
        "/startupz?verbose",
        "/none",
    ];
    for path in paths {
        for method in ["GET", "HEAD", "POST"] {
            for headers in [
                "",
                "accept: application/health+json\r\n",
                "rootward-check-from: front\r\n",
                "forwarded: for=a\r\n",
            ] {
                let answer = ask(address, method, path, headers);
                let text = format!("{answer:?}");
                for foreign in [SECRET, "alice", "db-7", "postgres://"] {
                    assert!(!text.contains(foreign), "{method} {path}: {text}");
                }
            }
        }
    }
    // The log has the rest, and a reference leads there.
    let report = health.report();
    let caused = report.components.iter().find(|c| c.name == "caused");
    let reference = caused
        .and_then(|c| c.error_ref.as_deref())
        .expect("a reference");
    assert_eq!(reference, "caused-1");
    let lines = log.lines();
    let line = lines
        .iter()
        .find(|line| line.contains(reference))
        .expect("a line");
    insta::assert_snapshot!(line, @r#"WARN rootward: check changed check="caused" from="unknown" to="down" category="auth" reason="credentials refused" error_ref="caused-1" detail="password authentication failed for user \"alice\" at postgres://***@db-7/orders""#);
    assert!(!log.text().contains(SECRET), "the log was cleaned");
    health.stop().await;
}
