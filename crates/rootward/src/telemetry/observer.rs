//! Sees when the instance becomes ready, stops being it, or has another status. These follow from the time as well
//! as from results, so somebody has to look: a thread of its own, ten times a second, because the application's
//! runtime may be blocked and the probe thread must wait for no log.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use rootward_core::InstanceStatus;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::error::Kind;
use crate::events;
use crate::runner::stopped;
use crate::shared::Shared;
use crate::view::View;

use super::change::{Change, ReadinessChange, StatusChange};
use super::hooks::Hook;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);

/// The thread that looks. It ends with the rest of the instance, and the threads of the hooks end with it.
pub(crate) struct Observer {
    thread: JoinHandle<()>,
    ended: oneshot::Receiver<()>,
}

impl Observer {
    pub(crate) fn start(
        shared: &Arc<Shared>,
        hooks: Vec<Hook>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Self, Kind> {
        let failed = |source| Kind::Thread {
            what: "the observer of changes",
            source,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(failed)?;
        let hook_threads = shared.telemetry.hooks.start(hooks).map_err(failed)?;
        let shared = Arc::clone(shared);
        let (ending, ended) = oneshot::channel();
        let observe = move || {
            let mut seen = Seen::default();
            runtime.block_on(async {
                // Not at once: whoever has just called start() takes latches first.
                let mut look = interval_at(Instant::now() + LOOK, LOOK);
                look.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    tokio::select! {
                        () = stopped(&mut stop) => break,
                        _ = look.tick() => seen.look(&shared),
                    }
                }
            });
            shared.telemetry.hooks.close();
            drop(shared);
            hook_threads.wait();
            // Whoever waits for it gives up only with its own thread.
            let _ = ending.send(());
        };
        let thread = thread::Builder::new()
            .name("rootward-observe".to_owned())
            .spawn(observe)
            .map_err(failed)?;
        Ok(Self { thread, ended })
    }

    /// Until the thread has ended, which was asked to.
    pub(crate) async fn ended(self) {
        // A sender that is gone says the same as one that has sent.
        let _ = self.ended.await;
        if self.thread.join().is_err() {
            tracing::error!(target: "rootward", "the thread of the observer of changes panicked");
        }
    }
}

/// What was seen last.
struct Seen {
    ready: bool,
    status: InstanceStatus,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            ready: false,
            status: InstanceStatus::Starting,
        }
    }
}

impl Seen {
    fn look(&mut self, shared: &Shared) {
        let view = View::peek(shared, Instant::now());
        let status = view.status();
        if status != self.status {
            let from = std::mem::replace(&mut self.status, status);
            shared.telemetry.hooks.tell(|| {
                Change::Status(StatusChange {
                    from,
                    to: status,
                    at: now(shared),
                })
            });
        }
        let reasons = view.reasons_not_ready();
        let ready = reasons.is_empty();
        if ready != self.ready {
            self.ready = ready;
            events::readiness(ready, &reasons);
            shared.telemetry.hooks.tell(|| {
                Change::Readiness(ReadinessChange {
                    ready,
                    reasons,
                    at: now(shared),
                })
            });
        }
    }
}

fn now(shared: &Shared) -> SystemTime {
    shared.at(Instant::now()).wall
}
