//! The application's runtime is watched from outside: a blocked one is not ready, a wedged one is not alive, and a
//! silent critical task is named. Real time, real sockets, blocked threads.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rootward::{Builder, Check, Failure, Health};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::{any_port, get};

const BUDGET: Duration = Duration::from_millis(250);

fn one_thread() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn workers(count: usize) -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(count).enable_all();
    builder.build().expect("a runtime")
}

fn service() -> Builder {
    Health::builder("cart")
        .instance("cart-0")
        .listen(any_port())
}

/// A handler that blocks the thread it runs on.
#[expect(
    clippy::disallowed_methods,
    reason = "the application under test blocks its own runtime"
)]
fn block(time: Duration) {
    thread::sleep(time);
}

/// Starts the service in a runtime on a thread of its own, has `handlers` of its tasks block at once for `time`, and
/// watches from here until everything has been as before for a while.
fn while_handlers_block(
    runtime: Runtime,
    builder: Builder,
    handlers: usize,
    time: Duration,
    look: impl FnOnce(SocketAddr),
) {
    let spawn = move || {
        for _ in 0..handlers {
            drop(tokio::spawn(async move { block(time) }));
        }
    };
    while_tasks_run(runtime, builder, spawn, look);
}

/// Starts the service in a runtime on a thread of its own, has it `spawn` tasks, and looks from here.
fn while_tasks_run(
    runtime: Runtime,
    builder: Builder,
    spawn: impl FnOnce() + Send + 'static,
    look: impl FnOnce(SocketAddr),
) {
    let (tell, told) = mpsc::channel();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let application = thread::spawn(move || {
        runtime.block_on(async {
            let health = builder.start().expect("it starts");
            let address = health.listen_addr().expect("it listens");
            // The sampler has seen it answer.
            tokio::time::sleep(Duration::from_millis(300)).await;
            tell.send(address).expect("heard");
            spawn();
            let _ = ended.await;
            health.stop().await;
        });
    });
    look(told.recv().expect("an address"));
    let _ = end.send(());
    application.join().expect("it ends");
}

/// What readiness said, until it has said for half a second that it is ready with no lag, at most for `limit`.
struct Watched {
    unready_after: Option<Duration>,
    ready_again_after: Option<Duration>,
    worst_lag: f64,
    reasons: Vec<String>,
    liveness: Vec<u16>,
    findings: Vec<String>,
}

fn watch(address: SocketAddr, lasting: Duration) -> Watched {
    let began = Instant::now();
    let mut watched = Watched {
        unready_after: None,
        ready_again_after: None,
        worst_lag: 0.0,
        reasons: Vec::new(),
        liveness: Vec::new(),
        findings: Vec::new(),
    };
    while began.elapsed() < lasting {
        let answer = get(address, "/readyz");
        let body = answer.json();
        watched.worst_lag = body["loop_lag_ms"]
            .as_f64()
            .map_or(watched.worst_lag, |lag| lag.max(watched.worst_lag));
        if answer.code == 503 {
            watched.unready_after.get_or_insert(began.elapsed());
            watched.ready_again_after = None;
            watched.reasons.extend(texts(&body["reasons"]));
        } else if watched.unready_after.is_some() {
            watched.ready_again_after.get_or_insert(began.elapsed());
        }
        let findings = get(address, "/health").json()["findings"].clone();
        for finding in findings.as_array().into_iter().flatten() {
            watched
                .findings
                .extend(finding["kind"].as_str().map(str::to_owned));
        }
        watched.liveness.push(get(address, "/livez").code);
    }
    watched.findings.sort();
    watched.findings.dedup();
    watched
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What was seen while a handler blocked for 600 ms: about that lag, not ready within twice the budget, ready again by
/// itself, alive throughout.
fn shows_about_600_ms(watched: &Watched) {
    // Half of the machine may be taken by other tests; what is asserted holds all the same.
    assert!(
        (400.0..1_500.0).contains(&watched.worst_lag),
        "lag {} ms",
        watched.worst_lag
    );
    let unready = watched.unready_after.expect("it was not ready");
    assert!(
        unready < BUDGET * 2 + Duration::from_millis(250),
        "not ready after {unready:?}"
    );
    assert!(
        watched.ready_again_after.is_some(),
        "it came back by itself"
    );
    assert!(
        watched.reasons.iter().all(|reason| {
            (reason.starts_with("the application's runtime answers after ")
                || reason == "the application's runtime answered late a moment ago, at most 250 ms may pass")
                && reason.ends_with(", at most 250 ms may pass")
        }),
        "{:?}",
        watched.reasons
    );
    assert!(watched.liveness.iter().all(|code| *code == 200));
}

#[test]
fn a_handler_that_blocks_for_600_ms_makes_a_single_thread_service_not_ready_for_that_time() {
    while_handlers_block(
        one_thread(),
        service(),
        1,
        Duration::from_millis(600),
        |address| {
            shows_about_600_ms(&watch(address, Duration::from_millis(1_500)));
        },
    );
}

#[test]
fn a_handler_that_blocks_one_of_two_workers_takes_half_the_instance_and_its_readiness() {
    while_handlers_block(
        workers(2),
        service(),
        1,
        Duration::from_millis(600),
        |address| {
            let watched = watch(address, Duration::from_millis(1_500));
            shows_about_600_ms(&watched);
            assert!(watched.findings.contains(&"blocked_worker".to_owned()));
        },
    );
}

#[test]
fn one_blocked_worker_of_four_is_shown_and_keeps_the_instance_in_rotation() {
    while_handlers_block(
        workers(4),
        service(),
        1,
        Duration::from_millis(900),
        |address| {
            let watched = watch(address, Duration::from_millis(1_500));
            assert_eq!(watched.unready_after, None, "{:?}", watched.reasons);
            assert!(watched.worst_lag > 400.0, "lag {} ms", watched.worst_lag);
            assert_eq!(watched.findings, ["blocked_worker"]);
        },
    );
}

/// Many short tasks are work, not a fault.
#[test]
fn a_runtime_that_is_busy_with_short_tasks_stays_ready() {
    let runtime = workers(2);
    let busy = (0..8).map(|_| {
        runtime.spawn(async {
            loop {
                let began = Instant::now();
                while began.elapsed() < Duration::from_micros(200) {
                    std::hint::spin_loop();
                }
                tokio::task::yield_now().await;
            }
        })
    });
    let busy: Vec<_> = busy.collect();
    while_handlers_block(runtime, service(), 0, Duration::ZERO, |address| {
        let watched = watch(address, Duration::from_secs(1));
        assert_eq!(watched.unready_after, None, "{:?}", watched.reasons);
        assert_eq!(watched.findings, [""; 0]);
        for task in busy {
            task.abort();
        }
    });
}

/// KF-007: the thread that reports it is not the one that is stuck.
#[test]
fn kf_007_a_runtime_that_is_blocked_for_the_wedge_limit_is_not_alive_and_says_so_at_once() {
    let builder = service().wedge_limit(Duration::from_secs(1));
    while_handlers_block(
        workers(2),
        builder,
        2,
        Duration::from_millis(1_800),
        |address| {
            let began = Instant::now();
            let mut slowest = Duration::ZERO;
            let dead = loop {
                let asked = Instant::now();
                let answer = get(address, "/livez");
                slowest = slowest.max(asked.elapsed());
                if answer.code == 503 {
                    break answer;
                }
                assert!(
                    began.elapsed() < Duration::from_millis(1_700),
                    "it is still alive"
                );
            };
            assert!(
                began.elapsed() > Duration::from_millis(800),
                "not before the limit"
            );
            assert!(
                slowest < Duration::from_secs(1),
                "it answered after {slowest:?}"
            );
            assert_eq!(
                dead.body,
                r#"{"alive":false,"reason":"the application's runtime has not answered for 1 s"}"#
            );
            let findings = get(address, "/health").json()["findings"].clone();
            assert_eq!(findings[0]["kind"], "wedged");
            // It answers again, and nobody restarted it.
            while get(address, "/livez").code == 503 {
                assert!(began.elapsed() < Duration::from_secs(10), "it stays dead");
            }
        },
    );
}

#[test]
fn lag_that_lasts_does_not_keep_an_instance_out_for_ever_and_the_report_says_so() {
    let builder = service().fail_open_after(Duration::from_millis(400));
    // Overload: each answer takes too long, and there are answers.
    let overload = || {
        drop(tokio::spawn(async {
            for _ in 0..8 {
                block(Duration::from_millis(350));
                tokio::task::yield_now().await;
            }
        }));
    };
    while_tasks_run(one_thread(), builder, overload, |address| {
        let began = Instant::now();
        while get(address, "/readyz").code == 200 {
            assert!(
                began.elapsed() < Duration::from_millis(1_400),
                "never unready"
            );
        }
        while get(address, "/readyz").code == 503 {
            assert!(
                began.elapsed() < Duration::from_millis(2_700),
                "it did not fail open"
            );
        }
        let report = get(address, "/health").json();
        assert_eq!(report["ready"], true);
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "lag_failed_open");
        let text = finding["text"].as_str().expect("a sentence");
        assert!(
            text.starts_with("ready although the application's runtime answers after "),
            "{text}"
        );
        assert!(
            text.ends_with(", and overload must not empty a fleet"),
            "{text}"
        );
    });
}

#[test]
fn a_runtime_that_gives_no_sign_of_life_does_not_fail_open() {
    let builder = service().fail_open_after(Duration::from_millis(400));
    let time = Duration::from_millis(1_800);
    while_handlers_block(one_thread(), builder, 1, time, |address| {
        let began = Instant::now();
        while get(address, "/readyz").code == 200 {
            assert!(
                began.elapsed() < Duration::from_millis(1_400),
                "never unready"
            );
        }
        while began.elapsed() < Duration::from_millis(1_600) {
            assert_eq!(get(address, "/readyz").code, 503);
        }
    });
}

/// Whoever stops it need not know how the runtime is in which it was started.
#[test]
fn a_stop_returns_although_nobody_runs_the_runtime_that_health_was_started_in() {
    let asleep = one_thread();
    let health = asleep.block_on(async { service().start().expect("it starts") });
    let stopped = one_thread().block_on(async {
        let stop = tokio::spawn(health.stop());
        tokio::time::timeout(Duration::from_secs(20), stop).await
    });
    stopped.expect("it returns").expect("it does not panic");
}

/// An overloaded instance serves late; a wedged one serves nobody, however long that lasts.
#[test]
fn a_runtime_that_never_answers_does_not_fail_open_into_rotation_once_it_is_wedged() {
    let builder = service()
        .fail_open_after(Duration::from_millis(300))
        .wedge_limit(Duration::from_millis(900));
    let blocked = Duration::from_millis(3_000);
    while_handlers_block(one_thread(), builder, 1, blocked, |address| {
        let began = Instant::now();
        while get(address, "/livez").code == 200 {
            assert!(began.elapsed() < blocked, "it is still alive");
        }
        let answer = get(address, "/readyz");
        assert_eq!(answer.code, 503, "dead, and yet it wants traffic");
        assert_eq!(
            answer.json()["reasons"],
            serde_json::json!(["the application's runtime has not answered for 900 ms"])
        );
        let findings = get(address, "/health").json()["findings"].clone();
        let kinds = findings.as_array().into_iter().flatten();
        let kinds: Vec<_> = kinds.map(|finding| finding["kind"].clone()).collect();
        assert!(kinds.contains(&"wedged".into()), "{kinds:?}");
        assert!(!kinds.contains(&"lag_failed_open".into()), "{kinds:?}");
    });
}

/// Contract, 11: liveness passes throughout a drain. Consumers end in it, and not all say so.
#[tokio::test]
async fn a_consumer_that_ends_because_of_a_drain_does_not_get_the_instance_killed_in_it() {
    let health = service()
        .drain_delay(Duration::from_millis(600))
        .drain_grace(Duration::from_millis(600))
        .start()
        .expect("it starts");
    let consumer = health.watch("order consumer", Duration::from_millis(100));
    consumer.beat();
    health.drain().begin();
    drop(consumer);
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(900) {
        assert!(health.is_alive(), "after {:?}", began.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A process that should have ended long ago is not held for alive for ever.
    while health.is_alive() {
        assert!(began.elapsed() < Duration::from_secs(5), "it never fails");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    health.stop().await;
}

/// KF-006: the HTTP thread answers, the consumer is stuck.
#[tokio::test]
async fn kf_006_a_critical_task_that_gives_no_sign_of_life_fails_liveness_and_is_named() {
    let health = service().start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let ask = move |path: &'static str| async move {
        tokio::task::spawn_blocking(move || get(address, path))
            .await
            .expect("it ends")
    };
    let consumer = health.watch("order consumer", Duration::from_millis(400));
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(800) {
        consumer.beat();
        assert_eq!(ask("/livez").await.code, 200);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // It hangs from here on.
    let began = Instant::now();
    let dead = loop {
        let answer = ask("/livez").await;
        if answer.code == 503 {
            break answer;
        }
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "it is still alive"
        );
    };
    assert_eq!(
        dead.body,
        r#"{"alive":false,"reason":"order consumer has given no sign of life for 400 ms"}"#
    );
    assert!(!health.is_alive());
    let findings = ask("/health").await.json()["findings"].clone();
    assert_eq!(findings[0]["kind"], "missed_heartbeat");
    consumer.finish();
    while ask("/livez").await.code == 503 {
        assert!(began.elapsed() < Duration::from_secs(5), "it stays dead");
    }
    health.stop().await;
}

#[tokio::test]
async fn the_application_can_say_itself_that_only_a_restart_helps() {
    let health = service().start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    health.only_restart_helps("two locks wait for each other");
    let began = Instant::now();
    while health.is_alive() {
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "it is still alive"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let answer = tokio::task::spawn_blocking(move || get(address, "/livez")).await;
    assert_eq!(
        answer.expect("it ends").body,
        r#"{"alive":false,"reason":"two locks wait for each other"}"#
    );
    health.stop().await;
}

/// KF-002: what the types do not let in cannot become a reason for a restart. All that there is fails at once, and
/// liveness stands.
#[tokio::test]
async fn kf_002_no_check_of_any_kind_reaches_liveness() {
    let failing = |name: &str| {
        Check::new(name, || async {
            Err::<(), _>(Failure::new(rootward::ErrorCategory::ResourceExhausted))
        })
    };
    let health = service()
        .check(failing("quorum").hard().shared().gates_readiness(true))
        .check(failing("capacity").hard().local())
        .check(failing("latency").soft().local())
        .start()
        .expect("it starts");
    health.set_not_ready("by choice");
    let address = health.listen_addr().expect("it listens");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked = tokio::task::spawn_blocking(move || {
        (get(address, "/readyz").code, get(address, "/livez").code)
    });
    assert_eq!(asked.await.expect("it ends"), (503, 200));
    assert!(health.is_alive());
    health.stop().await;
}
