//! The subject: a service with our probes, which can be brought into distress.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use rootward::{Access, Check, Health};
use tokio::runtime::Runtime;

use crate::rounds::{Contender, Serving};

/// The name of the probe listener's thread.
pub(crate) const PROBE_THREAD: &str = "rootward-probe";

/// How many dependencies it checks.
pub(crate) const CHECKS: usize = 10;

/// The deadline of a check of a dependency that hangs.
const TIMEOUT: Duration = Duration::from_millis(200);

/// How long the first results of all checks take at most.
const SETTLED: Duration = Duration::from_millis(500);

/// How long the application's runtime may take to end.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// What its dependencies do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dependencies {
    /// They answer at once; each is asked every 10 s.
    Answer,
    /// They never answer; each is asked every second, so that a check of each hangs for 200 ms of it.
    Hang,
    /// They never answer and were asked once: the report does not change during a run.
    HungOnce,
}

/// Holds threads until it is opened.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    stop_spinning: AtomicBool,
}

impl Gate {
    fn block(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.opened
                .wait_while(open, |open| !*open)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    fn spin(&self) {
        while !self.stop_spinning.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
        self.stop_spinning.store(true, Ordering::Relaxed);
    }
}

/// A service whose application's runtime has a worker for each core.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) address: SocketAddr,
    health: Option<Health>,
    runtime: Option<Runtime>,
    workers: usize,
    gate: Arc<Gate>,
}

impl Subject {
    /// Starts the service and waits for the first results of its checks.
    pub(crate) async fn start(dependencies: Dependencies) -> io::Result<Self> {
        let workers = available_parallelism()?.get();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()?;
        let starting = runtime.spawn(async move { health(dependencies) });
        let health = starting.await.map_err(io::Error::other)??;
        let address = health
            .listen_addr()
            .ok_or_else(|| io::Error::other("it does not listen"))?;
        let subject = Self {
            address,
            health: Some(health),
            runtime: Some(runtime),
            workers,
            gate: Arc::default(),
        };
        tokio::time::sleep(SETTLED).await;
        Ok(subject)
    }

    /// Blocks every worker of the application's runtime, as a lock or a blocking call would.
    pub(crate) fn block(&self) {
        self.occupy(Gate::block);
    }

    /// Makes every worker of the application's runtime compute without end: one for each core.
    pub(crate) fn spin(&self) {
        self.occupy(Gate::spin);
    }

    fn occupy(&self, occupy: fn(&Gate)) {
        let Some(runtime) = &self.runtime else { return };
        for _ in 0..self.workers {
            let gate = Arc::clone(&self.gate);
            // Detached on purpose: it ends when the gate opens, in `drop`, before the runtime does.
            drop(runtime.spawn(async move { occupy(&gate) }));
        }
    }

    /// As one that takes part in a comparison.
    pub(crate) fn contender(&self, path: &'static str, code: u16) -> Contender {
        Contender {
            name: "ours",
            address: self.address,
            path,
            code,
            serving: Serving::Thread(PROBE_THREAD),
        }
    }

    /// Ends it, its threads included.
    pub(crate) async fn stop(mut self) {
        self.gate.open();
        if let Some(health) = self.health.take() {
            // When it stops, the thread of its probes has ended.
            health.stop().await;
        }
    }
}

fn health(dependencies: Dependencies) -> io::Result<Health> {
    let mut builder = Health::builder("bench")
        .access(Access::loopback().unlimited_rates())
        // What the report says must not change in the middle of a run.
        .wedge_limit(Duration::from_secs(3_600))
        .fail_open_after(Duration::from_secs(3_000))
        .listen(([127, 0, 0, 1], 0).into());
    for n in 0..CHECKS {
        let check = Check::new(format!("dependency-{n}"), move || async move {
            match dependencies {
                Dependencies::Answer => Ok(()),
                Dependencies::Hang | Dependencies::HungOnce => {
                    std::future::pending::<Result<(), rootward::Failure>>().await
                }
            }
        });
        let interval = match dependencies {
            Dependencies::Answer => Duration::from_secs(10),
            Dependencies::Hang => Duration::from_secs(1),
            Dependencies::HungOnce => Duration::from_secs(3_600),
        };
        builder = builder.check(check.interval(interval).timeout(TIMEOUT).hard());
    }
    builder.start().map_err(io::Error::other)
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.gate.open();
        drop(self.health.take());
        if let Some(runtime) = self.runtime.take() {
            // A runtime must not be waited for inside another one.
            let ending = std::thread::spawn(move || runtime.shutdown_timeout(STOP_LIMIT));
            // It panics only where the runtime does, which has said so already.
            let _ = ending.join();
        }
    }
}
