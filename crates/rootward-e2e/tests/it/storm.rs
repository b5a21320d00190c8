//! The restart storm: contention in one database, and what two ways of probing make of it.
//!
//! Twenty replicas share a PostgreSQL. In a sale all orders want the same article, and so wait for one row. They hold
//! the connections of their replica's pool meanwhile, so that `SELECT 1` through the pool, which needs no lock at all,
//! waits for about three seconds as well. Two fleets live through this side by side, each on a database of its own,
//! under the same orchestrator and the same load: one whose probes run `SELECT 1` in the request, and one that embeds
//! the crate.

mod database;
mod fleet;
mod load;
mod orchestrator;
mod servers;
mod table;
