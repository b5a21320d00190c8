//! What services and servers already answer on their health endpoints, read into one shape.
//!
//! Bytes, a code and headers go in, a [`Reading`] comes out: how the whole is, how each component is, why, and how that was
//! understood. Some forty products answer in eight shapes; [`Format`] is the table of them. Which one it is is found by
//! what the body holds, or said by the operator ([`Choice`]).
//!
//! ```
//! use rootward_core::CheckStatus;
//! use rootward_formats::{Answer, Choice, Overall, read};
//!
//! let body = br#"{"status":"UP","components":{"db":{"status":"UP"},"geo":{"status":"UNKNOWN"}}}"#;
//! let reading = read(&Answer::new(body).http_status(200), Choice::Auto);
//! assert_eq!(reading.format.as_str(), "spring-boot-actuator");
//! assert_eq!(reading.overall, Overall::Healthy);
//! assert_eq!(reading.components[1].status, CheckStatus::Unknown);
//! ```
//!
//! Neither body nor code is trusted alone: the worse of both counts, except where a format says otherwise. What cannot be
//! understood is unknown and never healthy. Texts of the service are classified and forgotten: in a reading are names of
//! components, without passwords, and words of our own.
//!
//! No input or output, no clock, no panic on any bytes; [`MAX_BODY_BYTES`], [`MAX_COMPONENTS`] and [`MAX_NAME_BYTES`] bound what is
//! kept. The rules with their reasons are in `docs/formats.md`, the cases that prove them in `fixtures/health-formats`.

mod answer;
mod body;
mod category;
mod code;
mod detect;
mod format;
mod found;
mod json;
mod name;
mod phrases;
mod readers;
mod reading;
mod settle;
mod words;

pub use answer::Answer;
pub use body::MAX_BODY_BYTES;
pub use code::{GrpcCode, UnknownGrpcCode};
pub use format::{Choice, Format, Shape, UnknownFormat};
pub use reading::{Component, MAX_COMPONENTS, MAX_NAME_BYTES, Overall, Reading, TakenBy};

/// What to send as `Accept` when asking for health.
///
/// django-health-check answers `*/*` with a page and an unsupported type with 406. Parameters stand behind `q` only, because
/// an old parser there fails on others.
pub const ACCEPT: &str = "application/json, application/health+json;q=0.9, text/plain;q=0.5";

/// Reads an answer. Whatever the bytes are, there is a reading.
#[must_use]
pub fn read(answer: &Answer<'_>, choice: Choice) -> Reading {
    let body::Read { body, left_out } = body::read(answer.body, answer.media_type());
    let format = match choice {
        Choice::Auto => detect::format(&body, answer),
        Choice::Named(format) => Some(format),
    };
    let taken = format.and_then(|format| {
        let found = readers::read(format, &body, answer)?;
        Some((format, found))
    });
    match taken {
        Some((format, found)) => settle::recognised(format, choice, found, answer, left_out),
        None => settle::unrecognised(&body, choice, answer),
    }
}
