//! The real binary: what it says, and how it ends.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod agent;
mod aggregator;
mod arguments;
mod checkin;
mod conform;
mod demo;
mod explain;
mod findings;
mod parse;
mod probe;
mod program;
mod replay;
mod schema;
mod serve;
mod status;
mod token;
mod validate;
