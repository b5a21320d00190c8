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

/// How often a check runs where nothing else is said: every 10 s.
///
/// ```
/// use rootward::{Check, DEFAULT_INTERVAL};
///
/// // Each call costs money: once a minute.
/// let payments = Check::new("payments", || async { Ok(()) }).interval(DEFAULT_INTERVAL * 6);
/// ```
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// How long a check may take where nothing else is said: 500 ms.
///
/// ```
/// use rootward::{Check, DEFAULT_TIMEOUT};
///
/// // It is in another region.
/// let ledger = Check::new("ledger", || async { Ok(()) }).timeout(DEFAULT_TIMEOUT * 2);
/// ```
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
/// All that can be said about one:
///
/// ```
/// use std::time::Duration;
/// use rootward::{Check, Depth, Health};
///
/// let database = Check::new("orders-db", || async { Ok(()) })
///     .shared() // every instance sees the same failure; the default
///     .interval(Duration::from_secs(5))
///     .timeout(Duration::from_millis(300))
///     .slow_above(Duration::from_millis(100))
///     .fall(2)
///     .rise(3)
///     .kind("postgresql")
///     .target("postgresql://orders-db:5432/orders")
///     .depth(Depth::Query)
///     .owner("team-orders");
/// let cache = Check::new("cache", || async { Ok(()) });
/// let partner = Check::new("partner", || async { Ok(()) });
/// Health::builder("cart")
///     .check(database.hard()) // no request works without it
///     .check(cache.soft()) // slower without it
///     .check(partner.informational()); // for people to see
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
///
/// A function that makes checks returns one, and leaves it to its caller to say what a failure means:
///
/// ```
/// use rootward::{Check, Unlabelled};
///
/// fn partner(name: &str) -> Check<Unlabelled> {
///     Check::new(name, || async { Ok(()) }).kind("partner")
/// }
/// let (rates, shipping) = (partner("rates").soft(), partner("shipping").hard());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Unlabelled(());

/// The check says what its failure means.
///
/// ```
/// use rootward::{Check, Labelled};
///
/// let mut checks: Vec<Check<Labelled>> = Vec::new();
/// checks.push(Check::new("rates", || async { Ok(()) }).soft());
/// ```
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
    ///
    /// ```
    /// use rootward::{Check, Failure};
    /// # async fn ask_replica() -> Result<(), Failure> { Ok(()) }
    /// # async fn ask_primary() -> Result<(), Failure> { Ok(()) }
    ///
    /// let orders = Check::with_context("orders-db", |context| async move {
    ///     // Half of the time for the first try, the rest for the second.
    ///     match tokio::time::timeout(context.timeout() / 2, ask_replica()).await {
    ///         Ok(answer) => answer,
    ///         Err(_) => ask_primary().await,
    ///     }
    /// });
    /// ```
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
    ///
    /// ```
    /// use rootward::Check;
    ///
    /// let disk = Check::blocking("disk", || {
    ///     std::fs::metadata("/var/lib/cart")?;
    ///     Ok(())
    /// });
    /// ```
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
    /// How often it runs, from the beginning of one run to the beginning of the next. The default is the builder's, and
    /// that is [`DEFAULT_INTERVAL`], 10 s. From 1 ms to [`MAX_INTERVAL`](crate::MAX_INTERVAL).
    ///
    /// A result counts for two intervals and one time limit; then the check is `unknown`.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.parts.interval = Some(interval);
        self
    }

    /// How long one run may take. The default is the builder's, and that is [`DEFAULT_TIMEOUT`], 500 ms. From 1 ms to
    /// [`MAX_TIMEOUT`](crate::MAX_TIMEOUT), and shorter than the interval.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.parts.timeout = Some(timeout);
        self
    }

    /// How many results in a row make the status worse; 3 by default, at least 1. The first result of all counts at
    /// once.
    ///
    /// While a change is pending the check runs again after about 1 s (a quarter more or less, and never later than its
    /// interval), so three results take seconds and not three intervals.
    pub fn fall(mut self, results: u8) -> Self {
        self.parts.fall = Some(results);
        self
    }

    /// How many results in a row make the status better; 2 by default, at least 1.
    pub fn rise(mut self, results: u8) -> Self {
        self.parts.rise = Some(results);
        self
    }

    /// A good answer that takes longer than this is `degraded`. Shorter than the time limit. By default no answer is
    /// slow.
    pub fn slow_above(mut self, limit: Duration) -> Self {
        self.parts.slow_above = Some(limit);
        self
    }

    /// A failure concerns this instance alone: a full disk, a leaked pool. A check that is local and hard takes the
    /// instance out of rotation while it is down.
    ///
    /// ```
    /// use rootward::{Check, Health};
    ///
    /// // Full here, and not on other machines.
    /// let spool = Check::blocking("spool", || Ok(())).hard().local();
    /// Health::builder("mailer").check(spool);
    /// ```
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
    ///
    /// ```
    /// use rootward::Check;
    ///
    /// // Recommendations are poor without the model, but it serves: soft. The other instances have theirs: let them.
    /// let model = Check::new("model", || async { Ok(()) }).soft().local().gates_readiness(true);
    /// ```
    pub fn gates_readiness(mut self, gates: bool) -> Self {
        self.parts.gates_readiness = Some(gates);
        self
    }

    /// How deep the check looks, so that nobody takes a ping for more than it is.
    pub fn depth(mut self, depth: Depth) -> Self {
        self.parts.depth = Some(depth);
        self
    }

    /// What is checked: `postgresql`, `redis`, `http`, …; `service` for another service, which does not count for the
    /// field `serving` of `/readyz`. A [`Name`].
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.parts.kind = Some(kind.into());
        self
    }

    /// Which one is checked, in the form that all who use it share: `postgresql://orders-db:5432/orders`, or a declared
    /// name. By it twelve services are seen to mean the same database. Never with a user, a password or a query: a
    /// target with `@`, `?` or `#` is a problem when the service starts. 1 to 256 bytes.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.parts.target = Some(target.into());
        self
    }

    /// Who answers for it: a team, a rota. 1 to 256 bytes.
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

    /// Runs the function once, here, without a time limit and without counting the result: for tests of a check. One
    /// that blocks, blocks the caller.
    ///
    /// # Errors
    /// When the check fails.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use rootward::{Check, CheckContext, ErrorCategory, Failure, Name};
    ///
    /// let check = Check::new("disk", || async {
    ///     Err::<(), _>(Failure::new(ErrorCategory::ResourceExhausted))
    /// });
    /// let name = Name::parse("test")?;
    /// let context = CheckContext::new(name.clone(), name.clone(), name, Duration::from_secs(1));
    /// let failure = check.run_once(context).await.expect_err("nothing is free");
    /// assert_eq!(failure.category(), ErrorCategory::ResourceExhausted);
    /// # Ok(())
    /// # }
    /// ```
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
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use rootward::{Check, CheckContext, Name};
/// # async fn call(user_agent: String, deadline_ms: u128) -> std::io::Result<()> { Ok(()) }
///
/// let rates = Check::with_context("rates", |context| async move {
///     // The other side can see who asks, and need not go on when nobody waits any more.
///     let asking = format!("{}/{} ({})", context.service(), context.instance(), context.check());
///     call(asking, context.timeout().as_millis()).await?;
///     Ok(())
/// });
///
/// // In a test of it, somebody has to make the context:
/// let (service, instance) = (Name::parse("cart")?, Name::parse("cart-0")?);
/// let context = CheckContext::new(service, instance, Name::parse("rates")?, Duration::from_millis(500));
/// assert!(rates.run_once(context).await.is_ok());
/// # Ok(())
/// # }
/// ```
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

    /// How long the run may take, from its beginning. When it is over the check's future is dropped.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }
}
