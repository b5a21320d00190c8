//! Medians, percentiles and ratios. A ratio is taken inside a round; of the rounds, the median counts.

use std::fmt;
use std::time::Duration;

/// No answer of a probe should take longer.
pub(crate) const PROMISE: Duration = Duration::from_millis(10);

/// One figure of each round.
#[derive(Debug, Clone)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn new(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }

    /// The middle one, or the mean of the two in the middle. Of none: not a number, which meets no goal.
    pub(crate) fn median(&self) -> f64 {
        let half = self.0.len() / 2;
        match (self.0.get(half), self.0.len() % 2) {
            (None, _) => f64::NAN,
            (Some(middle), 1) => *middle,
            (Some(above), _) => f64::midpoint(self.0[half - 1], *above),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(least), Some(most)) = (self.0.first(), self.0.last()) else {
            return f.write_str("none");
        };
        let digits = f.precision().unwrap_or(2);
        write!(
            f,
            "median {:.digits$} ({least:.digits$} to {most:.digits$})",
            self.median()
        )
    }
}

/// How long answers took.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn new(taken: impl IntoIterator<Item = Duration>) -> Self {
        let mut taken: Vec<Duration> = taken.into_iter().collect();
        taken.sort_unstable();
        Self(taken)
    }

    /// Those of several rounds as one.
    pub(crate) fn all<'a>(rounds: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::new(rounds.into_iter().flat_map(|round| round.0.iter().copied()))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// In milliseconds: what `per_mille` of a thousand answers did not exceed. Of none: not a number.
    pub(crate) fn percentile(&self, per_mille: usize) -> f64 {
        let rank = (self.0.len() * per_mille).div_ceil(1_000).max(1);
        self.0
            .get(rank - 1)
            .map_or(f64::NAN, |taken| taken.as_secs_f64() * 1e3)
    }

    /// How many took longer than is promised.
    pub(crate) fn late(&self) -> usize {
        self.0.iter().filter(|taken| **taken > PROMISE).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        let figures = Figures::new([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(
            format!("{figures:.1}"),
            "median 2.5 (1.0 to 4.0)".to_owned()
        );
        assert_eq!(
            Figures::new([2.0, 9.0, 1.0]).to_string(),
            "median 2.00 (1.00 to 9.00)"
        );
        assert!(Figures::new([]).median().is_nan());
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let hundred = Latencies::new((1..=100).rev().map(Duration::from_millis));
        let millis = |per_mille| format!("{:.0}", hundred.percentile(per_mille));
        assert_eq!(
            [500, 990, 999, 1_000].map(millis),
            ["50", "99", "100", "100"]
        );
        assert_eq!(hundred.late(), 90);
        assert!(Latencies::default().percentile(990).is_nan());
    }
}
