//! The listener answers whatever the application's runtime and its dependencies do. Real time, real sockets.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rootward::{Access, Builder, Check, Failure, Health};
use rootward_core::CheckStatus;
use tokio::runtime::Runtime;

use crate::support::{any_port, ask, cart, get};

/// Twenty dependencies that hang. Asked as often as the tests can.
fn all_hang() -> Builder {
    let cart = cart().access(Access::loopback().unlimited_rates());
    (0..20).fold(cart.listen(any_port()), |builder, index| {
        let check = Check::new(
            format!("db-{index}"),
            std::future::pending::<Result<(), Failure>>,
        );
        builder.check(
            check
                .interval(Duration::from_millis(400))
                .timeout(Duration::from_millis(100))
                .hard(),
        )
    })
}

/// Holds its thread until it is told to let go.
#[expect(
    clippy::disallowed_methods,
    reason = "the application under test blocks its own runtime"
)]
fn block(release: &AtomicBool) {
    let began = Instant::now();
    while !release.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a service in a runtime of its own, blocks every thread of it after a while, and hands the address to `look`.
fn while_blocked(runtime: Runtime, workers: usize, after: Duration, look: impl FnOnce(SocketAddr)) {
    let (tell, address) = mpsc::channel();
    let release = Arc::new(AtomicBool::new(false));
    let released = Arc::clone(&release);
    let application = thread::spawn(move || {
        runtime.block_on(async {
            let health: Health = all_hang().start().expect("it starts");
            if !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            let blockers: Vec<_> = (0..workers)
                .map(|_| {
                    let released = Arc::clone(&released);
                    tokio::spawn(async move { block(&released) })
                })
                .collect();
            tell.send(health.listen_addr().expect("it listens"))
                .expect("heard");
            // The thread of the application itself.
            block(&released);
            for blocker in blockers {
                blocker.await.expect("it ends");
            }
            health.stop().await;
        });
    });
    let address = address.recv().expect("an address");
    let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(address)));
    release.store(true, Ordering::SeqCst);
    application.join().expect("it ends");
    if let Err(panic) = looked {
        std::panic::resume_unwind(panic);
    }
}

/// Enough for the hanging checks to be counted once.
const A_WHILE: Duration = Duration::from_millis(300);

/// KF-001, KF-004, KF-005: with every dependency hanging and the runtime blocked.
fn answers_within_the_limit(address: SocketAddr) {
    for path in ["/health", "/livez", "/readyz", "/status", "/startupz"] {
        let mut took: Vec<_> = (0..100)
            .map(|_| {
                let began = Instant::now();
                get(address, path);
                began.elapsed()
            })
            .collect();
        took.sort_unstable();
        // 10 ms is the promise with a share of a core left; a test machine may have less for a moment.
        assert!(took[50] < Duration::from_millis(10), "{path}: {took:?}");
    }
    assert_eq!(get(address, "/livez").code, 200);
}

/// The evidence turns stale on time although nobody writes any more, and is then nobody's fault.
fn turns_stale(address: SocketAddr) {
    // Two intervals and one time limit.
    let limit = Duration::from_millis(900);
    let began = Instant::now();
    let stale = loop {
        let report = ask(address, "GET", "/health", "").json();
        let components = report["components"].as_array().expect("components");
        let unknown = CheckStatus::Unknown.as_str();
        if components.iter().all(|c| c["status"] == unknown) {
            break report;
        }
        assert!(began.elapsed() < limit * 10, "{report}");
    };
    let component = &stale["components"][0];
    assert_eq!(component["error_category"], "stale");
    assert!(component["age_ms"].as_u64() >= Some(900));
    assert_eq!(stale["status"], "degraded", "hard and unknown");
}

fn one_thread() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn two_workers() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

#[test]
fn a_blocked_single_thread_runtime_is_answered_for() {
    while_blocked(one_thread(), 0, A_WHILE, |address| {
        answers_within_the_limit(address);
        turns_stale(address);
    });
}

#[test]
fn a_blocked_multi_thread_runtime_is_answered_for() {
    while_blocked(two_workers(), 2, A_WHILE, |address| {
        answers_within_the_limit(address);
        turns_stale(address);
    });
}

/// No check ever ran, and nobody but the probe thread can say so.
#[test]
fn a_runtime_that_is_blocked_from_the_start_does_not_hold_the_start() {
    while_blocked(one_thread(), 0, Duration::ZERO, |address| {
        let began = Instant::now();
        while get(address, "/startupz").code != 200 {
            assert!(began.elapsed() < Duration::from_secs(10));
        }
        let report = get(address, "/health").json();
        assert_eq!(report["status"], "degraded", "hard and unknown");
        assert_eq!(report["components"][0]["status"], "unknown");
        assert_eq!(report["components"][0]["seq"], serde_json::Value::Null);
    });
}

#[test]
fn many_instances_live_in_one_process() {
    two_workers().block_on(async {
        let instances: Vec<_> = (0..20)
            .map(|index| {
                cart()
                    .instance(format!("cart-{index}"))
                    .listen(any_port())
                    .start()
                    .expect("it starts")
            })
            .collect();
        for (index, health) in instances.iter().enumerate() {
            let address = health.listen_addr().expect("it listens");
            let report = get(address, "/health").json();
            assert_eq!(report["instance"], format!("cart-{index}"));
        }
        for health in instances {
            health.stop().await;
        }
    });
}

#[test]
fn the_handles_can_be_shared_between_threads() {
    fn sent_and_shared<T: Send + Sync>() {}
    sent_and_shared::<Health>();
    sent_and_shared::<rootward::Latch>();
    sent_and_shared::<rootward::CheckContext>();
}
