//! Asks instances for their reports: one task for each poll, bounded, each with a deadline of its own.
//!
//! The schedule is the engine's; here is only how one poll is made. Each target has one connection, which is kept
//! between polls and lent to the running one, so two polls of a target cannot share it. Whatever happens to a poll,
//! [`Poller::finished`] returns exactly one outcome for it, unless [`Poller::stop`] comes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rootward_core::engine::{Poll, PollOutcome};
use rootward_core::{ErrorCategory, InstanceId, Moment, Side};
use rootward_fetch::{Connection, GrpcCall, GrpcCaller, Limits, Target};
use rootward_wire::limits::MAX_REPORT_BYTES;
use tokio::sync::Semaphore;
use tokio::task::{self, AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::events;
use crate::metrics::Metrics;

mod foreign;
mod grpc;
mod outcome;

use foreign::Foreign;
pub(crate) use foreign::Reader;
pub(crate) use grpc::question;

/// Polls that wait for an answer at the same time. At most as many targets hang at once; with the usual time limit of
/// 2 s, it takes more than a thousand hanging targets in 10 s before others are late.
pub(crate) const MAX_POLLS_IN_FLIGHT: usize = 256;

/// Whom to ask, and how long to wait for the whole exchange.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) target: Target,
    pub(crate) asked: Question,
    pub(crate) timeout: Duration,
    pub(crate) reader: Reader,
    /// What is sent besides the name that rootward-fetch gives itself.
    pub(crate) headers: Arc<[(HeaderName, HeaderValue)]>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// GET.
    Http,
    /// `grpc.health.v1.Health/Check` with this message.
    Grpc(Arc<[u8]>),
}

/// Runs polls.
#[derive(Debug)]
pub(crate) struct Poller {
    asks: BTreeMap<InstanceId, Ask>,
    /// What is kept of targets that are not being asked at the moment.
    idle: HashMap<InstanceId, Kept>,
    tasks: JoinSet<(Poll, Kept)>,
    running: HashMap<task::Id, Running>,
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

/// What one poll of a target hands to the next.
#[derive(Debug)]
struct Kept {
    asker: Asker,
    foreign: Foreign,
}

/// Who asks.
#[derive(Debug)]
enum Asker {
    Http(Box<Connection>),
    Grpc(GrpcCaller, Arc<[u8]>),
}

impl Asker {
    fn of(ask: &Ask) -> Self {
        let target = ask.target.clone();
        match &ask.asked {
            Question::Http => Self::Http(Box::new(Connection::new(target))),
            Question::Grpc(message) => Self::Grpc(GrpcCaller::new(target), Arc::clone(message)),
        }
    }
}

/// A poll that runs.
#[derive(Debug)]
struct Running {
    begun: Begun,
    abort: AbortHandle,
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
        let kept = self.idle.remove(&begun.instance).unwrap_or_else(|| Kept {
            asker: Asker::of(ask),
            foreign: Foreign::default(),
        });
        let poll = ask_once(
            begun.clone(),
            kept,
            ask.clone(),
            Arc::clone(&self.permits),
            Arc::clone(&self.clock),
            Arc::clone(&self.metrics),
        );
        self.metrics.poll_began();
        let task = self.tasks.spawn(poll);
        self.running
            .insert(task.id(), Running { begun, abort: task });
    }

    /// Asks these from now on. Polls of others end without an outcome; returns them. Connections to others are closed.
    pub(crate) fn replace(&mut self, asks: BTreeMap<InstanceId, Ask>) -> Vec<Begun> {
        let before = std::mem::replace(&mut self.asks, asks);
        let asks = &self.asks;
        let same = |id: &InstanceId| {
            let known = |ask: &Ask| (ask.target.clone(), ask.asked.clone(), ask.reader.choice());
            asks.get(id).map(known) == before.get(id).map(known)
        };
        self.idle.retain(|id, _| same(id));
        let mut ended = Vec::new();
        self.running.retain(|_, running| {
            let stays = same(&running.begun.instance);
            if !stays {
                running.abort.abort();
                ended.push(running.begun.clone());
            }
            stays
        });
        for _ in &ended {
            self.metrics.poll_abandoned();
        }
        ended
    }

    /// Whom is asked by name, so that it can be tried whether names resolve.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Target> {
        let targets = self.asks.values().map(|ask| &ask.target);
        targets.filter(|target| target.is_by_name())
    }

    /// Waits for the next poll to end; forever while none runs. Nothing is lost if the wait is given up.
    pub(crate) async fn finished(&mut self) -> Poll {
        loop {
            let Some(joined) = self.tasks.join_next_with_id().await else {
                return std::future::pending().await;
            };
            if let Some(poll) = self.settle(joined) {
                return poll;
            }
        }
    }

    /// A poll that has ended already, if one has.
    pub(crate) fn try_finished(&mut self) -> Option<Poll> {
        loop {
            let joined = self.tasks.try_join_next_with_id()?;
            if let Some(poll) = self.settle(joined) {
                return Some(poll);
            }
        }
    }

    /// Ends every poll that runs, without outcomes; returns how many there were. Their connections are closed.
    pub(crate) async fn stop(mut self) -> u64 {
        let abandoned = self.tasks.len() as u64;
        self.tasks.shutdown().await;
        abandoned
    }

    /// The outcome, unless nobody waits for it any more.
    fn settle(&mut self, joined: Result<(task::Id, (Poll, Kept)), JoinError>) -> Option<Poll> {
        match joined {
            Ok((id, (poll, kept))) => {
                self.running.remove(&id)?;
                self.idle.insert(poll.instance.clone(), kept);
                Some(poll)
            }
            Err(error) => self.failed(&error),
        }
    }

    /// A poll whose task did not return: a fault of ours, which must not leave the instance without an outcome.
    fn failed(&mut self, error: &JoinError) -> Option<Poll> {
        let begun = self.running.remove(&error.id())?.begun;
        events::poller_failed(&begun.instance);
        let finished = self.clock.now();
        Some(Poll {
            instance: begun.instance,
            started: begun.released,
            finished,
            took_us: micros(finished - begun.released),
            outcome: PollOutcome::NoAnswer {
                category: ErrorCategory::Panic,
                text: "the poller failed".into(),
                side: Side::Here,
            },
        })
    }
}

async fn ask_once(
    begun: Begun,
    mut kept: Kept,
    ask: Ask,
    permits: Arc<Semaphore>,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
) -> (Poll, Kept) {
    let _permit = permits
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    metrics.poll_sent(clock.now() - begun.due);
    let limits = Limits {
        deadline: ask.timeout,
        max_body_bytes: MAX_REPORT_BYTES,
    };
    let sent = Instant::now();
    let mut asked = outcome::Asked {
        id: &begun.instance,
        reader: &ask.reader,
        foreign: &mut kept.foreign,
    };
    let (outcome, took, finished) = match &mut kept.asker {
        Asker::Http(connection) => {
            let mut headers = ask.headers.to_vec();
            headers.extend(asked.foreign.condition());
            let result = connection.get(&headers, &limits).await;
            let (took, finished) = (sent.elapsed(), clock.now());
            let outcome = match result {
                Ok(answer) => outcome::of_answer(&answer, asked, finished),
                Err(error) => outcome::of_failure(&error),
            };
            (outcome, took, finished)
        }
        Asker::Grpc(caller, message) => {
            let credentials = ask.headers.iter().filter(|(name, _)| name == AUTHORIZATION);
            let credentials: Vec<_> = credentials.cloned().collect();
            let call = GrpcCall {
                method: grpc::METHOD,
                message,
                headers: &credentials,
            };
            let result = caller.call(call, &limits).await;
            let (took, finished) = (sent.elapsed(), clock.now());
            let outcome = match result {
                Ok(answer) => grpc::of_answer(&answer, &mut asked, finished),
                Err(error) => outcome::of_failure(&error),
            };
            (outcome, took, finished)
        }
    };
    let took_us = micros(took);
    let poll = Poll {
        instance: begun.instance,
        started: begun.released,
        finished,
        took_us,
        outcome,
    };
    (poll, kept)
}

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
                asked: Question::Http,
                timeout: *timeout,
                reader: Reader::of_anything(),
                headers: Arc::new([]),
            };
            (sample::id(service, "0"), ask)
        });
        let clock = Arc::new(Clock::start());
        let snapshots = sample::reader(sample::unseen(), Arc::clone(&clock));
        let metrics = Arc::new(Metrics::new(snapshots, sample::described()));
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
        let running = Running {
            begun: begun("cart"),
            abort: task.clone(),
        };
        poller.running.insert(task.id(), running);
        let poll = next(&mut poller).await;
        assert_eq!(poll.instance, sample::id("cart", "0"));
        let PollOutcome::NoAnswer { category, text, .. } = poll.outcome else {
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
