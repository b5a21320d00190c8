//! The aggregator from a client's side: asking its HTTP API, and the words in which the answers are told in a terminal.
//! The shapes of the answers are those of `rootward_wire::v1::api`.
//!
//! The stories judge by nothing else, and the commands `status` and `explain` ask through the same client.

mod client;
pub mod words;

pub use client::{AskError, Client, DEADLINE, segment};
