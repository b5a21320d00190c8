//! Every ready-made check against the real server, and against servers that misbehave; one file a kind.
//!
//! What all checks have to survive stands in `every.rs`.

mod every;
mod pool;
mod postgresql;
mod queue;
mod redis;
mod table;
