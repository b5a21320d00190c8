//! What crosses a socket: the report of contract version 1, the API shapes, conversion to and from the core.
//!
//! Types here are serialised shapes and nothing else; what they mean is decided in `rootward-core`. Writers borrow,
//! readers are tolerant: an unknown field is ignored, an unknown word is kept as a word nobody knows, and everything
//! that is not tolerated gets a sentence ([`ReadError`]). No input and output, no clock.
//!
//! In reading order: [`v1::report`] has the report, [`v1::read`](mod@v1::read) and [`v1::convert`] make it a
//! [`rootward_core::Report`], [`v1::probe`] has the small bodies, [`limits`] the bounds.

mod error;
pub mod limits;
mod number;
mod sequence;
pub mod text;
mod time;
pub mod v1;
mod word;

pub use error::ReadError;
pub use time::Time;
pub use word::{Word, WordSet};
