//! The rollup over the whole map: how each node is, given what it cannot do without.
//!
//! A node is as bad as the worst of its own [`Effect`] and of what its dependencies do to it: a hard dependency hands on
//! what it is, a soft one at most [`Effect::Degraded`], an informational one nothing. On a circle of dependencies that is
//! the least solution: nothing is bad only because of itself.
//!
//! The nodes are renumbered so that what a node depends on comes before it, circle by circle (Tarjan 1972), which makes a
//! full pass one walk through memory. A change is followed upwards in that order and stops where nothing changes. When
//! that becomes more work than a small part of a full pass, a full pass is made instead, so a change never costs much more
//! than one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::Effect;
use crate::map::groups_in_order;
use crate::status::Criticality;

/// Work of following a change, in parts of the work of a full pass, before a full pass is made instead.
const BUDGET: usize = 40;
/// Touching one node out of order costs as much as so many dependencies in order.
const TOUCH: usize = 4;

/// Settling a circle visits its dependencies so many times.
const SETTLING: usize = 3;

/// Both bits of [`bits`].
const HARD: u8 = 0b11;
/// What a soft dependency lets through.
const SOFT: u8 = 0b01;

/// Worse effects have more bits, so the worst of two is their union.
const fn bits(effect: Effect) -> u8 {
    match effect {
        Effect::None => 0b00,
        Effect::Degraded => SOFT,
        Effect::Unhealthy => HARD,
    }
}

/// Something that was bad is not any more.
const fn is_better(now: u8, before: u8) -> bool {
    now & before != before
}

/// A dependency as one word: the node's rank, and whether it is soft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way(u32);

impl Way {
    fn new(rank: u32, criticality: Criticality) -> Option<Self> {
        match criticality {
            Criticality::Hard => Some(Self(rank << 1)),
            Criticality::Soft => Some(Self(rank << 1 | 1)),
            Criticality::Informational => None,
        }
    }

    const fn end(self) -> usize {
        (self.0 >> 1) as usize
    }

    const fn lets_through(self, bits: u8) -> u8 {
        bits & (HARD >> (self.0 & 1))
    }
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// It was followed as far as it reached, over so many nodes.
    Followed(usize),
    /// It reached too far, and everything was done again.
    Full,
}

/// How each node of a map is, kept up to date change by change.
///
/// A node is as bad as the worst of its own [`Effect`] and of what its dependencies do to it: a hard dependency hands on
/// what it is, a soft one at most [`Effect::Degraded`], an informational one nothing. On a circle of dependencies nothing is
/// bad only because of itself.
///
/// ```
/// use rootward_core::{Criticality, Effect, MapRollup};
/// // A page needs a shop, the shop needs a database.
/// let edges = [(0, 1, Criticality::Hard), (1, 2, Criticality::Hard)];
/// let mut rollup = MapRollup::new(3, &edges).ok_or("a node is not there")?;
/// rollup.set(2, Effect::Unhealthy);
/// assert_eq!(rollup.get(0), Some(Effect::Unhealthy));
/// rollup.set(2, Effect::None);
/// assert_eq!(rollup.get(0), Some(Effect::None));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone)]
pub struct MapRollup {
    /// By node.
    rank: Vec<u32>,
    own: Vec<u8>,
    state: Vec<u8>,
    /// Where the dependencies and the callers of each rank begin; one more than there are nodes.
    down_from: Vec<u32>,
    down: Vec<Way>,
    up_from: Vec<u32>,
    up: Vec<u32>,
    /// For each rank, the number of its circle, and the ranks of each circle of more than one node or of itself.
    circle: Vec<u32>,
    circles: Vec<Range<u32>>,
    waiting: BinaryHeap<Reverse<u32>>,
    is_waiting: Vec<bool>,
    /// Something that it depends on, or it itself, got better.
    got_better: Vec<bool>,
}

/// Not on a circle.
const NONE: u32 = u32::MAX;

impl MapRollup {
    /// A map of so many nodes, all well; an edge is who depends, on whom, and how much. `None` when an edge names a node
    /// that is not there, or when there are more than 2^31 nodes or 2^32 edges.
    #[must_use]
    pub fn new(nodes: usize, edges: &[(usize, usize, Criticality)]) -> Option<Self> {
        let count = u32::try_from(nodes)
            .ok()
            .filter(|count| *count <= NONE / 2)?;
        u32::try_from(edges.len()).ok()?;
        if edges
            .iter()
            .any(|(from, to, _)| *from >= nodes || *to >= nodes)
        {
            return None;
        }
        let mut successors = vec![Vec::new(); nodes];
        for &(from, to, _) in edges {
            successors[from].push(to);
        }
        let groups = groups_in_order(&successors);
        let mut rank = vec![0; nodes];
        let mut circle = vec![NONE; nodes];
        let mut circles = Vec::new();
        let mut next = 0;
        for group in &groups {
            let first = next;
            for &node in group {
                rank[node] = next;
                next += 1;
            }
            if group.len() > 1 {
                let number = u32::try_from(circles.len()).ok()?;
                circle[first as usize..next as usize].fill(number);
                circles.push(first..next);
            }
        }
        let mut ways = Vec::with_capacity(edges.len());
        for &(from, to, criticality) in edges {
            // Nothing is bad because of itself.
            if from != to
                && let Some(way) = Way::new(rank[to], criticality)
            {
                ways.push((rank[from], way));
            }
        }
        let (down_from, down) = rows(count, ways.iter().copied());
        let turned = ways.iter().map(|(from, way)| (way.0 >> 1, *from));
        let (up_from, up) = rows(count, turned);
        Some(Self {
            rank,
            own: vec![0; nodes],
            state: vec![0; nodes],
            down_from,
            down,
            up_from,
            up,
            circle,
            circles,
            waiting: BinaryHeap::new(),
            is_waiting: vec![false; nodes],
            got_better: vec![false; nodes],
        })
    }

    /// How a node is; `None` when there is no such node.
    #[must_use]
    pub fn get(&self, node: usize) -> Option<Effect> {
        let rank = *self.rank.get(node)?;
        Some(match self.state[rank as usize] {
            0b00 => Effect::None,
            SOFT => Effect::Degraded,
            _ => Effect::Unhealthy,
        })
    }

    /// Says how a node itself is, and follows what that changes. Nothing happens for a node that is not there.
    pub fn set(&mut self, node: usize, own: Effect) -> Pass {
        let Some(&rank) = self.rank.get(node) else {
            return Pass::Followed(0);
        };
        if self.own[rank as usize] == bits(own) {
            return Pass::Followed(0);
        }
        let before = std::mem::replace(&mut self.own[rank as usize], bits(own));
        self.wait(rank, is_better(bits(own), before));
        self.follow()
    }

    /// Does everything again.
    pub fn full_pass(&mut self) {
        let mut rank = 0;
        let mut circles = 0;
        let count = self.own.len();
        while rank < count {
            let end = match self.circles.get(circles) {
                Some(circle) => circle.start as usize,
                None => count,
            };
            for at in rank..end {
                self.state[at] = self.found(at);
            }
            rank = end;
            if let Some(circle) = self.circles.get(circles).cloned() {
                rank = circle.end as usize;
                self.settle(circle);
                circles += 1;
            }
        }
    }

    fn found(&self, rank: usize) -> u8 {
        let (from, to) = (self.down_from[rank], self.down_from[rank + 1]);
        let ways = &self.down[from as usize..to as usize];
        ways.iter().fold(self.own[rank], |worst, way| {
            worst | way.lets_through(self.state[way.end()])
        })
    }

    /// The least solution on a circle: from nothing upwards, each node at most twice worse.
    fn settle(&mut self, circle: Range<u32>) {
        let (from, to) = (circle.start as usize, circle.end as usize);
        self.state[from..to].fill(0);
        let mut open: Vec<u32> = Vec::new();
        for rank in circle.clone() {
            let found = self.found(rank as usize);
            if found != 0 {
                self.state[rank as usize] = found;
                open.push(rank);
            }
        }
        while let Some(rank) = open.pop() {
            let (first, last) = self.callers(rank);
            for place in first..last {
                let caller = self.up[place];
                if circle.contains(&caller) {
                    let found = self.found(caller as usize);
                    if found != self.state[caller as usize] {
                        self.state[caller as usize] = found;
                        open.push(caller);
                    }
                }
            }
        }
    }

    fn callers(&self, rank: u32) -> (usize, usize) {
        let rank = rank as usize;
        (self.up_from[rank] as usize, self.up_from[rank + 1] as usize)
    }

    fn wait(&mut self, rank: u32, got_better: bool) {
        self.got_better[rank as usize] |= got_better;
        if !std::mem::replace(&mut self.is_waiting[rank as usize], true) {
            self.waiting.push(Reverse(rank));
        }
    }

    fn follow(&mut self) -> Pass {
        let whole = self.own.len() + self.down.len();
        let mut left = (whole / BUDGET).max(TOUCH * 16);
        let mut touched = 0;
        while let Some(Reverse(rank)) = self.waiting.pop() {
            let at = rank as usize;
            self.is_waiting[at] = false;
            let got_better = std::mem::take(&mut self.got_better[at]);
            // What gets better on a circle may be held up by the circle alone, so the circle is settled anew.
            let circle = match self.circles.get(self.circle[at] as usize) {
                Some(circle) if got_better => circle.clone(),
                Some(_) | None => rank..rank + 1,
            };
            let ranks = circle.start as usize..circle.end as usize;
            let ways = (self.down_from[ranks.end] - self.down_from[ranks.start]) as usize;
            let work = if ranks.len() > 1 {
                SETTLING * (ranks.len() + ways)
            } else {
                TOUCH + ways
            };
            if work >= left {
                return self.give_up();
            }
            left -= work;
            touched += ranks.len();
            if ranks.len() > 1 {
                let before = self.state[ranks.clone()].to_vec();
                self.settle(circle.clone());
                for (rank, before) in circle.clone().zip(before) {
                    left = left.saturating_sub(self.tell(rank, before, &circle));
                }
            } else {
                let found = self.found(at);
                let before = std::mem::replace(&mut self.state[at], found);
                left = left.saturating_sub(self.tell(rank, before, &(rank..rank)));
            }
        }
        Pass::Followed(touched)
    }

    /// Lets the callers of a node outside a circle know how it changed; the work of that.
    fn tell(&mut self, rank: u32, before: u8, circle: &Range<u32>) -> usize {
        let state = self.state[rank as usize];
        if state == before {
            return 0;
        }
        let (first, last) = self.callers(rank);
        for place in first..last {
            let caller = self.up[place];
            if !circle.contains(&caller) {
                self.wait(caller, is_better(state, before));
            }
        }
        TOUCH * (last - first)
    }

    fn give_up(&mut self) -> Pass {
        for Reverse(rank) in self.waiting.drain() {
            self.is_waiting[rank as usize] = false;
        }
        self.got_better.fill(false);
        self.full_pass();
        Pass::Full
    }
}

/// Lays out what belongs to each rank side by side: where each begins, and all of it.
fn rows<T: Copy>(count: u32, pairs: impl Iterator<Item = (u32, T)> + Clone) -> (Vec<u32>, Vec<T>) {
    let mut from = vec![0_u32; count as usize + 1];
    for (rank, _) in pairs.clone() {
        from[rank as usize + 1] += 1;
    }
    for rank in 1..from.len() {
        from[rank] += from[rank - 1];
    }
    let Some((_, first)) = pairs.clone().next() else {
        return (from, Vec::new());
    };
    let mut all = vec![first; from[count as usize] as usize];
    let mut next = from.clone();
    for (rank, what) in pairs {
        let place = &mut next[rank as usize];
        all[*place as usize] = what;
        *place += 1;
    }
    (from, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: raise until nothing changes.
    fn by_definition(own: &[Effect], edges: &[(usize, usize, Criticality)]) -> Vec<Effect> {
        let mut state = own.to_vec();
        loop {
            let before = state.clone();
            for &(from, to, criticality) in edges {
                let handed_on = match criticality {
                    Criticality::Hard => state[to],
                    Criticality::Soft => state[to].min(Effect::Degraded),
                    Criticality::Informational => Effect::None,
                };
                state[from] = state[from].max(handed_on);
            }
            if state == before {
                return state;
            }
        }
    }

    fn effect() -> impl Strategy<Value = Effect> {
        prop_oneof![
            Just(Effect::None),
            Just(Effect::Degraded),
            Just(Effect::Unhealthy)
        ]
    }

    /// Maps of up to 12 nodes with as many edges as there is place for, so that many are full of circles.
    fn map() -> impl Strategy<Value = (usize, Vec<(usize, usize, Criticality)>)> {
        (1_usize..12).prop_flat_map(|nodes| {
            let criticality = proptest::sample::select(Criticality::ALL);
            let edge = (0..nodes, 0..nodes, criticality);
            (Just(nodes), proptest::collection::vec(edge, 0..30))
        })
    }

    proptest! {
        #[test]
        fn after_every_change_the_rollup_is_what_the_definition_says(
            (nodes, edges) in map(),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), effect()), 1..20),
        ) {
            let mut rollup = MapRollup::new(nodes, &edges).unwrap();
            let mut own = vec![Effect::None; nodes];
            for (node, effect) in changes {
                let node = node.index(nodes);
                own[node] = effect;
                rollup.set(node, effect);
                let expected = by_definition(&own, &edges);
                let found: Vec<Effect> = (0..nodes).filter_map(|node| rollup.get(node)).collect();
                prop_assert_eq!(&found, &expected);
                let mut again = rollup.clone();
                again.full_pass();
                prop_assert_eq!(again.state, rollup.state.clone());
            }
        }
    }

    #[test]
    fn a_change_that_reaches_everything_is_a_full_pass_and_one_that_reaches_little_is_not() {
        let chain: Vec<_> = (0..10_000)
            .map(|node| (node, node + 1, Criticality::Hard))
            .collect();
        let mut rollup = MapRollup::new(10_001, &chain).unwrap();
        assert_eq!(rollup.set(10_000, Effect::Unhealthy), Pass::Full);
        assert_eq!(rollup.get(0), Some(Effect::Unhealthy));
        assert_eq!(rollup.set(2, Effect::Degraded), Pass::Followed(1));
        assert_eq!(rollup.set(10_000, Effect::None), Pass::Full);
        assert_eq!(rollup.get(0), Some(Effect::Degraded));
        assert_eq!(rollup.get(3), Some(Effect::None));
    }

    #[test]
    fn a_circle_is_not_held_bad_by_itself() {
        let ring: Vec<_> = (0..5)
            .map(|node| (node, (node + 1) % 5, Criticality::Hard))
            .collect();
        let mut rollup = MapRollup::new(5, &ring).unwrap();
        rollup.set(3, Effect::Unhealthy);
        assert_eq!(rollup.get(0), Some(Effect::Unhealthy));
        rollup.set(3, Effect::None);
        let well = (0..5).all(|node| rollup.get(node) == Some(Effect::None));
        assert!(well);
    }

    #[test]
    fn edges_to_what_is_not_there_are_refused() {
        assert!(MapRollup::new(1, &[(0, 1, Criticality::Hard)]).is_none());
    }
}
