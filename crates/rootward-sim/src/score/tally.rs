//! Verdicts of many incidents, added up.

use std::collections::BTreeMap;

use super::calibration::Calibration;
use super::judge::Verdict;
use crate::simulator::Kind;

/// Sums over incidents.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    incidents: f64,
    asked: f64,
    top1: f64,
    exact: f64,
    strict_top1: f64,
    strict_exact: f64,
    reciprocal_rank: f64,
    times: Vec<f64>,
    calibration: Calibration,
    false_causes: f64,
    healthy_hours: f64,
}

/// The sums of one localiser.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Incidents, by kind.
    pub kinds: BTreeMap<Kind, Tally>,
    /// Hours without a fault.
    pub healthy: Tally,
}

impl Row {
    /// Everything together.
    #[must_use]
    pub fn all(&self) -> Tally {
        let mut all = self.healthy.clone();
        self.kinds.values().for_each(|tally| all.merge(tally));
        all
    }
}

/// What the sums mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// How many incidents.
    pub incidents: f64,
    /// In how many of them anything could be known when it was asked.
    pub asked: f64,
    /// The share of these in which the most certain cause was right.
    pub top1: f64,
    /// The share of these in which the set was exactly right.
    pub exact: f64,
    /// The share of all in which the most certain cause was right.
    pub strict_top1: f64,
    /// The share of all in which the set was exactly right, with every fault wanted whatever it showed.
    pub strict_exact: f64,
    /// The mean reciprocal rank.
    pub mrr: f64,
    /// The median time to the right set, in seconds; infinite when more than half never had it.
    pub median_time: f64,
    /// The expected calibration error.
    pub calibration_error: f64,
    /// Causes named in healthy hours, per hour; none when there were no such hours.
    pub false_per_hour: Option<f64>,
}

impl Tally {
    /// Adds an incident.
    pub fn incident(&mut self, verdict: &Verdict) {
        self.incidents += 1.0;
        if let (Some(top1), Some(exact)) = (verdict.top1, verdict.exact) {
            self.asked += 1.0;
            self.top1 += top1;
            self.exact += exact;
        }
        self.strict_top1 += verdict.strict_top1;
        self.strict_exact += verdict.strict_exact;
        self.reciprocal_rank += verdict.reciprocal_rank;
        self.times
            .push(verdict.time_to_right.unwrap_or(f64::INFINITY));
        self.calibration.merge(&verdict.calibration);
    }

    /// Adds healthy hours in which `causes` were named, each counted when it appears, with its confidence.
    pub fn healthy(&mut self, hours: f64, causes: &[f64]) {
        self.healthy_hours += hours;
        for confidence in causes {
            self.false_causes += 1.0;
            self.calibration.add(*confidence, false);
        }
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, other: &Self) {
        self.incidents += other.incidents;
        self.asked += other.asked;
        self.strict_top1 += other.strict_top1;
        self.strict_exact += other.strict_exact;
        self.top1 += other.top1;
        self.exact += other.exact;
        self.reciprocal_rank += other.reciprocal_rank;
        self.times.extend_from_slice(&other.times);
        self.calibration.merge(&other.calibration);
        self.false_causes += other.false_causes;
        self.healthy_hours += other.healthy_hours;
    }

    /// Answers by confidence.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// What the sums mean.
    #[must_use]
    pub fn score(&self) -> Score {
        let incidents = self.incidents.max(1.0);
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        Score {
            incidents: self.incidents,
            asked: self.asked,
            top1: self.top1 / self.asked.max(1.0),
            exact: self.exact / self.asked.max(1.0),
            strict_top1: self.strict_top1 / incidents,
            strict_exact: self.strict_exact / incidents,
            mrr: self.reciprocal_rank / incidents,
            median_time: times.get(times.len() / 2).copied().unwrap_or(f64::INFINITY),
            calibration_error: self.calibration.error(),
            false_per_hour: (self.healthy_hours > 0.0)
                .then(|| self.false_causes / self.healthy_hours),
        }
    }
}
