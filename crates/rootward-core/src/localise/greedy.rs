//! The search in a part too large to enumerate.
//!
//! Greedy with lazily kept gains (Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978:
//! a gain can only shrink while facilities are opened, so only the largest known one has to be looked at again), then
//! drop and swap until nothing improves.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::cause::Fault;
use super::component::touched;
use super::problem::Choice;
use super::solution::{EPSILON, Solution, Standing, fault_of};

/// Openings tried to make up for a cause that is ruled out.
const REPLACEMENTS: usize = 12;
/// Rounds of drop and swap.
const ROUNDS: usize = 8;

/// Opens what adds most, until nothing does or `limit` is reached; returns what was opened.
fn open_greedily(
    choice: &mut Choice<'_>,
    from: &[usize],
    allowed: &dyn Fn(&Choice<'_>, usize) -> bool,
    limit: usize,
) -> Vec<usize> {
    let mut known: BTreeSet<(Reverse<Ordered>, usize)> = BTreeSet::new();
    for &facility in from {
        if !choice.is_open(facility) && allowed(choice, facility) {
            let gain = choice.gain(facility);
            if gain > EPSILON {
                known.insert((Reverse(Ordered(gain)), facility));
            }
        }
    }
    let mut opened = Vec::new();
    while let Some((_, facility)) = known.pop_first() {
        if opened.len() == limit || !allowed(choice, facility) {
            continue;
        }
        let gain = choice.gain(facility);
        let key = (Reverse(Ordered(gain)), facility);
        if gain <= EPSILON {
            continue;
        }
        if known.first().is_some_and(|next| *next < key) {
            known.insert(key);
            continue;
        }
        choice.open(facility);
        opened.push(facility);
    }
    opened
}

/// A finite number in its natural order.
#[derive(Debug, Clone, Copy)]
struct Ordered(f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// No other mode of the same fault is open.
fn is_free(choice: &Choice<'_>, open: &[usize], facility: usize) -> bool {
    let fault = fault_of(choice.problem, facility);
    !open
        .iter()
        .any(|known| choice.is_open(*known) && fault_of(choice.problem, *known) == fault)
}

/// The best choice found, and how much worse it gets without each of its causes.
pub(super) fn search(
    choice: &mut Choice<'_>,
    paying: &[usize],
    circle: &dyn Fn(Fault) -> Option<usize>,
) -> Solution {
    let problem = choice.problem;
    let mut siblings: BTreeMap<Fault, Vec<usize>> = BTreeMap::new();
    for &facility in paying {
        siblings
            .entry(fault_of(problem, facility))
            .or_default()
            .push(facility);
    }
    let free = |choice: &Choice<'_>, facility: usize| {
        let modes = siblings.get(&fault_of(problem, facility));
        modes.is_none_or(|modes| is_free(choice, modes, facility))
    };
    let mut open = open_greedily(choice, paying, &free, usize::MAX);
    for _ in 0..ROUNDS {
        let before = choice.value();
        for member in open.clone() {
            let kept = choice.value();
            choice.close(member);
            let near = near(choice, member, paying);
            let added = open_greedily(choice, &near, &free, REPLACEMENTS);
            if choice.value() > kept + EPSILON {
                open.retain(|known| *known != member);
                open.extend(added);
            } else {
                for facility in added {
                    choice.close(facility);
                }
                choice.open(member);
            }
        }
        open.extend(open_greedily(choice, paying, &free, usize::MAX));
        if choice.value() <= before + EPSILON {
            break;
        }
    }
    open.sort_unstable();
    let value = choice.value();
    let mut standings = BTreeMap::new();
    let mut circles = BTreeMap::new();
    for &member in &open {
        let banned = fault_of(problem, member);
        let without = |choice: &Choice<'_>, facility: usize| {
            fault_of(problem, facility) != banned && free(choice, facility)
        };
        let (value_without, instead) = replace(choice, &[member], paying, &without);
        let standing = Standing {
            with: value,
            without: value_without,
            instead: instead
                .iter()
                .map(|facility| fault_of(problem, *facility))
                .collect(),
        };
        standings.insert(banned, standing);
        let Some(number) = circle(banned) else {
            continue;
        };
        if let Entry::Vacant(entry) = circles.entry(number) {
            let members: Vec<usize> = open
                .iter()
                .copied()
                .filter(|facility| circle(fault_of(problem, *facility)) == Some(number))
                .collect();
            let outside = |choice: &Choice<'_>, facility: usize| {
                circle(fault_of(problem, facility)) != Some(number) && free(choice, facility)
            };
            entry.insert(replace(choice, &members, paying, &outside).0);
        }
    }
    for &member in &open {
        choice.close(member);
    }
    Solution {
        open,
        value,
        standings,
        without_circle: circles,
    }
}

/// Candidates that share an observation with a facility, ascending.
fn near(choice: &Choice<'_>, facility: usize, paying: &[usize]) -> Vec<usize> {
    let problem = choice.problem;
    let mut near = Vec::new();
    for observation in touched(problem, facility) {
        near.extend(
            problem.served_by[observation]
                .iter()
                .map(|(other, _)| *other),
        );
        if let Some((place, _)) = problem.through[observation] {
            near.extend(problem.reached_by[place].iter().map(|(other, _)| *other));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.retain(|other| *other != facility && paying.binary_search(other).is_ok());
    near
}

/// Value and additions of the best choice found without the members, which are open before and after.
fn replace(
    choice: &mut Choice<'_>,
    members: &[usize],
    paying: &[usize],
    allowed: &dyn Fn(&Choice<'_>, usize) -> bool,
) -> (f64, Vec<usize>) {
    let mut candidates = Vec::new();
    for &member in members {
        choice.close(member);
        candidates.extend(near(choice, member, paying));
    }
    candidates.sort_unstable();
    candidates.dedup();
    let added = open_greedily(choice, &candidates, allowed, REPLACEMENTS);
    let value = choice.value();
    for &facility in added.iter().rev() {
        choice.close(facility);
    }
    for &member in members {
        choice.open(member);
    }
    (value, added)
}
