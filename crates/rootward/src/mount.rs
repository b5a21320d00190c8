//! The same answers elsewhere: on a server of the application's as a tower service, as an axum router or as a gRPC
//! service, and over gRPC on a port of its own.
//!
//! What is mounted reads the same snapshot as the probe listener and makes its answers in the same place. It shares
//! the fate of the runtime that serves it: while that is blocked it does not answer. That is a reason for a port of
//! its own for readiness, and the use of liveness on the main port.

#[cfg(feature = "grpc")]
pub(crate) mod grpc;
mod peer;
#[cfg(feature = "axum")]
mod router;
mod seen;
mod service;

#[cfg(feature = "grpc")]
pub use grpc::{GrpcService, MAX_WATCHES};
pub use peer::Peer;
pub use seen::{is_probe, is_probe_answer};
pub use service::{HealthService, LivenessService, ResponseFuture};
