//! The rule of parents and soft states: what is confirmed bad and depends on nothing that is.

use std::collections::{BTreeMap, BTreeSet};

use super::{View, answer};
use crate::Localiser;
use crate::scenario::{Answer, CauseKind, Event, Graph};

/// Names confirmed red nodes without a red dependency.
#[derive(Debug)]
pub struct DeepestRed {
    view: View,
    callees: Vec<Vec<usize>>,
}

impl DeepestRed {
    /// Before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        let view = View::new(graph);
        let callees = callees(&view);
        Self { view, callees }
    }
}

/// What each node depends on.
pub(super) fn callees(view: &View) -> Vec<Vec<usize>> {
    let mut callees = vec![Vec::new(); view.graph().nodes.len()];
    for edge in &view.graph().edges {
        if let (Some(from), Some(to)) = (view.node(&edge.from), view.node(&edge.to)) {
            callees[from].push(to);
        }
    }
    callees
}

impl Localiser for DeepestRed {
    fn apply(&mut self, event: &Event) {
        self.view.apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        let mut complaints: BTreeMap<usize, f64> = BTreeMap::new();
        for (_, to) in self.view.confirmed(t) {
            *complaints.entry(to).or_default() += 1.0;
        }
        let red: BTreeSet<usize> = complaints.keys().copied().collect();
        let nodes = &self.view.graph().nodes;
        let scored: Vec<_> = complaints
            .into_iter()
            .filter(|(node, _)| !self.callees[*node].iter().any(|to| red.contains(to)))
            .map(|(node, score)| (format!("node:{}", nodes[node].id), CauseKind::Node, score))
            .collect();
        let named = scored.len();
        answer(t, scored, named)
    }
}
