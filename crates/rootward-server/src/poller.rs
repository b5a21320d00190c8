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
        max_in_flight: usize,
        clock: Arc<Clock>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            asks,
            idle: HashMap::new(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            permits: Arc::new(Semaphore::new(max_in_flight)),
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
            Some(joined) => self.settle(joined),
            None => std::future::pending().await,
        }
    }

    /// A poll that has ended already, if one has.
    pub(crate) fn try_finished(&mut self) -> Option<Poll> {
        let joined = self.tasks.try_join_next_with_id()?;
        Some(self.settle(joined))
    }

    /// Ends every poll that runs, without outcomes; returns how many there were. Their connections are closed.
    pub(crate) async fn stop(mut self) -> u64 {
        let abandoned = self.tasks.len() as u64;
        self.tasks.shutdown().await;
        abandoned
    }

    fn settle(&mut self, joined: Result<(task::Id, (Poll, Connection)), JoinError>) -> Poll {
        match joined {
            Ok((id, (poll, connection))) => {
                self.running.remove(&id);
                self.idle.insert(poll.instance.clone(), connection);
                poll
            }
            Err(error) => self.failed(&error),
        }
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;
    use crate::sample;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn poller(max_in_flight: usize, targets: &[(&str, SocketAddr, Duration)]) -> Poller {
        let asks = targets.iter().map(|(service, address, timeout)| {
            let ask = Ask {
                target: Target::parse(&format!("http://{address}/health")).unwrap(),
                timeout: *timeout,
            };
            (sample::id(service, "0"), ask)
        });
        let clock = Arc::new(Clock::start());
        let snapshots = sample::reader(sample::unseen(), Arc::clone(&clock));
        let metrics = Arc::new(Metrics::new(snapshots, targets.len()));
        Poller::new(asks.collect(), max_in_flight, clock, metrics)
    }

    fn begun(service: &str) -> Begun {
        Begun {
            instance: sample::id(service, "0"),
            released: Moment::ZERO,
            due: Moment::ZERO,
        }
    }

    /// Accepts and says nothing: connections wait in the system's queue.
    async fn silent() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    async fn next(poller: &mut Poller) -> Poll {
        timeout(PATIENCE, poller.finished()).await.expect("it ends")
    }

    #[tokio::test]
    async fn a_poll_that_panics_ends_with_an_outcome_all_the_same() {
        let mut poller = poller(1, &[]);
        let task = poller.tasks.spawn(async { panic!("a fault of ours") });
        poller.running.insert(task.id(), begun("cart"));
        let poll = next(&mut poller).await;
        assert_eq!(poll.instance, sample::id("cart", "0"));
        let PollOutcome::NoAnswer { category, text } = poll.outcome else {
            panic!("a panic is no answer: {:?}", poll.outcome);
        };
        let said = (category, text.as_str());
        assert_eq!(said, (ErrorCategory::Panic, "the poller failed"));
        assert_eq!(poller.stop().await, 0);
    }

    #[tokio::test]
    async fn polls_beyond_the_bound_wait_for_their_turn() {
        let (_first, hung) = silent().await;
        let (second, other) = silent().await;
        let targets = [
            ("hung", hung, Duration::from_millis(100)),
            ("other", other, PATIENCE),
        ];
        let mut poller = poller(1, &targets);
        poller.begin(begun("hung"));
        poller.begin(begun("other"));
        let poll = next(&mut poller).await;
        assert_eq!(poll.instance, sample::id("hung", "0"));
        // Only now is the other one asked.
        timeout(PATIENCE, second.accept()).await.unwrap().unwrap();
        assert_eq!(poller.stop().await, 1);
    }
}
