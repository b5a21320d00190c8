//! Splits the anomaly into parts that cannot influence each other.
//!
//! Two observations are in one part when some candidate that could pay for itself explains both. Because gains are
//! submodular, a candidate that does not pay alone never pays in company, so leaving it out of this changes nothing
//! (and it can still be ranked). Union-find with path halving (Tarjan, van Leeuwen, Journal of the ACM 31, 1984).

use super::problem::{Choice, Problem};

/// A part of the anomaly.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// Facilities that pay for themselves, ascending.
    pub(super) paying: Vec<usize>,
    /// The others that touch it, ascending.
    pub(super) other: Vec<usize>,
}

/// The parts, in the order of their first observation.
pub(super) fn components(problem: &Problem, choice: &mut Choice<'_>) -> Vec<Component> {
    let mut parent: Vec<usize> = (0..problem.served_by.len()).collect();
    let mut paying = vec![false; problem.facilities.len()];
    for (facility, pays) in paying.iter_mut().enumerate() {
        if choice.gain(facility) > 0.0 {
            *pays = true;
            let mut touched = touched(problem, facility);
            if let Some(first) = touched.next() {
                for observation in touched {
                    union(&mut parent, first, observation);
                }
            }
        }
    }
    let mut place = vec![usize::MAX; problem.served_by.len()];
    let mut parts: Vec<Component> = Vec::new();
    for observation in 0..problem.served_by.len() {
        let root = find(&mut parent, observation);
        if place[root] == usize::MAX {
            place[root] = parts.len();
            parts.push(Component::default());
        }
    }
    for (facility, pays) in paying.iter().enumerate() {
        let Some(first) = touched(problem, facility).next() else {
            continue;
        };
        let part = &mut parts[place[find(&mut parent, first)]];
        if *pays {
            part.paying.push(facility);
        } else {
            part.other.push(facility);
        }
    }
    parts
}

/// The observations that a facility can explain.
pub(super) fn touched(problem: &Problem, facility: usize) -> impl Iterator<Item = usize> + '_ {
    let facility = &problem.facilities[facility];
    let direct = facility.serves.iter().map(|(observation, _)| *observation);
    let passed = facility.passes.iter();
    let passed = passed.flat_map(|(place, _)| problem.passing[*place].iter());
    direct.chain(passed.map(|(observation, _)| *observation))
}

fn find(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

fn union(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(parent, a), find(parent, b));
    let (low, high) = (a.min(b), a.max(b));
    parent[high] = low;
}
