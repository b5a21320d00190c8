//! From what is stored to what is said: candidates, the best choice among them, and what is left over.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::anomaly::{Observation, Scene};
use super::answer::{Answer, RANK_LIMIT, Ranked};
use super::candidate::{Builder, Candidate, Changes};
use super::cascade::{Cascades, Passing};
use super::cause::{CauseId, Fault};
use super::component::components;
use super::impact::impacted;
use super::places::versions_of;
use super::problem::{Choice, Problem};
use super::solution::{Solution, Standing, solve};
use crate::moment::Moment;

/// Everything an answer is drawn up from.
pub(super) struct Verdict<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) versions: &'a [Option<Arc<str>>],
    pub(super) candidates: Vec<Candidate>,
    pub(super) passing: &'a [Passing],
}

/// Draws up the answer for the scene's instant.
pub(super) fn answer(
    scene: &Scene<'_>,
    changes: &Changes,
    versions: &[Option<Arc<str>>],
    unknown: Vec<Arc<str>>,
) -> Answer {
    let mut builder = Builder {
        scene,
        changes,
        versions,
        candidates: Vec::new(),
    };
    builder.offer_all();
    let mut candidates = builder.candidates;
    // The order of preference among equals does not depend on how they were found.
    candidates.sort_by_key(|candidate| candidate.fault);
    let cascades = Cascades::new(scene);
    for candidate in &mut candidates {
        // What flickers explains its callers' checks and nothing further up: they have flickers of their own.
        if !matches!(candidate.fault, Fault::Flicker(_)) {
            candidate.passes = cascades.reached_by(candidate);
        }
    }
    let problem = Problem::new(&candidates, &cascades.passing, scene.observations.len());
    let verdict = Verdict {
        scene,
        versions,
        candidates,
        passing: &cascades.passing,
    };
    let mut choice = Choice::new(&problem);
    let parts = components(&problem, &mut choice);
    let circle = |fault: Fault| verdict.circle(fault);
    let solutions: Vec<Solution> = parts
        .iter()
        .map(|part| solve(&mut choice, part, &circle))
        .collect();
    for solution in &solutions {
        for &facility in &solution.open {
            choice.open(facility);
        }
    }
    verdict.draw_up(&choice, &solutions, unknown)
}

impl Verdict<'_> {
    /// The circle of dependencies a fault lies in.
    pub(super) fn circle(&self, fault: Fault) -> Option<usize> {
        let topology = self.scene.topology;
        match fault {
            Fault::Node(node) => topology.nodes[node].circle,
            Fault::Edge(edge) => {
                let from = topology.nodes[topology.edges[edge].from].circle;
                from.filter(|_| from == topology.nodes[topology.edges[edge].to].circle)
            }
            Fault::Instance(_)
            | Fault::InstanceEdge(_)
            | Fault::Host(_)
            | Fault::Zone(_)
            | Fault::Poller(_)
            | Fault::Version(_, _)
            | Fault::Flicker(_) => None,
        }
    }

    fn draw_up(
        &self,
        choice: &Choice<'_>,
        solutions: &[Solution],
        unknown: Vec<Arc<str>>,
    ) -> Answer {
        let mut explained: BTreeMap<usize, Vec<(usize, f64, Option<usize>)>> = BTreeMap::new();
        for observation in 0..self.scene.observations.len() {
            if let Some((facility, gain, through)) = choice.explained_by(observation) {
                let entry = explained.entry(facility).or_default();
                entry.push((observation, gain, through));
            }
        }
        let mut accounted = vec![false; self.scene.observations.len()];
        let mut causes = Vec::new();
        for solution in solutions {
            for named in self.names(solution) {
                let mine: Vec<_> = named
                    .facilities
                    .iter()
                    .filter_map(|facility| explained.get(facility))
                    .flatten()
                    .copied()
                    .collect();
                let fault = named.fault;
                if let Some(cause) = self.root_cause(choice, &named, &mine) {
                    for (observation, _, _) in &mine {
                        accounted[*observation] = true;
                    }
                    causes.push((fault, cause));
                }
            }
        }
        causes.sort_by(|(a, left), (b, right)| {
            let certain = right.explanation.margin.total_cmp(&left.explanation.margin);
            certain.then(a.cmp(b))
        });
        let mut unexplained = Vec::new();
        for (number, observation) in self.scene.observations.iter().enumerate() {
            if let Observation::Failing { link } = *observation {
                let newest = self.scene.checks[link].newest_first().first();
                let bad = newest.is_some_and(|check| check.failure().is_some());
                if bad && !accounted[number] {
                    unexplained.push(self.evidence(link, 0.0, None));
                }
            }
        }
        let faults: Vec<(Fault, CauseId)> = causes
            .iter()
            .map(|(fault, cause)| (*fault, cause.id.clone()))
            .collect();
        let instances_of = |service: usize, number: usize| {
            let all = &self.scene.topology.nodes[service].instances;
            let version = versions_of(self.versions, all).get(number).cloned();
            let runs = |instance: &usize| self.versions[*instance] == version;
            all.iter().copied().filter(runs).collect()
        };
        Answer {
            at: Moment::from_millis(self.scene.now),
            impacted: impacted(self.scene.topology, &faults, &instances_of),
            root_causes: causes.into_iter().map(|(_, cause)| cause).collect(),
            rank: self.rank(solutions),
            unexplained,
            unknown,
        }
    }

    fn rank(&self, solutions: &[Solution]) -> Vec<Ranked> {
        let mut rank: Vec<(Fault, f64)> = solutions
            .iter()
            .flat_map(|solution| &solution.standings)
            .map(|(fault, standing)| (*fault, margin(standing)))
            .collect();
        rank.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let named = rank.into_iter().filter_map(|(fault, margin)| {
            let id = self.id(fault)?;
            Some(Ranked { id, margin })
        });
        named.take(RANK_LIMIT).collect()
    }

    pub(super) fn id(&self, fault: Fault) -> Option<CauseId> {
        let topology = self.scene.topology;
        let versions = match fault {
            Fault::Version(service, _) => {
                versions_of(self.versions, &topology.nodes[service].instances)
            }
            Fault::Node(_)
            | Fault::Instance(_)
            | Fault::Edge(_)
            | Fault::InstanceEdge(_)
            | Fault::Host(_)
            | Fault::Zone(_)
            | Fault::Poller(_)
            | Fault::Flicker(_) => Vec::new(),
        };
        CauseId::new(fault, topology, &versions)
    }
}

/// How much better the best choice with a fault is than the best without it.
pub(super) fn margin(standing: &Standing) -> f64 {
    standing.with - standing.without
}
