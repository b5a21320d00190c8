//! The listener answers whatever the application's runtime and its dependencies do. Real time, real sockets.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rootward::{Builder, Check, Failure, Health};
use rootward_core::CheckStatus;

use crate::support::{any_port, ask, cart, get};

/// Twenty dependencies that hang.
fn all_hang() -> Builder {
    (0..20).fold(cart().listen(any_port()), |builder, index| {
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

/// Runs a service in a runtime of its own, blocks that runtime whole, and hands the address to `look`.
#[expect(
    clippy::disallowed_methods,
    reason = "the application under test blocks its own runtime"
)]
fn while_blocked(runtime: tokio::runtime::Runtime, workers: usize, look: impl FnOnce(SocketAddr)) {
    let (tell, address) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let application = thread::spawn(move || {
        runtime.block_on(async {
            let health: Health = all_hang().start().expect("it starts");
            // Until the hanging checks have all been counted once.
            tokio::time::sleep(Duration::from_millis(300)).await;
            tell.send(health.listen_addr().expect("it listens"))
                .expect("heard");
            let blockers: Vec<_> = (1..workers)
                .map(|_| tokio::spawn(async { thread::sleep(Duration::from_secs(3)) }))
                .collect();
            if workers > 1 {
                tokio::task::yield_now().await;
            }
            // The thread of the application itself.
            let _ = released.recv_timeout(Duration::from_secs(30));
            for blocker in blockers {
                blocker.await.expect("it ends");
            }
            health.stop().await;
        });
    });
    look(address.recv().expect("an address"));
    release.send(()).expect("heard");
    application.join().expect("it ends");
}

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
        let component = report["components"][0].clone();
        if component["status"] == CheckStatus::Unknown.as_str() {
            break report;
        }
        assert!(began.elapsed() < limit * 3, "{report}");
    };
    let component = &stale["components"][0];
    assert_eq!(component["error_category"], "stale");
    assert!(component["age_ms"].as_u64() >= Some(900));
    assert_eq!(stale["status"], "degraded", "hard and unknown");
    assert_eq!(get(address, "/readyz").code, 200);
}

#[test]
fn a_blocked_single_thread_runtime_is_answered_for() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    while_blocked(runtime, 1, |address| {
        answers_within_the_limit(address);
        turns_stale(address);
    });
}

#[test]
fn a_blocked_multi_thread_runtime_is_answered_for() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    while_blocked(runtime, 6, |address| {
        answers_within_the_limit(address);
        turns_stale(address);
    });
}

#[test]
fn many_instances_live_in_one_process() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
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
