//! A small world of processes that fail, and an aggregator that watches them from outside.
//!
//! Mechanistic: a fault acts on processes and on the ways between them; checks run against those, reports carry what
//! checks found, and what a diagnosis gets are the reports. The truth is what was injected, nothing else.
//!
//! [`World`] is what runs and how it behaves, [`Fault`] what goes wrong, [`incident`] lets time pass. [`Effects`] is
//! what a set of faults does to everything that can be observed, in the long run; two sets with equal effects cannot be
//! told apart by anybody, and [`Truth`] accepts both.

mod accept;
mod draw;
mod effects;
mod fault;
mod run;
mod world;

pub use accept::{TrueCause, Truth, truth};
pub use draw::{Drawn, Kind, draw};
pub use effects::Effects;
pub use fault::{Fault, Pattern, Place};
pub use run::{CheckOf, Other, Sign, Simulated, healthy_hours, incident, incident_after};
pub use world::{Dep, Habits, Release, World};
