//! Whether a confidence of 0.8 is right in 80 of 100 cases.

/// Counts answers by confidence, in ten bins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    bins: [Bin; 10],
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bin {
    answers: f64,
    right: f64,
    claimed: f64,
}

impl Calibration {
    /// Counts one answer.
    pub fn add(&mut self, confidence: f64, right: bool) {
        let bin = (1..10)
            .filter(|tenth| confidence >= f64::from(*tenth) / 10.0)
            .count();
        let bin = &mut self.bins[bin];
        bin.answers += 1.0;
        bin.claimed += confidence;
        if right {
            bin.right += 1.0;
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.answers += theirs.answers;
            mine.right += theirs.right;
            mine.claimed += theirs.claimed;
        }
    }

    /// The expected calibration error: how far claimed and true shares are apart in each bin, weighted by answers.
    #[must_use]
    pub fn error(&self) -> f64 {
        let answers: f64 = self.bins.iter().map(|bin| bin.answers).sum();
        let off: f64 = self
            .bins
            .iter()
            .map(|bin| (bin.claimed - bin.right).abs())
            .sum();
        if answers > 0.0 { off / answers } else { 0.0 }
    }

    /// For each bin that has answers: how many, the confidence claimed, the share that was right.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.bins.iter().filter(|bin| bin.answers > 0.0).map(|bin| {
            (
                bin.answers,
                bin.claimed / bin.answers,
                bin.right / bin.answers,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Calibration;

    #[test]
    fn who_says_eighty_and_is_right_in_sixty_is_off_by_twenty() {
        let mut calibration = Calibration::default();
        for number in 0..10 {
            calibration.add(0.8, number < 6);
        }
        assert!((calibration.error() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn certainty_belongs_to_the_last_bin() {
        let mut calibration = Calibration::default();
        calibration.add(1.0, true);
        assert_eq!(calibration.bins().count(), 1);
        assert!(calibration.error() < 1e-9);
    }
}
