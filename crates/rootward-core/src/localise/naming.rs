//! Which causes are named, and with what account.

use std::collections::BTreeMap;

use super::anomaly::Observation;
use super::answer::{Explanation, RootCause, State};
use super::candidate::Mode;
use super::cause::{CauseId, Fault};
use super::problem::Choice;
use super::solution::Solution;
use super::verdict::{Verdict, margin};
use crate::moment::Moment;

/// A cause that is about to be named.
pub(super) struct Named {
    pub(super) fault: Fault,
    pub(super) facilities: Vec<usize>,
    margin: f64,
    instead: Vec<Fault>,
    group: Vec<Fault>,
}

impl Verdict<'_> {
    /// What one part of the anomaly names: its open facilities, those of an undecided circle as one.
    pub(super) fn names(&self, solution: &Solution) -> Vec<Named> {
        let mut names: Vec<Named> = Vec::new();
        let mut undecided: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &facility in &solution.open {
            let fault = self.candidates[facility].fault;
            let Some(standing) = solution.standings.get(&fault) else {
                continue;
            };
            let circle = self.circle(fault);
            if let Some(circle) = circle
                && margin(standing) < self.scene.model.circle
            {
                undecided.entry(circle).or_default().push(facility);
                continue;
            }
            names.push(Named {
                fault,
                facilities: vec![facility],
                margin: margin(standing),
                instead: standing.instead.clone(),
                group: Vec::new(),
            });
        }
        for (circle, facilities) in undecided {
            let close = solution.standings.iter().filter(|(fault, standing)| {
                self.circle(**fault) == Some(circle)
                    && standing.with > solution.value - self.scene.model.circle
            });
            let mut group: Vec<Fault> = close.map(|(fault, _)| *fault).collect();
            let first = group.iter().copied().min_by_key(|fault| self.began(*fault));
            let Some(first) = first else {
                continue;
            };
            group.retain(|fault| *fault != first);
            let without = solution.without_circle.get(&circle).copied().unwrap_or(0.0);
            names.push(Named {
                fault: first,
                facilities,
                margin: solution.value - without,
                instead: Vec::new(),
                group,
            });
        }
        names
    }

    /// When a fault began, by its best mode, in half intervals: phases differ, so finer times say nothing.
    fn began(&self, fault: Fault) -> u64 {
        let modes = self
            .candidates
            .iter()
            .filter(|candidate| candidate.fault == fault);
        let best = modes.max_by(|a, b| {
            let (a, b) = (a.account.worth - a.prior, b.account.worth - b.prior);
            a.total_cmp(&b)
        });
        let onset = best.map_or(self.scene.now, |candidate| candidate.account.onset);
        onset / (self.scene.topology.interval / 2).max(1)
    }

    pub(super) fn root_cause(
        &self,
        choice: &Choice<'_>,
        named: &Named,
        explained: &[(usize, f64, Option<usize>)],
    ) -> Option<RootCause> {
        let (scene, topology) = (self.scene, self.scene.topology);
        let first = *named.facilities.first()?;
        let candidate = &self.candidates[first];
        let confidence = scene.model.confidence(named.margin);
        let mut evidence = Vec::new();
        let mut silent = Vec::new();
        let mut fees: BTreeMap<usize, f64> = BTreeMap::new();
        for &(observation, gain, through) in explained {
            match scene.observations[observation] {
                Observation::Failing { link } => evidence.push(self.evidence(link, gain, through)),
                Observation::Silent { instance } => {
                    silent.push(topology.instances[instance].id.clone());
                }
            }
            if let Some(place) = through {
                fees.insert(place, choice.fee(place));
            }
        }
        let is_view = candidate.mode == Mode::View;
        if evidence.is_empty() && !is_view {
            // What it explains as well, although another cause does so better.
            let shared = choice.problem.facilities[first].serves.iter();
            for &(observation, gain) in shared {
                if let Observation::Failing { link } = scene.observations[observation]
                    && scene.failing_at(link).is_some()
                {
                    evidence.push(self.evidence(link, gain, None));
                }
            }
        }
        let seen = if is_view {
            silent.len()
        } else {
            evidence.len()
        };
        if seen == 0 || named.margin < 0.0 || confidence < scene.model.naming {
            return None;
        }
        let degraded = evidence.iter().filter(|evidence| evidence.degraded).count();
        let state = match candidate.mode {
            Mode::View => State::Cut,
            Mode::Intermittent => State::Intermittent,
            Mode::Hard | Mode::Application if degraded * 2 > evidence.len() => State::Degraded,
            Mode::Hard | Mode::Application => State::Down,
        };
        let (good_count, good_checks) = self.good_checks(named.fault, candidate.account.onset);
        let passed_on = fees
            .into_iter()
            .map(|(place, fee)| (topology.nodes[self.passing[place].node].id.clone(), fee));
        Some(RootCause {
            id: self.id(named.fault)?,
            state,
            confidence,
            evidence,
            silent,
            alternatives: self.ids(&named.instead),
            group: self.ids(&named.group),
            explanation: Explanation {
                onset: Moment::from_millis(candidate.account.onset),
                prior: candidate.prior,
                class: candidate.account.class,
                passed_on: passed_on.collect(),
                good_checks,
                good_count,
                good_cost: candidate.account.good_cost,
                margin: named.margin,
                runner_up: self.ids(&named.instead).into_iter().next(),
            },
        })
    }

    fn ids(&self, faults: &[Fault]) -> Vec<CauseId> {
        faults.iter().filter_map(|fault| self.id(*fault)).collect()
    }
}
