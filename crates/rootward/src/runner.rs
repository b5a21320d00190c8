//! Runs the checks: one task that owns all their state, and one task for each run.
//!
//! The owner never runs foreign code. A run that panics is that check's failure; one that passes its time limit is
//! cancelled; one that cannot be cancelled is abandoned, counted as a timeout that is still running, and never
//! started a second time beside itself. Everything the owner waits for is in one `select`, and it hears stop.

mod run;
mod schedule;
mod slot;

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Name;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

use crate::check::{Body, Check, CheckContext, Labelled};
use crate::identity::Identity;
use crate::shared::{CheckFacts, Entry, Shared};
pub(crate) use run::panic_text;
use run::{Ended, Finished};
use slot::Slot;

/// How long a stop waits for runs that cannot be cancelled.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The function of a check and who it runs for.
pub(crate) struct Plan {
    body: Body,
    context: CheckContext,
}

impl Plan {
    pub(crate) fn new(check: &Check<Labelled>, facts: &CheckFacts, identity: &Identity) -> Self {
        Self {
            body: check.body(),
            context: CheckContext::new(
                identity.service.clone(),
                identity.instance.clone(),
                facts.name.clone(),
                facts.timeout,
            ),
        }
    }
}

/// Other checks from now on: each that goes on, by its name, and each that begins.
pub(crate) struct Order {
    pub(crate) next: Vec<Next>,
    /// Told when they are what is shown.
    pub(crate) done: oneshot::Sender<()>,
}

/// One check of an order.
pub(crate) enum Next {
    Keep(Name),
    Begin(Box<(Entry, Plan)>),
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
    orders: mpsc::Receiver<Order>,
    stop: watch::Receiver<bool>,
}

impl Runner {
    /// Of as many plans as there are checks, in the same order.
    pub(crate) fn new(
        shared: Arc<Shared>,
        plans: Vec<Plan>,
        orders: mpsc::Receiver<Order>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let born = shared.born;
        let checks = shared.checks();
        let pairs = checks.iter().cloned().zip(plans);
        let slots = pairs.map(|(entry, plan)| Slot::new(entry, plan, born));
        Self {
            slots: slots.collect(),
            shared,
            running: JoinSet::new(),
            tasks: HashMap::new(),
            deep: None,
            orders,
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
                Some(order) = self.orders.recv() => self.replace(order),
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

    /// Goes on with the checks that are kept, gives up the others, and begins the new ones.
    fn replace(&mut self, order: Order) {
        let mut before: Vec<Option<Slot>> =
            mem::take(&mut self.slots).into_iter().map(Some).collect();
        let mut moved = vec![None; before.len()];
        let mut deep = self.deep.is_some().then(Vec::new);
        for next in order.next {
            let (slot, begun) = match next {
                Next::Keep(name) => {
                    let called = |slot: &Option<Slot>| {
                        let slot = slot.as_ref();
                        slot.is_some_and(|slot| *slot.name() == name)
                    };
                    // Whoever gives the order has looked: it is there.
                    let Some(index) = before.iter().position(called) else {
                        continue;
                    };
                    let Some(slot) = before[index].take() else {
                        continue;
                    };
                    moved[index] = Some(self.slots.len());
                    let begun = self.deep.as_ref().map_or(0, |begun| begun[index]);
                    (slot, begun)
                }
                Next::Begin(new) => {
                    let (entry, plan) = *new;
                    (Slot::new(entry, plan, self.shared.born), 0)
                }
            };
            self.slots.push(slot);
            if let Some(deep) = &mut deep {
                deep.push(begun);
            }
        }
        self.deep = deep;
        // What a run that was given up still says finds no slot.
        self.tasks.retain(|_, index| {
            moved[*index].is_some_and(|new| {
                *index = new;
                true
            })
        });
        before.into_iter().flatten().for_each(Slot::give_up);
        self.shared
            .publish(self.slots.iter().map(Slot::entry).collect());
        // Whoever waits no longer knows it from the report.
        let _ = order.done.send(());
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
                .publish(self.slots.iter().map(Slot::entry).collect());
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
