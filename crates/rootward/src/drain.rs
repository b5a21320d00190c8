//! The drain: an instance on its way out says so first, serves on for a while, and only then stops accepting.
//!
//! What is decided here depends on nothing but when the drain began and what time it is.

#[cfg(unix)]
mod signals;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rootward_core::ErrorCategory;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

#[cfg(unix)]
pub(crate) use signals::Signals;

use crate::duration::{self, millis};
use crate::telemetry::Journal;

/// How long an instance serves on after it has become not ready, if nothing else is said: 10 s. See
/// [`Builder::drain_delay`](crate::Builder::drain_delay).
///
/// ```
/// use std::time::Duration;
/// use rootward::DEFAULT_DRAIN_DELAY;
///
/// // HAProxy checks every 2 s and wants to see three failures, unless told otherwise ("inter" and "fall").
/// assert!(DEFAULT_DRAIN_DELAY > Duration::from_secs(2) * 3);
/// ```
pub const DEFAULT_DRAIN_DELAY: Duration = Duration::from_secs(10);

/// How long requests in flight may take after the instance stopped accepting, if nothing else is said: 10 s. See
/// [`Builder::drain_grace`](crate::Builder::drain_grace).
///
/// ```
/// use std::time::Duration;
/// use rootward::{DEFAULT_DRAIN_DELAY, DEFAULT_DRAIN_GRACE};
///
/// // Kubernetes kills a pod 30 s after it told it to end, unless the pod says otherwise.
/// assert!(DEFAULT_DRAIN_DELAY + DEFAULT_DRAIN_GRACE < Duration::from_secs(30));
/// ```
pub const DEFAULT_DRAIN_GRACE: Duration = Duration::from_secs(10);

/// The longest delay and the longest grace of a drain: one hour. No load balancer that we know waits longer for an
/// instance to leave: [AWS] allows 3600 s.
///
/// [AWS]: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-target-group-attributes.html
///
/// ```
/// use std::time::Duration;
/// use rootward::{Health, MAX_DRAIN};
///
/// let configured = Duration::from_secs(2 * 60 * 60);
/// let builder = Health::builder("cart").drain_grace(configured.min(MAX_DRAIN));
/// ```
pub const MAX_DRAIN: Duration = Duration::from_secs(60 * 60);

/// How long the parts of a drain take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) delay: Duration,
    pub(crate) grace: Duration,
}

impl Timing {
    pub(crate) const DEFAULT: Self = Self {
        delay: DEFAULT_DRAIN_DELAY,
        grace: DEFAULT_DRAIN_GRACE,
    };

    fn phase(self, began: Option<Instant>, now: Instant) -> Phase {
        let Some(began) = began else {
            return Phase::Serving;
        };
        // Two threads may read the clock in one order and use it in the other.
        let age = now.saturating_duration_since(began);
        if age < self.delay {
            Phase::Leaving
        } else if age < self.delay + self.grace {
            Phase::Finishing
        } else {
            Phase::Over
        }
    }
}

/// Where in its life an instance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No drain has begun.
    Serving,
    /// Not ready, and still answering whoever has not heard of it.
    Leaving,
    /// Accepts nothing new; what is in flight may finish.
    Finishing,
    /// What is not finished is cut off.
    Over,
}

impl Phase {
    /// Why the instance does not want traffic. It begins with the phrase of the category, by which a caller's check
    /// tells an instance on its way out from a failing one.
    fn reason(self) -> Option<String> {
        let what = match self {
            Self::Serving => return None,
            Self::Leaving => "requests are still answered",
            Self::Finishing => "no new connections, requests in flight may finish",
            Self::Over => "the time for requests in flight is over",
        };
        Some(format!("{}: {what}", ErrorCategory::ShuttingDown.phrase()))
    }
}

/// The drain of one instance: whether it is on its way out, and how far.
///
/// It comes from [`Health::drain`](crate::Health::drain), is cheap to clone, and outlives the health. It ends nothing
/// by itself: whoever accepts connections asks it when to stop. `rootward::serve` (feature `serve`) does; any other
/// server is told with one of the futures.
///
/// With delay D ([`Builder::drain_delay`](crate::Builder::drain_delay)) and grace G
/// ([`Builder::drain_grace`](crate::Builder::drain_grace)), both 10 s unless said otherwise:
///
/// | since it began | readiness | liveness | requests |
/// | --- | --- | --- | --- |
/// | 0 | 503 | 200 | answered, on old connections and new ones |
/// | D | 503 | 200 | no new connections; those in flight finish |
/// | D + G | 503 | 200 | what is left is cut off; the process ends |
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), rootward::Error> {
/// use std::time::Duration;
/// use rootward::Health;
///
/// let health = Health::builder("cart")
///     .instance("cart-0")
///     .drain_delay(Duration::from_secs(5))
///     .start()?;
/// let drain = health.drain();
/// // Any server that can be told when to stop accepting:
/// let server = tokio::spawn(drain.stop_accepting());
/// drain.begin();
/// assert!(drain.is_draining() && !health.is_ready());
/// assert!(!server.is_finished());
/// tokio::time::sleep(Duration::from_millis(5001)).await;
/// assert!(server.is_finished());
/// health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Drain(Arc<State>);

struct State {
    timing: Timing,
    journal: Journal,
    /// Read by the probe thread, which never waits: no lock.
    began: OnceLock<Instant>,
    /// Wakes whoever waits for it.
    has_begun: watch::Sender<bool>,
}

impl Timing {
    fn log(self, why: &str) {
        let Self { delay, grace } = self;
        tracing::info!(
            target: "rootward",
            why,
            delay_ms = millis(delay),
            grace_ms = millis(grace),
            "drain began: not ready; serving on for {}, then {} for what is in flight",
            duration::text(delay),
            duration::text(grace),
        );
    }
}

impl Drain {
    pub(crate) fn new(timing: Timing, journal: Journal) -> Self {
        Self(Arc::new(State {
            timing,
            journal,
            began: OnceLock::new(),
            has_begun: watch::Sender::new(false),
        }))
    }

    /// Begins the drain: the instance is not ready from now on, whatever its runtime does. Begun again, nothing
    /// changes. There is no way back; to leave the rotation for a while there is
    /// [`Health::set_not_ready`](crate::Health::set_not_ready).
    pub fn begin(&self) {
        if self.began_now() {
            self.0.timing.log("the application said so");
        }
    }

    /// As [`Drain::begin`], on the probe thread, which must wait for no log.
    pub(crate) fn begin_because(&self, why: &'static str) {
        if self.began_now() {
            let timing = self.0.timing;
            self.0.journal.say(move || timing.log(why));
        }
    }

    /// Where what the probe thread has to say is left.
    pub(crate) fn journal(&self) -> &Journal {
        &self.0.journal
    }

    /// Whether it began with this call.
    fn began_now(&self) -> bool {
        let now = self.0.began.set(Instant::now()).is_ok();
        if now {
            self.0.has_begun.send_replace(true);
        }
        now
    }

    /// Whether it has begun.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.began.get().is_some()
    }

    /// Until it has begun: the moment to stop taking jobs from a queue, and to end streams that never end by
    /// themselves.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// # use rootward::Health;
    /// # async fn next_job() { std::future::pending().await }
    /// let health = Health::builder("mailer").start()?;
    /// let drain = health.drain();
    /// let worker = tokio::spawn({
    ///     let leaving = drain.begun();
    ///     async move {
    ///         tokio::pin!(leaving);
    ///         loop {
    ///             tokio::select! {
    ///                 () = &mut leaving => break, // the jobs that are left are for others
    ///                 () = next_job() => {}
    ///             }
    ///         }
    ///     }
    /// });
    /// drain.begin();
    /// worker.await.expect("it ends by itself");
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let drain = self.clone();
        async move {
            drain.began().await;
        }
    }

    /// Until it is time to stop accepting connections: the delay after the drain began. Pending for ever if none
    /// begins.
    ///
    /// ```no_run
    /// # async fn run(health: rootward::Health, app: axum::Router) -> std::io::Result<()> {
    /// let listener = tokio::net::TcpListener::bind("0.0.0.0:8080").await?;
    /// let stop = health.drain().stop_accepting();
    /// axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    /// health.stop().await; // last, so that probes are answered until the end
    /// # Ok(())
    /// # }
    /// ```
    pub fn stop_accepting(&self) -> impl Future<Output = ()> + Send + 'static {
        self.after(self.0.timing.delay)
    }

    /// Until what is still in flight is to be cut off: the delay and the grace after the drain began. Pending for
    /// ever if none begins.
    ///
    /// ```no_run
    /// # async fn run(health: rootward::Health, server: tokio::task::JoinHandle<()>) {
    /// let drain = health.drain();
    /// let abort = server.abort_handle();
    /// tokio::select! {
    ///     _ = server => {} // it was told to stop accepting, and all is answered
    ///     () = drain.grace_over() => abort.abort(),
    /// }
    /// health.stop().await;
    /// # }
    /// ```
    pub fn grace_over(&self) -> impl Future<Output = ()> + Send + 'static {
        self.after(self.0.timing.delay + self.0.timing.grace)
    }

    fn after(&self, wait: Duration) -> impl Future<Output = ()> + Send + 'static {
        let drain = self.clone();
        async move {
            let at = drain.began().await + wait;
            // A timer that is due already would still come with the next turn of the runtime.
            if at > Instant::now() {
                sleep_until(at).await;
            }
        }
    }

    /// When it began, once it has.
    async fn began(&self) -> Instant {
        let mut has_begun = self.0.has_begun.subscribe();
        loop {
            if let Some(began) = self.0.began.get() {
                return *began;
            }
            // The sender is in what we hold: it is there.
            let _ = has_begun.changed().await;
        }
    }

    #[cfg(feature = "serve")]
    pub(crate) fn grace(&self) -> Duration {
        self.0.timing.grace
    }

    /// Whether it has begun, and the time for what is in flight is not over yet.
    pub(crate) fn is_under_way(&self) -> bool {
        let began = self.0.began.get().copied();
        match self.0.timing.phase(began, Instant::now()) {
            Phase::Leaving | Phase::Finishing => true,
            Phase::Serving | Phase::Over => false,
        }
    }

    /// Why it is not ready, if the drain is the reason.
    pub(crate) fn reason(&self, now: Instant) -> Option<String> {
        let began = self.0.began.get().copied();
        self.0.timing.phase(began, now).reason()
    }
}

impl fmt::Debug for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("timing", &self.0.timing)
            .field("is_draining", &self.is_draining())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_drain_leaves_then_finishes_then_is_over() {
        let timing = Timing {
            delay: 2 * SECOND,
            grace: 3 * SECOND,
        };
        let began = Instant::now();
        let at = |millis| timing.phase(Some(began), began + Duration::from_millis(millis));
        assert_eq!(timing.phase(None, began), Phase::Serving);
        assert_eq!(at(0), Phase::Leaving);
        assert_eq!(at(1999), Phase::Leaving);
        assert_eq!(at(2000), Phase::Finishing);
        assert_eq!(at(4999), Phase::Finishing);
        assert_eq!(at(5000), Phase::Over);
        // A clock that was read before the drain began.
        assert_eq!(timing.phase(Some(began + SECOND), began), Phase::Leaving);
    }

    #[test]
    fn a_drain_without_delay_and_grace_is_over_at_once() {
        let timing = Timing {
            delay: Duration::ZERO,
            grace: Duration::ZERO,
        };
        let began = Instant::now();
        assert_eq!(timing.phase(Some(began), began), Phase::Over);
    }

    #[test]
    fn every_reason_begins_with_the_phrase_that_callers_look_for() {
        let reasons = [Phase::Leaving, Phase::Finishing, Phase::Over].map(Phase::reason);
        insta::assert_snapshot!(reasons.map(Option::unwrap_or_default).join("\n"), @r"
        shutting down: requests are still answered
        shutting down: no new connections, requests in flight may finish
        shutting down: the time for requests in flight is over
        ");
        assert_eq!(Phase::Serving.reason(), None);
    }
}
