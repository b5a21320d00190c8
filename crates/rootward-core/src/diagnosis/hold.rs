//! Hold-down: why a cause is not named yet.
//!
//! Reports come in one after the other, and a fault is seen by some before it is seen by others. Naming at once would
//! blame a caller for its database, or the last to notice a recovery for being cut off. A cause therefore waits while
//! something that would tell better is about to be known, for at most the hold limit since it began.

use std::collections::BTreeSet;

use crate::diagnosis::cause::list;
use crate::diagnosis::own::may_come_from_below;
use crate::diagnosis::reasons::{Account, services};
use crate::diagnosis::scene::Sighting;
use crate::diagnosis::{Check, Sight};
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::name::Name;
use crate::status::Criticality;

/// Callers that agree before the others need not be waited for.
const AGREEING_CALLERS: usize = 2;

impl<'a> Account<'a> {
    /// Why the cause still waits, if it does.
    pub(super) fn held(&self) -> Option<String> {
        if let Some(wait) = self.recovering() {
            return Some(wait);
        }
        let input = self.scene.input;
        if input.now - self.since >= input.hold_limit {
            return None;
        }
        self.not_silent_yet()
            .or_else(|| {
                self.targets()
                    .into_iter()
                    .find_map(|node| self.incomplete(node))
            })
            .or_else(|| self.undecided())
    }

    fn targets(&self) -> BTreeSet<NodeIndex> {
        let seen = self.direct.iter();
        seen.map(|seen| seen.target(self.scene.input)).collect()
    }

    /// All that is left of the evidence is older than a recovery that somebody has seen: callers notice it one after the
    /// other, and the last of them are not cut off alone.
    fn recovering(&self) -> Option<String> {
        let late = self
            .direct
            .iter()
            .all(|seen| self.lags(seen) || self.is_echo(seen));
        let first = self.direct.first()?;
        late.then(|| {
            let input = self.scene.input;
            let waiting = services(self.direct.iter().map(|seen| seen.check));
            let name = input.map.name(first.target(input));
            format!("waiting for {} to check {name} again", list(&waiting))
        })
    }

    /// Whether somebody who failed as well has seen the target recover since, and this observer has not decided yet: it
    /// has not looked again, or has and only wants to be sure.
    fn lags(&self, seen: &Sighting<'_>) -> bool {
        let target = seen.target(self.scene.input);
        let good = self.scene.checks_of(target).iter();
        let good = good.filter(|check| check.is_settled_good());
        let recovered = good
            .map(|check| check.since)
            .filter(|at| *at > seen.since());
        self.is_older(seen, recovered.max())
    }

    /// Whether the check only repeats what was true before the target recovered, by what the target itself sees.
    fn is_echo(&self, seen: &Sighting<'_>) -> bool {
        let input = self.scene.input;
        let target = seen.target(input);
        if self.scene.is_blind(target) || !may_come_from_below(seen.category()) {
            return false;
        }
        let own = self.scene.instances_of(target).iter();
        let own = own.flat_map(|instance| self.scene.checks_by(&instance.id));
        let recovered = own
            .filter(|check| check.is_settled_good())
            .map(|check| check.since);
        self.is_older(seen, recovered.max())
    }

    /// Not for ever: who has not decided within the hold limit does not lag behind, it sees something of its own.
    fn is_older(&self, seen: &Sighting<'_>, recovered: Option<Moment>) -> bool {
        let input = self.scene.input;
        recovered.is_some_and(|recovered| {
            let decides = seen.check.is_undecided() && recovered > seen.since();
            input.now - recovered < input.hold_limit
                && (decides || seen.check.checked_at <= recovered)
        })
    }

    /// An instance whose silence it explains is still shown as it was last seen.
    fn not_silent_yet(&self) -> Option<String> {
        let mut all = self.scene.input.instances.iter();
        let waiting = self.silent.iter().find(|id| {
            all.by_ref()
                .find(|seen| seen.id == **id)
                .is_some_and(|seen| seen.sight != Sight::Silent)
        })?;
        Some(format!("waiting for {waiting} to be polled again"))
    }

    /// The target has not been seen since, is about to decide what is wrong with it, or others are about to say more.
    fn incomplete(&self, node: NodeIndex) -> Option<String> {
        let input = self.scene.input;
        let name = input.map.name(node);
        let mut own = self.scene.instances_of(node).iter();
        if own.any(|seen| seen.polled_at.is_none_or(|at| at < self.since)) {
            return Some(format!("waiting for {name} to be polled again"));
        }
        let own = self.scene.instances_of(node).iter();
        let about_to_decide = own
            .flat_map(|seen| self.scene.checks_by(&seen.id))
            .filter(|check| {
                input.labels[check.edge.0] == Criticality::Hard
                    && !check.is_bad()
                    && check.is_undecided()
            })
            .min_by_key(|check| check.edge);
        if let Some(check) = about_to_decide {
            let callee = input.map.name(input.map.edge(check.edge).callee);
            return Some(format!("waiting for {name} to decide about {callee}"));
        }
        let agreeing = services(self.decided().map(|seen| seen.check));
        let may_agree = |check: &&&Check| {
            !check.is_bad() && (check.is_undecided() || check.checked_at < self.since)
        };
        let others = self.scene.checks_of(node).iter().filter(may_agree);
        let others: BTreeSet<Name> = services(others.copied())
            .difference(&agreeing)
            .cloned()
            .collect();
        if agreeing.len() < AGREEING_CALLERS && !others.is_empty() {
            return Some(format!(
                "waiting for {} to check {name} again",
                list(&others)
            ));
        }
        None
    }

    fn decided(&self) -> impl Iterator<Item = &Sighting<'a>> {
        self.direct.iter().filter(|seen| seen.check.is_bad())
    }

    /// Nobody is sure yet: the screen shows everything as it was.
    fn undecided(&self) -> Option<String> {
        let first = self.direct.first()?;
        if self.decided().next().is_some() {
            return None;
        }
        let input = self.scene.input;
        let name = input.map.name(first.target(input));
        let observers = services(self.direct.iter().map(|seen| seen.check));
        Some(format!(
            "waiting for {} to be sure about {name}",
            list(&observers)
        ))
    }
}
