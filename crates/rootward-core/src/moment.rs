//! The only time type of the core: a point on the caller's monotonic axis.
//!
//! The core never reads a clock. Whoever drives it passes `now`, and wall time is added for display at the edge.

use std::ops::{Add, Sub};
use std::time::Duration;

/// Milliseconds since an origin that the caller chose (usually the start of its process).
///
/// Subtraction saturates at zero: an age is never negative, whatever arrives late.
///
/// ```
/// use rootward_core::Moment;
/// use std::time::Duration;
///
/// let began = Moment::from_millis(1_000);
/// let now = began + Duration::from_secs(2);
/// assert_eq!(now - began, Duration::from_secs(2));
/// assert_eq!(began - now, Duration::ZERO);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The origin of the axis.
    pub const ZERO: Self = Self(0);

    /// The point `millis` milliseconds after the origin.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the origin.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The point `duration` earlier, or the origin if that lies before it.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl Sub for Moment {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Whole milliseconds of a duration, saturating (584 million years are enough).
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
