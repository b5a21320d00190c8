//! The handle that a service keeps: latches, its own switch, the report, and the stop.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rootward_wire::v1::ReportBody;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::access::{TokenDigest, TokensError};
use crate::builder::Builder;
use crate::deep::TooMany;
use crate::drain::Drain;
use crate::error::Error;
use crate::failure::Reason;
use crate::latch::{Latch, Startup};
use crate::probe::ProbeThread;
use crate::replace::{NextCheck, Orders};
use crate::report::report;
use crate::shared::Shared;
use crate::telemetry::Observer;
use crate::view::View;
use crate::vitals::{Heartbeat, SamplerThread};

/// How long a stop waits for the tasks on the application's runtime. The checks among them are given one second.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// The running health of one instance.
///
/// Keep it for as long as the service runs. [`Health::stop`] ends everything and waits for that; dropping it ends
/// everything as well, without waiting.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// use rootward::{Check, Health};
///
/// let health = Health::builder("cart")
///     .instance("cart-0")
///     .check(Check::new("disk", || async { Ok(()) }).hard().local())
///     .start()?;
/// let warm = health.latch("cache warm");
/// assert!(!health.is_started());
/// drop(warm);
/// health.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping it stops the checks and the listener"]
pub struct Health {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    /// On the application's runtime.
    tasks: [JoinHandle<()>; 2],
    threads: Threads,
    orders: Orders,
    ending: Ending,
}

/// The threads of an instance.
pub(crate) struct Threads {
    pub(crate) observer: Observer,
    pub(crate) probe: ProbeThread,
    pub(crate) sampler: SamplerThread,
}

impl Health {
    /// Begins to describe the health of a service of this name.
    pub fn builder(service: impl Into<String>) -> Builder {
        Builder::new(service.into())
    }

    pub(crate) fn new(
        shared: Arc<Shared>,
        stop: watch::Sender<bool>,
        tasks: [JoinHandle<()>; 2],
        threads: Threads,
        orders: Orders,
    ) -> Self {
        Self {
            orders,
            ending: Ending(Arc::clone(&shared)),
            shared,
            stop,
            tasks,
            threads,
        }
    }

    #[cfg(feature = "tower")]
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    #[cfg(feature = "grpc")]
    pub(crate) const fn probe(&self) -> &ProbeThread {
        &self.threads.probe
    }

    /// Something that must be over before the instance has started. It holds the start until it is dropped.
    ///
    /// Take it before the first `await` after [`Builder::start`]; where that cannot be, take it from the builder
    /// ([`Builder::latch`]). Once a probe was told that the instance has started it stays started: a latch that is
    /// taken later holds nothing, and a warning says so. To leave the rotation later, use
    /// [`Health::set_not_ready`].
    pub fn latch(&self, name: impl Into<String>) -> Latch {
        Startup::hold(&self.shared.startup, name)
    }

    /// The application's own switch: it does not want traffic, for this reason, which anybody may see. The reason
    /// replaces an earlier one.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart").start()?;
    /// health.set_not_ready("maintenance: the index is rebuilt");
    /// assert!(!health.is_ready());
    /// health.set_ready();
    /// assert!(health.is_ready());
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_not_ready(&self, reason: impl Into<String>) {
        self.shared.set_not_ready(Some(reason.into()));
    }

    /// Takes back [`Health::set_not_ready`], whose example shows both. Other reasons not to be ready stay: a drain,
    /// lag, a check that gates.
    ///
    /// ```
    /// # fn rebuilt(health: &rootward::Health) {
    /// health.set_ready();
    /// # }
    /// ```
    pub fn set_ready(&self) {
        self.shared.set_not_ready(None);
    }

    /// Declares a task to be this process's life: if its [`Heartbeat`] does not beat for longer than `window`, liveness
    /// fails and names it. For what only a restart repairs: a consumer that hangs, a deadlock. Not for work that waits
    /// for a dependency: a restart does not repair that, and the new process waits again.
    ///
    /// `window` is longer than the longest time between two beats, idle hours included. It is looked at every 100 ms.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// use std::time::Duration;
    /// use rootward::Health;
    ///
    /// let health = Health::builder("mailer").start()?;
    /// let heartbeat = health.watch("queue consumer", Duration::from_secs(120));
    /// tokio::spawn(async move {
    ///     loop {
    ///         // One message, or none within 30 s.
    ///         heartbeat.beat();
    /// #       tokio::task::yield_now().await;
    /// #       if true { break heartbeat.finish(); }
    ///     }
    /// });
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// At most [`MAX_HEARTBEATS`](crate::MAX_HEARTBEATS) tasks are watched at a time.
    pub fn watch(&self, name: impl AsRef<str>, window: Duration) -> Heartbeat {
        self.shared.vitals.heartbeats.watch(name.as_ref(), window)
    }

    /// The application found out that only a restart helps: a lock that is lost, a state that cannot be repaired.
    /// Liveness fails from here on, for this reason, which anybody may see. It cannot be taken back.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// use rootward::Health;
    ///
    /// let health = Health::builder("ledger").start()?;
    /// health.only_restart_helps("the lock of the partition is lost");
    /// # use std::time::Duration;
    /// # let seen = async { while health.is_alive() { tokio::time::sleep(Duration::from_millis(20)).await } };
    /// # tokio::time::timeout(Duration::from_secs(20), seen).await.expect("within 100 ms, usually");
    /// assert!(!health.is_alive()); // within 100 ms
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn only_restart_helps(&self, reason: impl Into<Reason>) {
        self.shared.vitals.heartbeats.give_up(reason.into());
    }

    /// False if only a restart helps, as `/livez` says; looked at every 100 ms.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart").start()?;
    /// assert!(health.is_alive());
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.shared.vitals.seen().alive.is_alive()
    }

    /// The drain of this instance: how it is taken out of traffic before it ends.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// # let health = rootward::Health::builder("cart").instance("cart-0").start()?;
    /// let drain = health.drain();
    /// drain.begin(); // what a SIGTERM does after Builder::drain_on_sigterm
    /// assert!(!health.is_ready());
    /// assert_eq!(health.report().draining, Some(true));
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn drain(&self) -> Drain {
        self.shared.drain.clone()
    }

    /// Replaces the tokens that the detailed routes accept, at most [`MAX_TOKENS`](crate::MAX_TOKENS). Those that are
    /// not among them are refused from here on; none takes all of them back.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use rootward::{Access, Health, Token, Tokens};
    ///
    /// let (old, new) = (Token::from_random([1; 40]), Token::from_random([2; 40]));
    /// let access = Access::loopback().tokens(Tokens::digests([old.digest().to_string()]));
    /// let health = Health::builder("cart").access(access).start()?;
    /// health.set_tokens([old.digest(), new.digest()])?; // both, while the new one is handed out
    /// health.set_tokens([new.digest()])?;
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there are too many, or the service was started without tokens or with a file of them. Nothing changes then.
    pub fn set_tokens(
        &self,
        tokens: impl IntoIterator<Item = TokenDigest>,
    ) -> Result<(), TokensError> {
        self.shared.gate.set_tokens(tokens.into_iter().collect())
    }

    /// Other checks from now on, for a service whose configuration may change while it runs. Those that are kept go on as
    /// if nothing had happened: what is known about them, their streaks, their phases, a run that is under way. Those that
    /// are not among the next end, and those that begin run at once, also if one of their name ran before: it was another.
    ///
    /// All together or nothing: a report shows the checks before or the checks after. A start that is over stays over.
    /// The counters of a check that begins are at zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// use rootward::{Check, Health, NextCheck};
    ///
    /// let check = |name| Check::new(name, || async { Ok(()) });
    /// let health = Health::builder("cart")
    ///     .check(check("orders-db").hard())
    ///     .check(check("cache").soft())
    ///     .start()?;
    /// health
    ///     .replace_checks([NextCheck::keep("orders-db"), NextCheck::begin(check("rates").soft())])
    ///     .await?;
    /// let report = health.report();
    /// assert_eq!(report.components.len(), 2);
    /// assert_eq!(report.components[1].name, "rates");
    /// # drop(report);
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When something that is said makes no sense, as for [`Builder::start`], or no check has the name of one that is to
    /// be kept. Nothing changes then.
    pub async fn replace_checks(
        &self,
        next: impl IntoIterator<Item = NextCheck>,
    ) -> Result<(), Error> {
        let next: Vec<_> = next.into_iter().collect();
        self.orders.replace(&self.shared, next).await
    }

    /// Something that somebody should look at although no check says it, as the report's `findings` say it: a word, and
    /// a sentence that anybody may read who may read the report. A finding of the same word is replaced. Texts are cut
    /// at 512 bytes, and a finding on top of [`MAX_FINDINGS`](crate::MAX_FINDINGS) is dropped and warned of.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart").start()?;
    /// health.set_finding("licence_expiry", "the licence of the search engine ends in 12 days");
    /// assert_eq!(health.report().findings[0].kind, "licence_expiry");
    /// health.clear_finding("licence_expiry");
    /// assert!(health.report().findings.is_empty());
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_finding(&self, kind: &str, text: &str) {
        if !self.shared.set_finding(kind, Some(text)) {
            tracing::warn!(target: "rootward", kind, "a finding was dropped: there are too many");
        }
    }

    /// Takes back [`Health::set_finding`], whose example shows both. It does nothing if there is no such finding.
    ///
    /// ```
    /// # fn renewed(health: &rootward::Health) {
    /// health.clear_finding("licence_expiry");
    /// # }
    /// ```
    pub fn clear_finding(&self, kind: &str) {
        self.shared.set_finding(kind, None);
    }

    /// Whether the start is over, as `/startupz` says.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.now().started
    }

    /// Whether it wants traffic, as `/readyz` says.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("mailer").start()?;
    /// if health.is_ready() {
    ///     // take the next job
    /// }
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.now().reasons_not_ready().is_empty()
    }

    /// Runs all checks now, or joins the run under way, as `/health/deep` does, and waits until each has a result, for
    /// at most the longest time limit of a check and 400 ms. Whether each has; one that has not shows its age in the
    /// report.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let health = rootward::Health::builder("cart").instance("cart-0").start()?;
    /// let all = health.check_now().await?;
    /// assert!(all);
    /// println!("{:?}", health.report().status);
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the last run began less than [`DEEP_PERIOD`](crate::DEEP_PERIOD) ago and is over, or too many wait already.
    pub async fn check_now(&self) -> Result<bool, TooMany> {
        let waiting = self.shared.deep.ask(Instant::now())?;
        Ok(waiting.completed(self.shared.longest_timeout()).await)
    }

    /// The detailed report, as `/health` gives it, with ages taken now.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let health = rootward::Health::builder("cart").instance("cart-0").start()?;
    /// let json = String::from_utf8(health.report().to_json())?;
    /// assert!(json.contains(r#""service":"cart","instance":"cart-0""#));
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn report(&self) -> ReportBody<'_> {
        report(&self.now())
    }

    /// Where the probe endpoints are served; none if nothing listens.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart").listen(([127, 0, 0, 1], 0).into()).start()?;
    /// let address = health.listen_addr().expect("it listens");
    /// println!("curl http://{address}/readyz");
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn listen_addr(&self) -> Option<SocketAddr> {
        self.threads.probe.address()
    }

    /// Stops the checks and the listener, and returns when neither has a task or a thread left. Only a check that
    /// ignores cancellation (it blocks its thread) outlives it, or a hook that does not return; they are waited for
    /// one second, and named in the log. If the runtime in which it was started gives its tasks no thread for three
    /// seconds, because it is blocked or nobody runs it, this returns all the same. What is mounted on a server of the application's answers on, not ready.
    pub async fn stop(self) {
        drop(self.ending);
        // Nobody listening any more is what is wanted.
        let _ = self.stop.send(true);
        let tasks = async {
            for task in self.tasks {
                // It was cancelled with its runtime, or panicked and said so.
                let _ = task.await;
            }
        };
        if !within(STOP_LIMIT, tasks).await {
            tracing::warn!(
                target: "rootward",
                "the runtime in which health was started is blocked or not run: its tasks end when it runs again"
            );
        }
        self.threads.sampler.end().await;
        self.threads.probe.ended().await;
        self.threads.observer.ended().await;
    }

    fn now(&self) -> View<'_> {
        View::of(&self.shared, Instant::now())
    }
}

/// Whether the work is done in time. The time is taken by a thread, because the runtime that waits here may have no
/// timer, or one whose time stands still.
async fn within(limit: Duration, work: impl Future<Output = ()>) -> bool {
    let (over, is_over) = oneshot::channel();
    let (done, is_done) = mpsc::channel::<()>();
    let watch = move || {
        if is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Nobody listening any more is what is wanted.
            let _ = over.send(());
        }
    };
    // Without the thread it is waited for without a limit.
    let _ = thread::Builder::new()
        .name("rootward-stop".to_owned())
        .spawn(watch);
    let in_time = tokio::select! {
        biased;
        () = work => true,
        Ok(()) = is_over => false,
    };
    drop(done);
    in_time
}

/// Whoever still answers after the handle is gone says that nothing is checked any more.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("service", &self.shared.identity.service)
            .field("instance", &self.shared.identity.instance)
            .field("listen", &self.listen_addr())
            .finish_non_exhaustive()
    }
}
