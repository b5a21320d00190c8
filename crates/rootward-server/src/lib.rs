//! The aggregator: poller, driver loop, API, metrics, wiring.
//!
//! In reading order: [`App`] is the whole; `driver` is the one loop that owns the engine of `rootward-core`, `poller`
//! asks instances for it, `published` holds the newest snapshot for everybody else, and `api` answers from that.
//! Nothing here judges: what an answer of an instance means to its service is decided in the core.

mod api;
mod app;
mod clock;
mod discovery;
mod driver;
mod error;
mod events;
mod headline;
mod ledger;
mod listener;
mod metrics;
mod poller;
mod published;
mod pushed;
mod recorder;
mod reload;
mod roster;
mod round;
mod self_checks;
mod setup;
mod stop;
mod summary;
mod words;

#[cfg(test)]
mod sample;

pub use app::App;
pub use clock::Reading;
pub use error::Error;
pub use published::SnapshotReader;
pub use reload::{MAX_REFUSAL_SENTENCES, Refused, Reloader};
pub use summary::{PollCounts, Summary};
