//! Another configuration for an engine that runs: what keeps its identity keeps its state.
//!
//! A service and a resource are their names; an instance is its service and its own name, wherever it is asked. What
//! is known of these stays, with its age: statuses and since when, streaks, reports, incidents, slots in the schedule.
//! What is new is unknown until it is seen, and counts against nobody before its first poll. What is not there any
//! more ends, with a sentence; an answer to a poll of it that was still under way is evidence about nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnosis::CauseId;
use crate::engine::seen::Seen;
use crate::engine::{Action, Engine, Settings, Target, polled};
use crate::incident::IncidentCause;
use crate::map::{Map, NodeIndex, NodeKind};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::snapshot::{Subject, Transition};
use crate::status::ServiceStatus;

/// Why what is not in the configuration any more has ended.
const REMOVED: &str = "removed from the configuration";

/// What a replacement meant to the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replaced {
    /// Polled before and after.
    pub kept: usize,
    /// Polled from now on.
    pub begun: usize,
    /// Not polled any more.
    pub ended: usize,
    /// Whether anything is different from before.
    pub changed: bool,
}

impl Engine {
    /// Goes on with another map, other targets and other settings. The same ones change nothing at all.
    ///
    /// Polls under way go on. The outcome of one whose target was removed is ignored; one whose target is asked
    /// elsewhere now should be given to [`Engine::handle_abandoned`], because it speaks of the old address.
    pub fn replace(
        &mut self,
        map: Arc<Map>,
        targets: Vec<Target>,
        settings: Settings,
        now: Moment,
    ) -> Replaced {
        self.notice_pause(now);
        let targets: BTreeMap<InstanceId, (Target, NodeIndex)> = targets
            .into_iter()
            .filter_map(|target| {
                let service = map.find(target.id.service.as_str())?;
                Some((target.id.clone(), (target, service)))
            })
            .collect();
        let kept = targets.keys().filter(|id| self.instances.contains_key(*id));
        let kept = kept.count();
        let same_targets = targets.len() == self.instances.len()
            && targets.iter().all(|(id, (target, _))| {
                self.instances
                    .get(id)
                    .is_some_and(|seen| seen.target == *target)
            });
        let same = same_targets && *map == *self.map && settings == self.settings;
        let replaced = Replaced {
            kept,
            begun: targets.len() - kept,
            ended: self.instances.len() - kept,
            changed: !same,
        };
        if same {
            return replaced;
        }

        self.joined.retain(|name, _| is_service(&map, name));
        for node in map.indices().filter(|node| map.is_service(*node)) {
            if !is_service(&self.map, map.name(node)) {
                self.joined.insert(map.name(node).clone(), now);
            }
        }
        let mut before = std::mem::take(&mut self.instances);
        for (id, (target, service)) in targets {
            let seen = match before.remove(&id) {
                Some(mut seen) => {
                    seen.retarget(target, service, &map);
                    seen
                }
                None => Seen::new(target, service),
            };
            self.instances.insert(id, seen);
        }
        let ids = polled(&self.instances).map(|(id, _)| id).collect();
        self.vantage.replace(&ids, settings.references);
        self.await_new_instances(&map);
        self.schedule.replace(polled(&self.instances), now);
        self.epochs.set_interval(settings.epoch_interval, now);
        (self.map, self.settings) = (map, settings);
        self.localiser
            .replace(&self.instances, self.settings.epoch_interval);
        self.end_removed(now);
        self.judge(now);
        replaced
    }

    /// Takes the end of a poll that says nothing about its target as it is now.
    pub fn handle_abandoned(&mut self, instance: &InstanceId, started: Moment, now: Moment) {
        self.notice_pause(now);
        self.schedule.finished(instance, now);
        self.epochs.finished(started, false, now);
    }

    /// Instances that join others do not count until their first poll, where the others are as many as are needed.
    fn await_new_instances(&mut self, map: &Map) {
        let mut polled: BTreeMap<NodeIndex, usize> = BTreeMap::new();
        for seen in self.instances.values().filter(|seen| seen.is_polled()) {
            *polled.entry(seen.service).or_default() += 1;
        }
        for seen in self.instances.values_mut() {
            let needed = match map.node(seen.service).kind {
                NodeKind::Service { at_least } => at_least.max(1),
                NodeKind::Resource { .. } => 1,
            };
            let others = polled.get(&seen.service).copied().unwrap_or(0);
            seen.await_first_poll(!seen.is_polled() && others >= needed);
        }
    }

    /// Ends what is about something that is not there any more: incidents, and statuses, each with a sentence.
    fn end_removed(&mut self, now: Moment) {
        let (map, instances) = (&self.map, &self.instances);
        let is_over = |cause: &IncidentCause| match cause {
            IncidentCause::Unseen(name) => !is_service(map, name),
            IncidentCause::Observer => false,
            IncidentCause::Fault(CauseId::Node(name)) => map.find(name.as_str()).is_none(),
            IncidentCause::Fault(CauseId::Instance(id)) => !instances.contains_key(id),
            IncidentCause::Fault(CauseId::Edge { from, to }) => !has_edge(map, from, to),
            IncidentCause::Fault(CauseId::InstanceEdge { from, to }) => {
                !instances.contains_key(from) || !has_edge(map, &from.service, to)
            }
            IncidentCause::Fault(CauseId::Host(host)) => {
                let mut running = instances.values();
                !running.any(|seen| seen.host() == Some(host))
            }
            IncidentCause::Fault(CauseId::Zone(zone) | CauseId::Poller(zone)) => {
                let mut running = instances.values();
                !running.any(|seen| seen.zone(map) == Some(zone))
                    && !map
                        .nodes()
                        .iter()
                        .any(|node| node.zone.as_ref() == Some(zone))
            }
            IncidentCause::Fault(CauseId::Version { service, .. }) => !is_service(map, service),
        };
        let ended = self.book.end(is_over, REMOVED, now);
        self.actions
            .extend(ended.into_iter().map(Action::RecordIncident));

        let gone: BTreeSet<Subject> = self
            .statuses
            .keys()
            .filter(|subject| match subject {
                Subject::Service(name) => !is_service(map, name),
                Subject::Instance(id) => !instances.contains_key(id),
                Subject::Resource(name) => map
                    .find(name.as_str())
                    .is_none_or(|node| map.is_service(node)),
            })
            .cloned()
            .collect();
        for subject in gone {
            let Some(standing) = self.statuses.remove(&subject) else {
                continue;
            };
            // If it ever comes back it begins as unknown, and so the record has no gap.
            let unknown = ServiceStatus::Unknown.as_str();
            if standing.status != unknown {
                self.actions.push_back(Action::Record(Transition {
                    at: now,
                    subject,
                    from: standing.status,
                    to: unknown,
                    reason: REMOVED.to_owned(),
                }));
            }
        }
    }
}

fn is_service(map: &Map, name: &Name) -> bool {
    map.find(name.as_str())
        .is_some_and(|node| map.is_service(node))
}

fn has_edge(map: &Map, from: &Name, to: &Name) -> bool {
    let (Some(from), Some(to)) = (map.find(from.as_str()), map.find(to.as_str())) else {
        return false;
    };
    map.callees(from)
        .iter()
        .any(|edge| map.edge(*edge).callee == to)
}
