//! How a cause stands that the diagnosis does not name any more: failing, good, or not known.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnosis::{CauseId, Check, Sight};
use crate::engine::evidence::Gathered;
use crate::engine::seen::Seen;
use crate::incident::{About, Context, Incident, IncidentCause, Standing};
use crate::map::{Map, NodeIndex};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};

/// What the engine knows, for the book of incidents.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) map: &'a Map,
    pub(super) instances: &'a BTreeMap<InstanceId, Seen>,
    pub(super) evidence: &'a Gathered,
    pub(super) now: Moment,
}

impl Known<'_> {
    /// How the checks stand that a filter selects.
    fn checks(&self, after: Moment, wanted: impl Fn(&Check) -> bool) -> Standing {
        let mut good = false;
        for check in self.evidence.checks.iter().filter(|check| wanted(check)) {
            if check.is_bad() {
                return Standing::Failing;
            }
            good |= !check.is_undecided() && check.checked_at > after;
        }
        if good {
            Standing::Good
        } else {
            Standing::NoEvidence
        }
    }

    /// How a service stands by what its own instances say.
    fn own_word(&self, after: Moment, wanted: impl Fn(&InstanceId) -> bool) -> Standing {
        if self
            .evidence
            .local
            .iter()
            .any(|local| local.is_bad() && wanted(&local.instance))
        {
            return Standing::Failing;
        }
        let good = self
            .instances
            .iter()
            .filter(|(id, _)| wanted(id))
            .any(|(_, seen)| {
                seen.judge(self.now).report.is_some() && seen.report_at.is_some_and(|at| at > after)
            });
        if good {
            Standing::Good
        } else {
            Standing::NoEvidence
        }
    }

    /// What callers saw failing only callers can clear: the service's own report was green all along.
    fn node(&self, node: NodeIndex, incident: &Incident, after: Moment) -> Standing {
        let name = self.map.name(node);
        let by_callers = self.checks(after, |check| self.map.edge(check.edge).callee == node);
        let by_itself = self.own_word(after, |id| &id.service == name);
        let itself = format!("{name}#");
        let blamed_by_callers = incident
            .evidence
            .iter()
            .any(|fact| &fact.target == name && !fact.observer.starts_with(&itself));
        match (by_callers, by_itself) {
            (Standing::Failing, _) | (_, Standing::Failing) => Standing::Failing,
            (Standing::Good, _) => Standing::Good,
            (Standing::NoEvidence, Standing::Good) if !blamed_by_callers => Standing::Good,
            (Standing::NoEvidence, Standing::Good | Standing::NoEvidence) => Standing::NoEvidence,
        }
    }

    /// How the checks stand that the incident rests on.
    fn evidence(&self, incident: &Incident, after: Moment) -> Standing {
        let rests_on: BTreeSet<(&str, &Name)> = incident
            .evidence
            .iter()
            .map(|fact| (fact.observer.as_str(), &fact.target))
            .collect();
        let targets: BTreeSet<&Name> = incident.evidence.iter().map(|fact| &fact.target).collect();
        self.checks(after, |check| {
            let target = self.map.name(self.map.edge(check.edge).callee);
            targets.contains(target)
                && rests_on.contains(&(check.observer.to_string().as_str(), target))
        })
    }

    /// What an instance cannot do is seen by its own checks, or by those of others.
    fn instance(&self, instance: &InstanceId, incident: &Incident, after: Moment) -> Standing {
        let by_itself = self.own_word(after, |id| id == instance);
        match (by_itself, self.evidence(incident, after)) {
            (Standing::Failing, _) | (_, Standing::Failing) => Standing::Failing,
            (Standing::Good, _) => Standing::Good,
            (Standing::NoEvidence, _) => Standing::NoEvidence,
        }
    }

    /// A zone can be seen again when all its instances are.
    fn view(&self, zone: &Name, after: Moment) -> Standing {
        let mut seen = self
            .evidence
            .instances
            .iter()
            .filter(|seen| seen.zone.as_ref() == Some(zone))
            .peekable();
        let any = seen.peek().is_some();
        let all = seen.all(|seen| {
            seen.sight == Sight::Answers && seen.polled_at.is_some_and(|at| at > after)
        });
        if any && all {
            Standing::Good
        } else {
            Standing::NoEvidence
        }
    }

    fn fault(&self, id: &CauseId, incident: &Incident, after: Moment) -> Standing {
        match id {
            CauseId::Node(name) => self
                .map
                .find(name.as_str())
                .map_or(Standing::NoEvidence, |node| {
                    self.node(node, incident, after)
                }),
            CauseId::Instance(instance) => self.instance(instance, incident, after),
            CauseId::Edge { from, to } => self.checks(after, |check| {
                &check.observer.service == from
                    && self.map.name(self.map.edge(check.edge).callee) == to
            }),
            CauseId::InstanceEdge { from, to } => self.checks(after, |check| {
                &check.observer == from && self.map.name(self.map.edge(check.edge).callee) == to
            }),
            CauseId::Host(_) | CauseId::Zone(_) | CauseId::Version { .. } => {
                self.evidence(incident, after)
            }
            CauseId::Poller(zone) => self.view(zone, after),
        }
    }
}

impl Context for Known<'_> {
    fn standing(&self, incident: &Incident, after: Moment) -> Standing {
        match &incident.cause {
            IncidentCause::Fault(id) => self.fault(id, incident, after),
            IncidentCause::Unseen(name) => {
                let seen = self.instances.iter().any(|(id, seen)| {
                    &id.service == name && seen.evidence_at().is_some_and(|at| at > after)
                });
                if seen {
                    Standing::Good
                } else {
                    Standing::NoEvidence
                }
            }
            // The book is told apart from the diagnosis when it is over.
            IncidentCause::Observer => Standing::NoEvidence,
        }
    }

    fn about(&self, cause: &IncidentCause) -> About {
        let subject = match cause {
            IncidentCause::Fault(id) => id
                .subjects()
                .last()
                .and_then(|name| self.map.find(name.as_str())),
            IncidentCause::Unseen(name) => self.map.find(name.as_str()),
            IncidentCause::Observer => None,
        };
        let Some(node) = subject else {
            return About::default();
        };
        let whole_node = match cause {
            IncidentCause::Fault(CauseId::Node(_)) | IncidentCause::Unseen(_) => true,
            IncidentCause::Fault(
                CauseId::Instance(_)
                | CauseId::Edge { .. }
                | CauseId::InstanceEdge { .. }
                | CauseId::Host(_)
                | CauseId::Zone(_)
                | CauseId::Poller(_)
                | CauseId::Version { .. },
            )
            | IncidentCause::Observer => false,
        };
        About {
            owner: self.map.node(node).owner.clone(),
            entry_point: whole_node && self.map.is_entry_point(node),
        }
    }
}
