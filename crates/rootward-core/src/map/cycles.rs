//! Finds the groups of nodes that depend on each other in a circle.
//!
//! Strongly connected components by Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM Journal
//! on Computing 1(2), 1972), written without recursion: a map may be deeper than a stack.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A frame of the depth-first walk: the node, and how many of its successors were followed.
struct Frame {
    node: usize,
    followed: usize,
}

/// Groups of at least two nodes that all reach each other; members ascending, groups by their first member.
pub(crate) fn cyclic_groups(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut groups = groups_in_order(successors);
    groups.retain(|group| group.len() > 1);
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    groups
}

/// Every node once, with those that reach it and that it reaches; what a group leads to comes before it.
pub(crate) fn groups_in_order(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let count = successors.len();
    let mut number = vec![UNSEEN; count];
    let mut low = vec![0; count];
    let mut on_stack = vec![false; count];
    let mut stack = Vec::new();
    let mut groups = Vec::new();
    let mut next = 0;
    for root in 0..count {
        if number[root] != UNSEEN {
            continue;
        }
        let mut walk = vec![Frame {
            node: root,
            followed: 0,
        }];
        while let Some(frame) = walk.last_mut() {
            let node = frame.node;
            if frame.followed == 0 {
                number[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&to) = successors[node].get(frame.followed) {
                frame.followed += 1;
                if number[to] == UNSEEN {
                    walk.push(Frame {
                        node: to,
                        followed: 0,
                    });
                } else if on_stack[to] {
                    low[node] = low[node].min(number[to]);
                }
                continue;
            }
            walk.pop();
            if let Some(parent) = walk.last() {
                low[parent.node] = low[parent.node].min(low[node]);
            }
            if low[node] == number[node] {
                let mut group = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    group.push(member);
                    if member == node {
                        break;
                    }
                }
                groups.push(group);
            }
        }
    }
    groups
}

/// The shortest circle through the first member of the group.
pub(super) fn chain(successors: &[Vec<usize>], group: &[usize]) -> Vec<usize> {
    let Some(&start) = group.first() else {
        return Vec::new();
    };
    let members: BTreeSet<usize> = group.iter().copied().collect();
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &to in successors[node].iter().filter(|to| members.contains(to)) {
            if to == start {
                let mut chain = vec![node];
                let mut at = node;
                while at != start {
                    at = came_from[&at];
                    chain.push(at);
                }
                chain.reverse();
                return chain;
            }
            if let Entry::Vacant(unseen) = came_from.entry(to) {
                unseen.insert(node);
                queue.push_back(to);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ring_a_pair_and_a_chain() {
        let successors = vec![vec![1], vec![2], vec![0], vec![4], vec![3], vec![6], vec![]];
        let groups = cyclic_groups(&successors);
        assert_eq!(groups, vec![vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(chain(&successors, &groups[0]), vec![0, 1, 2]);
    }

    #[test]
    fn a_path_of_a_hundred_thousand_nodes_does_not_overflow_the_stack() {
        let count = 100_000;
        let successors: Vec<Vec<usize>> = (0..count)
            .map(|n| if n + 1 < count { vec![n + 1] } else { vec![0] })
            .collect();
        assert_eq!(cyclic_groups(&successors).len(), 1);
    }

    /// Whether `to` can be reached from `from`, by a plain walk: the oracle.
    fn reaches(successors: &[Vec<usize>], from: usize, to: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut queue = vec![from];
        while let Some(node) = queue.pop() {
            for &next in &successors[node] {
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        false
    }

    proptest! {
        #[test]
        fn groups_are_exactly_the_nodes_that_reach_each_other(
            edges in proptest::collection::vec((0_usize..9, 0_usize..9), 0..25),
        ) {
            let mut successors = vec![Vec::new(); 9];
            for (from, to) in edges {
                if from != to { successors[from].push(to); }
            }
            let groups = cyclic_groups(&successors);
            for a in 0..9 {
                for b in 0..9 {
                    if a == b { continue; }
                    let together = groups.iter().any(|group| group.contains(&a) && group.contains(&b));
                    let mutual = reaches(&successors, a, b) && reaches(&successors, b, a);
                    prop_assert_eq!(together, mutual);
                }
            }
            for group in &groups {
                let chain = chain(&successors, group);
                prop_assert!(chain.len() >= 2);
                for (at, node) in chain.iter().enumerate() {
                    prop_assert!(successors[*node].contains(&chain[(at + 1) % chain.len()]));
                }
            }
        }
    }
}
