//! Tells when the instance becomes ready, stops being it, is wedged, or has another status: the log and the hooks.
//!
//! These follow from the time as well as from results, so somebody has to look. The thread that samples the runtime
//! does, with everything else that it looks at ([`Glance`]); it must wait for no log, so it only wakes up this thread,
//! which sleeps otherwise.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use rootward_core::InstanceStatus;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::error::Kind;
use crate::events;
use crate::runner::stopped;
use crate::shared::Shared;
use crate::view::View;
use crate::vitals::{Alive, Lag};

use super::change::{Change, ReadinessChange, StatusChange};
use super::hooks::Listeners;

/// The thread that looks. It ends with the rest of the instance, and the threads of the hooks end with it.
pub(crate) struct Observer {
    thread: JoinHandle<()>,
    ended: oneshot::Receiver<()>,
}

impl Observer {
    pub(crate) fn start(
        shared: &Arc<Shared>,
        listeners: Listeners,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Self, Kind> {
        let failed = |source| Kind::Thread {
            what: "the observer of changes",
            source,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(failed)?;
        let hooks = &shared.telemetry.hooks;
        #[cfg_attr(not(feature = "otel"), expect(unused_mut, reason = "one thread more"))]
        let mut threads = hooks.start(listeners.hooks).map_err(failed)?;
        #[cfg(feature = "otel")]
        if let Some(meter) = listeners.meter {
            let record = shared.telemetry.recorder.start(&meter, shared);
            threads.spawn("rootward-otel", record).map_err(failed)?;
        }
        let shared = Arc::clone(shared);
        let (ending, ended) = oneshot::channel();
        let observe = move || {
            let mut seen = Seen::default();
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        () = stopped(&mut stop) => break,
                        () = shared.telemetry.journal.rung() => {
                            shared.telemetry.journal.write();
                            seen.look(&shared);
                        }
                    }
                }
            });
            shared.telemetry.journal.write();
            shared.telemetry.close();
            drop(shared);
            threads.wait();
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

/// How many looks may pass without one at readiness and status if nothing was published: what follows from the time
/// alone, such as evidence that turns stale, is told about a second late at most.
const UNCHANGED_LOOKS: u8 = 7;

/// What the sampler's thread saw last. It looks, and the observer tells.
#[derive(Default)]
pub(crate) struct Glance {
    seen: Option<(bool, InstanceStatus)>,
    version: Option<(u64, u64)>,
    unchanged: u8,
}

impl Glance {
    /// Wakes up the observer if something may have changed.
    pub(crate) fn look(&mut self, shared: &Shared, vitals_changed: bool) {
        let version = Some(shared.version());
        if version == self.version && !vitals_changed && self.unchanged < UNCHANGED_LOOKS {
            self.unchanged += 1;
            return;
        }
        self.version = version;
        self.unchanged = 0;
        let view = View::peek(shared, Instant::now());
        let seen = Some((view.reasons_not_ready().is_empty(), view.status()));
        if seen != self.seen || vitals_changed {
            self.seen = seen;
            shared.telemetry.journal.ring();
        }
    }
}

/// What was told last.
struct Seen {
    ready: bool,
    status: InstanceStatus,
    verdict: Lag,
    alive: Alive,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            ready: false,
            status: InstanceStatus::Starting,
            verdict: Lag::Within,
            alive: Alive::default(),
        }
    }
}

impl Seen {
    fn look(&mut self, shared: &Shared) {
        let vitals = shared.vitals.seen();
        if vitals.verdict != self.verdict {
            self.verdict = vitals.verdict;
            events::lag(vitals.verdict, vitals.lag);
        }
        if vitals.alive != self.alive {
            self.alive = vitals.alive.clone();
            events::liveness(&vitals.alive);
        }
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
