//! Interval, timeout and staleness: built-in values, then `defaults`, then the service's own; and whether they fit.

use std::time::Duration;

use rootward_core::{Thresholds, stale_after};

use crate::checked::{DEFAULT_INTERVAL, DEFAULT_TIMEOUT};
use crate::duration::show;
use crate::place::{Field, Log, Place};
use crate::problem::Fault;
use crate::raw::RawTiming;
use crate::rule::Rule;

/// Where a value comes from that the service at hand did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    BuiltIn,
    Defaults,
    Own,
}

impl Origin {
    fn note(self) -> &'static str {
        match self {
            Self::BuiltIn => " (built in)",
            Self::Defaults => " (from defaults)",
            Self::Own => "",
        }
    }
}

/// A value that is in force; `None` if it was written and could not be read, and was reported for that.
type Setting<T> = Option<(T, Origin)>;

/// What is in force at one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    interval: Setting<Duration>,
    timeout: Setting<Duration>,
    /// The inner `None` stands for the rule: two intervals and one timeout.
    stale_after: Setting<Option<Duration>>,
    fall: Setting<u8>,
    rise: Setting<u8>,
}

/// What one target runs with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub(super) interval: Duration,
    pub(super) timeout: Duration,
    pub(super) stale_after: Duration,
    pub(super) thresholds: Thresholds,
}

impl Timing {
    const BUILT_IN: Self = Self {
        interval: Some((DEFAULT_INTERVAL, Origin::BuiltIn)),
        timeout: Some((DEFAULT_TIMEOUT, Origin::BuiltIn)),
        stale_after: Some((None, Origin::BuiltIn)),
        fall: Some((Thresholds::DEFAULT.fall(), Origin::BuiltIn)),
        rise: Some((Thresholds::DEFAULT.rise(), Origin::BuiltIn)),
    };

    /// `defaults.health` on top of what is built in.
    pub(super) fn of_defaults(written: &RawTiming, log: &mut Log) -> Self {
        let timing = Self::BUILT_IN.under(written);
        timing.check(written, log);
        timing.inherited()
    }

    /// A service's own values on top of the defaults.
    pub(super) fn of_service(self, written: &RawTiming, log: &mut Log) -> Option<Resolved> {
        let timing = self.under(written);
        timing.check(written, log);
        let (interval, timeout) = (timing.interval?.0, timing.timeout?.0);
        Some(Resolved {
            interval,
            timeout,
            stale_after: timing
                .stale_after?
                .0
                .unwrap_or_else(|| stale_after(interval, timeout)),
            thresholds: Thresholds::new(timing.fall?.0, timing.rise?.0)?,
        })
    }

    fn under(self, written: &RawTiming) -> Self {
        Self {
            interval: over(&written.interval, self.interval, |value| value),
            timeout: over(&written.timeout, self.timeout, |value| value),
            stale_after: over(&written.stale_after, self.stale_after, Some),
            fall: over(&written.fall, self.fall, |value| value),
            rise: over(&written.rise, self.rise, |value| value),
        }
    }

    /// The same values, as those who did not write them see them.
    fn inherited(mut self) -> Self {
        fn mark<T>(setting: &mut Setting<T>) {
            if let Some((_, origin @ Origin::Own)) = setting {
                *origin = Origin::Defaults;
            }
        }
        mark(&mut self.interval);
        mark(&mut self.timeout);
        mark(&mut self.stale_after);
        mark(&mut self.fall);
        mark(&mut self.rise);
        self
    }

    /// Compares the values with each other, if this level wrote any of them: else the level above has reported it.
    fn check(self, written: &RawTiming, log: &mut Log) {
        let (Some((interval, interval_from)), Some((timeout, timeout_from))) =
            (self.interval, self.timeout)
        else {
            return;
        };
        let place_of = |fields: [&Field<Duration>; 3]| -> Option<Place> {
            fields
                .into_iter()
                .find_map(Field::given)
                .map(|located| located.place.clone())
        };
        let timing_place = place_of([&written.timeout, &written.interval, &Field::Absent]);
        if let Some(place) = &timing_place
            && timeout >= interval
        {
            let message = format!(
                "a timeout of {}{} is not below the interval of {}{}",
                show(timeout),
                timeout_from.note(),
                show(interval),
                interval_from.note(),
            );
            let help = match timeout_from {
                Origin::Own => "lower the timeout or raise the interval",
                Origin::BuiltIn | Origin::Defaults => "set `timeout` here too, below the interval",
            };
            log.problem(place, Fault::new(message, help).of(Rule::Contradiction));
        }
        let Some((Some(stale), stale_from)) = self.stale_after else {
            return;
        };
        let least = interval.saturating_add(timeout);
        let stale_place = place_of([&written.stale_after, &written.interval, &written.timeout]);
        if let Some(place) = &stale_place
            && stale < least
        {
            let message = format!(
                "a stale_after of {}{} is below interval plus timeout, {}: a report would be stale before the next can come",
                show(stale),
                stale_from.note(),
                show(least),
            );
            let help = match stale_from {
                Origin::Own => format!("write {} or more, or leave it out", show(least)),
                Origin::BuiltIn | Origin::Defaults => {
                    format!("set `stale_after` here too, to {} or more", show(least))
                }
            };
            log.problem(place, Fault::new(message, help).of(Rule::Contradiction));
        }
    }
}

fn over<T, S>(written: &Field<T>, inherited: Setting<S>, wrap: impl FnOnce(T) -> S) -> Setting<S>
where
    T: Copy,
{
    match written {
        Field::Given(located) => Some((wrap(located.value), Origin::Own)),
        Field::Refused => None,
        Field::Absent => inherited,
    }
}
