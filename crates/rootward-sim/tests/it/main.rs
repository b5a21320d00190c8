//! Scenarios as files, the simulator and the scorer, from outside.

mod cases;
mod lines;
mod properties;
mod simulated;
