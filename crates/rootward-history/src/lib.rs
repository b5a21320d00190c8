//! What is remembered: the seam, the memory store, and the contract suite every store must pass.
//!
//! [`History`] belongs to whoever decides what happened and has one owner; [`Reader`] belongs to those who ask, of
//! whom there may be many, on any thread. A store says through [`History::reader`] how the two are joined. Whatever
//! a store forgets, it forgets by a bound that its documentation names.

mod error;
mod memory;
mod seam;

#[cfg(test)]
mod contract;

pub use error::{Error, ErrorKind};
pub use memory::{MAX_INCIDENTS, MAX_TRANSITIONS, Memory};
pub use seam::{History, Reader};
