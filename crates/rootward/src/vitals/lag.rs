//! The lag rule of readiness: two samples in a row over the budget, and it does not want traffic; two within it, and it
//! does again. If lag lasts, it fails open: an overloaded fleet that takes itself out of rotation serves nobody.
//!
//! Pure: time is an argument, in the sampler's own time ([`super::sampler`]).

use std::time::Duration;

/// How many samples in a row change the verdict.
const SAMPLES: u8 = 2;

/// What the lag rule says about readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lag {
    /// The runtime answers in time.
    Within,
    /// It does not: the instance does not want traffic.
    Over,
    /// It has not for so long that lag no longer counts.
    FailedOpen {
        /// For how long it was over the budget when it failed open.
        after: Duration,
    },
}

/// Applies the rule to one sample after the other.
#[derive(Debug)]
pub(super) struct LagRule {
    budget: Duration,
    fail_open_after: Duration,
    /// Samples in a row that disagree with the verdict.
    disagreeing: u8,
    /// When the verdict became worse; none while it is within.
    over_since: Option<Duration>,
    /// A question was answered since then.
    answered: bool,
}

impl LagRule {
    pub(super) const fn new(budget: Duration, fail_open_after: Duration) -> Self {
        Self {
            budget,
            fail_open_after,
            disagreeing: 0,
            over_since: None,
            answered: false,
        }
    }

    /// Takes a sample. It gates if it is over the budget. Whether the runtime has `answered` it: one that gives no sign of
    /// life at all is not overloaded but stuck, and does not fail open.
    pub(super) fn observe(&mut self, now: Duration, lag: Duration, answered: bool) {
        let over = lag > self.budget;
        if over == self.over_since.is_some() {
            self.disagreeing = 0;
        } else {
            self.disagreeing += 1;
        }
        if self.disagreeing == SAMPLES {
            self.disagreeing = 0;
            self.over_since = over.then_some(now);
            self.answered = false;
        }
        self.answered |= answered;
    }

    /// What follows now from the samples.
    pub(super) fn verdict(&self, now: Duration) -> Lag {
        match self.over_since {
            None => Lag::Within,
            Some(since) => {
                let lasted = now.saturating_sub(since);
                if lasted < self.fail_open_after || !self.answered {
                    Lag::Over
                } else {
                    Lag::FailedOpen {
                        after: self.fail_open_after,
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts for samples of 100 ms, `1` over the budget and `0` within: `.` within, `X` over, `o` failed open.
    fn verdicts(samples: &str) -> String {
        let mut rule = LagRule::new(Duration::from_millis(250), Duration::from_millis(500));
        let samples = samples.chars().enumerate();
        samples
            .map(|(at, sample)| {
                let now = Duration::from_millis(100 * u64::try_from(at).expect("a small number"));
                let lag = if sample == '1' { 251 } else { 250 };
                rule.observe(now, Duration::from_millis(lag), true);
                match rule.verdict(now) {
                    Lag::Within => '.',
                    Lag::Over => 'X',
                    Lag::FailedOpen { .. } => 'o',
                }
            })
            .collect()
    }

    #[test]
    fn two_samples_in_a_row_change_readiness_and_one_does_not() {
        assert_eq!(verdicts("0100100"), ".......");
        assert_eq!(verdicts("0110000"), "..XX...");
        assert_eq!(verdicts("0110101100"), "..XXXXXoo.");
    }

    #[test]
    fn lag_that_lasts_fails_open_and_counts_again_after_it_was_over() {
        assert_eq!(verdicts("01111111"), "..XXXXXo");
        assert_eq!(verdicts("011111111001100"), "..XXXXXooo..XX.");
    }

    #[test]
    fn a_runtime_that_gives_no_sign_of_life_does_not_fail_open() {
        let mut rule = LagRule::new(Duration::from_millis(250), Duration::from_millis(500));
        let at = |second| Duration::from_secs(second);
        for second in 0..20 {
            rule.observe(at(second), at(second + 1), false);
        }
        assert_eq!(rule.verdict(at(20)), Lag::Over);
        rule.observe(at(21), at(21), true);
        assert_eq!(
            rule.verdict(at(21)),
            Lag::FailedOpen {
                after: Duration::from_millis(500)
            },
            "late, and an answer"
        );
    }
}
