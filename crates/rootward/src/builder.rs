//! From what an application says to a running health: parse, bind, run. All problems are found before anything is
//! bound, and the socket is bound before anything runs.

mod checked;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rootward_wire::limits::MAX_COMPONENTS;
use tokio::sync::{mpsc, watch};

use crate::access::Access;
use crate::check::{Check, DEFAULT_INTERVAL, DEFAULT_TIMEOUT, Labelled};
#[cfg(unix)]
use crate::drain::Signals;
use crate::drain::{Drain, Timing};
use crate::error::{Error, Kind};
use crate::health::{Health, Threads};
use crate::latch::{Latch, Startup};
use crate::probe::{Beside, Ports, ProbeThread};
use crate::replace::Orders;
use crate::runner::Runner;
use crate::shared::Shared;
use crate::telemetry::{Change, Journal, Listeners, Observer};
use crate::vitals::{
    DEFAULT_FAIL_OPEN_AFTER, DEFAULT_LAG_BUDGET, DEFAULT_WEDGE_LIMIT, Limits, Pulse, Sampler,
    Vitals,
};

use checked::Checked;
pub(crate) use checked::{Defaults, ProblemList};

/// The most checks one service may have. Half of what a reader takes, so that with the longest names and texts the
/// report still is not too large for it.
///
/// ```
/// // Checks made from configuration: one for each partner.
/// let partners = ["rates", "shipping"];
/// assert!(partners.len() <= rootward::MAX_CHECKS);
/// ```
pub const MAX_CHECKS: usize = MAX_COMPONENTS / 2;

/// The longest interval of a check, and the longest of the times that [`Builder::lag_budget`], [`Builder::wedge_limit`]
/// and [`Builder::fail_open_after`] take: 24 hours. The shortest is 1 ms.
///
/// ```
/// use std::time::Duration;
/// use rootward::{Check, MAX_INTERVAL};
///
/// let configured = Duration::from_secs(7 * 24 * 60 * 60);
/// let licence = Check::new("licence", || async { Ok(()) }).interval(configured.min(MAX_INTERVAL));
/// ```
pub const MAX_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest time limit of a check: 60 s. The shortest is 1 ms.
///
/// ```
/// use std::time::Duration;
/// use rootward::{Check, MAX_TIMEOUT};
///
/// let configured = Duration::from_secs(90);
/// let archive = Check::new("archive", || async { Ok(()) })
///     .interval(Duration::from_secs(300))
///     .timeout(configured.min(MAX_TIMEOUT));
/// ```
pub const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// What a service says about its health before it starts. Begins with [`Health::builder`].
///
/// Nothing is judged before [`Builder::start`], which reports everything that is wrong at once. A name, here and of a
/// check, has 1 to 128 bytes of letters, digits and `- _ . / : @ +`, and begins with a letter or a digit ([`Name`](crate::Name)).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use rootward::{Check, Health};
///
/// let health = Health::builder("cart")
///     .instance("cart-7f-x2")
///     .version("1.4.2")
///     .environment("production")
///     .namespace("shop")
///     .zone("eu-west-1a")
///     .host("node-17")
///     .interval(Duration::from_secs(15)) // of the checks that do not say it themselves
///     .timeout(Duration::from_millis(300))
///     .check(Check::new("disk", || async { Ok(()) }).hard().local())
///     .listen(([127, 0, 0, 1], 0).into())
///     .start()?;
/// assert_eq!(health.report().zone.as_deref(), Some("eu-west-1a"));
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing runs before start()"]
pub struct Builder {
    service: String,
    instance: Option<String>,
    version: Option<String>,
    environment: Option<String>,
    namespace: Option<String>,
    zone: Option<String>,
    host: Option<String>,
    checks: Vec<Check<Labelled>>,
    defaults: Defaults,
    limits: Limits,
    listen: Option<SocketAddr>,
    #[cfg(feature = "grpc")]
    pub(crate) listen_grpc: Option<SocketAddr>,
    access: Access,
    listeners: Listeners,
    startup: Arc<Startup>,
    drain: Timing,
    #[cfg(unix)]
    drain_on_sigterm: bool,
    wall: Wall,
}

/// Where wall-clock time comes from; it is shown to people and decides nothing.
pub(crate) type Wall = Arc<dyn Fn() -> SystemTime + Send + Sync>;

impl Builder {
    pub(crate) fn new(service: String) -> Self {
        Self {
            service,
            instance: None,
            version: None,
            environment: None,
            namespace: None,
            zone: None,
            host: None,
            checks: Vec::new(),
            defaults: Defaults {
                interval: DEFAULT_INTERVAL,
                timeout: DEFAULT_TIMEOUT,
            },
            limits: Limits {
                lag_budget: DEFAULT_LAG_BUDGET,
                wedge_limit: DEFAULT_WEDGE_LIMIT,
                fail_open_after: DEFAULT_FAIL_OPEN_AFTER,
            },
            listen: None,
            #[cfg(feature = "grpc")]
            listen_grpc: None,
            access: Access::loopback(),
            listeners: Listeners::default(),
            startup: Arc::new(Startup::new()),
            drain: Timing::DEFAULT,
            #[cfg(unix)]
            drain_on_sigterm: false,
            wall: Arc::new(SystemTime::now),
        }
    }

    /// The name of this instance, unique within the service. By default the host name that the platform gave
    /// (`HOSTNAME`; in Kubernetes that is the name of the pod), else `pid-` and the process id.
    pub fn instance(mut self, instance: impl Into<String>) -> Self {
        self.instance = Some(instance.into());
        self
    }

    /// The release that runs. A fault that came with a release is found by it.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// The environment, such as `production`.
    pub fn environment(mut self, environment: impl Into<String>) -> Self {
        self.environment = Some(environment.into());
        self
    }

    /// The namespace or team space within the environment.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The availability zone. Diagnosis sees by it that all that fails is in one.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// The machine. Diagnosis sees by it that all that fails is on one.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Adds a check. No two may have the same name, and there may be at most [`MAX_CHECKS`].
    pub fn check(mut self, check: Check<Labelled>) -> Self {
        self.checks.push(check);
        self
    }

    /// How often a check runs that does not say it itself; [`DEFAULT_INTERVAL`], 10 s. From 1 ms to [`MAX_INTERVAL`].
    /// See [`Check::interval`].
    pub fn interval(mut self, interval: Duration) -> Self {
        self.defaults.interval = interval;
        self
    }

    /// How long a run may take of a check that does not say it itself; [`DEFAULT_TIMEOUT`], 500 ms. From 1 ms to
    /// [`MAX_TIMEOUT`], and shorter than the interval. See [`Check::timeout`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.timeout = timeout;
        self
    }

    /// How long the application's runtime may take to answer; [`DEFAULT_LAG_BUDGET`], 250 ms. Two samples in a row over
    /// it, 100 ms apart, and the instance is not ready; two within it, and it is ready again. From 1 ms to
    /// [`MAX_INTERVAL`].
    ///
    /// The lag is that of the whole runtime, or the time for which at least half of its workers have been in one step,
    /// whichever is longer. Which worker moves is told by tokio's own counters ([`RuntimeMetrics`]).
    ///
    /// [`RuntimeMetrics`]: https://docs.rs/tokio/latest/tokio/runtime/struct.RuntimeMetrics.html
    ///
    /// ```
    /// use rootward::{DEFAULT_LAG_BUDGET, Health};
    ///
    /// // A batch service whose tasks compute for up to 400 ms between two awaits.
    /// let builder = Health::builder("thumbnails").lag_budget(DEFAULT_LAG_BUDGET * 2);
    /// ```
    pub fn lag_budget(mut self, budget: Duration) -> Self {
        self.limits.lag_budget = budget;
        self
    }

    /// How long the application's runtime may stay silent before only a restart helps and liveness fails;
    /// [`DEFAULT_WEDGE_LIMIT`], 30 s. Longer than the lag budget, at most [`MAX_INTERVAL`].
    ///
    /// Longer than the longest pause that ends by itself: whoever restarts a process that would have come back makes an
    /// overload worse.
    ///
    /// ```
    /// use rootward::{DEFAULT_WEDGE_LIMIT, Health};
    ///
    /// // It loads a model on its own runtime at times, which takes up to 45 s.
    /// let builder = Health::builder("ranking").wedge_limit(DEFAULT_WEDGE_LIMIT * 2);
    /// ```
    pub fn wedge_limit(mut self, limit: Duration) -> Self {
        self.limits.wedge_limit = limit;
        self
    }

    /// After about how long lag alone no longer keeps the instance out of rotation; [`DEFAULT_FAIL_OPEN_AFTER`], 30 s.
    /// A quarter more or less, which differs from instance to instance and follows from their names. From 1 ms to
    /// [`MAX_INTERVAL`].
    ///
    /// Overload that lasts must not empty a fleet: the last instances would get all the traffic. The report says that
    /// it is ready in spite of its lag (the finding `lag_failed_open`).
    ///
    /// ```
    /// use rootward::{DEFAULT_FAIL_OPEN_AFTER, Health};
    ///
    /// // Three replicas: each that leaves puts half of its load on each of the others.
    /// let builder = Health::builder("cart").fail_open_after(DEFAULT_FAIL_OPEN_AFTER / 3);
    /// ```
    pub fn fail_open_after(mut self, lasting: Duration) -> Self {
        self.limits.fail_open_after = lasting;
        self
    }

    /// Where the probe endpoints are served; port 0 takes a free one ([`Health::listen_addr`]). Without it nothing
    /// listens, and the report can be read in the process only.
    ///
    /// It is plain HTTP/1.1, for at most 256 connections at a time. Who may read what is [`Access`].
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Who may read the detailed routes; without it, callers on this machine ([`Access::loopback`]).
    ///
    /// ```
    /// use rootward::{Access, Health, Tokens};
    ///
    /// // The aggregator is on another machine and has a token.
    /// let access = Access::loopback().tokens(Tokens::file("/run/secrets/health-tokens"));
    /// let builder = Health::builder("cart").access(access);
    /// ```
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Something that must be over before the instance has started; see [`Health::latch`]. Taken here, before the
    /// start, no probe can come before it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use rootward::Health;
    ///
    /// let mut builder = Health::builder("cart").listen(([127, 0, 0, 1], 0).into());
    /// let warm = builder.latch("cache warm");
    /// let health = builder.start()?; // from here on it is asked
    /// assert!(!health.is_started());
    /// drop(warm);
    /// assert!(health.is_started());
    /// # health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn latch(&mut self, name: impl Into<String>) -> Latch {
        Startup::hold(&self.startup, name)
    }

    /// A function that is told about every change: of a check's status, of readiness, of the status of the instance.
    ///
    /// It is called on a thread of its own, never by whoever answers a probe or runs a check, for one change after
    /// the other. It may block: at most 256 changes wait for it, and those on top are dropped and counted
    /// (`rootward_changes_dropped_total`). It may panic: that goes to the log, and the next change calls it again.
    /// The results of checks are told one by one; readiness and the status of the instance are looked at ten times
    /// a second, so what came and went in between is no change. At most 8 hooks.
    ///
    /// ```
    /// use rootward::{Change, Health};
    /// Health::builder("cart").on_change(|change| match change {
    ///     Change::Check(change) => println!("{} is {}", change.check, change.to),
    ///     Change::Readiness(change) => println!("ready: {}", change.ready),
    ///     Change::Status(change) => println!("{}", change.to),
    ///     _ => {}
    /// });
    /// ```
    pub fn on_change(mut self, hook: impl Fn(&Change) + Send + Sync + 'static) -> Self {
        self.listeners.hooks.push(Arc::new(hook));
        self
    }

    /// How long the instance serves on after a drain has made it not ready; [`DEFAULT_DRAIN_DELAY`], 10 s, at most one
    /// hour ([`MAX_DRAIN`](crate::MAX_DRAIN)).
    ///
    /// It must be longer than the time that whoever routes traffic takes to notice: the interval of its checks times
    /// the failures that it wants to see, plus the time to tell everybody. Zero stops accepting at once, and loses
    /// requests behind any load balancer. See [`Drain`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rootward::Health;
    /// // A load balancer that checks every 5 s and wants to see two failures.
    /// let builder = Health::builder("cart").drain_delay(Duration::from_secs(15));
    /// ```
    ///
    /// [`DEFAULT_DRAIN_DELAY`]: crate::DEFAULT_DRAIN_DELAY
    pub fn drain_delay(mut self, delay: Duration) -> Self {
        self.drain.delay = delay;
        self
    }

    /// How long requests in flight may take after the instance stopped accepting; [`DEFAULT_DRAIN_GRACE`], 10 s, at
    /// most one hour ([`MAX_DRAIN`](crate::MAX_DRAIN)). What is not finished then is cut off. See [`Drain`].
    ///
    /// Whoever kills the process must wait longer than the delay and the grace together. In Kubernetes that is
    /// `terminationGracePeriodSeconds`, [30 s] unless said otherwise.
    ///
    /// [30 s]: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
    ///
    /// [`DEFAULT_DRAIN_GRACE`]: crate::DEFAULT_DRAIN_GRACE
    ///
    /// ```
    /// use std::time::Duration;
    /// use rootward::{DEFAULT_DRAIN_DELAY, Health, MAX_DRAIN};
    ///
    /// let longest_request = Duration::from_secs(15);
    /// let grace = longest_request.min(MAX_DRAIN);
    /// let builder = Health::builder("reports").drain_grace(grace);
    /// assert!(DEFAULT_DRAIN_DELAY + grace < Duration::from_secs(30));
    /// ```
    pub fn drain_grace(mut self, grace: Duration) -> Self {
        self.drain.grace = grace;
        self
    }

    /// Begins the drain with the first SIGTERM or SIGINT ([`Drain::begin`]). They are heard on the thread that answers
    /// probes, so that readiness is 503 within 100 ms even while the application's runtime is blocked.
    ///
    /// Nothing here ends the process: the application does, when its server has returned. A second SIGTERM or SIGINT
    /// ends it at once by the default action of the signal (as process 1 of a container, for which the kernel ignores
    /// that action, it aborts). After [`Health::stop`] the first one does.
    ///
    /// Without this call no signal is touched: a library must not take signals from its host program by itself. A
    /// handler that the application installed through tokio or signal-hook keeps working beside it.
    ///
    /// ```no_run
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// # async fn serve_until(stop: impl Future<Output = ()>) { stop.await }
    /// use rootward::Health;
    ///
    /// let health = Health::builder("cart")
    ///     .drain_on_sigterm()
    ///     .listen("0.0.0.0:8790".parse().expect("an address"))
    ///     .start()?;
    /// serve_until(health.drain().stop_accepting()).await;
    /// health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    pub fn drain_on_sigterm(mut self) -> Self {
        self.drain_on_sigterm = true;
        self
    }

    /// The metrics of the checks through this meter of OpenTelemetry, for an application that exports its own that way;
    /// `opentelemetry::global::meter("rootward")` is the one of the global provider.
    ///
    /// `rootward.check.duration` (s), `rootward.check.status`, `rootward.check.age` (s) and `rootward.check.flips`, each
    /// with `rootward.check.name`, and with `error.type`, `db.system.name`, `server.address`, `server.port` and
    /// `service.peer.name` of the semantic conventions where they are known. Durations are recorded on a thread of
    /// their own; at most 1024 wait for it. Nothing is said about an instance that has ended.
    ///
    /// ```
    /// let meter = opentelemetry::global::meter("rootward");
    /// let builder = rootward::Health::builder("cart").opentelemetry(meter);
    /// # let _ = builder;
    /// ```
    #[cfg(feature = "otel")]
    pub fn opentelemetry(mut self, meter: opentelemetry::metrics::Meter) -> Self {
        self.listeners.meter = Some(meter);
        self
    }

    /// Another source of wall-clock time than the system's, for tests and replays. It is read when a check completes,
    /// where its times are for people only, and where a token or a certificate may have expired. No status follows from it.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use rootward::Health;
    ///
    /// // A report that says the same in every run of a test.
    /// let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// let builder = Health::builder("cart").wall_clock(move || at);
    /// ```
    pub fn wall_clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall = Arc::new(now);
        self
    }

    /// Starts the checks on the tokio runtime of the caller, whose time driver must be enabled, and the listener on a
    /// thread and a runtime of its own. The listener is bound when this returns.
    ///
    /// # Errors
    /// When something that was said makes no sense (all such problems at once, see [`Error::problems`]), outside a
    /// tokio runtime or in one without a timer, or when the address cannot be listened on. Nothing runs then.
    pub fn start(self) -> Result<Health, Error> {
        let journal = Journal::default();
        let Checked {
            identity,
            plans,
            facts,
            gate,
        } = self.checked(&journal)?;
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Kind::NoRuntime)?;
        if !has_timer() {
            return Err(Kind::NoTimer.into());
        }
        let drain = Drain::new(self.drain, journal);
        let signals = self.signals(&drain)?;
        let vitals = Vitals::new(self.limits.jittered(&identity));
        let shared = Arc::new(Shared::new(
            identity,
            facts,
            self.startup,
            drain,
            vitals,
            self.wall,
            gate,
        ));
        let (stop, stopped) = watch::channel(false);
        let pulse = Pulse::new();
        let sampler = Sampler::new(Arc::clone(&shared), Arc::clone(&pulse), runtime.clone());
        let ports = Ports {
            http: self.listen,
            #[cfg(feature = "grpc")]
            grpc: self.listen_grpc,
        };
        let probe = ProbeThread::start(ports, &shared, signals, stopped.clone())?;
        let observer = Observer::start(&shared, self.listeners, stopped.clone())?;
        let sampler = sampler.start()?;
        let (orders, ordered) = mpsc::channel(1);
        let runner = Runner::new(Arc::clone(&shared), plans, ordered, stopped.clone());
        let tasks = [
            runtime.spawn(pulse.answer(stopped)),
            runtime.spawn(runner.run()),
        ];
        let threads = Threads {
            observer,
            probe,
            sampler,
        };
        let orders = Orders::new(orders, self.defaults);
        Ok(Health::new(shared, stop, tasks, threads, orders))
    }

    /// What hears the signals, if it was asked for.
    #[cfg(unix)]
    fn signals(&self, drain: &Drain) -> Result<Option<Beside>, Error> {
        if !self.drain_on_sigterm {
            return Ok(None);
        }
        let signals = Signals::subscribe().map_err(|source| Kind::Signals { source })?;
        Ok(Some(Box::pin(signals.drive(drain.clone()))))
    }

    #[cfg(not(unix))]
    fn signals(&self, _: &Drain) -> Result<Option<Beside>, Error> {
        Ok(None)
    }
}

/// Whether the runtime of the caller has a timer. Tokio has no other way to ask: without one, what waits for time panics.
/// Every check would, unseen, in a service that looks well.
fn has_timer() -> bool {
    std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok()
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("service", &self.service)
            .field("checks", &self.checks)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}
