//! Why: the sentences behind a cause, in counts.

use std::collections::BTreeSet;

use crate::diagnosis::cause::{dominant, list};
use crate::diagnosis::scene::{Scene, Sighting};
use crate::diagnosis::{CauseId, Check, Sight};
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::name::{InstanceId, Name};

/// What a cause rests on.
pub(super) struct Account<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) id: &'a CauseId,
    /// Failing checks of what is at fault.
    pub(super) direct: &'a [Sighting<'a>],
    /// Failing checks further up.
    pub(super) carried: &'a [Sighting<'a>],
    /// Good checks of the same targets since it began.
    pub(super) good: &'a [&'a Check],
    /// Instances whose silence it explains.
    pub(super) silent: &'a [InstanceId],
    /// Those of a circle that cannot be told from it.
    pub(super) group: &'a [CauseId],
    pub(super) since: Moment,
}

impl Account<'_> {
    /// Whether somebody else can use what one cannot.
    pub(super) fn others_can(&self) -> bool {
        self.good.iter().any(|check| match self.id {
            CauseId::Edge { from, .. } => check.observer.service != *from,
            CauseId::InstanceEdge { from, .. } => check.observer != *from,
            CauseId::Node(_)
            | CauseId::Instance(_)
            | CauseId::Host(_)
            | CauseId::Zone(_)
            | CauseId::Poller(_)
            | CauseId::Version { .. } => false,
        })
    }

    /// The reasons, most telling first.
    pub(super) fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        match self.id {
            CauseId::Node(name) => {
                self.callers(name, &mut reasons);
                self.itself(name, &mut reasons);
                self.circle(name, &mut reasons);
            }
            CauseId::Edge { from, to } => {
                self.observers(&format!("instances of {from}"), to, &mut reasons, |check| {
                    check.observer.service == *from
                });
                self.works_for_others(to, &mut reasons, |check| check.observer.service != *from);
            }
            CauseId::InstanceEdge { from, to } => {
                self.observers(
                    &format!("instances of {}", from.service),
                    to,
                    &mut reasons,
                    |check| check.observer.service == from.service,
                );
                self.works_for_others(to, &mut reasons, |check| check.observer != *from);
            }
            CauseId::Instance(_) | CauseId::Host(_) | CauseId::Zone(_) | CauseId::Poller(_) => {
                self.place(&mut reasons);
            }
            CauseId::Version { service, version } => self.release(service, version, &mut reasons),
        }
        if !self.carried.is_empty() {
            reasons.push(format!(
                "it also explains the failing checks of {} further up",
                list(&services(self.carried.iter().map(|seen| seen.check)))
            ));
        }
        reasons
    }

    fn phrase(&self) -> &'static str {
        dominant(self.direct.iter().map(|seen| seen.category())).phrase()
    }

    fn failing(&self) -> impl Iterator<Item = &Check> {
        self.direct.iter().map(|seen| seen.check)
    }

    /// `12 of 12 callers report it failing (connection refused): a, b, c, d, e and 7 more`
    fn callers(&self, name: &Name, reasons: &mut Vec<String>) {
        let failing = services(self.failing());
        if failing.is_empty() {
            return;
        }
        let good = services(self.good.iter().copied());
        let asked = failing.union(&good).count();
        reasons.push(format!(
            "{} of {} {} it failing ({}): {}",
            failing.len(),
            plural(asked, "caller", "callers"),
            if failing.len() == 1 {
                "reports"
            } else {
                "report"
            },
            self.phrase(),
            list(&failing)
        ));
        if let Some(first) = self.direct.first() {
            reasons.push(format!("seen first by {}", first.check.observer));
        }
        let _ = name;
    }

    /// What the polls of the node itself say.
    fn itself(&self, name: &Name, reasons: &mut Vec<String>) {
        let Some(node) = self.node(name) else { return };
        let own = self.scene.instances_of(node);
        let silent = own
            .iter()
            .filter(|seen| seen.sight == Sight::Silent)
            .count();
        if silent > 0 {
            reasons.push(format!(
                "{silent} of {} of its own instances do not answer the poll either",
                own.len()
            ));
        } else if own.iter().any(|seen| seen.sight == Sight::Answers) {
            reasons.push(format!(
                "{name} itself answers the poll and reports nothing that would explain it"
            ));
        }
    }

    fn circle(&self, name: &Name, reasons: &mut Vec<String>) {
        let cycle = self
            .node(name)
            .and_then(|node| self.scene.input.map.cycle_of(node));
        if let (Some(cycle), false) = (cycle, self.group.is_empty()) {
            reasons.push(format!("it is part of the cycle {cycle}; it failed first"));
        }
    }

    /// `1 of 2 instances of orders reports orders-db failing (timed out), seen first by orders#1`
    fn observers(
        &self,
        whom: &str,
        to: &Name,
        reasons: &mut Vec<String>,
        is_one: impl Fn(&Check) -> bool,
    ) {
        let failing: BTreeSet<&InstanceId> = self.failing().map(|check| &check.observer).collect();
        let good = self.good.iter().filter(|check| is_one(check));
        let asked = good
            .map(|check| &check.observer)
            .chain(failing.iter().copied());
        let asked = asked.collect::<BTreeSet<_>>().len();
        let first = self.direct.first();
        let first = first.map_or_else(String::new, |seen| {
            format!(", seen first by {}", seen.check.observer)
        });
        reasons.push(format!(
            "{} of {asked} {whom} {} {to} failing ({}){first}",
            failing.len(),
            if failing.len() == 1 {
                "reports"
            } else {
                "report"
            },
            self.phrase(),
        ));
    }

    fn works_for_others(
        &self,
        to: &Name,
        reasons: &mut Vec<String>,
        is_other: impl Fn(&Check) -> bool,
    ) {
        let others = services(self.good.iter().copied().filter(|check| is_other(check)));
        if !others.is_empty() {
            reasons.push(format!("{to} is up for {}", list(&others)));
        }
        let answers = self.node(to).is_some_and(|node| {
            let mut own = self.scene.instances_of(node).iter();
            own.any(|seen| seen.sight == Sight::Answers)
        });
        if answers {
            reasons.push(format!("{to} itself answers the poll"));
        }
    }

    /// What fails together: instances that do not answer, and checks.
    fn place(&self, reasons: &mut Vec<String>) {
        if !self.silent.is_empty() {
            let silent: BTreeSet<String> = self.silent.iter().map(ToString::to_string).collect();
            let verb = if silent.len() == 1 { "does" } else { "do" };
            reasons.push(format!("{} {verb} not answer the poll", list(&silent)));
        }
        let targets: BTreeSet<Name> = self
            .direct
            .iter()
            .map(|seen| {
                self.scene
                    .input
                    .map
                    .name(seen.target(self.scene.input))
                    .clone()
            })
            .collect();
        if !targets.is_empty() {
            reasons.push(format!(
                "{} of {} fail ({}), seen first by {}",
                plural(self.direct.len(), "check", "checks"),
                list(&targets),
                self.phrase(),
                self.direct
                    .first()
                    .map(|seen| seen.check.observer.to_string())
                    .unwrap_or_default()
            ));
        }
        if let CauseId::Poller(_) = self.id {
            reasons.push("nobody who calls them reports trouble".to_owned());
        }
    }

    fn release(&self, service: &Name, version: &Name, reasons: &mut Vec<String>) {
        let own = self
            .node(service)
            .map_or(&[][..], |node| self.scene.instances_of(node));
        let of_it = own
            .iter()
            .filter(|seen| seen.version.as_ref() == Some(version));
        let count = of_it.count();
        reasons.push(format!(
            "{count} of {} run {version}",
            plural(own.len(), "instance", "instances")
        ));
        self.place(reasons);
    }

    pub(super) fn node(&self, name: &Name) -> Option<NodeIndex> {
        self.scene.input.map.find(name.as_str())
    }
}

/// The services whose instances made the checks.
pub(super) fn services<'c>(checks: impl IntoIterator<Item = &'c Check>) -> BTreeSet<Name> {
    let observers = checks
        .into_iter()
        .map(|check| check.observer.service.clone());
    observers.collect()
}

/// `1 caller`, `12 callers`.
fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
