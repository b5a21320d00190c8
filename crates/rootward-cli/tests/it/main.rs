//! The real binary: what it says, and how it ends.

mod aggregator;
mod arguments;
mod demo;
mod explain;
mod program;
mod serve;
mod status;
mod validate;
