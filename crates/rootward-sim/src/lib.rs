//! Recorded and simulated incidents: reads, makes and replays scenarios, and scores what a diagnosis says about them.
//!
//! - [`scenario`]: the format of `fixtures/rootcause/README.md`, read and written;
//! - [`topology`] and [`simulator`]: maps, and a small world on them in which faults have consequences;
//! - [`localiser`]: whatever finds root causes; [`engine`]: the one of `rootward-core`; [`baseline`]: simple ones beside it;
//! - [`record`]: what a live engine was told, as such an incident;
//! - [`replay`]: plays a recorded incident to the engine;
//! - [`property`]: what every good one does on every scenario;
//! - [`score`]: how good they are. `cargo run --release -p rootward-sim -- score` prints the table.

pub mod baseline;
pub mod command;
pub mod engine;
pub mod localiser;
pub mod property;
pub mod random;
pub mod record;
pub mod replay;
pub mod scenario;
pub mod score;
pub mod simulator;
pub mod topology;

pub use localiser::Localiser;
