//! Runs the checks: one task that owns all their state, and one task for each run.
//!
//! The owner never runs foreign code. A run that panics is that check's failure; one that passes its time limit is
//! cancelled; one that cannot be cancelled is abandoned, counted as a timeout that is still running, and never
//! started a second time beside itself. Everything the owner waits for is in one `select`, and it hears stop.

mod run;
mod schedule;
mod slot;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

use crate::check::{Body, CheckContext};
use crate::shared::Shared;
pub(crate) use run::panic_text;
use run::{Ended, Finished};
use slot::Slot;

/// How long a stop waits for runs that cannot be cancelled.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The function of a check and who it runs for.
pub(crate) struct Plan {
    pub(crate) body: Body,
    pub(crate) context: CheckContext,
}

/// The owner of all checks.
pub(crate) struct Runner {
    shared: Arc<Shared>,
    slots: Vec<Slot>,
    running: JoinSet<Finished>,
    /// Which slot a task belongs to.
    tasks: HashMap<task::Id, usize>,
    /// The run of all checks under way: how many results each had when it began.
    deep: Option<Vec<u64>>,
    stop: watch::Receiver<bool>,
}

impl Runner {
    /// Of as many plans as there are facts, in the same order.
    pub(crate) fn new(shared: Arc<Shared>, plans: Vec<Plan>, stop: watch::Receiver<bool>) -> Self {
        let slots = shared
            .facts
            .iter()
            .zip(plans)
            .zip(&shared.telemetry.checks)
            .map(|((facts, plan), stats)| {
                Slot::new(facts.clone(), plan, Arc::clone(stats), shared.born)
            })
            .collect();
        Self {
            shared,
            slots,
            running: JoinSet::new(),
            tasks: HashMap::new(),
            deep: None,
            stop,
        }
    }

    /// Until stop is heard. No run is alive afterwards, except one that cannot be cancelled.
    pub(crate) async fn run(mut self) {
        let ending = Ending;
        loop {
            let wake = self.handle_time(Instant::now());
            tokio::select! {
                biased;
                () = stopped(&mut self.stop) => break,
                // What has ended is looked at before the clock: a result that is there is not a timeout.
                Some(ended) = self.running.join_next_with_id(), if !self.running.is_empty() => {
                    self.handle_ended(ended);
                    while let Some(ended) = self.running.try_join_next_with_id() {
                        self.handle_ended(ended);
                    }
                }
                () = self.shared.deep.wanted() => self.begin_deep(Instant::now()),
                () = sleep_until(wake) => {}
            }
        }
        self.cancel_all().await;
        std::mem::forget(ending);
    }

    /// Does what is due and says when to come again.
    fn handle_time(&mut self, now: Instant) -> Option<Instant> {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let started = slot.handle_time(now, &self.shared, &mut self.running);
            if let Some(id) = started {
                self.tasks.insert(id, index);
            }
        }
        self.publish();
        self.end_deep();
        self.slots.iter().map(Slot::wake).min()
    }

    /// Every check that does not run already is due now.
    fn begin_deep(&mut self, now: Instant) {
        self.deep = Some(self.slots.iter().map(Slot::seq).collect());
        for slot in &mut self.slots {
            slot.run_now(now);
        }
    }

    /// The run of all checks is over when each has a result of it, or is known to ignore its time limit.
    fn end_deep(&mut self) {
        let Some(begun) = &self.deep else { return };
        let mut pairs = self.slots.iter().zip(begun);
        if pairs.all(|(slot, seq)| slot.seq() > *seq || slot.is_abandoned()) {
            self.deep = None;
            self.shared.deep.complete();
        }
    }

    fn handle_ended(&mut self, joined: Result<(task::Id, Finished), JoinError>) {
        let (id, ended) = match joined {
            Ok((id, finished)) => (id, Ok(finished)),
            Err(error) => (error.id(), Err(error)),
        };
        let ended = Ended::from(ended);
        if let Some(index) = self.tasks.remove(&id) {
            self.slots[index].handle_ended(ended, &self.shared);
        }
    }

    fn publish(&mut self) {
        let mut changed = false;
        for slot in &mut self.slots {
            changed |= slot.take_changed();
        }
        if changed {
            self.shared
                .publish(self.slots.iter().map(Slot::state).collect());
        }
    }

    async fn cancel_all(&mut self) {
        self.running.abort_all();
        let ended = async {
            while let Some(joined) = self.running.join_next().await {
                drop(Ended::from(joined));
            }
        };
        if tokio::time::timeout(STOP_GRACE, ended).await.is_err() {
            let names = self.slots.iter().filter_map(Slot::name_of_running);
            let checks = names.collect::<Vec<_>>().join(", ");
            tracing::warn!(target: "rootward", checks, "checks that ignore cancellation still run");
        }
    }
}

/// Says so if the owner ends without having been told to: nothing else would, until the evidence is stale.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!(target: "rootward", "the check runner panicked: results will turn stale");
        } else {
            tracing::debug!(target: "rootward", "the runtime ended before the check runner was stopped");
        }
    }
}

/// Until stop is asked for, or the handle is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which means the same.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Without checks there is nothing to wake up for.
async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
