//! Scenarios as text against the whole engine, in virtual time.

mod laws;
mod scenarios;
mod world;
