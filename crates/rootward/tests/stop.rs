//! A stop leaves nothing behind. Alone in its process, because it counts threads.

use std::time::Duration;

use rootward::{Check, Failure, Health};
use tokio::runtime::Handle;

/// Threads of ours, by name: the probe listener, the sampler of the runtime, the observer, the hook.
fn our_threads() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads");
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("rootward-"))
        .count()
}

/// Waits a moment: the kernel lists a thread for a while after it was joined, and the runtime counts a task for a
/// while after its handle was woken.
async fn until_nothing_is_left(tasks: usize) {
    let left = || (our_threads(), Handle::current().metrics().num_alive_tasks());
    for _ in 0..200 {
        if left() == (0, tasks) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("threads and tasks that are left: {:?}", left());
}

/// KF-093 and P-11: with idle and half-open connections, with checks under way, fifty times.
#[test]
#[cfg(target_os = "linux")]
fn after_stop_no_task_and_no_thread_is_left() {
    for flavour in ["one thread", "two threads"] {
        let runtime = match flavour {
            "one thread" => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build(),
            _ => tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build(),
        };
        runtime.expect("a runtime").block_on(async {
            let tasks = Handle::current().metrics().num_alive_tasks();
            for _ in 0..25 {
                let health = Health::builder("cart")
                    .listen(([127, 0, 0, 1], 0).into())
                    .check(
                        Check::new("db", std::future::pending::<Result<(), Failure>>)
                            .interval(Duration::from_millis(20))
                            .timeout(Duration::from_millis(10))
                            .hard(),
                    )
                    .on_change(|_| {})
                    .start()
                    .expect("it starts");
                let address = health.listen_addr().expect("it listens");
                let _idle = std::net::TcpStream::connect(address).expect("a connection");
                tokio::time::sleep(Duration::from_millis(15)).await;
                assert_eq!(our_threads(), 4);
                health.stop().await;
                until_nothing_is_left(tasks).await;
            }
        });
    }
}
