//! The scene of a diagnosis: failing and good checks by target, and what could explain what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::diagnosis::{CauseId, Check, Input, InstanceSeen, LocalCheck, Sight};
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::status::{Criticality, ErrorCategory};

/// The failing and good checks by target, and what explains what.
pub(super) struct Scene<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) bad: Vec<Vec<&'a Check>>,
    pub(super) good: Vec<Vec<&'a Check>>,
    pub(super) local: Vec<Vec<&'a LocalCheck>>,
    pub(super) instances: Vec<Vec<&'a InstanceSeen>>,
    /// For each node, the failing callees that its own trouble may come from.
    pub(super) explainers: Vec<BTreeSet<NodeIndex>>,
    /// Members of circles that nothing outside explains: each with the member that failed first.
    pub(super) circles: BTreeMap<NodeIndex, NodeIndex>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(input: &'a Input<'a>) -> Self {
        let count = input.map.nodes().len();
        let mut scene = Self {
            input,
            bad: vec![Vec::new(); count],
            good: vec![Vec::new(); count],
            local: vec![Vec::new(); count],
            instances: vec![Vec::new(); count],
            explainers: vec![BTreeSet::new(); count],
            circles: BTreeMap::new(),
        };
        for check in input.checks {
            let target = input.map.edge(check.edge).callee.0;
            if check.is_bad() {
                scene.bad[target].push(check);
            } else if !check.is_undecided() {
                scene.good[target].push(check);
            }
        }
        for checks in scene.bad.iter_mut().chain(scene.good.iter_mut()) {
            checks.sort_by(|a, b| (a.since, &a.observer).cmp(&(b.since, &b.observer)));
        }
        for local in input.local.iter().filter(|local| local.is_bad()) {
            if local.criticality != Criticality::Informational {
                scene.local[local.service.0].push(local);
            }
        }
        for local in &mut scene.local {
            local.sort_by(|a, b| {
                (a.since, &a.instance, &a.component).cmp(&(b.since, &b.instance, &b.component))
            });
        }
        for seen in input.instances {
            scene.instances[seen.service.0].push(seen);
        }
        for node in input.map.indices() {
            scene.explainers[node.0] = scene.find_explainers(node);
        }
        scene.find_circles();
        scene
    }

    /// Nobody sees the service: it has no instance that answers.
    pub(super) fn is_blind(&self, node: NodeIndex) -> bool {
        !self.instances[node.0].iter().any(|seen| match seen.sight {
            Sight::Answers => true,
            Sight::AnswersWithoutReport | Sight::Silent | Sight::NotPolledYet => false,
        })
    }

    /// What the service's trouble may come from: callees that it sees failing itself, soft ones only where no hard one
    /// fails; for a service that nobody sees, hard callees that anybody sees failing.
    pub(super) fn find_explainers(&self, node: NodeIndex) -> BTreeSet<NodeIndex> {
        let map = self.input.map;
        if self.bad[node.0].is_empty() || !map.is_service(node) {
            return BTreeSet::new();
        }
        let blind = self.is_blind(node);
        let failing = |wanted: Criticality| -> BTreeSet<NodeIndex> {
            let edges = map.callees(node).iter();
            edges
                .filter(|edge| self.input.labels[edge.0] == wanted)
                .filter(|edge| {
                    let bad = &self.bad[map.edge(**edge).callee.0];
                    bad.iter().any(|check| blind || check.edge == **edge)
                })
                .map(|edge| map.edge(*edge).callee)
                .collect()
        };
        let hard = failing(Criticality::Hard);
        if hard.is_empty() && !blind {
            failing(Criticality::Soft)
        } else {
            hard
        }
    }

    /// Whether deeper trouble of the target could make this check fail.
    pub(super) fn passed_on(&self, check: &Check) -> bool {
        let target = self.input.map.edge(check.edge).callee;
        self.input.map.is_service(target) && may_come_from_below(check.category)
    }

    /// The failing checks on a node that nothing deeper explains.
    pub(super) fn own(&self, node: NodeIndex) -> Vec<&'a Check> {
        let explained = !self.explainers[node.0].is_empty() || !self.local[node.0].is_empty();
        let passes_on =
            |check: &Check| self.passed_on(check) && (explained || self.is_echo(node, check));
        self.bad[node.0]
            .iter()
            .copied()
            .filter(|check| !passes_on(check) && !self.lags(node, check))
            .collect()
    }

    /// Whether somebody who failed as well has seen the target recover since, and this observer has not decided yet: it
    /// has not looked again, or has and only wants to be sure. Callers notice a recovery one after the other, and the
    /// last of them are not cut off alone.
    fn lags(&self, node: NodeIndex, check: &Check) -> bool {
        let good = self.good[node.0].iter().map(|good| good.since);
        let recovered = good.filter(|since| *since > check.since).max();
        recovered.is_some_and(|since| check.is_undecided() || check.checked_at <= since)
    }

    /// Whether the check only repeats what was true before the target recovered: it is recovering itself, or it was
    /// made before the newest recovery that the target reports.
    pub(super) fn is_echo(&self, node: NodeIndex, check: &Check) -> bool {
        if self.is_blind(node) {
            return false;
        }
        let recovered = self
            .input
            .checks
            .iter()
            .filter(|own| self.input.map.edge(own.edge).caller == node)
            .filter(|own| !own.is_bad() && !own.is_undecided())
            .map(|own| own.since)
            .max();
        check.is_undecided() || recovered.is_some_and(|since| check.checked_at <= since)
    }

    pub(super) fn has_own_evidence(&self, node: NodeIndex) -> bool {
        !self.local[node.0].is_empty() || !self.own(node).is_empty()
    }

    /// Finds circles of explanations that rest on nothing.
    pub(super) fn find_circles(&mut self) {
        let map = self.input.map;
        let mut grounded: BTreeSet<NodeIndex> = map
            .indices()
            .filter(|node| self.has_own_evidence(*node))
            .collect();
        let mut queue: VecDeque<NodeIndex> = grounded.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            for edge in map.callers(node) {
                let caller = map.edge(*edge).caller;
                if self.explainers[caller.0].contains(&node) && grounded.insert(caller) {
                    queue.push_back(caller);
                }
            }
        }
        let floating: BTreeSet<NodeIndex> = map
            .indices()
            .filter(|node| !self.bad[node.0].is_empty() && !grounded.contains(node))
            .collect();
        for node in &floating {
            let below = self.reachable(*node);
            // A bottom circle is one whose members all reach each other and nothing else.
            if below.contains(node) && below.iter().all(|other| self.reachable(*other) == below) {
                let first = below
                    .iter()
                    .copied()
                    .min_by_key(|member| (self.onset(*member), *member))
                    .unwrap_or(*node);
                self.circles.insert(*node, first);
            }
        }
    }

    /// Every node that explanations lead to from here.
    pub(super) fn reachable(&self, from: NodeIndex) -> BTreeSet<NodeIndex> {
        let mut seen = BTreeSet::new();
        let mut queue = vec![from];
        while let Some(node) = queue.pop() {
            for next in &self.explainers[node.0] {
                if seen.insert(*next) {
                    queue.push(*next);
                }
            }
        }
        seen
    }

    pub(super) fn onset(&self, node: NodeIndex) -> Moment {
        self.bad[node.0]
            .iter()
            .map(|check| check.since)
            .min()
            .unwrap_or(self.input.now)
    }

    /// The nodes where explanations end, in name order.
    pub(super) fn roots(&self) -> Vec<NodeIndex> {
        self.input
            .map
            .indices()
            .filter(|node| {
                self.has_own_evidence(*node)
                    || self.circles.get(node).is_some_and(|first| first == node)
            })
            .collect()
    }

    /// The failing checks further up that a fault here explains.
    pub(super) fn carried(&self, root: NodeIndex) -> Vec<&'a Check> {
        let map = self.input.map;
        let mut reached = BTreeSet::from([root]);
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            for edge in map.callers(node) {
                let caller = map.edge(*edge).caller;
                if self.explainers[caller.0].contains(&node) && reached.insert(caller) {
                    queue.push_back(caller);
                }
            }
        }
        reached.remove(&root);
        let mut carried: Vec<&Check> = reached
            .iter()
            .flat_map(|node| self.bad[node.0].iter().copied())
            .filter(|check| self.passed_on(check))
            .collect();
        carried.sort_by(|a, b| (a.since, &a.observer, a.edge).cmp(&(b.since, &b.observer, b.edge)));
        carried
    }

    /// The failing checks on the service whose way is broken, and further up.
    pub(super) fn carried_by(&self, evidence: &[&Check], carried: &[&'a Check]) -> Vec<&'a Check> {
        let callers: BTreeSet<NodeIndex> = evidence
            .iter()
            .map(|check| self.input.map.edge(check.edge).caller)
            .collect();
        carried
            .iter()
            .copied()
            .filter(|check| {
                let target = self.input.map.edge(check.edge).callee;
                callers.contains(&target)
                    || self
                        .reachable(target)
                        .iter()
                        .any(|node| callers.contains(node))
            })
            .collect()
    }

    pub(super) fn other_members(&self, node: NodeIndex) -> impl Iterator<Item = CauseId> + '_ {
        self.circles
            .iter()
            .filter(move |(member, first)| **first == node && **member != node)
            .map(|(member, _)| CauseId::Node(self.input.map.name(*member).clone()))
    }
}

/// Whether a failure of this category can be the echo of something deeper: the target answered, or answered late.
const fn may_come_from_below(category: Option<ErrorCategory>) -> bool {
    match category {
        None => true,
        Some(category) => match category {
            ErrorCategory::Timeout
            | ErrorCategory::RateLimited
            | ErrorCategory::ResourceExhausted
            | ErrorCategory::Starting
            | ErrorCategory::NotReady
            | ErrorCategory::NotServing
            | ErrorCategory::HttpStatus
            | ErrorCategory::Unknown => true,
            ErrorCategory::ConnectionRefused
            | ErrorCategory::ConnectionReset
            | ErrorCategory::Dns
            | ErrorCategory::Tls
            | ErrorCategory::Auth
            | ErrorCategory::ShuttingDown
            | ErrorCategory::Stale
            | ErrorCategory::Protocol
            | ErrorCategory::Redirect
            | ErrorCategory::NotFound
            | ErrorCategory::Panic => false,
        },
    }
}
