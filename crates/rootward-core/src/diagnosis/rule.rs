//! The first rule of diagnosis: follow failing checks to where nothing deeper explains them, then weigh that place.
//!
//! A failing check on a service that answered is passed on to what that service itself sees failing; a service that
//! nobody can see passes on through the map. Where nothing deeper fails, the target is a candidate, and
//! `diagnosis/weigh.rs` decides between the target, the ways to it, and noise. Nodes in a circle do not support each
//! other: if nothing outside the circle explains it, the member that failed first is named, with the circle.
//!
//! What this rule cannot tell: a host, a zone, a release or the aggregator's own network as one fault; two faults on
//! one target; a partial failure that comes and goes. Those are named as their parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnosis::cause::{state_of, summary};
use crate::diagnosis::scene::Scene;
use crate::diagnosis::weigh::{self, Choice, Scale, Way};
use crate::diagnosis::{
    CauseId, Check, Diagnosis, Fact, Input, LocalCheck, Ranked, RootCause, Sight, Unseen, impact_of,
};
use crate::map::NodeIndex;
use crate::name::{InstanceId, Name};
use crate::status::ErrorCategory;

/// Below this a cause is listed among the unexplained, not named.
const NAMING_THRESHOLD: f64 = 0.5;

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
    diagnosis.unexplained = scene.unexplained(&diagnosis);
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

impl<'a> Scene<'a> {
    /// Names what is wrong at a root, unless it looks like noise.
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
            Choice::Ways { ways } if confidence >= NAMING_THRESHOLD => {
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
            }
            Choice::Node | Choice::Ways { .. } | Choice::Noise => {}
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
                summary: summary(&id, state, category, false),
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
                others_can(&named.id, &named.good),
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

    /// Every failing check that no cause accounts for: nothing is lost.
    fn unexplained(&self, diagnosis: &Diagnosis) -> Vec<Fact> {
        let covered: BTreeSet<(&str, &Name)> = diagnosis
            .root_causes
            .iter()
            .chain(&diagnosis.suspected)
            .flat_map(|cause| &cause.evidence)
            .map(|fact| (fact.observer.as_str(), &fact.target))
            .collect();
        let checks = self
            .bad
            .iter()
            .flatten()
            .map(|check| check.fact(self.input.map));
        let local = self.local.iter().flatten().map(|local| local.fact());
        checks
            .chain(local)
            .filter(|fact| !covered.contains(&(fact.observer.as_str(), &fact.target)))
            .collect()
    }
}

/// Whether somebody else than the one whose way is broken has a good check of the same target.
fn others_can(id: &CauseId, good: &[&Check]) -> bool {
    good.iter().any(|check| match id {
        CauseId::Edge { from, .. } => check.observer.service != *from,
        CauseId::InstanceEdge { from, .. } => check.observer != *from,
        CauseId::Node(_) | CauseId::Instance(_) => false,
    })
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
