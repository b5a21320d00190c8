//! Asks instances for their reports: one task for each poll, bounded, each with a deadline of its own.
//!
//! The schedule is the engine's; here is only how one poll is made. Each target has one connection, which is kept
//! between polls and lent to the running one, so two polls of a target cannot share it. Whatever happens to a poll,
//! [`Poller::finished`] returns exactly one outcome for it, unless [`Poller::stop`] comes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CACHE_CONTROL};
use http::{HeaderName, HeaderValue};
use rootward_core::engine::{Poll, PollOutcome};
use rootward_core::{ErrorCategory, InstanceId, Moment};
use rootward_fetch::{Connection, Limits, Target};
use rootward_wire::limits::MAX_REPORT_BYTES;
use tokio::sync::Semaphore;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::events;
use crate::metrics::Metrics;

mod outcome;

/// Polls that wait for an answer at the same time. At most as many targets hang at once; with the usual time limit of
/// 2 s, it takes more than a thousand hanging targets in 10 s before others are late.
pub(crate) const MAX_POLLS_IN_FLIGHT: usize = 256;

/// Whom to ask, and how long to wait for the whole exchange.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) target: Target,
    pub(crate) timeout: Duration,
}

/// Runs polls.
#[derive(Debug)]
pub(crate) struct Poller {
    asks: BTreeMap<InstanceId, Ask>,
    /// The connections of targets that are not being asked at the moment.
    idle: HashMap<InstanceId, Connection>,
    tasks: JoinSet<(Poll, Connection)>,
    running: HashMap<task::Id, Begun>,
    permits: Arc<Semaphore>,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
}

/// A poll that the engine asked for.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// Whom to ask.
    pub(crate) instance: InstanceId,
    /// When the engine released it. This is what counts as its beginning, also if it has to wait for its turn: the
    /// engine joins polls to rounds by it.
    pub(crate) released: Moment,
    /// When it should have been released.
    pub(crate) due: Moment,
}

impl Poller {
    pub(crate) fn new(
        asks: BTreeMap<InstanceId, Ask>,
        clock: Arc<Clock>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            asks,
            idle: HashMap::new(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            permits: Arc::new(Semaphore::new(MAX_POLLS_IN_FLIGHT)),
            clock,
            metrics,
        }
    }

    /// Begins a poll. The engine lets no second one of the same instance begin before the first has ended.
    pub(crate) fn begin(&mut self, begun: Begun) {
        let ask = self
            .asks
            .get(&begun.instance)
            .expect("engine and poller have their targets from the same list");
        let connection = self
            .idle
            .remove(&begun.instance)
            .unwrap_or_else(|| Connection::new(ask.target.clone()));
        let poll = ask_once(
            begun.clone(),
            connection,
            ask.timeout,
            Arc::clone(&self.permits),
            Arc::clone(&self.clock),
            Arc::clone(&self.metrics),
        );
        self.metrics.poll_began();
        let task = self.tasks.spawn(poll);
        self.running.insert(task.id(), begun);
    }

    /// Waits for the next poll to end; forever while none runs. Nothing is lost if the wait is given up.
    pub(crate) async fn finished(&mut self) -> Poll {
        match self.tasks.join_next_with_id().await {
            Some(Ok((id, (poll, connection)))) => {
                self.running.remove(&id);
                self.idle.insert(poll.instance.clone(), connection);
                poll
            }
            Some(Err(error)) => self.failed(&error),
            None => std::future::pending().await,
        }
    }

    /// Ends every poll that runs, without outcomes; returns how many there were. Their connections are closed.
    pub(crate) async fn stop(mut self) -> u64 {
        let abandoned = self.tasks.len() as u64;
        self.tasks.shutdown().await;
        abandoned
    }

    /// A poll whose task did not return: a fault of ours, which must not leave the instance without an outcome.
    fn failed(&mut self, error: &JoinError) -> Poll {
        let begun = self
            .running
            .remove(&error.id())
            .expect("every task was entered when it was spawned");
        events::poller_failed(&begun.instance);
        let finished = self.clock.now();
        Poll {
            instance: begun.instance,
            started: begun.released,
            finished,
            took_us: micros(finished - begun.released),
            outcome: PollOutcome::NoAnswer {
                category: ErrorCategory::Panic,
                text: "the poller failed".into(),
            },
        }
    }
}

async fn ask_once(
    begun: Begun,
    mut connection: Connection,
    deadline: Duration,
    permits: Arc<Semaphore>,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
) -> (Poll, Connection) {
    let _permit = permits
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    metrics.poll_sent(clock.now() - begun.due);
    let limits = Limits {
        deadline,
        max_body_bytes: MAX_REPORT_BYTES,
    };
    let sent = Instant::now();
    let result = connection.get(&HEADERS, &limits).await;
    let took_us = micros(sent.elapsed());
    let finished = clock.now();
    let poll = Poll {
        instance: begun.instance,
        started: begun.released,
        finished,
        took_us,
        outcome: match result {
            Ok(answer) => outcome::of_answer(&answer, finished),
            Err(error) => outcome::of_failure(&error),
        },
    };
    (poll, connection)
}

/// What is sent besides the name that rootward-fetch gives itself: no cache may answer in the target's place.
static HEADERS: [(HeaderName, HeaderValue); 2] = [
    (ACCEPT, HeaderValue::from_static("application/json")),
    (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
