//! The scene of a diagnosis: what the screen shows, found by who looks and by what is looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnosis::{CauseId, Check, Fact, Input, InstanceSeen, LocalCheck, Sight};
use crate::localise;
use crate::map::NodeIndex;
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::status::{CheckStatus, Criticality, ErrorCategory};

/// The evidence by target and by instance. Nothing is sorted in while nothing is wrong.
pub(super) struct Scene<'a> {
    pub(super) input: &'a Input<'a>,
    /// The fresh checks of each node.
    of_target: Vec<Vec<&'a Check>>,
    /// The instances of each service.
    instances: Vec<Vec<&'a InstanceSeen>>,
    /// What instances of a service say against themselves.
    pub(super) local: BTreeMap<NodeIndex, Vec<&'a LocalCheck>>,
}

/// A check that a cause explains: what the screen shows of it, and what was measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sighting<'a> {
    pub(super) check: &'a Check,
    pub(super) found: &'a localise::Evidence,
}

impl Sighting<'_> {
    /// Whether it speaks of what is at fault itself, not of somebody who passes the fault on.
    pub(super) const fn is_direct(&self) -> bool {
        self.found.through.is_none()
    }

    pub(super) fn target(&self, input: &Input<'_>) -> NodeIndex {
        input.map.edge(self.check.edge).callee
    }

    /// When the failure began: as it is shown, or as it was measured while its observer is not sure.
    pub(super) const fn since(&self) -> Moment {
        if self.check.is_bad() {
            self.check.since
        } else {
            self.found.since
        }
    }

    pub(super) fn category(&self) -> Option<ErrorCategory> {
        if self.check.is_failing() {
            self.check.category
        } else {
            category_of(self.found.class)
        }
    }

    pub(super) fn fact(&self, input: &Input<'_>) -> Fact {
        let check = self.check;
        let measured = if self.found.degraded {
            CheckStatus::Degraded
        } else {
            CheckStatus::Down
        };
        Fact {
            status: if check.is_bad() {
                check.status
            } else {
                measured
            },
            decided: check.is_bad(),
            category: self.category(),
            at: if check.is_failing() {
                check.checked_at
            } else {
                self.found.since
            },
            since: self.since(),
            ..check.fact(input.map)
        }
    }
}

impl<'a> Scene<'a> {
    /// `is_quiet` says that nothing has failed, so that nobody will ask who looked at what.
    pub(super) fn new(input: &'a Input<'a>, is_quiet: bool) -> Self {
        let bad = input
            .local
            .iter()
            .filter(|local| local.is_bad() && local.criticality != Criticality::Informational);
        let mut local: BTreeMap<NodeIndex, Vec<&LocalCheck>> = BTreeMap::new();
        for own in bad {
            local.entry(own.service).or_default().push(own);
        }
        for own in local.values_mut() {
            own.sort_by(|a, b| {
                (a.since, &a.instance, &a.component).cmp(&(b.since, &b.instance, &b.component))
            });
        }
        let mut scene = Self {
            input,
            of_target: Vec::new(),
            instances: Vec::new(),
            local,
        };
        if is_quiet && scene.local.is_empty() {
            return scene;
        }
        let count = input.map.nodes().len();
        scene.of_target = vec![Vec::new(); count];
        scene.instances = vec![Vec::new(); count];
        for check in input.checks {
            scene.of_target[input.map.edge(check.edge).callee.0].push(check);
        }
        for seen in input.instances {
            scene.instances[seen.service.0].push(seen);
        }
        scene
    }

    /// The fresh checks of a node.
    pub(super) fn checks_of(&self, node: NodeIndex) -> &[&'a Check] {
        self.of_target.get(node.0).map_or(&[], Vec::as_slice)
    }

    /// The instances of a service.
    pub(super) fn instances_of(&self, node: NodeIndex) -> &[&'a InstanceSeen] {
        self.instances.get(node.0).map_or(&[], Vec::as_slice)
    }

    /// Nobody sees the service: it has no instance that answers.
    pub(super) fn is_blind(&self, node: NodeIndex) -> bool {
        !self.instances_of(node).iter().any(|seen| match seen.sight {
            Sight::Answers => true,
            Sight::AnswersWithoutReport | Sight::Silent | Sight::NotAsked | Sight::NotPolledYet => {
                false
            }
        })
    }

    /// The fresh checks that an instance makes.
    pub(super) fn checks_by(&self, observer: &InstanceId) -> &'a [Check] {
        let all = self.input.checks;
        let from = all.partition_point(|check| check.observer < *observer);
        let until = all.partition_point(|check| check.observer <= *observer);
        &all[from..until]
    }

    /// The checks that the localisation speaks of, as far as the screen shows them: what is too old is left out.
    pub(super) fn sightings(&self, evidence: &'a [localise::Evidence]) -> Vec<Sighting<'a>> {
        let map = self.input.map;
        let mut sightings: Vec<Sighting<'_>> = evidence
            .iter()
            .filter_map(|found| {
                let observer = self.input.ids.get(&found.instance)?;
                let target = map.find(&found.to)?;
                let mut own = self.checks_by(observer).iter();
                let check = own.find(|check| map.edge(check.edge).callee == target)?;
                Some(Sighting { check, found })
            })
            .collect();
        sightings.sort_by(|a, b| {
            let key = |seen: &Sighting<'a>| (!seen.is_direct(), seen.since());
            key(a)
                .cmp(&key(b))
                .then_with(|| a.check.observer.cmp(&b.check.observer))
                .then_with(|| a.check.edge.cmp(&b.check.edge))
        });
        sightings
    }

    /// Settled good checks of what was seen to fail, made since it began.
    pub(super) fn good_since(
        &self,
        targets: &BTreeSet<NodeIndex>,
        begin: Moment,
    ) -> Vec<&'a Check> {
        let checks = targets.iter().flat_map(|node| self.checks_of(*node));
        checks
            .copied()
            .filter(|check| check.is_settled_good() && check.checked_at >= begin)
            .collect()
    }

    /// Instances by the names that the localisation has for them.
    pub(super) fn ids(&self, keys: &[std::sync::Arc<str>]) -> Vec<InstanceId> {
        let known = keys.iter().filter_map(|key| self.input.ids.get(key));
        known.cloned().collect()
    }

    /// The cause that the localisation speaks of; `None` if it is about nothing on this map.
    pub(super) fn cause_id(&self, id: &localise::CauseId) -> Option<CauseId> {
        use localise::CauseId as Found;
        let map = self.input.map;
        let node = |name: &str| map.find(name).map(|node| map.name(node).clone());
        let instance = |key: &std::sync::Arc<str>| self.input.ids.get(key).cloned();
        let place = |name: &str| Name::parse(name).ok();
        Some(match id {
            Found::Node(name) => CauseId::Node(node(name)?),
            Found::Instance(key) => CauseId::Instance(instance(key)?),
            Found::Edge { from, to } => CauseId::Edge {
                from: node(from)?,
                to: node(to)?,
            },
            Found::InstanceEdge { from, to } => CauseId::InstanceEdge {
                from: instance(from)?,
                to: node(to)?,
            },
            Found::Host(name) => CauseId::Host(place(name)?),
            Found::Zone(name) => CauseId::Zone(place(name)?),
            Found::Poller(name) => CauseId::Poller(place(name)?),
            Found::Version { service, version } => CauseId::Version {
                service: node(service)?,
                version: place(version)?,
            },
        })
    }

    pub(super) fn cause_ids(&self, ids: &[localise::CauseId]) -> Vec<CauseId> {
        ids.iter().filter_map(|id| self.cause_id(id)).collect()
    }
}

/// The word for a class of which the report that told it is gone.
const fn category_of(class: localise::ErrorClass) -> Option<ErrorCategory> {
    match class {
        localise::ErrorClass::Timeout => Some(ErrorCategory::Timeout),
        localise::ErrorClass::Refused => Some(ErrorCategory::ConnectionRefused),
        localise::ErrorClass::Dns => Some(ErrorCategory::Dns),
        localise::ErrorClass::Tls => Some(ErrorCategory::Tls),
        localise::ErrorClass::Auth => Some(ErrorCategory::Auth),
        localise::ErrorClass::Http5xx => Some(ErrorCategory::HttpStatus),
        localise::ErrorClass::Slow | localise::ErrorClass::Other => None,
    }
}
