//! What checks of a resource share: levels that make sense together, shares in whole percent, and amounts in words.

use rootward::{ErrorCategory, Failure, Outcome, Reason};

/// A part of a whole in percent, rounded down. Of nothing it is all.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    let share = u128::from(part) * 100 / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// An amount with the largest unit that leaves at least three digits, rounded down.
#[cfg(any(feature = "disk", feature = "memory"))]
pub(crate) fn amount(reason: Reason, bytes: u64) -> Reason {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    let (unit, words) = if bytes < 100 * MIB {
        (KIB, "KiB")
    } else if bytes < 100 * GIB {
        (MIB, "MiB")
    } else {
        (GIB, "GiB")
    };
    reason.number(bytes / unit).text(words)
}

/// It works, and there is too little left or too much in use.
pub(crate) fn scarce(reason: Reason) -> Outcome {
    Outcome::degraded(ErrorCategory::ResourceExhausted, reason)
}

/// There is nothing left to work with.
pub(crate) fn exhausted(reason: Reason) -> Failure {
    Failure::new(ErrorCategory::ResourceExhausted).because(reason)
}
