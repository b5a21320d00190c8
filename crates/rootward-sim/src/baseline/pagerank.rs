//! Personalised PageRank: blame walks from those who complain along bad dependencies, and gathers at the cause.

use std::collections::BTreeMap;

use super::deepest::callees;
use super::{View, answer};
use crate::Localiser;
use crate::scenario::{Answer, CauseKind, Event, Graph};

/// How often a walk goes on instead of starting anew.
const DAMPING: f64 = 0.85;
/// Rounds; the rest is below 1 %.
const ROUNDS: usize = 30;
/// How much a dependency that nobody confirms as bad is worth beside one that is.
const GOOD_EDGE: f64 = 0.05;
/// What a walk weighs that stays where it is: the more, the worse the node looks.
const STAY: f64 = 0.5;

/// Names the node where most walks are.
#[derive(Debug)]
pub struct PageRank {
    view: View,
    callees: Vec<Vec<usize>>,
}

impl PageRank {
    /// Before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        let view = View::new(graph);
        let callees = callees(&view);
        Self { view, callees }
    }
}

impl Localiser for PageRank {
    fn apply(&mut self, event: &Event) {
        self.view.apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        let mut bad: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let mut blamed: BTreeMap<usize, f64> = BTreeMap::new();
        for (instance, to) in self.view.confirmed(t) {
            *bad.entry((self.view.service(instance), to)).or_default() += 1.0;
            *blamed.entry(to).or_default() += 1.0;
        }
        let total: f64 = bad.values().sum();
        if total <= 0.0 {
            return answer(t, Vec::new(), 0);
        }
        let count = self.callees.len();
        let mut start = vec![0.0; count];
        for (&(from, _), weight) in &bad {
            start[from] += weight / total;
        }
        let mut here = start.clone();
        for _ in 0..ROUNDS {
            let mut next: Vec<f64> = start.iter().map(|mass| (1.0 - DAMPING) * mass).collect();
            for (node, mass) in here.iter().enumerate() {
                if *mass <= 0.0 {
                    continue;
                }
                let mut ways: Vec<(usize, f64)> = self.callees[node]
                    .iter()
                    .map(|&to| (to, bad.get(&(node, to)).copied().unwrap_or(GOOD_EDGE)))
                    .collect();
                ways.push((node, STAY * blamed.get(&node).copied().unwrap_or(GOOD_EDGE)));
                let sum: f64 = ways.iter().map(|(_, weight)| weight).sum();
                for (to, weight) in ways {
                    next[to] += DAMPING * mass * weight / sum;
                }
            }
            here = next;
        }
        let nodes = &self.view.graph().nodes;
        let scored = blamed
            .keys()
            .map(|&node| {
                (
                    format!("node:{}", nodes[node].id),
                    CauseKind::Node,
                    here[node],
                )
            })
            .collect();
        answer(t, scored, 1)
    }
}
