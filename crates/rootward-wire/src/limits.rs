//! The bounds of what is read and kept.
//!
//! Each is far above what a working service sends, and small enough that a broken one costs nothing.

/// The largest report that is read, in bytes. A report with 50 components has about 20 KiB.
pub const MAX_REPORT_BYTES: usize = 1024 * 1024;

/// The largest body of `/livez`, `/readyz`, `/startupz` and `/status` that the contract allows, in bytes.
pub const MAX_PROBE_BYTES: usize = 1024;

/// The largest readiness body that is read, in bytes: other people's are longer than ours.
pub const MAX_READINESS_BYTES: usize = 64 * 1024;

/// The most components that one report may have.
pub const MAX_COMPONENTS: usize = 1000;

/// The most findings that one report may have.
pub const MAX_FINDINGS: usize = 100;

/// Longer error texts, targets and owners are cut to this many bytes, on a character boundary.
pub const MAX_TEXT_BYTES: usize = 256;

/// Longer unknown words are cut to this many bytes, on a character boundary.
pub const MAX_WORD_BYTES: usize = 64;

/// The largest age or duration that is believed, in milliseconds: one hundred years. More is a mistake, usually a
/// wall-clock time in the place of an age.
pub const MAX_MILLIS: u64 = 100 * 366 * 24 * 60 * 60 * 1000;

/// The most remarks kept about one report.
pub const MAX_NOTES: usize = 20;
