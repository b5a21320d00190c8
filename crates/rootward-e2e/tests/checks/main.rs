//! Every ready-made check against the real server, and against servers that misbehave; one file a kind.
//!
//! What all checks have to survive stands in `every.rs`.

mod descriptors;
mod disk;
mod every;
mod freshness;
mod memory;
mod pool;
mod postgresql;
mod queue;
mod redis;
mod table;
