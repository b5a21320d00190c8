//! The checks that the service may be given, and what each of them did.

use std::collections::BTreeMap;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rootward::{Builder, Check, ErrorCategory, Failure};
use tokio::io::AsyncReadExt;

use super::{Error, millis, sleep, variable};

/// How long a check that blocks its thread does so: well over its time limit.
const BLOCKS: Duration = Duration::from_secs(3);

/// What a run may take beyond its time limit.
const SLACK: Duration = Duration::from_millis(100);

pub(crate) type Tallies = BTreeMap<String, Arc<Tally>>;

/// What one check did, as the check itself saw it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: AtomicU64,
    running: AtomicU64,
    pub(crate) most_at_once: AtomicU64,
    /// Runs that took longer than the time limit and 100 ms.
    pub(crate) late: AtomicU64,
    pub(crate) longest_micros: AtomicU64,
}

/// One run, until dropped.
struct InRun {
    tally: Arc<Tally>,
    limit: Duration,
    began: Instant,
}

impl InRun {
    fn of(tally: &Arc<Tally>, limit: Duration) -> Self {
        tally.runs.fetch_add(1, Ordering::Relaxed);
        let now = tally.running.fetch_add(1, Ordering::Relaxed) + 1;
        tally.most_at_once.fetch_max(now, Ordering::Relaxed);
        Self {
            tally: Arc::clone(tally),
            limit,
            began: Instant::now(),
        }
    }
}

impl Drop for InRun {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let late = took > self.limit + SLACK;
        self.tally
            .late
            .fetch_add(u64::from(late), Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.tally.longest_micros.fetch_max(took, Ordering::Relaxed);
        self.tally.running.fetch_sub(1, Ordering::Relaxed);
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("in drop");
        }
    }
}

/// Adds checks of a kind.
pub(crate) fn add(
    builder: Builder,
    kind: &str,
    number: u32,
    tallies: &mut Tallies,
) -> Result<Builder, Error> {
    let mut tally = |name: &str| {
        let tally = Arc::default();
        tallies.insert(name.to_owned(), Arc::clone(&tally));
        tally
    };
    let name = format!("{kind}-{number}");
    let limit = millis("DISTRESS_TIMEOUT_MS")?;
    Ok(match kind {
        // Right at once.
        "good" => {
            let tally: Arc<Tally> = tally(&name);
            builder.check(
                Check::new(name, move || {
                    let run = InRun::of(&tally, limit);
                    async move {
                        drop(run);
                        Ok(())
                    }
                })
                .hard(),
            )
        }
        // Never answers.
        "hang" => {
            let tally: Arc<Tally> = tally(&name);
            builder.check(
                Check::new(name, move || {
                    let run = InRun::of(&tally, limit);
                    async move {
                        let _run = run;
                        pending::<Result<(), Failure>>().await
                    }
                })
                .hard(),
            )
        }
        // Connects to a dependency that never answers.
        "socket" => {
            let tally: Arc<Tally> = tally(&name);
            let dependency: SocketAddr = variable("DISTRESS_DEPENDENCY")?.parse()?;
            builder.check(
                Check::new(name, move || {
                    let run = InRun::of(&tally, limit);
                    async move {
                        let _run = run;
                        let mut stream = tokio::net::TcpStream::connect(dependency).await?;
                        // Closed by a reset: thousands of runs must not use up the ports of the machine.
                        stream.set_zero_linger()?;
                        stream.read_exact(&mut [0]).await?;
                        Ok::<_, Failure>(())
                    }
                })
                .hard(),
            )
        }
        // Blocks a thread for longer than it may, and cannot be cancelled.
        "blocking" => {
            let tally: Arc<Tally> = tally(&name);
            builder.check(
                Check::blocking(name, move || {
                    let _run = InRun::of(&tally, limit);
                    sleep(BLOCKS);
                    Ok::<_, Failure>(())
                })
                .soft(),
            )
        }
        "panic" => {
            let [in_poll, in_drop, when_cancelled, on_a_thread, with_a_lock] = [
                "panic-in-poll",
                "panic-in-drop",
                "panic-when-cancelled",
                "panic-on-a-thread",
                "panic-with-a-lock",
            ]
            .map(|name| (name, tally(name)));
            let lock = Arc::new(Mutex::new(0_u64));
            builder
                .check(
                    Check::new(in_poll.0, move || {
                        let run = InRun::of(&in_poll.1, limit);
                        async move {
                            let _run = run;
                            tokio::task::yield_now().await;
                            if thread::panicking() {
                                return Ok(());
                            }
                            panic!("in poll")
                        }
                    })
                    .soft(),
                )
                .check(
                    Check::new(in_drop.0, move || {
                        let run = InRun::of(&in_drop.1, limit);
                        async move {
                            let _run = run;
                            let _bomb = PanicsWhenDropped;
                            tokio::task::yield_now().await;
                            Ok(())
                        }
                    })
                    .soft(),
                )
                .check(
                    Check::new(when_cancelled.0, move || {
                        let run = InRun::of(&when_cancelled.1, limit);
                        async move {
                            let _run = run;
                            let _bomb = PanicsWhenDropped;
                            pending::<Result<(), Failure>>().await
                        }
                    })
                    .soft(),
                )
                .check(
                    Check::blocking(on_a_thread.0, move || -> Result<(), Failure> {
                        let _run = InRun::of(&on_a_thread.1, limit);
                        panic!("on a thread for blocking work")
                    })
                    .soft(),
                )
                .check(
                    Check::new(with_a_lock.0, move || {
                        let (run, lock) = (InRun::of(&with_a_lock.1, limit), Arc::clone(&lock));
                        async move {
                            let _run = run;
                            let mut count = lock.lock().unwrap_or_else(PoisonError::into_inner);
                            *count += 1;
                            if *count > 0 {
                                panic!("while holding a lock");
                            }
                            Err::<(), _>(Failure::new(ErrorCategory::Unknown))
                        }
                    })
                    .soft(),
                )
        }
        other => return Err(format!("there is no check of the kind {other:?}").into()),
    })
}
