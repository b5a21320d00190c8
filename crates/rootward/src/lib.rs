//! What a service embeds: checks, background runner, probe listener on its own thread, latches, drain, metrics.
//!
//! ```no_run
//! use rootward::{Check, ErrorCategory, Failure, Health};
//!
//! # fn free_bytes() -> std::io::Result<u64> { Ok(0) }
//! # async fn warm_the_cache() {}
//! # async fn serve_until(stop: impl Future<Output = ()>) { stop.await }
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let health = Health::builder("cart")
//!         .version("1.4.2")
//!         .check(Check::new("disk", || async {
//!             if free_bytes()? < 1 << 20 {
//!                 return Err(Failure::new(ErrorCategory::ResourceExhausted));
//!             }
//!             Ok(())
//!         }).hard().local())
//!         .drain_on_sigterm()
//!         .listen("0.0.0.0:8790".parse()?)
//!         .start()?; // binds before it returns
//!     let warm = health.latch("cache warm");
//!     warm_the_cache().await;
//!     drop(warm); // from here on it is started
//!     serve_until(health.drain().stop_accepting()).await;
//!     health.stop().await; // no task and no thread is left
//!     Ok(())
//! }
//! ```
//!
//! The crate `rootward-checks` has checks for PostgreSQL, Redis and other services.
//!
//! # What it answers
//!
//! | path | question | codes | who may ask |
//! | --- | --- | --- | --- |
//! | `/livez` | would only a restart help? | 200, 503 | everybody |
//! | `/readyz`, `/healthz` | should this instance get traffic now? | 200, 503 | everybody |
//! | `/startupz` | has it finished booting? | 200, 503 | everybody |
//! | `/status` | the public word: `up`, `degraded`, `down`, `starting` | 200, 200, 503, 503 | everybody; 429 above a rate |
//! | `/health` | every direct dependency, with ages | 200; 503 when unhealthy or starting | who is known; 401 to others, 429 above a rate |
//! | `/health/deep` | the same, all checks run now, shared by all who ask | as `/health`; 429 more often than once in 5 s | as `/health` |
//! | `/metrics` | the same in OpenMetrics, for a time series database | 200 | as `/health`, or everybody by choice |
//!
//! Point an orchestrator's liveness probe at `/livez`, its readiness probe or a load balancer at `/readyz`, and an
//! aggregator at `/health`. Which probe goes where, and why, is in `docs/probes.md`; Kubernetes' own words about the
//! three questions are [here][k8s].
//!
//! The bodies of the first four rows have at most 1 KiB. Each path is asked with GET or HEAD; OPTIONS is answered 204,
//! another method 405, another path 404. Every answer says `cache-control: no-store`. A check of another service
//! ([`CHECK_FROM`]) is refused 508 on `/health` and `/health/deep`. Who is known, the rates and the tokens are in
//! [`Access`]. What each body says is specified in `docs/spec/report-v1.md`.
//!
//! `/health?component=NAME` and `?exclude=NAME` report about some of the components (400 for a name that is none). An
//! `Accept` that prefers it gets the report as `application/health+json`. The probes with `?verbose` list their
//! conditions as [Kubernetes' own components][verbose] do.
//!
//! [verbose]: https://kubernetes.io/docs/reference/using-api/health-checks/
//! [k8s]: https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
//!
//! # What holds
//!
//! - **No request runs a check but `/health/deep`.** Checks run in the background, all at once, each with its own
//!   interval and time limit ([`Check`]). An answer is read from memory, so a burst of probes is no load on a
//!   dependency, and a hanging dependency is no delay for a probe.
//! - **The listener has a thread and a runtime of its own** ([`Builder::listen`]). It answers while the application's
//!   runtime is blocked. Evidence that nobody renews turns `unknown` after two intervals and one time limit, whatever
//!   it was.
//! - **A failing shared dependency fails no probe.** Down, it makes the instance unhealthy if it is hard, and degraded
//!   if it is soft, in `/health` and `/status`. Only a check that is local and hard takes an instance out of rotation,
//!   unless a check says otherwise ([`Check::gates_readiness`]): one slow database must not empty a fleet. Liveness
//!   cannot be given a check.
//! - **A blocked runtime is seen.** Every 100 ms a thread of its own looks at the application's runtime and, unless it
//!   is at rest, asks it for a sign of life. Two samples over the lag budget ([`Builder::lag_budget`]), and the
//!   instance is not ready; lag alone keeps it out of rotation for about 30 s at most ([`Builder::fail_open_after`]).
//! - **Liveness fails for three reasons and no other:** the runtime is silent for longer than the wedge limit
//!   ([`Builder::wedge_limit`]), a task declared with [`Health::watch`] is, or the application says so itself
//!   ([`Health::only_restart_helps`]).
//! - **One result changes nothing.** The first result counts at once; after that a status becomes worse after three
//!   results in a row and better after two ([`Check::fall`], [`Check::rise`]). While a change is pending the check runs
//!   about every second.
//! - **A check cannot hurt the others.** It runs in a task of its own. A panic is its own failure, a timeout has its
//!   own words, and a check that ignores cancellation is never started twice.
//! - **What a dependency says about itself stays here.** Reports carry a category and our own words ([`Failure`],
//!   [`Reason`]). The text of the error is in the service's log, once for each transition, under the reference that the
//!   report shows.
//! - **Who leaves says so first.** A [`Drain`] makes the instance not ready at once, lets it serve on for a while, and
//!   then tells the server to stop accepting; `rootward::serve` (feature `serve`) is one that listens. With
//!   `Builder::drain_on_sigterm` (Unix) a SIGTERM begins it. Nothing here installs a signal handler unasked.
//! - **When [`Health::stop`] returns, no task and no thread of it is left**, but for foreign code that cannot be
//!   cancelled: a check that blocks its thread, a hook that does not return.
//!
//! # Where it answers
//!
//! On a port of its own ([`Builder::listen`]), which is the place for an orchestrator's probes. With the features
//! `tower` and `axum` the same endpoints are a service or a router on a server of the application's, and liveness alone
//! may stand on the main port. With the feature `grpc` it speaks [grpc.health.v1], there or on a port of its own.
//! `docs/mounting.md` has what an answer at each place proves.
//!
//! [grpc.health.v1]: https://github.com/grpc/grpc/blob/master/doc/health-checking.md
//!
//! # Features
//!
//! None is on by default. Without any the crate has everything that is linked above, and no router, no TLS and no
//! driver of a database among its dependencies.
//!
//! | feature | what it brings | what it pulls in |
//! | --- | --- | --- |
//! | `tower` | `Health::service`, `Health::liveness_service`, `Peer`, `is_probe`, `is_probe_answer` | `tower-service` |
//! | `axum` | `Health::router`, `Health::liveness_router`; the peer from `ConnectInfo`; and `tower` | `axum` without its default features |
//! | `grpc` | `Health::grpc`, `Builder::listen_grpc`; and `tower` | `tonic`, `tonic-health`, `tokio-stream`; HTTP/2 (`h2`) |
//! | `otel` | `Builder::opentelemetry`: the metrics of the checks through a meter of OpenTelemetry | `opentelemetry` |
//! | `serve` | `serve`: a server for the application's own traffic, over HTTP/1.1 and HTTP/2, that drains | `pin-project-lite`, `socket2`, `tower-service`; HTTP/2 (`h2`) |
//! | `tls` | `ClientCertificates`, `Access::client_certificates`: mutual TLS on the probe port | `rustls` with `ring`, `tokio-rustls`, `rustls-webpki`, `x509-cert` |
//!
//! # What is not built yet
//!
//! TLS on other ports than the one of the probes.

mod access;
mod builder;
mod check;
mod deep;
mod drain;
mod duration;
mod error;
mod events;
mod failure;
mod finding;
mod health;
mod identity;
mod latch;
#[cfg(feature = "tower")]
mod mount;
mod probe;
mod redact;
mod replace;
mod report;
mod runner;
#[cfg(feature = "serve")]
pub mod serve;
mod shared;
mod spread;
mod telemetry;
mod view;
mod vitals;

#[cfg(feature = "tls")]
pub use access::ClientCertificates;
pub use access::{Access, MAX_TOKENS, Token, TokenDigest, TokenError, Tokens, TokensError};
pub use builder::{Builder, MAX_CHECKS, MAX_INTERVAL, MAX_TIMEOUT};
pub use check::{
    Check, CheckContext, DEFAULT_INTERVAL, DEFAULT_TIMEOUT, Labelled, Progress, Unlabelled,
};
pub use deep::{DEEP_PERIOD, MAX_DEEP_WAITING, TooMany};
pub use drain::{DEFAULT_DRAIN_DELAY, DEFAULT_DRAIN_GRACE, Drain, MAX_DRAIN};
pub use error::{Error, Problem};
pub use failure::{Failure, MAX_DETAIL_BYTES, MAX_REASON_BYTES, Number, Outcome, Reason};
pub use health::Health;
pub use latch::Latch;
#[cfg(feature = "grpc")]
pub use mount::{GrpcService, MAX_WATCHES};
#[cfg(feature = "tower")]
pub use mount::{HealthService, LivenessService, Peer, ResponseFuture, is_probe, is_probe_answer};
pub use probe::CHECK_FROM;
pub use replace::NextCheck;
/// The damped status of one check, as reports, metrics and hooks say it.
///
/// ```
/// use rootward::CheckStatus;
///
/// assert!(CheckStatus::Down > CheckStatus::Degraded); // worse
/// assert_eq!(CheckStatus::parse("unknown"), Some(CheckStatus::Unknown)); // no evidence, which is not down
/// ```
#[doc(inline)]
pub use rootward_core::CheckStatus;
/// What a dependency means to the service, as [`Check::hard`], [`Check::soft`] and [`Check::informational`] say it.
///
/// ```
/// use rootward::Criticality;
///
/// assert_eq!(Criticality::parse("hard"), Some(Criticality::Hard)); // from configuration
/// ```
#[doc(inline)]
pub use rootward_core::Criticality;
/// How deep a check looks; see [`Check::depth`].
///
/// ```
/// use rootward::{Check, Depth};
///
/// let ping = Check::new("cache", || async { Ok(()) }).depth(Depth::Ping); // says nothing about what it stores
/// ```
#[doc(inline)]
pub use rootward_core::Depth;
/// Why a check is not up, in a word that is safe to show; see [`Failure::new`].
///
/// ```
/// use rootward::{ErrorCategory, Failure};
///
/// fn judge(status: u16) -> Result<(), Failure> {
///     match status {
///         200..300 => Ok(()),
///         429 => Err(Failure::new(ErrorCategory::RateLimited)),
///         503 => Err(Failure::new(ErrorCategory::NotReady)),
///         _ => Err(Failure::new(ErrorCategory::HttpStatus)),
///     }
/// }
/// assert_eq!(judge(429).unwrap_err().to_string(), "rate limited"); // what the report shows
/// ```
#[doc(inline)]
pub use rootward_core::ErrorCategory;
/// The status of this instance: what its checks add up to.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// use rootward::{Health, InstanceStatus};
///
/// let health = Health::builder("cart").start()?;
/// assert_eq!(health.report().status, InstanceStatus::Healthy.into());
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use rootward_core::InstanceStatus;
/// The name of a service, an instance or a check.
///
/// ```
/// use rootward::Name;
///
/// assert_eq!(Name::parse("orders-db")?.as_str(), "orders-db");
/// assert!(Name::parse("orders db").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use rootward_core::Name;
/// Whom a failure concerns, as [`Check::local`] and [`Check::shared`] say it.
///
/// ```
/// use rootward::Scope;
///
/// assert_eq!(Scope::parse("local"), Some(Scope::Local)); // from configuration
/// ```
#[doc(inline)]
pub use rootward_core::Scope;
/// The detailed report, as [`Health::report`] gives it and `/health` writes it. What each field says is specified in
/// `docs/spec/report-v1.md`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// use rootward::{Check, CheckStatus, Health};
///
/// let disk = Check::new("disk", || async { Ok(()) }).hard().local();
/// let health = Health::builder("cart").check(disk).start()?;
/// health.check_now().await.expect("nobody asked before");
/// let report = health.report();
/// assert_eq!(report.components[0].status, CheckStatus::Up.into());
/// assert!(report.components[0].age_ms < Some(10_000)); // milliseconds
/// # drop(report);
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use rootward_wire::v1::ReportBody;
#[cfg(feature = "serve")]
pub use serve::serve;
pub use shared::MAX_FINDINGS;
pub use telemetry::{Change, CheckChange, ReadinessChange, StatusChange};
pub use vitals::{
    DEFAULT_FAIL_OPEN_AFTER, DEFAULT_LAG_BUDGET, DEFAULT_WEDGE_LIMIT, Heartbeat, MAX_HEARTBEATS,
};
