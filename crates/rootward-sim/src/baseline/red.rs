//! Every red tile of a dashboard is a cause: whatever somebody sees bad now.

use std::collections::BTreeMap;

use super::{View, answer};
use crate::Localiser;
use crate::scenario::{Answer, CauseKind, Event, Graph};

/// Names every node that somebody sees bad, most complaints first.
#[derive(Debug)]
pub struct EveryRed {
    view: View,
}

impl EveryRed {
    /// Before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        Self {
            view: View::new(graph),
        }
    }
}

impl Localiser for EveryRed {
    fn apply(&mut self, event: &Event) {
        self.view.apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        let mut complaints: BTreeMap<usize, f64> = BTreeMap::new();
        for (_, to, bad) in self.view.fresh(t) {
            if bad {
                *complaints.entry(to).or_default() += 1.0;
            }
        }
        let nodes = &self.view.graph().nodes;
        let scored: Vec<_> = complaints
            .into_iter()
            .map(|(node, score)| (format!("node:{}", nodes[node].id), CauseKind::Node, score))
            .collect();
        let named = scored.len();
        answer(t, scored, named)
    }
}
