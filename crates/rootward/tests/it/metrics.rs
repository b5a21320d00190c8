//! `/metrics`: what a scrape says, and that it runs nothing.

use std::time::Duration;

use rootward::{Access, Check, ErrorCategory, Failure, MAX_CHECKS};

use crate::support::{Dependency, any_port, ask, cart, get, until};

/// The text without what depends on how fast this machine is.
fn stable(text: &str) -> String {
    let measured = [
        "rootward_check_age_seconds{",
        "rootward_check_duration_seconds_sum{",
        "rootward_check_duration_seconds_bucket{",
        "rootward_loop_lag_",
        "rootward_worker_held_seconds{",
    ];
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((series, _)) if measured.iter().any(|name| line.starts_with(name)) => {
            format!("{series} ~")
        }
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn value(text: &str, series: &str) -> Option<u64> {
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    })?;
    line[series.len() + 1..].parse().ok()
}

#[tokio::test]
async fn a_scrape_in_full() {
    let db = Dependency::broken().check("orders-db").hard();
    let health = cart()
        .version("1.4.2")
        .listen(any_port())
        .check(db.kind("postgresql"))
        .check(Check::new("disk", || async { Ok(()) }).soft().local())
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || {
        let report = health.report();
        report.components.iter().all(|c| c.seq.is_some()) && report.loop_lag_ms.is_some()
    })
    .await;
    get(address, "/livez");
    get(address, "/none");
    let answer = get(address, "/metrics");
    assert_eq!(answer.code, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    insta::assert_snapshot!(stable(&answer.body), @r#"
    # HELP rootward_build What runs: the service, its release, and the release of the crate that reports.
    # TYPE rootward_build info
    rootward_build_info{service="cart",version="1.4.2",rootward_version="0.1.0"} 1
    # HELP rootward_alive 0 if only a restart helps, as /livez says.
    # TYPE rootward_alive gauge
    rootward_alive 1
    # HELP rootward_ready 1 if the instance wants traffic, as /readyz says.
    # TYPE rootward_ready gauge
    rootward_ready 1
    # HELP rootward_started 1 if the start is over, as /startupz says.
    # TYPE rootward_started gauge
    rootward_started 1
    # HELP rootward_draining 1 once the drain has begun.
    # TYPE rootward_draining gauge
    rootward_draining 0
    # HELP rootward_serving 0 if a hard component of its own is down.
    # TYPE rootward_serving gauge
    rootward_serving 0
    # HELP rootward_instance_status 1 for the status that the instance has, 0 for those it has not.
    # TYPE rootward_instance_status gauge
    rootward_instance_status{status="healthy"} 0
    rootward_instance_status{status="degraded"} 0
    rootward_instance_status{status="unhealthy"} 1
    rootward_instance_status{status="starting"} 0
    # HELP rootward_loop_lag_seconds How long the application's runtime takes to answer, at the last sample.
    # TYPE rootward_loop_lag_seconds gauge
    # UNIT rootward_loop_lag_seconds seconds
    rootward_loop_lag_seconds ~
    # HELP rootward_worker_held_seconds For how long each worker of the application's runtime has been in one step; 0 while it waits or moves.
    # TYPE rootward_worker_held_seconds gauge
    # UNIT rootward_worker_held_seconds seconds
    rootward_worker_held_seconds{worker="0"} ~
    # HELP rootward_loop_lag_max_seconds The longest that the application's runtime took to answer since the start.
    # TYPE rootward_loop_lag_max_seconds gauge
    # UNIT rootward_loop_lag_max_seconds seconds
    rootward_loop_lag_max_seconds ~
    # HELP rootward_loop_lag_samples_seconds How long the application's runtime took to answer, all samples.
    # TYPE rootward_loop_lag_samples_seconds histogram
    # UNIT rootward_loop_lag_samples_seconds seconds
    rootward_loop_lag_samples_seconds_sum ~
    rootward_loop_lag_samples_seconds_count ~
    rootward_loop_lag_samples_seconds_bucket{le="0.001"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.005"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.01"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.025"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.05"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.1"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.25"} ~
    rootward_loop_lag_samples_seconds_bucket{le="0.5"} ~
    rootward_loop_lag_samples_seconds_bucket{le="1.0"} ~
    rootward_loop_lag_samples_seconds_bucket{le="5.0"} ~
    rootward_loop_lag_samples_seconds_bucket{le="+Inf"} ~
    # HELP rootward_check What a check is; 1.
    # TYPE rootward_check info
    rootward_check_info{check="orders-db",criticality="hard",scope="shared",kind="postgresql",gates_readiness="false"} 1
    rootward_check_info{check="disk",criticality="soft",scope="local",kind="",gates_readiness="false"} 1
    # HELP rootward_check_status 1 for the damped status that a check has, 0 for those it has not.
    # TYPE rootward_check_status gauge
    rootward_check_status{check="orders-db",status="up"} 0
    rootward_check_status{check="orders-db",status="degraded"} 0
    rootward_check_status{check="orders-db",status="down"} 1
    rootward_check_status{check="orders-db",status="unknown"} 0
    rootward_check_status{check="disk",status="up"} 1
    rootward_check_status{check="disk",status="degraded"} 0
    rootward_check_status{check="disk",status="down"} 0
    rootward_check_status{check="disk",status="unknown"} 0
    # HELP rootward_check_age_seconds Time since the last result of a check; absent before the first.
    # TYPE rootward_check_age_seconds gauge
    # UNIT rootward_check_age_seconds seconds
    rootward_check_age_seconds{check="orders-db"} ~
    rootward_check_age_seconds{check="disk"} ~
    # HELP rootward_check_timeouts_running 1 while a run of a check goes on that was given up at its time limit.
    # TYPE rootward_check_timeouts_running gauge
    rootward_check_timeouts_running{check="orders-db"} 0
    rootward_check_timeouts_running{check="disk"} 0
    # HELP rootward_check_results Results of a check, by what they were before damping.
    # TYPE rootward_check_results counter
    rootward_check_results_total{check="orders-db",result="up"} 0
    rootward_check_results_total{check="orders-db",result="degraded"} 0
    rootward_check_results_total{check="orders-db",result="down"} 1
    rootward_check_results_total{check="disk",result="up"} 1
    rootward_check_results_total{check="disk",result="degraded"} 0
    rootward_check_results_total{check="disk",result="down"} 0
    # HELP rootward_check_failures Results of a check that were not up, by the category of the reason; categories that occurred.
    # TYPE rootward_check_failures counter
    rootward_check_failures_total{check="orders-db",category="connection_refused"} 1
    # HELP rootward_check_flips Changes of the damped status of a check; the first result is none.
    # TYPE rootward_check_flips counter
    rootward_check_flips_total{check="orders-db"} 0
    rootward_check_flips_total{check="disk"} 0
    # HELP rootward_check_duration_seconds How long runs of a check took that ended, whatever they said.
    # TYPE rootward_check_duration_seconds histogram
    # UNIT rootward_check_duration_seconds seconds
    rootward_check_duration_seconds_sum{check="orders-db"} ~
    rootward_check_duration_seconds_count{check="orders-db"} 1
    rootward_check_duration_seconds_bucket{le="0.001",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.0025",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.005",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.01",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.025",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.05",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.1",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.25",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="0.5",check="orders-db"} ~
    rootward_check_duration_seconds_bucket{le="+Inf",check="orders-db"} ~
    rootward_check_duration_seconds_sum{check="disk"} ~
    rootward_check_duration_seconds_count{check="disk"} 1
    rootward_check_duration_seconds_bucket{le="0.001",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.0025",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.005",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.01",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.025",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.05",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.1",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.25",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="0.5",check="disk"} ~
    rootward_check_duration_seconds_bucket{le="+Inf",check="disk"} ~
    # HELP rootward_changes_dropped Changes that a hook was not told about because its queue was full.
    # TYPE rootward_changes_dropped counter
    rootward_changes_dropped_total 0
    # HELP rootward_probe_requests Requests that were answered, by path and code.
    # TYPE rootward_probe_requests counter
    rootward_probe_requests_total{endpoint="/livez",code="200"} 1
    rootward_probe_requests_total{endpoint="/readyz",code="200"} 0
    rootward_probe_requests_total{endpoint="/healthz",code="200"} 0
    rootward_probe_requests_total{endpoint="/startupz",code="200"} 0
    rootward_probe_requests_total{endpoint="/status",code="200"} 0
    rootward_probe_requests_total{endpoint="/health",code="200"} 0
    rootward_probe_requests_total{endpoint="/health/deep",code="200"} 0
    rootward_probe_requests_total{endpoint="/metrics",code="200"} 0
    rootward_probe_requests_total{endpoint="other",code="404"} 1
    # EOF
    "#);
    health.stop().await;
}

/// A flip is a change of the damped status; the first result is none, and neither is a failure that was damped away.
#[tokio::test]
async fn results_flips_and_categories_are_counted() {
    let db = Dependency::default();
    let health = cart()
        .access(Access::loopback().unlimited_rates())
        .listen(any_port())
        .check(
            db.check("db")
                .hard()
                // Asking blocks the thread on which the check runs: what it took must be small beside the limit.
                .interval(Duration::from_millis(300))
                .timeout(Duration::from_millis(200)),
        )
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let scrape = || get(address, "/metrics").body;
    let counted = |series: &str| value(&scrape(), series).unwrap_or_default();
    until(Duration::from_secs(10), || {
        counted(r#"rootward_check_results_total{check="db",result="up"}"#) >= 2
    })
    .await;
    assert_eq!(counted(r#"rootward_check_flips_total{check="db"}"#), 0);
    db.breaks();
    let flips = r#"rootward_check_flips_total{check="db"}"#;
    until(Duration::from_secs(10), || counted(flips) >= 1).await;
    db.recovers();
    until(Duration::from_secs(10), || counted(flips) >= 2).await;
    db.hangs();
    let timeouts = r#"rootward_check_failures_total{check="db",category="timeout"}"#;
    until(Duration::from_secs(10), || counted(timeouts) >= 1).await;
    let text = scrape();
    let down = value(
        &text,
        r#"rootward_check_results_total{check="db",result="down"}"#,
    );
    let refused = value(
        &text,
        r#"rootward_check_failures_total{check="db",category="connection_refused"}"#,
    );
    assert_eq!(
        down,
        Some(refused.unwrap_or_default() + value(&text, timeouts).unwrap_or_default())
    );
    health.stop().await;
}

/// KF-080 for scrapes: many of them, and no more runs than without.
#[tokio::test]
async fn kf_080_a_scrape_runs_no_check() {
    let db = Dependency::default();
    let health = cart()
        .access(Access::loopback().unlimited_rates())
        .listen(any_port())
        .check(db.check("db").hard())
        .start()
        .expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || db.asked() == 1).await;
    for _ in 0..100 {
        assert_eq!(get(address, "/metrics").code, 200);
    }
    assert!(db.asked() <= 2, "its own schedule only");
    health.stop().await;
}

#[tokio::test]
async fn metrics_are_for_those_who_may_read_the_report() {
    let health = cart().listen(any_port()).start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let passed_on = ask(address, "GET", "/metrics", "forwarded: for=192.0.2.7\r\n");
    assert_eq!(passed_on.code, 401);
    assert!(!passed_on.body.contains("rootward_"));
    health.stop().await;
}

/// With as many checks as may be, all of them failing in every way they can: a constant for each check.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_series_is_bounded_by_the_number_of_checks() {
    let mut builder = cart().listen(any_port());
    for index in 0..MAX_CHECKS {
        builder = builder.check(
            Check::new(format!("check-{index}"), || async {
                Err::<(), _>(Failure::new(ErrorCategory::ConnectionRefused))
            })
            .hard(),
        );
    }
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    until(Duration::from_secs(10), || {
        health.report().components.iter().all(|c| c.seq.is_some())
    })
    .await;
    let text = get(address, "/metrics").body;
    assert!(text.ends_with("# EOF\n"));
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    // Status 4, results 3, categories at most 19, buckets at most 16, and one each of seven others.
    assert!(
        series <= MAX_CHECKS * (4 + 3 + 19 + 16 + 7) + 100,
        "{series}"
    );
    assert!(series >= MAX_CHECKS * 20, "{series}");
    health.stop().await;
}
