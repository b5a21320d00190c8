//! Scenarios as text against the whole engine, in virtual time.

mod scenarios;
mod world;
