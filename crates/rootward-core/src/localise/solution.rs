//! The best choice in one part of the anomaly, and how much worse the best choice without each cause is.
//!
//! Small parts are enumerated, larger ones searched; faults outside the best choice are ranked by the best single
//! exchange with it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::cause::Fault;
use super::component::{Component, touched};
use super::enumerate::enumerate;
use super::greedy::search;
use super::problem::{Choice, Problem};

/// Choices that are enumerated rather than searched.
const ENUMERATED: usize = 1 << 12;
/// Differences below this are rounding.
pub(super) const EPSILON: f64 = 1e-9;

/// What is known about one fault in the best answers.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Value of the best choice with it.
    pub(super) with: f64,
    /// Value of the best choice without it.
    pub(super) without: f64,
    /// What is believed instead when it is ruled out.
    pub(super) instead: Vec<Fault>,
}

/// The best choice of one part.
#[derive(Debug)]
pub(super) struct Solution {
    /// Open facilities, ascending.
    pub(super) open: Vec<usize>,
    pub(super) value: f64,
    pub(super) standings: BTreeMap<Fault, Standing>,
    /// Value of the best choice without any node or edge of a circle of dependencies.
    pub(super) without_circle: BTreeMap<usize, f64>,
}

/// Solves one part. `circle` tells which circle of dependencies a fault lies in. Nothing is open before or after.
pub(super) fn solve(
    choice: &mut Choice<'_>,
    part: &Component,
    circle: &dyn Fn(Fault) -> Option<usize>,
) -> Solution {
    let problem = choice.problem;
    let mut modes: BTreeMap<Fault, Vec<usize>> = BTreeMap::new();
    for &facility in &part.paying {
        modes
            .entry(problem.facilities[facility].fault)
            .or_default()
            .push(facility);
    }
    let modes: Vec<(Fault, Vec<usize>)> = modes.into_iter().collect();
    let choices = modes.iter().try_fold(1_usize, |product, (_, modes)| {
        let product = product * (modes.len() + 1);
        (product <= ENUMERATED).then_some(product)
    });
    let mut solution = if choices.is_some() {
        enumerate(choice, &modes, circle)
    } else {
        search(choice, &part.paying, circle)
    };
    rank_the_rest(choice, &mut solution, part);
    solution
}

/// The fault that a facility stands for.
pub(super) fn fault_of(problem: &Problem, facility: usize) -> Fault {
    problem.facilities[facility].fault
}

/// Ranks faults that are in no enumerated or searched choice: the best single opening or exchange with them.
fn rank_the_rest(choice: &mut Choice<'_>, solution: &mut Solution, part: &Component) {
    let problem = choice.problem;
    let open: Vec<Fault> = solution
        .open
        .iter()
        .map(|&facility| fault_of(problem, facility))
        .collect();
    let is_closed = |facility: &usize| !open.contains(&fault_of(problem, *facility));
    // A mode that does not pay for itself may be the best one of a fault that is not believed.
    let unknown: Vec<usize> = part
        .paying
        .iter()
        .filter(|facility| {
            let fault = fault_of(problem, **facility);
            !solution.standings.contains_key(&fault)
        })
        .chain(&part.other)
        .copied()
        .filter(is_closed)
        .collect();
    if unknown.is_empty() {
        return;
    }
    for &facility in &solution.open {
        choice.open(facility);
    }
    let mut with: BTreeMap<usize, f64> = BTreeMap::new();
    for &facility in &unknown {
        with.insert(facility, choice.value() + choice.gain(facility));
    }
    for &member in &solution.open {
        choice.close(member);
        for near in near_all(problem, member) {
            if let Some(known) = with.get_mut(&near) {
                *known = known.max(choice.value() + choice.gain(near));
            }
        }
        choice.open(member);
    }
    for &facility in &solution.open {
        choice.close(facility);
    }
    for (facility, value) in with {
        let standing = Standing {
            with: value,
            without: solution.value,
            instead: Vec::new(),
        };
        let fault = fault_of(problem, facility);
        match solution.standings.entry(fault) {
            Entry::Vacant(entry) => {
                entry.insert(standing);
            }
            Entry::Occupied(mut entry) => {
                if value > entry.get().with {
                    entry.insert(standing);
                }
            }
        }
    }
}

/// All facilities that share an observation with one, whether they pay or not.
fn near_all(problem: &Problem, facility: usize) -> Vec<usize> {
    let mut near: Vec<usize> = touched(problem, facility)
        .flat_map(|observation| {
            problem.served_by[observation]
                .iter()
                .map(|(other, _)| *other)
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near
}
