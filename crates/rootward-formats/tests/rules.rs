//! The rules where they meet: answers that are in no case of the fixtures, one line each, with how they are read.

use rootward_formats::{Answer, Choice, read};

/// A reading in one line.
fn line(answer: &Answer<'_>, choice: Choice) -> String {
    let reading = read(answer, choice);
    let category = |category: Option<rootward_core::ErrorCategory>| {
        category
            .map(|category| format!(" ({category})"))
            .unwrap_or_default()
    };
    let components: Vec<String> = reading
        .components
        .iter()
        .map(|part| {
            format!(
                "{} {}{}",
                part.name,
                part.status,
                category(part.error_category)
            )
        })
        .collect();
    format!(
        "{}: {}{} [{}]",
        reading.format.as_str(),
        reading.overall,
        category(reading.error_category),
        components.join(", ")
    )
}

/// Readings of bodies with their codes, found out.
fn auto(cases: &[(u16, &str)]) -> String {
    let lines = cases.iter().map(|(code, body)| {
        format!(
            "{code} {}",
            line(
                &Answer::new(body.as_bytes()).http_status(*code),
                Choice::Auto
            )
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Readings of bodies with their codes in one format.
fn named(format: &str, cases: &[(u16, &str)]) -> String {
    let choice: Choice = format.parse().expect("a format");
    let lines = cases.iter().map(|(code, body)| {
        format!(
            "{code} {}",
            line(&Answer::new(body.as_bytes()).http_status(*code), choice)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_worse_of_body_and_code_counts() {
    insta::assert_snapshot!(auto(&[
        (503, r#"{"status":"UP"}"#),
        (503, r#"{"status":"degraded"}"#),
        (500, r#"{"status":"pass","checks":{"a":[{"status":"warn"}]}}"#),
        (404, r#"{"status":"ok"}"#),
        (200, r#"{"status":"fail"}"#),
        (400, r#"{"status":"fail","serviceId":"x"}"#),
        (200, r#"{"status":"simmering"}"#),
        (503, r#"{"status":"simmering"}"#),
        (503, r#"{"status":"starting"}"#),
        (200, r#"{"status":"UP","status":"DOWN"}"#),
        (503, "OK"),
        (200, "NOT OK"),
        (200, r#"{"status":"NOT_READY"}"#),
    ]), @r"
    503 generic-status: unhealthy (http_status) []
    503 generic-status: degraded []
    500 health-json-draft: unhealthy (http_status) [a degraded]
    404 generic-status: unknown (http_status) []
    200 generic-status: unhealthy []
    400 health-json-draft: unhealthy []
    200 generic-status: unknown []
    503 generic-status: unhealthy (http_status) []
    503 generic-status: starting (starting) []
    200 generic-status: unhealthy []
    503 generic-status: unhealthy (http_status) []
    200 generic-status: unhealthy []
    200 generic-status: unhealthy (not_ready) []
    ");
}

#[test]
fn an_answer_that_says_nothing_is_never_healthy_by_its_looks() {
    insta::assert_snapshot!(auto(&[
        (200, "<html>log in</html>"),
        (200, "pong"),
        (200, r#"{"version":"1.2"}"#),
        (200, "[]"),
        (200, "null"),
        (200, "{}"),
        (503, "{}"),
        (404, "{}"),
        (302, ""),
        (429, ""),
        (405, "nope"),
        (418, "teapot"),
        (503, "{\"status\":"),
        (404, "{\"status\":"),
        (200, "{\"status\":\"UP\"} and more"),
        (401, r#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":401}"#),
        (404, r#"{"timestamp":"x","status":404,"error":"Not Found","path":"/health"}"#),
        (503, r#"{"type":"about:blank","title":"Service Unavailable","status":503}"#),
    ]), @r"
    200 http-only: unknown (protocol) []
    200 http-only: unknown (protocol) []
    200 http-only: unknown (protocol) []
    200 http-only: unknown (protocol) []
    200 http-only: unknown (protocol) []
    200 http-only: healthy []
    503 http-only: unhealthy []
    404 http-only: unknown (not_found) []
    302 http-only: unknown (redirect) []
    429 http-only: unknown (rate_limited) []
    405 http-only: unknown (protocol) []
    418 http-only: unknown (http_status) []
    503 malformed: unhealthy (protocol) []
    404 malformed: unknown (protocol) []
    200 malformed: unknown (protocol) []
    401 http-only: unknown (auth) []
    404 http-only: unknown (not_found) []
    503 http-only: unhealthy (http_status) []
    ");
}

#[test]
fn what_has_never_run_is_starting_while_nothing_fails() {
    insta::assert_snapshot!(auto(&[
        (503, r#"{"a":"no data yet","b":"OK"}"#),
        (503, r#"{"a":"no data yet","b":"boom: timeout"}"#),
        (200, r#"{"a":{"message":"didn't run yet","timestamp":"t","contiguousFailures":0,"timeOfFirstFailure":null}}"#),
        (200, r#"{"status":"ok","checks":{"db":"pending"}}"#),
        (200, r#"{"status":"UP","components":{"a":{"status":"STARTING"},"b":{"status":"DOWN"}}}"#),
    ]), @r"
    503 go-heptiolabs-healthcheck: starting (starting) [a unknown (starting), b up]
    503 go-heptiolabs-healthcheck: unhealthy [a unknown (starting), b down (timeout)]
    200 go-sundheit: starting (starting) [a unknown (starting)]
    200 generic-status: starting (starting) [db unknown (starting)]
    200 spring-boot-actuator: degraded [a unknown (starting), b down]
    ");
}

#[test]
fn nested_and_repeated_components_are_listed_once() {
    insta::assert_snapshot!(auto(&[
        (200, r#"{"status":"UP","checks":[{"name":"a","status":"UP"},{"name":"a","status":"DOWN"},{"name":"a","status":"UP"},{"status":"DOWN"}]}"#),
        (200, r#"{"status":"ok","checks":{"db":{"checks":{"replica":{"status":"down","message":"connect ECONNREFUSED 10.0.0.1"},"primary":"ok"}}}}"#),
        (503, r#"{"status":"DOWN","db":{"status":"DOWN","primary":{"status":"UP"},"replica":{"status":"DOWN","error":"x: Connection refused"}}}"#),
        (200, r#"{"status":"UP","details":{"db":{"status":"UP","details":{"p":{"status":"UP"},"r":{"status":"UNKNOWN"}}}}}"#),
        (503, r#"{"db":{"status":"up"},"cache":{"status":"down","message":"read ECONNRESET"}}"#),
        (200, r#"{"db":true,"cache":false}"#),
        (200, r#"{"status":"UP","components":{"discovery":{"status":"UP","details":{"eureka":{"status":"DOWN"}}}}}"#),
        (200, r#"{"status":"pass","checks":{"uptime":[{"observedValue":1}],"cpu":{"status":"warn"},"a:x":[{"status":"pass"},{"observedValue":3}]}}"#),
    ]), @r"
    200 microprofile-health: degraded [a down]
    200 generic-status: degraded [db down, db/replica down (connection_refused), db/primary up]
    503 spring-boot-actuator: unhealthy [db down, db/primary up, db/replica down (connection_refused)]
    200 spring-boot-actuator: healthy [db up, db/p up, db/r unknown]
    503 generic-status: unhealthy [db up, cache down (connection_reset)]
    200 generic-status: degraded [db up, cache down]
    200 spring-boot-actuator: healthy [discovery up]
    200 health-json-draft: degraded [uptime unknown, cpu degraded, a up]
    ");
}

#[test]
fn products_are_known_by_what_only_they_write() {
    insta::assert_snapshot!(auto(&[
        (200, r#"{"Status":2,"TotalDuration":"00:00:01","Entries":{"db":{"Status":0,"Description":"Access denied for user"}}}"#),
        (200, r#"{"health":"true"}"#),
        (429, r#"{"initialized":true,"sealed":false,"standby":true,"replication_dr_mode":"secondary"}"#),
        (408, r#"{"cluster_name":"c","status":"yellow","timed_out":true,"active_shards":3}"#),
        (200, r#"{"cluster_name":"c","status":"red","indicators":{"disk":{"status":"red","symptom":"out of disk"},"ilm":{"status":"green"}}}"#),
        (200, r#"{"version":"v","state":"DRAINING","hot_restart_version":"11"}"#),
        (503, "PRE_INITIALIZING\n"),
        (503, r#"{"status":"unavailable","errors":[{"type":"STREAM","account":"A","stream":"S","error":"stream not current"}]}"#),
        (200, r#"[{"Node":"n1","CheckID":"c","ServiceID":"s1","Status":"passing"},{"Node":"n2","CheckID":"c","ServiceID":"s2","Status":"critical","Output":"timed out"}]"#),
        (200, r#"{"status":"SERVING"}"#),
        (404, r#"{"code":"NOT_FOUND","message":"unknown service"}"#),
        (500, "[+]ping ok\n[-]etcd failed: reason withheld\n[+]x excluded: ok\nwarn: y\nlivez check failed\n"),
        (500, "Default Collection\n  db: FAILED Connection refused (0.003s)\n  web: PASSED (0.1s)"),
        (200, "django_health_check_status{check=\"Cache(alias='default')\"} 0\ndjango_health_check_overall_status 0\n"),
        (500, "Cache(alias='default'): OK\nDatabase(alias='default'): Unavailable: timed out\n"),
        (503, r#"{"statusCode":503,"path":"/health","message":{"status":"error","info":{},"error":{"redis":{"status":"down"}},"details":{"redis":{"status":"down"}}}}"#),
        (503, r#"{"status":"error","error":{"db":{"message":"timeout"}},"details":{"db":{"message":"timeout"}}}"#),
        (200, r#"{"contract":"rootward/1","service":"cart","instance":"0","status":"degraded"}"#),
        (503, "false"),
        (200, r#"{"default":{"message":"ok","success":true,"time":NaN}}"#),
    ]), @r"
    200 aspnetcore-ui: degraded [db down (auth)]
    200 etcd: healthy []
    429 vault: degraded []
    408 elasticsearch: degraded (timeout) []
    200 elasticsearch: unhealthy [disk down (resource_exhausted), ilm up]
    200 envoy: unhealthy (shutting_down) []
    503 envoy: starting (starting) []
    503 nats: unhealthy [A/S down]
    200 consul: degraded [n1/c up, n2/c down (timeout)]
    200 grpc-health-v1: healthy []
    404 grpc-health-v1: unknown (not_found) []
    500 kubernetes-text: unhealthy [ping up, etcd down, x unknown]
    500 ruby-okcomputer: unhealthy [db down (connection_refused), web up]
    200 python-django-health-check: unhealthy [Cache(alias='default') down]
    500 python-django-health-check: unhealthy [Cache(alias='default') up, Database(alias='default') down (timeout)]
    503 node-nestjs-terminus: unhealthy [redis down]
    503 node-godaddy-terminus: unhealthy [db down (timeout)]
    200 rootward: degraded []
    503 generic-status: unhealthy []
    200 ruby-okcomputer: healthy [default up]
    ");
}

#[test]
fn a_configured_format_reads_what_the_body_alone_does_not_tell() {
    let all = [
        named("linkerd-proxy", &[(503, "not ready\n"), (200, "ready\n")]),
        named(
            "traefik",
            &[(503, "Service Unavailable"), (404, "404 page not found\n")],
        ),
        named(
            "consul",
            &[(200, "[]"), (429, "warning"), (503, ""), (404, "nothing")],
        ),
        named(
            "vault",
            &[(472, ""), (473, ""), (501, ""), (503, ""), (404, "")],
        ),
        named(
            "minio",
            &[(412, ""), (200, ""), (503, "<Error/>"), (403, "<Error/>")],
        ),
        named("istio", &[(503, ""), (200, "")]),
        named("aspnetcore-ui", &[(200, "{}"), (503, "{}")]),
        named(
            "microprofile-health",
            &[
                (503, r#"{"status":"DOWN","checks":[]}"#),
                (200, r#"{"status":"UP"}"#),
            ],
        ),
        named(
            "go-alexliesenfeld-health",
            &[(503, r#"{"status":"unknown"}"#)],
        ),
        named("go-invision-health", &[(200, "ok"), (500, "failed")]),
        named(
            "http-only",
            &[
                (200, r#"{"status":"DOWN"}"#),
                (200, "pong"),
                (200, "<p>"),
                (503, "x"),
            ],
        ),
        named(
            "spring-boot-actuator",
            &[
                (200, "<html>"),
                (200, r#"{"foo":1}"#),
                (503, r#"{"foo":1}"#),
            ],
        ),
        named(
            "clickhouse",
            &[(200, "a.b:\tAbsolute delay: 0. Relative delay: 0.\n")],
        ),
        named(
            "python-django-health-check",
            &[
                (200, r#"{"Cache":"funktioniert"}"#),
                (500, r#"{"Cache":"funktioniert","Db":"unavailable: no"}"#),
            ],
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    503 linkerd-proxy: starting (starting) []
    200 linkerd-proxy: healthy []
    503 traefik: unhealthy (shutting_down) []
    404 http-only: unknown (not_found) []
    200 consul: unknown (not_found) []
    429 consul: degraded []
    503 consul: unhealthy []
    404 http-only: unknown (not_found) []
    472 vault: degraded []
    473 vault: healthy []
    501 vault: unhealthy (not_ready) []
    503 vault: unhealthy []
    404 http-only: unknown (not_found) []
    412 minio: unhealthy []
    200 minio: healthy []
    503 minio: unhealthy []
    403 http-only: unknown (auth) []
    503 istio: unhealthy []
    200 istio: healthy []
    200 http-only: unknown (protocol) []
    503 http-only: unhealthy (http_status) []
    503 microprofile-health: starting (starting) []
    200 microprofile-health: healthy []
    503 go-alexliesenfeld-health: starting (starting) []
    200 go-invision-health: healthy []
    500 go-invision-health: unhealthy []
    200 http-only: healthy []
    200 http-only: healthy []
    200 http-only: unknown (protocol) []
    503 http-only: unhealthy []
    200 http-only: unknown (protocol) []
    200 http-only: unknown (protocol) []
    503 http-only: unhealthy (http_status) []
    200 clickhouse: healthy [a.b up]
    200 python-django-health-check: healthy [Cache unknown]
    500 python-django-health-check: unhealthy [Cache unknown, Db down]
    ");
}

#[test]
fn codes_of_grpc_and_of_a_command_have_their_meaning() {
    let grpc = [
        "OK",
        "NOT_FOUND",
        "UNIMPLEMENTED",
        "UNAVAILABLE",
        "DEADLINE_EXCEEDED",
        "PERMISSION_DENIED",
        "INTERNAL",
    ];
    let body = br#"{"status":"SERVING"}"#;
    let mut lines: Vec<String> = grpc
        .into_iter()
        .map(|code| {
            let answer = Answer::new(body).grpc_code(code.parse().expect("a code"));
            format!("{code} {}", line(&answer, Choice::Auto))
        })
        .collect();
    for (code, output) in [(0, "ok"), (1, "connect: connection refused"), (137, "")] {
        let answer = Answer::new(output.as_bytes()).exit_code(code);
        lines.push(format!("exit {code} {}", line(&answer, Choice::Auto)));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    OK grpc-health-v1: healthy []
    NOT_FOUND grpc-health-v1: unknown (not_found) []
    UNIMPLEMENTED grpc-health-v1: unknown (protocol) []
    UNAVAILABLE grpc-health-v1: unhealthy []
    DEADLINE_EXCEEDED grpc-health-v1: unhealthy (timeout) []
    PERMISSION_DENIED grpc-health-v1: unknown (auth) []
    INTERNAL grpc-health-v1: unhealthy []
    exit 0 docker-healthcheck: healthy []
    exit 1 docker-healthcheck: unhealthy (connection_refused) []
    exit 137 docker-healthcheck: unhealthy []
    ");
}

#[test]
fn kf_094_no_text_of_the_service_is_in_a_reading() {
    let planted = ["s3cret", "10.9.8.7", "com.example", "at line"];
    let body = r#"{"status":"DOWN","components":{"db":{"status":"DOWN","details":{"error":"com.example.Boom: postgres://app:s3cret@10.9.8.7/x at line 3"}}}}"#;
    for choice in [
        "auto",
        "spring-boot-actuator",
        "generic-status",
        "http-only",
        "vault",
    ] {
        let choice: Choice = choice.parse().expect("a choice");
        let shown = format!(
            "{:?}",
            read(&Answer::new(body.as_bytes()).http_status(503), choice)
        );
        assert!(planted.iter().all(|text| !shown.contains(text)), "{shown}");
    }
}
