//! Whoever most complain about is it.

use std::collections::BTreeMap;

use super::{View, answer};
use crate::Localiser;
use crate::scenario::{Answer, CauseKind, Event, Graph};

/// Names the node that most instances see bad, confirmed.
#[derive(Debug)]
pub struct MostReported {
    view: View,
}

impl MostReported {
    /// Before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        Self {
            view: View::new(graph),
        }
    }
}

impl Localiser for MostReported {
    fn apply(&mut self, event: &Event) {
        self.view.apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        let mut complaints: BTreeMap<usize, f64> = BTreeMap::new();
        for (_, to) in self.view.confirmed(t) {
            *complaints.entry(to).or_default() += 1.0;
        }
        let nodes = &self.view.graph().nodes;
        let scored = complaints
            .into_iter()
            .map(|(node, score)| (format!("node:{}", nodes[node].id), CauseKind::Node, score))
            .collect();
        answer(t, scored, 1)
    }
}
