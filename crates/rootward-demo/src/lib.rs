//! The demo: a small shop in one process, and the stories it tells.
//!
//! The shop has twelve services that embed `rootward`, each with its probes on a port of its own, and checks their
//! dependencies through real pools and clients. The databases and the cache are stand-ins with real sockets
//! (`rootward-testkit`) that can be made slow or gone. In front of it runs the aggregator, on a configuration like any
//! other. A story does something to a stand-in or to a wire, and waits for what the aggregator makes of it: nothing is
//! told that did not come out of its own HTTP API after real polls.
//!
//! [`Demo`] is the whole, [`Story`] what can be played, [`Narrator`] who listens; this crate prints nothing.
//! [`aggregator`] is the client that the stories ask with; the command line uses it as well.

pub mod aggregator;

mod chapters;
mod demo;
mod error;
mod narration;
mod picture;
mod probes;
mod shop;
mod stage;
mod story;
mod summary;

pub use demo::{Demo, Port};
pub use error::Error;
pub use narration::{Narration, Narrator, NobodyListens, Saying};
pub use stage::Pace;
pub use story::Story;
pub use summary::{Outcome, Summary};
