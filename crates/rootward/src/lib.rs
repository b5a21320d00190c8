//! What a service embeds: checks, background runner, probe listener on its own thread, latches.
//!
//! ```no_run
//! use rootward::{Check, ErrorCategory, Failure, Health};
//!
//! # fn free_bytes() -> std::io::Result<u64> { Ok(0) }
//! # async fn warm_the_cache() {}
//! # async fn serve() {}
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
//!         .listen("0.0.0.0:8790".parse()?)
//!         .start()?; // binds before it returns
//!     let warm = health.latch("cache warm");
//!     warm_the_cache().await;
//!     drop(warm); // from here on it is started
//!     serve().await;
//!     health.stop().await; // no task and no thread is left
//!     Ok(())
//! }
//! ```
//!
//! The crate `rootward-checks` has checks for PostgreSQL, Redis and other services.
//!
//! # What it answers
//!
//! | path | question | codes |
//! | --- | --- | --- |
//! | `/livez` | would only a restart help? | 200, 503 |
//! | `/readyz`, `/healthz` | should this instance get traffic now? | 200, 503 |
//! | `/startupz` | has it finished booting? | 200, 503 |
//! | `/status` | the public word: `up`, `degraded`, `down`, `starting` | 200, 200, 503, 503 |
//! | `/health` | every direct dependency, with ages | 200; 503 when unhealthy or starting; 401 to strangers |
//! | `/health/deep` | the same, all checks run now, shared by all who ask | the same; 429 more often than every 5 s |
//! | `/metrics` | the same in OpenMetrics, for a time series database | 200; 401 to strangers |
//!
//! Point an orchestrator's liveness probe at `/livez`, its readiness probe or a load balancer at `/readyz`, and an
//! aggregator at `/health`. The first four are for everybody and stay below one kibibyte. `/health` is for callers
//! on this machine ([`Access`]).
//!
//! # What holds
//!
//! - **No request runs a check.** Checks run in the background, all at once, each with its own interval and time
//!   limit. An answer is read from memory, so a burst of probes is no load on a dependency, and a hanging dependency
//!   is no delay for a probe.
//! - **The listener has a thread and a runtime of its own.** It answers while the application's runtime is blocked.
//!   Evidence that nobody renews turns `unknown` after two intervals and one time limit, whatever it was.
//! - **A failing shared dependency fails no probe.** It makes the instance unhealthy in `/health` and `/status`.
//!   Only a check that is local and hard takes an instance out of rotation, unless a check says otherwise
//!   ([`Check::gates_readiness`]): one slow database must not empty a fleet. Liveness cannot be given a check.
//! - **A blocked runtime is seen.** The listener's thread asks the application's runtime for a sign of life every
//!   100 ms. If that takes longer than the lag budget the instance is not ready; if it takes longer than the wedge
//!   limit, or a task declared with [`Health::watch`] is silent, only a restart helps and liveness fails. Nothing else
//!   can make it fail.
//! - **One result changes nothing.** The first result counts at once; after that a status becomes worse after three
//!   results in a row and better after two. While a change is pending the check runs about every second.
//! - **A check cannot hurt the others.** It runs in a task of its own. A panic is its own failure, a timeout has its
//!   own words, and a check that ignores cancellation is never started twice.
//! - **What a dependency says about itself stays here.** Reports carry a category and our own words ([`Failure`],
//!   [`Reason`]). The text of the error is in the service's log, once for each transition, under the reference that
//!   the report shows.
//! - **Who leaves says so first.** A [`Drain`] makes the instance not ready at once, lets it serve on for a while, and
//!   then tells the server to stop accepting; `rootward::serve` (feature `serve`) is one that listens. With
//!   [`Builder::drain_on_sigterm`] a SIGTERM begins it. Nothing here installs a signal handler unasked.
//!
//! # Where it answers
//!
//! On a port of its own ([`Builder::listen`]), which is the place for an orchestrator's probes. With the features
//! `tower` and `axum` the same endpoints are a service or a router on a server of the application's, and liveness alone
//! may stand on the main port. With the feature `grpc` it speaks grpc.health.v1, there or on a port of its own.
//!
//! # What is not built yet
//!
//! Tokens and mutual TLS for `/health`.

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
mod report;
mod runner;
#[cfg(feature = "serve")]
pub mod serve;
mod shared;
mod spread;
mod telemetry;
mod view;
mod vitals;

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
pub use rootward_core::{
    CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Name, Scope,
};
pub use rootward_wire::v1::ReportBody;
#[cfg(feature = "serve")]
pub use serve::serve;
pub use telemetry::{Change, CheckChange, ReadinessChange, StatusChange};
pub use vitals::{
    DEFAULT_FAIL_OPEN_AFTER, DEFAULT_LAG_BUDGET, DEFAULT_WEDGE_LIMIT, Heartbeat, MAX_HEARTBEATS,
};
