//! Maps to simulate on: small ones of real shapes, synthetic ones, and large ones for measuring speed.

mod place;
mod shapes;
mod synthetic;

pub use place::place;
pub use shapes::{Shape, shapes};
pub use synthetic::{healthy_twenty, large, layered};

use crate::scenario::{CheckDepth, EdgeLabel, NodeKind};

/// What depends on what, before anything runs anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it is called.
    pub name: String,
    /// Services and resources, by name.
    pub nodes: Vec<(String, NodeKind)>,
    /// Dependencies, by index into `nodes`.
    pub edges: Vec<PlannedEdge>,
}

/// A dependency of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedEdge {
    /// Who depends.
    pub from: usize,
    /// On whom.
    pub to: usize,
    /// How much.
    pub label: EdgeLabel,
    /// What is looked at; drawn by seed where the plan does not say.
    pub check: Option<CheckDepth>,
}

impl Plan {
    /// Nodes that are on a cycle of the map: each can reach itself.
    #[must_use]
    pub fn on_cycles(&self) -> Vec<bool> {
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            callees[edge.from].push(edge.to);
        }
        (0..self.nodes.len())
            .map(|start| reaches(&callees, start))
            .collect()
    }
}

/// Whether a walk from `start` comes back to it.
fn reaches(callees: &[Vec<usize>], start: usize) -> bool {
    let mut seen = vec![false; callees.len()];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for &next in &callees[at] {
            if next == start {
                return true;
            }
            if !seen[next] {
                seen[next] = true;
                open.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::shapes;

    #[test]
    fn the_shapes_are_many_and_of_all_sizes() {
        let plans: Vec<_> = shapes().iter().map(super::Shape::plan).collect();
        let sizes: Vec<(&str, usize)> = plans
            .iter()
            .map(|plan| (plan.name.as_str(), plan.nodes.len()))
            .collect();
        assert_eq!(
            sizes,
            [
                ("boutique", 11),
                ("robots", 12),
                ("socks", 15),
                ("bank", 16),
                ("hotel", 18),
                ("astronomy", 24),
                ("social", 34),
                ("media", 39),
                ("parcels", 45),
                ("railway", 64),
            ]
        );
    }

    #[test]
    fn some_shapes_have_cycles() {
        let with = shapes()
            .iter()
            .filter(|shape| shape.plan().on_cycles().contains(&true))
            .count();
        assert!(with >= 3, "{with}");
    }
}
