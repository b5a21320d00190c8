//! The subject: a service with our probes, at its worst: every dependency hangs, and every worker of the application's
//! runtime is blocked.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rootward::{Check, Health};
use tokio::runtime::Runtime;

/// Dependencies that never answer.
const HANGING_CHECKS: usize = 10;

/// Threads of the application's runtime.
const WORKERS: usize = 2;

/// Blocks threads until it is opened.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
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

    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

/// A service in distress.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) address: SocketAddr,
    health: Option<Health>,
    runtime: Option<Runtime>,
    gate: Arc<Gate>,
}

impl Subject {
    /// Starts the service and lets its checks time out once. It is not yet blocked.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()?;
        let health = runtime.block_on(async {
            let mut builder = Health::builder("bench").listen(([127, 0, 0, 1], 0).into());
            for n in 0..HANGING_CHECKS {
                let check = Check::new(format!("dependency-{n}"), || async {
                    std::future::pending::<Result<(), rootward::Failure>>().await
                });
                // An hour: the answer must not change when the evidence turns stale in the middle of the run.
                let check = check
                    .interval(Duration::from_secs(3_600))
                    .timeout(Duration::from_millis(200));
                builder = builder.check(check.hard());
            }
            let health = builder.start().map_err(io::Error::other)?;
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok::<Health, io::Error>(health)
        })?;
        let address = health
            .listen_addr()
            .ok_or_else(|| io::Error::other("it does not listen"))?;
        Ok(Self {
            address,
            health: Some(health),
            runtime: Some(runtime),
            gate: Arc::default(),
        })
    }

    /// Blocks every worker of the application's runtime.
    pub(crate) fn block(&self) {
        let Some(runtime) = &self.runtime else { return };
        for _ in 0..WORKERS {
            let gate = Arc::clone(&self.gate);
            // Detached on purpose: it ends when the gate opens, in `drop`, before the runtime does.
            drop(runtime.spawn(async move { gate.block() }));
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.gate.open();
        drop(self.health.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
    }
}
