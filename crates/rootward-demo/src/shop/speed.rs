//! How fast everything is in the demo. In production the defaults are ten times slower.

use std::time::Duration;

/// From one run of a check to the next.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// After which a check gives up.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_millis(300);

/// From one poll of an instance to the next.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The whole exchange of one poll.
pub(crate) const POLL_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest time that a symptom is held back while the rest of the picture comes in.
pub(crate) const PAGE_WITHIN: Duration = Duration::from_secs(10);

/// How slow the slow database answers.
pub(crate) const SLOW: Duration = Duration::from_secs(3);
