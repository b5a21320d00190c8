//! Every choice of a small part, tried in turn.

use std::collections::BTreeMap;

use super::cause::Fault;
use super::problem::Choice;
use super::solution::{EPSILON, Solution, Standing, fault_of};

/// The best leaf with and without each fault.
struct Leaves {
    best: (f64, Vec<usize>),
    with: Vec<f64>,
    without: Vec<(f64, Vec<usize>)>,
    without_circle: BTreeMap<usize, f64>,
}

/// Tries every combination of at most one mode of each fault.
pub(super) fn enumerate(
    choice: &mut Choice<'_>,
    modes: &[(Fault, Vec<usize>)],
    circle: &dyn Fn(Fault) -> Option<usize>,
) -> Solution {
    let circles: Vec<Option<usize>> = modes.iter().map(|(fault, _)| circle(*fault)).collect();
    let mut leaves = Leaves {
        best: (f64::NEG_INFINITY, Vec::new()),
        with: vec![f64::NEG_INFINITY; modes.len()],
        without: vec![(f64::NEG_INFINITY, Vec::new()); modes.len()],
        without_circle: circles
            .iter()
            .flatten()
            .map(|&circle| (circle, 0.0))
            .collect(),
    };
    let mut taken = vec![None; modes.len()];
    descend(choice, modes, &circles, 0, &mut taken, &mut leaves);
    let problem = choice.problem;
    let fault = |facility: &usize| fault_of(problem, *facility);
    let best: Vec<Fault> = leaves.best.1.iter().map(fault).collect();
    let standings = modes.iter().enumerate().map(|(place, (id, _))| {
        let (without, other) = &leaves.without[place];
        let new = other.iter().map(fault);
        let standing = Standing {
            with: leaves.with[place],
            without: *without,
            instead: new.filter(|fault| !best.contains(fault)).collect(),
        };
        (*id, standing)
    });
    Solution {
        standings: standings.collect(),
        open: leaves.best.1,
        value: leaves.best.0,
        without_circle: leaves.without_circle,
    }
}

fn descend(
    choice: &mut Choice<'_>,
    modes: &[(Fault, Vec<usize>)],
    circles: &[Option<usize>],
    depth: usize,
    taken: &mut Vec<Option<usize>>,
    leaves: &mut Leaves,
) {
    if let Some((_, facilities)) = modes.get(depth) {
        taken[depth] = None;
        descend(choice, modes, circles, depth + 1, taken, leaves);
        for &facility in facilities {
            let undo = choice.open(facility);
            taken[depth] = Some(facility);
            descend(choice, modes, circles, depth + 1, taken, leaves);
            choice.undo(facility, &undo);
        }
        taken[depth] = None;
        return;
    }
    let value = choice.value();
    let open = || taken.iter().flatten().copied().collect::<Vec<_>>();
    if value > leaves.best.0 + EPSILON {
        leaves.best = (value, open());
    }
    for (place, facility) in taken.iter().enumerate() {
        if facility.is_some() {
            leaves.with[place] = leaves.with[place].max(value);
        } else if value > leaves.without[place].0 + EPSILON {
            leaves.without[place] = (value, open());
        }
    }
    for (circle, best) in &mut leaves.without_circle {
        let inside = |place: usize| circles[place] == Some(*circle);
        let free = !(0..taken.len()).any(|place| taken[place].is_some() && inside(place));
        if free {
            *best = best.max(value);
        }
    }
}
