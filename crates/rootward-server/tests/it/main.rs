//! The aggregator as a whole, against real servers on loopback ports.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod fleet;
mod foreign;
mod log;
mod running;

mod incident;
mod polling;
mod pushing;
mod reloading;
mod stopping;
