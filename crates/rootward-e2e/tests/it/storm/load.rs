//! Bounded load on a fleet: orders, which need the hot row; cheap requests, which need nothing; and `SELECT 1`, to see
//! how long it takes through the application's pool.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::fleet::{Fleet, REPLICAS};
use super::orchestrator::get;

/// Customers that order, wait for the answer and come back after a while. Seven to a replica: in the sale two of them
/// hold its connections, three wait for one, and two are on the way. The row, held for 50 ms by each order, serves
/// twenty a second of all of them, so that a replica gets a connection back about once a second, and whoever asks
/// last, if only for `SELECT 1`, waits for about three.
const CUSTOMERS: usize = 7 * REPLICAS;
const THINK: Duration = Duration::from_secs(2);
/// Longer than an order takes in the worst of it: one that fails was lost.
const ORDER_LIMIT: Duration = Duration::from_secs(20);

/// Cheap requests come at this pace whatever happens to the others, up to so many at a time.
const CHEAP_EVERY: Duration = Duration::from_millis(33);
const CHEAP_LIMIT: Duration = Duration::from_secs(1);
const MAX_CHEAP: usize = 64;

/// `SELECT 1`, up to so many at a time.
const QUESTION_EVERY: Duration = Duration::from_millis(500);
const QUESTION_LIMIT: Duration = Duration::from_secs(20);
const MAX_QUESTIONS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Order,
    Cheap,
    SelectOne,
}

impl What {
    fn path(self, article: usize) -> String {
        match self {
            Self::Order => format!("/order/{article}"),
            Self::Cheap => "/cheap".to_owned(),
            Self::SelectOne => "/select-1".to_owned(),
        }
    }

    const fn limit(self) -> Duration {
        match self {
            Self::Order => ORDER_LIMIT,
            Self::Cheap => CHEAP_LIMIT,
            Self::SelectOne => QUESTION_LIMIT,
        }
    }
}

/// One request, finished.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) what: What,
    pub(super) asked: Instant,
    pub(super) ended: Instant,
    /// The time to the answer 200, or what happened instead.
    pub(super) outcome: Result<Duration, String>,
}

/// The load on one fleet, until dropped.
pub(super) struct Load {
    _tasks: JoinSet<()>,
    done: Arc<Mutex<Vec<Done>>>,
    sale: Arc<AtomicBool>,
}

impl Load {
    pub(super) fn start(fleet: &Arc<Fleet>) -> Self {
        let done = Arc::default();
        let sale = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for number in 0..CUSTOMERS {
            let (fleet, done) = (Arc::clone(fleet), Arc::clone(&done));
            let sale = Arc::clone(&sale);
            tasks.spawn(async move {
                let share = u32::try_from(number).unwrap_or(0);
                sleep(THINK * share / u32::try_from(CUSTOMERS).unwrap_or(1)).await;
                loop {
                    // Each customer wants something of his own, until there is a sale.
                    let article = if sale.load(Ordering::Relaxed) {
                        1
                    } else {
                        2 + number
                    };
                    ask(&fleet, What::Order, article, &done).await;
                    sleep(THINK).await;
                }
            });
        }
        tasks.spawn(at_a_pace(fleet, What::Cheap, CHEAP_EVERY, MAX_CHEAP, &done));
        tasks.spawn(at_a_pace(
            fleet,
            What::SelectOne,
            QUESTION_EVERY,
            MAX_QUESTIONS,
            &done,
        ));
        Self {
            _tasks: tasks,
            done,
            sale,
        }
    }

    /// Whether all customers want the same article, and so wait for one row.
    pub(super) fn set_sale(&self, sale: bool) {
        self.sale.store(sale, Ordering::Relaxed);
    }

    /// All that is finished.
    pub(super) fn done(&self) -> Vec<Done> {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn at_a_pace(
    fleet: &Arc<Fleet>,
    what: What,
    every: Duration,
    most: usize,
    done: &Arc<Mutex<Vec<Done>>>,
) -> impl Future<Output = ()> + Send + 'static {
    let (fleet, done) = (Arc::clone(fleet), Arc::clone(done));
    async move {
        let slots = Arc::new(Semaphore::new(most));
        let mut tasks = JoinSet::new();
        let mut pace = interval(every);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            while tasks.try_join_next().is_some() {}
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let (fleet, done) = (Arc::clone(&fleet), Arc::clone(&done));
            tasks.spawn(async move {
                ask(&fleet, what, 0, &done).await;
                drop(slot);
            });
        }
    }
}

async fn ask(fleet: &Fleet, what: What, article: usize, done: &Mutex<Vec<Done>>) {
    let asked = Instant::now();
    let outcome = match fleet.choose() {
        None => Err("no replica is ready".to_owned()),
        Some(chosen) => match get(chosen.port(), &what.path(article), what.limit()).await {
            Ok((200, took)) => Ok(took),
            Ok((code, _)) => Err(format!("answered {code}")),
            Err(error) => Err(error),
        },
    };
    let ended = Instant::now();
    done.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Done {
            what,
            asked,
            ended,
            outcome,
        });
}
