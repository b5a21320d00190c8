//! Why: the sentences behind a cause, and why it may have to wait.

use std::collections::BTreeSet;

use crate::diagnosis::cause::list;
use crate::diagnosis::scene::Scene;
use crate::diagnosis::{Check, Input, Sight, weigh};
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::name::Name;
use crate::status::Criticality;

/// Callers that agree before the others need not be waited for.
const AGREEING_CALLERS: usize = 2;

impl<'a> Scene<'a> {
    /// Why a cause still waits, if it does.
    pub(super) fn held(
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
        let about_to_decide = self
            .input
            .checks
            .iter()
            .filter(|check| {
                map.edge(check.edge).caller == node
                    && self.input.labels[check.edge.0] == Criticality::Hard
                    && !check.is_bad()
                    && check.is_undecided()
            })
            .min_by_key(|check| check.edge);
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

    pub(super) fn undecided_about(&self, node: NodeIndex) -> impl Iterator<Item = &'a Check> + '_ {
        self.input.checks.iter().filter(move |check| {
            self.input.map.edge(check.edge).callee == node
                && !check.is_bad()
                && check.is_undecided()
        })
    }

    pub(super) fn reasons(
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
            "{} of {} {callers} {} it failing ({phrase}): {}",
            failing.len(),
            asked.len(),
            if failing.len() == 1 {
                "reports"
            } else {
                "report"
            },
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
        if let (true, Some(cycle)) = (self.circles.contains_key(&node), map.cycle_of(node)) {
            reasons.push(format!("it is part of the cycle {cycle}; it failed first"));
        }
        if !carried.is_empty() {
            let up = services(carried);
            reasons.push(format!(
                "it also explains the failing checks of {} further up",
                list(&up)
            ));
        }
        if !good.is_empty() {
            reasons.push(format!(
                "against it: fresh good checks by {}",
                list(&services(good))
            ));
        }
        reasons
    }

    pub(super) fn way_reasons(
        &self,
        node: NodeIndex,
        evidence: &[&Check],
        good: &[&Check],
    ) -> Vec<String> {
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
            reasons.push(format!("{name} is up for {}", list(&others)));
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

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
