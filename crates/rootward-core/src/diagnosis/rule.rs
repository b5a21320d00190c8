//! The first rule of diagnosis: follow failing checks to where nothing deeper explains them, then weigh that place.
//!
//! A failing check on a service that answered is passed on to what that service itself sees failing; a service that
//! nobody can see passes on through the map. Where nothing deeper fails, the target is a candidate, and
//! `diagnosis/weigh.rs` decides between the target, the ways to it, and noise. Nodes in a circle do not support each
//! other: if nothing outside the circle explains it, the member that failed first is named, with the circle.
//!
//! What this rule cannot tell: a host, a zone, a release or the aggregator's own network as one fault; two faults on
//! one target; a partial failure that comes and goes. Those are named as their parts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::diagnosis::cause::{list, state_of, summary};
use crate::diagnosis::weigh::{self, Choice, Scale, Way};
use crate::diagnosis::{
    CauseId, Check, Diagnosis, Fact, Input, LocalCheck, Ranked, RootCause, Sight, Unseen, impact_of,
};
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::status::{Criticality, ErrorCategory};

/// Below this a cause is listed among the unexplained, not named.
const NAMING_THRESHOLD: f64 = 0.5;

/// Callers that agree before the others need not be waited for.
const AGREEING_CALLERS: usize = 2;

/// Says which faults explain what was seen.
#[must_use]
pub fn diagnose(input: &Input<'_>) -> Diagnosis {
    let scene = Scene::new(input);
    let mut diagnosis = Diagnosis::default();
    for node in scene.roots() {
        scene.judge(node, &mut diagnosis);
    }
    diagnosis.root_causes.sort_by(by_onset);
    diagnosis.suspected.sort_by(by_onset);
    diagnosis
        .rank
        .sort_by(|a, b| b.margin.total_cmp(&a.margin).then_with(|| a.id.cmp(&b.id)));
    for cause in &diagnosis.root_causes {
        diagnosis.impacted.extend(impact_of(input, &cause.id));
    }
    let named: BTreeSet<&Name> = diagnosis
        .root_causes
        .iter()
        .filter_map(|cause| match &cause.id {
            CauseId::Node(name) => Some(name),
            CauseId::Instance(_) | CauseId::Edge { .. } | CauseId::InstanceEdge { .. } => None,
        })
        .collect();
    diagnosis
        .impacted
        .retain(|impact| !named.contains(&impact.service));
    diagnosis.impacted.sort_by(|a, b| {
        a.service
            .cmp(&b.service)
            .then_with(|| a.cause.cmp(&b.cause))
    });
    diagnosis
        .unexplained
        .sort_by(|a, b| (a.since, &a.observer, &a.target).cmp(&(b.since, &b.observer, &b.target)));
    diagnosis.unknown = input
        .instances
        .iter()
        .filter(|seen| match seen.sight {
            Sight::Silent | Sight::NotPolledYet => true,
            Sight::Answers | Sight::AnswersWithoutReport => false,
        })
        .map(|seen| Unseen {
            instance: seen.id.clone(),
        })
        .collect();
    diagnosis
        .unknown
        .sort_by(|a, b| a.instance.cmp(&b.instance));
    diagnosis
}

fn by_onset(a: &RootCause, b: &RootCause) -> std::cmp::Ordering {
    (a.since, &a.id).cmp(&(b.since, &b.id))
}

/// The failing and good checks by target, and what explains what.
struct Scene<'a> {
    input: &'a Input<'a>,
    bad: Vec<Vec<&'a Check>>,
    good: Vec<Vec<&'a Check>>,
    local: Vec<Vec<&'a LocalCheck>>,
    instances: Vec<Vec<&'a crate::diagnosis::InstanceSeen>>,
    /// For each node, the failing callees that its own trouble may come from.
    explainers: Vec<BTreeSet<NodeIndex>>,
    /// Members of circles that nothing outside explains: each with the member that failed first.
    circles: BTreeMap<NodeIndex, NodeIndex>,
}

impl<'a> Scene<'a> {
    fn new(input: &'a Input<'a>) -> Self {
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
    fn is_blind(&self, node: NodeIndex) -> bool {
        !self.instances[node.0].iter().any(|seen| match seen.sight {
            Sight::Answers => true,
            Sight::AnswersWithoutReport | Sight::Silent | Sight::NotPolledYet => false,
        })
    }

    /// What the service's trouble may come from: callees that it sees failing itself; for a blind one, hard callees that
    /// anybody sees failing.
    fn find_explainers(&self, node: NodeIndex) -> BTreeSet<NodeIndex> {
        let map = self.input.map;
        if self.bad[node.0].is_empty() || !map.is_service(node) {
            return BTreeSet::new();
        }
        let blind = self.is_blind(node);
        map.callees(node)
            .iter()
            .filter(|edge| {
                let callee = map.edge(**edge).callee;
                let bad = &self.bad[callee.0];
                match (blind, self.input.labels[edge.0]) {
                    (_, Criticality::Informational) | (true, Criticality::Soft) => false,
                    (true, Criticality::Hard) => !bad.is_empty(),
                    (false, Criticality::Hard | Criticality::Soft) => {
                        bad.iter().any(|check| check.edge == **edge)
                    }
                }
            })
            .map(|edge| map.edge(*edge).callee)
            .collect()
    }

    /// Whether deeper trouble of the target could make this check fail.
    fn passed_on(&self, check: &Check) -> bool {
        let target = self.input.map.edge(check.edge).callee;
        self.input.map.is_service(target) && may_come_from_below(check.category)
    }

    /// The failing checks on a node that nothing deeper explains.
    fn own(&self, node: NodeIndex) -> Vec<&'a Check> {
        let explained = !self.explainers[node.0].is_empty() || !self.local[node.0].is_empty();
        self.bad[node.0]
            .iter()
            .copied()
            .filter(|check| !(explained && self.passed_on(check)))
            .collect()
    }

    fn has_own_evidence(&self, node: NodeIndex) -> bool {
        !self.local[node.0].is_empty() || !self.own(node).is_empty()
    }

    /// Finds circles of explanations that rest on nothing.
    fn find_circles(&mut self) {
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
    fn reachable(&self, from: NodeIndex) -> BTreeSet<NodeIndex> {
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

    fn onset(&self, node: NodeIndex) -> Moment {
        self.bad[node.0]
            .iter()
            .map(|check| check.since)
            .min()
            .unwrap_or(self.input.now)
    }

    /// The nodes where explanations end, in name order.
    fn roots(&self) -> Vec<NodeIndex> {
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
    fn carried(&self, root: NodeIndex) -> Vec<&'a Check> {
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

    /// Names what is wrong at a root, or lists its checks as unexplained.
    fn judge(&self, node: NodeIndex, diagnosis: &mut Diagnosis) {
        let carried = self.carried(node);
        if !self.local[node.0].is_empty() {
            self.judge_local(node, &carried, diagnosis);
        }
        let in_circle = self.circles.contains_key(&node);
        let direct = if in_circle {
            self.bad[node.0].clone()
        } else {
            self.own(node)
        };
        if direct.is_empty() {
            return;
        }
        let begin = direct
            .iter()
            .map(|check| check.since)
            .min()
            .unwrap_or(self.input.now);
        // A good check from before the trouble began says nothing about it.
        let (good, outdated): (Vec<&Check>, Vec<&Check>) = self.good[node.0]
            .iter()
            .copied()
            .partition(|check| check.checked_at >= begin);
        let seen = &self.instances[node.0];
        let silent = seen
            .iter()
            .filter(|seen| seen.sight == Sight::Silent)
            .count();
        let answering = seen
            .iter()
            .filter(|seen| seen.sight == Sight::Answers)
            .count();
        let scale = Scale {
            map: self.input.map,
            target: node,
            bad: direct.clone(),
            good: good.clone(),
            carried: carried
                .iter()
                .map(|check| f64::from(check.agreeing.clamp(1, 3)))
                .sum(),
            silent_instances: silent,
            answering_instances: answering,
        };
        let weighed = scale.weigh();
        diagnosis.rank.extend(weighed.ranked);
        let confidence = weigh::confidence(weighed.margin);
        let held = self.held(node, &direct, &outdated, begin);
        match weighed.choice {
            Choice::Node if confidence >= NAMING_THRESHOLD => {
                let id = CauseId::Node(self.input.map.name(node).clone());
                let mut alternatives = weighed.alternatives;
                if in_circle {
                    alternatives = self.other_members(node).chain(alternatives).collect();
                }
                let reasons = self.reasons(node, &direct, &good, &carried);
                self.name(
                    Named {
                        id,
                        direct,
                        good,
                        carried,
                        alternatives,
                        reasons,
                        confidence,
                        held,
                    },
                    diagnosis,
                );
            }
            Choice::Ways { ways, noise } if confidence >= NAMING_THRESHOLD => {
                for Way {
                    id,
                    evidence,
                    margin,
                } in ways
                {
                    let confidence = confidence.min(weigh::confidence(margin));
                    let reasons = self.way_reasons(node, &evidence, &good);
                    let carried = self.carried_by(&evidence, &carried);
                    let named = Named {
                        id,
                        direct: evidence,
                        good: good.clone(),
                        carried,
                        alternatives: weighed.alternatives.clone(),
                        reasons,
                        confidence,
                        held: held.clone(),
                    };
                    self.name(named, diagnosis);
                }
                diagnosis
                    .unexplained
                    .extend(noise.iter().map(|check| check.fact(self.input.map)));
            }
            Choice::Node | Choice::Ways { .. } | Choice::Noise => {
                let lost = direct.iter().chain(&carried);
                diagnosis
                    .unexplained
                    .extend(lost.map(|check| check.fact(self.input.map)));
            }
        }
    }

    /// Instances that report a failing local condition, or errors instead of a report.
    fn judge_local(&self, node: NodeIndex, carried: &[&'a Check], diagnosis: &mut Diagnosis) {
        let mut by_instance: BTreeMap<&InstanceId, Vec<&LocalCheck>> = BTreeMap::new();
        for local in &self.local[node.0] {
            by_instance.entry(&local.instance).or_default().push(local);
        }
        let on_node: Vec<&Check> = self.bad[node.0]
            .iter()
            .copied()
            .filter(|check| self.passed_on(check))
            .collect();
        let upwards: Vec<&Check> = on_node.iter().chain(carried).copied().collect();
        let total = self.instances[node.0].len();
        let groups: Vec<(CauseId, Vec<&LocalCheck>)> = if total > 1 && by_instance.len() == total {
            let all = by_instance.into_values().flatten().collect();
            vec![(CauseId::Node(self.input.map.name(node).clone()), all)]
        } else {
            by_instance
                .into_iter()
                .map(|(id, all)| (CauseId::Instance(id.clone()), all))
                .collect()
        };
        for (id, failing) in groups {
            let mut evidence: Vec<Fact> = failing.iter().map(|local| local.fact()).collect();
            evidence.sort_by(|a, b| {
                (a.since, &a.observer, &a.target).cmp(&(b.since, &b.observer, &b.target))
            });
            let state = state_of(&evidence);
            let category = failing
                .first()
                .and_then(|local| local.category)
                .unwrap_or(ErrorCategory::Unknown);
            let reasons = failing
                .iter()
                .map(|local| {
                    let why = local
                        .error
                        .as_deref()
                        .unwrap_or(local.category.unwrap_or(ErrorCategory::Unknown).phrase());
                    format!(
                        "{} itself reports {} {}: {why}",
                        local.instance, local.component, local.status
                    )
                })
                .collect();
            let since = evidence
                .iter()
                .map(|fact| fact.since)
                .min()
                .unwrap_or(self.input.now);
            evidence.extend(upwards.iter().map(|check| check.fact(self.input.map)));
            let margin = weigh::local_margin(failing.len());
            diagnosis.rank.push(Ranked {
                id: id.clone(),
                margin,
            });
            diagnosis.root_causes.push(RootCause {
                summary: summary(&id, state, category),
                id,
                state,
                confidence: weigh::confidence(margin),
                since,
                evidence,
                against: Vec::new(),
                alternatives: Vec::new(),
                reasons,
                held: None,
            });
        }
    }

    fn name(&self, named: Named<'_>, diagnosis: &mut Diagnosis) {
        let map = self.input.map;
        let mut evidence: Vec<Fact> = named.direct.iter().map(|check| check.fact(map)).collect();
        let state = state_of(&evidence);
        let since = evidence
            .iter()
            .map(|fact| fact.since)
            .min()
            .unwrap_or(self.input.now);
        evidence.extend(named.carried.iter().map(|check| check.fact(map)));
        let cause = RootCause {
            summary: summary(
                &named.id,
                state,
                weigh::dominant(named.direct.iter().copied()),
            ),
            id: named.id,
            state,
            confidence: named.confidence,
            since,
            evidence,
            against: named.good.iter().map(|check| check.fact(map)).collect(),
            alternatives: named.alternatives,
            reasons: named.reasons,
            held: named.held,
        };
        if cause.held.is_some() {
            diagnosis.suspected.push(cause);
        } else {
            diagnosis.root_causes.push(cause);
        }
    }

    /// The failing checks on the service whose way is broken, and further up.
    fn carried_by(&self, evidence: &[&Check], carried: &[&'a Check]) -> Vec<&'a Check> {
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

    fn other_members(&self, node: NodeIndex) -> impl Iterator<Item = CauseId> + '_ {
        self.circles
            .iter()
            .filter(move |(member, first)| **first == node && **member != node)
            .map(|(member, _)| CauseId::Node(self.input.map.name(*member).clone()))
    }

    /// Why a cause still waits, if it does.
    fn held(
        &self,
        node: NodeIndex,
        direct: &[&Check],
        outdated: &[&Check],
        begin: Moment,
    ) -> Option<String> {
        let Input { now, map, .. } = *self.input;
        if now - begin >= self.input.hold_limit {
            return None;
        }
        let name = map.name(node);
        let not_seen_since = self.instances[node.0]
            .iter()
            .any(|seen| seen.polled_at.is_none_or(|at| at < begin));
        if not_seen_since {
            return Some(format!("waiting for {name} to be polled again"));
        }
        let about_to_decide = self.input.checks.iter().find(|check| {
            map.edge(check.edge).caller == node
                && self.input.labels[check.edge.0] == Criticality::Hard
                && !check.is_bad()
                && check.is_undecided()
        });
        if let Some(check) = about_to_decide {
            let callee = map.name(map.edge(check.edge).callee);
            return Some(format!("waiting for {name} to decide about {callee}"));
        }
        let agreeing: BTreeSet<&Name> =
            direct.iter().map(|check| &check.observer.service).collect();
        let others: BTreeSet<Name> = outdated
            .iter()
            .copied()
            .chain(self.undecided_about(node))
            .map(|check| check.observer.service.clone())
            .filter(|service| !agreeing.contains(service))
            .collect();
        if agreeing.len() < AGREEING_CALLERS && !others.is_empty() {
            return Some(format!(
                "waiting for {} to check {name} again",
                list(&others)
            ));
        }
        None
    }

    fn undecided_about(&self, node: NodeIndex) -> impl Iterator<Item = &'a Check> + '_ {
        self.input.checks.iter().filter(move |check| {
            self.input.map.edge(check.edge).callee == node
                && !check.is_bad()
                && check.is_undecided()
        })
    }

    fn reasons(
        &self,
        node: NodeIndex,
        direct: &[&Check],
        good: &[&Check],
        carried: &[&Check],
    ) -> Vec<String> {
        let map = self.input.map;
        let name = map.name(node);
        let services = |checks: &[&Check]| -> BTreeSet<Name> {
            checks
                .iter()
                .map(|check| check.observer.service.clone())
                .collect()
        };
        let failing = services(direct);
        let asked: BTreeSet<Name> = failing.union(&services(good)).cloned().collect();
        let callers = if asked.len() == 1 {
            "caller"
        } else {
            "callers"
        };
        let phrase = weigh::dominant(direct.iter().copied()).phrase();
        let mut reasons = vec![format!(
            "{} of {} {callers} report it failing ({phrase}): {}",
            failing.len(),
            asked.len(),
            list(&failing)
        )];
        if let Some(first) = direct.first() {
            reasons.push(format!("seen first by {}", first.observer));
        }
        let seen = &self.instances[node.0];
        let silent = seen
            .iter()
            .filter(|seen| seen.sight == Sight::Silent)
            .count();
        if silent > 0 {
            reasons.push(format!(
                "{silent} of {} of its own instances do not answer the poll either",
                seen.len()
            ));
        } else if seen.iter().any(|seen| seen.sight == Sight::Answers) {
            reasons.push(format!(
                "{name} itself answers the poll and reports nothing that would explain it"
            ));
        }
        if self.circles.contains_key(&node) {
            if let Some(cycle) = map.cycle_of(node) {
                reasons.push(format!("it is part of the cycle {cycle}; it failed first"));
            }
        }
        if !carried.is_empty() {
            let up = services(carried);
            reasons.push(format!(
                "it also explains what {} see further up",
                list(&up)
            ));
        }
        if !good.is_empty() {
            reasons.push(format!("against it: {} see it up", list(&services(good))));
        }
        reasons
    }

    fn way_reasons(&self, node: NodeIndex, evidence: &[&Check], good: &[&Check]) -> Vec<String> {
        let name = self.input.map.name(node);
        let phrase = weigh::dominant(evidence.iter().copied()).phrase();
        let mut reasons = vec![format!(
            "{} failing ({phrase}), seen first by {}",
            plural(evidence.len(), "check", "checks"),
            evidence
                .first()
                .map(|check| check.observer.to_string())
                .unwrap_or_default()
        )];
        let others: BTreeSet<Name> = good
            .iter()
            .map(|check| check.observer.service.clone())
            .collect();
        if !others.is_empty() {
            reasons.push(format!("{} see {name} up", list(&others)));
        }
        if self.instances[node.0]
            .iter()
            .any(|seen| seen.sight == Sight::Answers)
        {
            reasons.push(format!("{name} itself answers the poll"));
        }
        reasons
    }
}

/// What is needed to name a cause.
struct Named<'a> {
    id: CauseId,
    direct: Vec<&'a Check>,
    good: Vec<&'a Check>,
    carried: Vec<&'a Check>,
    alternatives: Vec<CauseId>,
    reasons: Vec<String>,
    confidence: f64,
    held: Option<String>,
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
