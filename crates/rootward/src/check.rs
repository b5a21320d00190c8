//! A check: what is asked, how often, how long it may take, and what a failure means to the service.

mod pool;
mod progress;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::{Criticality, Depth, ErrorCategory, Name, Scope};

use crate::failure::{Failure, Outcome, Reason};

pub use progress::Progress;

/// How often a check runs where nothing else is said.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// How long a check may take where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(500);

/// One check of one dependency or of one local condition.
///
/// A check says what its failure means before it can be added to a [`Builder`](crate::Builder):
///
/// ```
/// use rootward::{Check, Health};
/// let check = Check::new("disk", || async {
///     std::fs::metadata("/")?;
///     Ok(())
/// });
/// Health::builder("cart").check(check.hard().local());
/// ```
///
/// One that does not say it does not compile:
///
/// ```compile_fail,E0308
/// use rootward::{Check, Health};
/// let check = Check::new("disk", || async { Ok(()) });
/// Health::builder("cart").check(check);
/// ```
///
/// The function is called for every run, on the runtime in which the service was started. Whatever it does, it runs
/// at most once at a time, and after its time limit its future is dropped. Work that it hands to a thread or to a
/// task of its own is not seen; [`Check::blocking`] is for work that cannot be dropped.
#[must_use = "a check does nothing until it is added to a builder"]
pub struct Check<L = Labelled> {
    pub(crate) parts: CheckParts,
    label: L,
}

/// The check does not say yet what its failure means.
#[derive(Debug, Clone, Copy)]
pub struct Unlabelled(());

/// The check says what its failure means.
#[derive(Debug, Clone, Copy)]
pub struct Labelled(Criticality);

/// All that is known about a check but its criticality. Names and numbers are judged when the service starts, all at
/// once.
pub(crate) struct CheckParts {
    pub(crate) name: String,
    pub(crate) body: Body,
    pub(crate) interval: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) fall: Option<u8>,
    pub(crate) rise: Option<u8>,
    pub(crate) slow_above: Option<Duration>,
    pub(crate) scope: Scope,
    pub(crate) depth: Option<Depth>,
    pub(crate) kind: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) gates_readiness: Option<bool>,
    pub(crate) problems: Vec<String>,
}

pub(crate) type CheckFuture = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

/// The function of a check.
#[derive(Clone)]
pub(crate) enum Body {
    Async(Arc<dyn Fn(CheckContext) -> CheckFuture + Send + Sync>),
    Blocking(Arc<dyn Fn() -> Result<Outcome, Failure> + Send + Sync>),
}

impl Check<Unlabelled> {
    /// A check that runs this function. It is up when the function returns `Ok(())`, and what the function says
    /// otherwise ([`Outcome`], [`Failure`]).
    ///
    /// ```
    /// use rootward::{Check, ErrorCategory, Outcome};
    /// let queue = Check::new("queue", || async {
    ///     let backlog: u64 = "1200".parse()?;
    ///     if backlog > 1000 {
    ///         return Ok(Outcome::degraded(ErrorCategory::ResourceExhausted, "the queue is long"));
    ///     }
    ///     Ok(Outcome::Up)
    /// });
    /// # let _ = queue;
    /// ```
    pub fn new<F, Fut, T>(name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, Failure>> + Send + 'static,
        T: Into<Outcome>,
    {
        Self::with_context(name, move |_| check())
    }

    /// As [`Check::new`], for a function that wants to know which check of whom it is and how much time it has.
    pub fn with_context<F, Fut, T>(name: impl Into<String>, check: F) -> Self
    where
        F: Fn(CheckContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, Failure>> + Send + 'static,
        T: Into<Outcome>,
    {
        let body = move |context| -> CheckFuture {
            let run = check(context);
            Box::pin(async move { run.await.map(Into::into) })
        };
        Self::of(name.into(), Body::Async(Arc::new(body)))
    }

    /// As [`Check::new`], for a function that blocks: it runs on the runtime's threads for blocking work.
    ///
    /// Nothing can stop such a function. When it passes its time limit it is reported as a timeout that is still
    /// running, and it is not started again before it has returned.
    pub fn blocking<F, T>(name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Result<T, Failure> + Send + Sync + 'static,
        T: Into<Outcome>,
    {
        let body = move || check().map(Into::into);
        Self::of(name.into(), Body::Blocking(Arc::new(body)))
    }

    fn of(name: String, body: Body) -> Self {
        Self {
            parts: CheckParts {
                name,
                body,
                interval: None,
                timeout: None,
                fall: None,
                rise: None,
                slow_above: None,
                scope: Scope::Shared,
                depth: None,
                kind: None,
                target: None,
                owner: None,
                gates_readiness: None,
                problems: Vec::new(),
            },
            label: Unlabelled(()),
        }
    }

    /// The service cannot work without it: down makes the instance unhealthy.
    pub fn hard(self) -> Check<Labelled> {
        self.labelled(Criticality::Hard)
    }

    /// The service works without it, with reduced features: down makes the instance degraded.
    pub fn soft(self) -> Check<Labelled> {
        self.labelled(Criticality::Soft)
    }

    /// It is reported and changes nothing.
    pub fn informational(self) -> Check<Labelled> {
        self.labelled(Criticality::Informational)
    }

    fn labelled(self, criticality: Criticality) -> Check<Labelled> {
        Check {
            parts: self.parts,
            label: Labelled(criticality),
        }
    }
}

impl Check<Labelled> {
    pub(crate) const fn criticality(&self) -> Criticality {
        self.label.0
    }
}

impl<L> Check<L> {
    /// How often it runs. The default is the builder's, and that is [`DEFAULT_INTERVAL`].
    pub fn interval(mut self, interval: Duration) -> Self {
        self.parts.interval = Some(interval);
        self
    }

    /// How long one run may take; shorter than the interval. The default is the builder's, and that is
    /// [`DEFAULT_TIMEOUT`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.parts.timeout = Some(timeout);
        self
    }

    /// How many results in a row make the status worse; 3 by default.
    pub fn fall(mut self, results: u8) -> Self {
        self.parts.fall = Some(results);
        self
    }

    /// How many results in a row make the status better; 2 by default.
    pub fn rise(mut self, results: u8) -> Self {
        self.parts.rise = Some(results);
        self
    }

    /// A good answer that takes longer than this is `degraded`.
    pub fn slow_above(mut self, limit: Duration) -> Self {
        self.parts.slow_above = Some(limit);
        self
    }

    /// A failure concerns this instance alone: a full disk, a leaked pool. A check that is local and hard takes the
    /// instance out of rotation while it is down.
    pub fn local(mut self) -> Self {
        self.parts.scope = Scope::Local;
        self
    }

    /// Every instance sees the same failure; the default.
    pub fn shared(mut self) -> Self {
        self.parts.scope = Scope::Shared;
        self
    }

    /// Whether the instance is not ready while this check is down. By default true for local and hard checks, false
    /// for all others: one slow database must not empty a fleet. A choice shows in the report.
    pub fn gates_readiness(mut self, gates: bool) -> Self {
        self.parts.gates_readiness = Some(gates);
        self
    }

    /// How deep the check looks.
    pub fn depth(mut self, depth: Depth) -> Self {
        self.parts.depth = Some(depth);
        self
    }

    /// What is checked: `postgresql`, `redis`, `http`, …; `service` for another service.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.parts.kind = Some(kind.into());
        self
    }

    /// Which one is checked, in the form that all who use it share: `postgresql://orders-db:5432/orders`, or a
    /// declared name. Never with a user, a password or a query.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.parts.target = Some(target.into());
        self
    }

    /// Who answers for it.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.parts.owner = Some(owner.into());
        self
    }

    /// Says that the check cannot work as it was described, in a sentence without secrets: an address that is none, a
    /// file that is not there. The service starts all the same, and so do its other checks; this one is down and says
    /// `configuration` and the sentence. For functions that make checks, so that they need no error of their own.
    ///
    /// ```
    /// use rootward::{Check, Health};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let check = Check::new("stock", || async { Ok(()) }).problem("the URL names no host");
    /// let health = Health::builder("cart").instance("cart-0").check(check.soft()).start()?;
    /// health.check_now().await.expect("nobody asked before");
    /// let error = health.report().components[0].error.clone();
    /// assert_eq!(error.as_deref(), Some("configuration: the URL names no host"));
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn problem(mut self, sentence: impl Into<String>) -> Self {
        self.parts.problems.push(sentence.into());
        self
    }

    /// The function that is run: the check's own, or the sentence about why it cannot be.
    pub(crate) fn body(&self) -> Body {
        if self.parts.problems.is_empty() {
            return self.parts.body.clone();
        }
        let reason = Reason::of_configuration(&self.parts.problems);
        Body::Async(Arc::new(move |_| {
            let failure = Failure::new(ErrorCategory::Unknown).because(reason.clone());
            Box::pin(std::future::ready(Err(failure)))
        }))
    }

    /// Runs the function once, here, without a time limit and without counting the result: for tests of a check.
    ///
    /// # Errors
    /// When the check fails.
    pub async fn run_once(&self, context: CheckContext) -> Result<Outcome, Failure> {
        match &self.body() {
            Body::Async(check) => check(context).await,
            Body::Blocking(check) => check(),
        }
    }
}

impl<L: fmt::Debug> fmt::Debug for Check<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("name", &self.parts.name)
            .field("label", &self.label)
            .field("interval", &self.parts.interval)
            .field("timeout", &self.parts.timeout)
            .finish_non_exhaustive()
    }
}

/// Which run this is, for checks that want to know. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CheckContext(Arc<ContextParts>);

#[derive(Debug)]
struct ContextParts {
    service: Name,
    instance: Name,
    check: Name,
    timeout: Duration,
}

impl CheckContext {
    /// The context of the runs of one check, for a test of a check of your own.
    #[must_use]
    pub fn new(service: Name, instance: Name, check: Name, timeout: Duration) -> Self {
        Self(Arc::new(ContextParts {
            service,
            instance,
            check,
            timeout,
        }))
    }

    /// The service whose check this is.
    #[must_use]
    pub fn service(&self) -> &Name {
        &self.0.service
    }

    /// The instance whose check this is.
    #[must_use]
    pub fn instance(&self) -> &Name {
        &self.0.instance
    }

    /// The check.
    #[must_use]
    pub fn check(&self) -> &Name {
        &self.0.check
    }

    /// How long the run may take. When it is over the check's future is dropped.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }
}
