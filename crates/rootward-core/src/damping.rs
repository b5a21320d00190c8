//! Damping: a status changes only after enough results in a row agree that it should.
//!
//! The first result counts at once, so that a start is fast. From then on the status gets worse after `fall` results
//! in a row that are all worse than it, and better after `rise` results in a row that are all better. In both cases
//! it moves only as far as every one of those results agrees.

use crate::status::CheckStatus;

/// How many agreeing results change a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    fall: u8,
    rise: u8,
}

impl Thresholds {
    /// Three to fall, two to rise.
    pub const DEFAULT: Self = Self { fall: 3, rise: 2 };

    /// `None` if either is zero: a status that changes without evidence is a lie.
    ///
    /// ```
    /// use rootward_core::Thresholds;
    /// assert!(Thresholds::new(3, 2).is_some());
    /// assert!(Thresholds::new(0, 2).is_none());
    /// ```
    #[must_use]
    pub const fn new(fall: u8, rise: u8) -> Option<Self> {
        if fall == 0 || rise == 0 {
            None
        } else {
            Some(Self { fall, rise })
        }
    }

    /// Results in a row that make a status worse.
    #[must_use]
    pub const fn fall(self) -> u8 {
        self.fall
    }

    /// Results in a row that make a status better.
    #[must_use]
    pub const fn rise(self) -> u8 {
        self.rise
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A result that carries evidence: a check ran and ended. `Unknown` is not one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Good.
    Up,
    /// Works, but worse than it should.
    Degraded,
    /// Failed.
    Down,
}

impl Evidence {
    /// The same word as a status; `None` for `unknown`.
    #[must_use]
    pub const fn of(status: CheckStatus) -> Option<Self> {
        match status {
            CheckStatus::Up => Some(Self::Up),
            CheckStatus::Degraded => Some(Self::Degraded),
            CheckStatus::Down => Some(Self::Down),
            CheckStatus::Unknown => None,
        }
    }

    /// As a status.
    #[must_use]
    pub const fn status(self) -> CheckStatus {
        match self {
            Self::Up => CheckStatus::Up,
            Self::Degraded => CheckStatus::Degraded,
            Self::Down => CheckStatus::Down,
        }
    }
}

/// What one more result did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damped {
    /// The very first result: it counts at once.
    First(Evidence),
    /// The result agrees with the status.
    Unchanged,
    /// The result disagrees; this many more like it change the status.
    Pending {
        /// Agreeing results still needed, at least one.
        needed: u8,
    },
    /// Enough results agreed.
    Changed {
        /// The status until now.
        from: Evidence,
        /// The status from now on.
        to: Evidence,
    },
}

/// The damped status of one check.
///
/// ```
/// use rootward_core::{CheckStatus, Damping, Evidence, Thresholds};
///
/// let mut damping = Damping::new(Thresholds::DEFAULT);
/// assert_eq!(damping.status(), CheckStatus::Unknown);
/// damping.observe(Evidence::Up);
/// damping.observe(Evidence::Down);
/// assert_eq!((damping.status(), damping.pending()), (CheckStatus::Up, Some(2)));
/// damping.observe(Evidence::Down);
/// damping.observe(Evidence::Down);
/// assert_eq!((damping.status(), damping.pending()), (CheckStatus::Down, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damping {
    thresholds: Thresholds,
    current: Option<Current>,
}

/// What is known once there was a first result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Current {
    status: Evidence,
    last: Evidence,
    runs: Runs,
}

/// How many results in a row, up to the newest, were at least this good or bad. Each saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Runs {
    up: u8,
    not_down: u8,
    not_up: u8,
    down: u8,
}

impl Runs {
    fn after(self, result: Evidence) -> Self {
        let extend = |run: u8, agrees: bool| if agrees { run.saturating_add(1) } else { 0 };
        Self {
            up: extend(self.up, result == Evidence::Up),
            not_down: extend(self.not_down, result != Evidence::Down),
            not_up: extend(self.not_up, result != Evidence::Up),
            down: extend(self.down, result == Evidence::Down),
        }
    }
}

impl Damping {
    /// No result yet: unknown.
    #[must_use]
    pub const fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            current: None,
        }
    }

    /// The damped status; unknown before the first result.
    #[must_use]
    pub fn status(&self) -> CheckStatus {
        self.current
            .map_or(CheckStatus::Unknown, |current| current.status.status())
    }

    /// The last result as it came, undamped; unknown before the first.
    #[must_use]
    pub fn raw_status(&self) -> CheckStatus {
        self.current
            .map_or(CheckStatus::Unknown, |current| current.last.status())
    }

    /// Agreeing results still needed to change the status; `None` if the last result agreed with it.
    #[must_use]
    pub fn pending(&self) -> Option<u8> {
        let Current { status, last, runs } = self.current?;
        let Thresholds { fall, rise } = self.thresholds;
        let (threshold, run) = match (status, last) {
            (Evidence::Up, Evidence::Degraded | Evidence::Down) => (fall, runs.not_up),
            (Evidence::Degraded, Evidence::Down) => (fall, runs.down),
            (Evidence::Degraded, Evidence::Up) => (rise, runs.up),
            (Evidence::Down, Evidence::Up | Evidence::Degraded) => (rise, runs.not_down),
            (Evidence::Up, Evidence::Up)
            | (Evidence::Degraded, Evidence::Degraded)
            | (Evidence::Down, Evidence::Down) => return None,
        };
        // `observe` never leaves a run that has reached its threshold, so this is at least one.
        Some(threshold.saturating_sub(run))
    }

    /// Takes one more result.
    pub fn observe(&mut self, result: Evidence) -> Damped {
        let Some(Current { status, runs, .. }) = self.current else {
            let runs = Runs::default().after(result);
            self.current = Some(Current {
                status: result,
                last: result,
                runs,
            });
            return Damped::First(result);
        };
        let runs = runs.after(result);
        let Thresholds { fall, rise } = self.thresholds;
        let to = match status {
            Evidence::Up if runs.down >= fall => Evidence::Down,
            Evidence::Up if runs.not_up >= fall => Evidence::Degraded,
            Evidence::Degraded if runs.down >= fall => Evidence::Down,
            Evidence::Degraded | Evidence::Down if runs.up >= rise => Evidence::Up,
            Evidence::Down if runs.not_down >= rise => Evidence::Degraded,
            Evidence::Up | Evidence::Degraded | Evidence::Down => status,
        };
        self.current = Some(Current {
            status: to,
            last: result,
            runs,
        });
        if to != status {
            return Damped::Changed { from: status, to };
        }
        self.pending()
            .map_or(Damped::Unchanged, |needed| Damped::Pending { needed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence() -> impl Strategy<Value = Evidence> {
        prop_oneof![
            Just(Evidence::Up),
            Just(Evidence::Degraded),
            Just(Evidence::Down)
        ]
    }

    #[test]
    fn the_first_result_counts_at_once() {
        for first in [Evidence::Up, Evidence::Degraded, Evidence::Down] {
            let mut damping = Damping::new(Thresholds::DEFAULT);
            assert_eq!(damping.observe(first), Damped::First(first));
            assert_eq!(damping.status(), first.status());
        }
    }

    #[test]
    fn two_failures_are_pending_and_the_third_changes() {
        let mut damping = Damping::new(Thresholds::DEFAULT);
        damping.observe(Evidence::Up);
        assert_eq!(
            damping.observe(Evidence::Down),
            Damped::Pending { needed: 2 }
        );
        assert_eq!(
            damping.observe(Evidence::Down),
            Damped::Pending { needed: 1 }
        );
        assert_eq!(damping.raw_status(), CheckStatus::Down);
        assert_eq!(
            damping.observe(Evidence::Down),
            Damped::Changed {
                from: Evidence::Up,
                to: Evidence::Down
            }
        );
    }

    #[test]
    fn one_good_result_in_between_starts_the_count_again() {
        let mut damping = Damping::new(Thresholds::DEFAULT);
        for result in [
            Evidence::Up,
            Evidence::Down,
            Evidence::Down,
            Evidence::Up,
            Evidence::Down,
        ] {
            damping.observe(result);
        }
        assert_eq!(
            (damping.status(), damping.pending()),
            (CheckStatus::Up, Some(2))
        );
    }

    #[test]
    fn mixed_bad_results_move_only_as_far_as_all_agree() {
        let mut damping = Damping::new(Thresholds::DEFAULT);
        for result in [
            Evidence::Up,
            Evidence::Down,
            Evidence::Degraded,
            Evidence::Down,
        ] {
            damping.observe(result);
        }
        assert_eq!(
            (damping.status(), damping.pending()),
            (CheckStatus::Degraded, Some(2))
        );
    }

    proptest! {
        /// KF-034: whatever happened before, `rise` good results lead to up and `fall` failures to down.
        #[test]
        fn kf_034_enough_agreeing_results_always_win(
            history in proptest::collection::vec(evidence(), 0..60),
            fall in 1_u8..6,
            rise in 1_u8..6,
        ) {
            let thresholds = Thresholds::new(fall, rise).expect("both are above zero");
            let mut damping = Damping::new(thresholds);
            for result in history { damping.observe(result); }
            let mut falling = damping.clone();
            for _ in 0..rise { damping.observe(Evidence::Up); }
            prop_assert_eq!(damping.status(), CheckStatus::Up);
            for _ in 0..fall { falling.observe(Evidence::Down); }
            prop_assert_eq!(falling.status(), CheckStatus::Down);
        }

        /// A status never moves without as many results in a row as the threshold asks for.
        #[test]
        fn fewer_results_than_the_threshold_change_nothing(
            fall in 2_u8..6, rise in 1_u8..6, bad in proptest::collection::vec(evidence(), 1..5),
        ) {
            let mut damping = Damping::new(Thresholds::new(fall, rise).expect("both are above zero"));
            damping.observe(Evidence::Up);
            for result in bad.iter().take(usize::from(fall) - 1) { damping.observe(*result); }
            prop_assert_eq!(damping.status(), CheckStatus::Up);
        }
    }
}
