//! Reports that say again what is known already: a picture is drawn from them without judging everything anew.
//!
//! Most polls of a fleet that is well confirm what the one before has said, and only times move. Whatever else comes in,
//! or becomes due by itself, makes a whole judgement, and so does [`JUDGE_WHOLLY`]. A confirmation changes no status, names
//! no cause and opens nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnosis::{Diagnosis, Sight};
use crate::engine::evidence::Gathered;
use crate::engine::seen::Seen;
use crate::engine::{Action, Engine};
use crate::map::Map;
use crate::moment::Moment;
use crate::name::InstanceId;
use crate::observer::{ObserverState, ObserverView};
use crate::report::{Component, Report};
use crate::snapshot::{ServiceView, Snapshot};
use crate::status::{Scope, ServiceStatus};

/// The longest time for which pictures are drawn from confirmations alone.
const JUDGE_WHOLLY: Duration = Duration::from_secs(10);

/// What was confirmed since the last picture, and how long confirmations are enough.
#[derive(Debug, Default)]
pub(super) struct Confirmed {
    instances: BTreeSet<InstanceId>,
    /// `None` while something is wrong, or may become so by the passing of time alone.
    until: Option<Moment>,
}

impl Confirmed {
    /// Takes an instance that said the same again.
    pub(super) fn take(&mut self, instance: InstanceId) {
        self.instances.insert(instance);
    }

    /// Only a whole judgement will do.
    pub(super) fn end(&mut self) {
        self.until = None;
    }
}

/// Whether a report says what the one before has said, but for times, durations and counts.
pub(super) fn says_again(report: &Report, before: &Report) -> bool {
    let Report {
        service,
        instance,
        version,
        zone,
        host,
        status,
        ready,
        draining,
        serving,
        components,
    } = report;
    *service == before.service
        && *instance == before.instance
        && *version == before.version
        && *zone == before.zone
        && *host == before.host
        && *status == before.status
        && *ready == before.ready
        && *draining == before.draining
        && *serving == before.serving
        && components.len() == before.components.len()
        && components
            .iter()
            .zip(&before.components)
            .all(|(component, before)| is_again(component, before))
}

fn is_again(component: &Component, before: &Component) -> bool {
    let Component {
        name,
        status,
        raw_status,
        pending,
        criticality,
        scope,
        depth,
        kind,
        target,
        error_category,
        error,
        latency_us: _,
        checked_at,
        since: _,
        seq: _,
        stale_after: _,
        gates_readiness,
        owner,
    } = component;
    *name == before.name
        && *status == before.status
        && *raw_status == before.raw_status
        && *pending == before.pending
        && *criticality == before.criticality
        && *scope == before.scope
        && *depth == before.depth
        && *kind == before.kind
        && *target == before.target
        && *error_category == before.error_category
        && *error == before.error
        && checked_at.is_some() == before.checked_at.is_some()
        && *gates_readiness == before.gates_readiness
        && *owner == before.owner
}

impl Engine {
    /// Settles, after a whole judgement, for how long confirmations will do.
    pub(super) fn settle_quiet(
        &mut self,
        evidence: &Gathered,
        diagnosis: &Diagnosis,
        services: &[Arc<ServiceView>],
        observer: &ObserverView,
        now: Moment,
    ) {
        self.confirmed.instances.clear();
        let quiet = observer.state == ObserverState::Sees
            && is_quiet(evidence, diagnosis)
            && self.localiser.is_quiet()
            && self.book.is_closed();
        // An entry point that nobody has seen will be missed.
        let missed = services.iter().filter_map(|service| {
            let unseen = service.status == ServiceStatus::Unknown;
            unseen.then(|| self.watched_since(service, None) + self.settings.page_unknown_after)
        });
        let until = missed.fold(now + JUDGE_WHOLLY, Moment::min);
        self.confirmed.until = quiet.then_some(until);
    }

    /// Whether a picture as of `now` follows from the last one and from what was confirmed since.
    pub(super) fn is_confirmed(&self, now: Moment) -> bool {
        self.confirmed.until.is_some_and(|until| now < until)
            && self.instances.values().all(|seen| seen.is_fresh(now))
    }

    /// Draws it.
    pub(super) fn confirm(&mut self, now: Moment) {
        self.judged_at = now;
        self.epochs.roll(now);
        let mut next = Snapshot::clone(&self.snapshot);
        next.at = now;
        next.epoch = self.epochs.last_complete();
        for id in std::mem::take(&mut self.confirmed.instances) {
            if let Some(seen) = self.instances.get(&id) {
                redraw(&mut next, &id, seen, &self.map);
            }
        }
        self.snapshot = Arc::new(next);
        self.actions
            .push_back(Action::Publish(Arc::clone(&self.snapshot)));
    }
}

/// Whether nothing is wrong, and nothing is waited for.
fn is_quiet(evidence: &Gathered, diagnosis: &Diagnosis) -> bool {
    let Diagnosis {
        root_causes,
        suspected,
        impacted,
        unexplained,
        unknown,
        rank,
    } = diagnosis;
    root_causes.is_empty()
        && suspected.is_empty()
        && impacted.is_empty()
        && unexplained.is_empty()
        && unknown.is_empty()
        && rank.is_empty()
        && evidence
            .instances
            .iter()
            .all(|instance| instance.sight == Sight::Answers)
        && evidence.local.iter().all(|check| !check.is_bad())
        && evidence
            .checks
            .iter()
            .all(|check| !check.is_bad() && !check.is_failing())
}

/// Moves the times of one instance, of its service, and of what it has checked.
fn redraw(snapshot: &mut Snapshot, id: &InstanceId, seen: &Seen, map: &Map) {
    let services = &mut snapshot.services;
    let Ok(at) = services.binary_search_by(|service| service.name.cmp(&id.service)) else {
        return;
    };
    let service = Arc::make_mut(&mut services[at]);
    let mut instances = service.instances.iter_mut();
    if let Some(instance) = instances.find(|instance| instance.id == *id) {
        instance.evidence_at = seen.evidence_at();
        instance.last_poll.clone_from(&seen.last_poll);
        instance.report.clone_from(&seen.report);
    }
    service.evidence_at = service.evidence_at.max(seen.evidence_at());
    snapshot.newest_evidence = snapshot.newest_evidence.max(service.evidence_at);
    let Some(report) = &seen.report else { return };
    for (component, about) in report.components.iter().zip(seen.joined().iter()) {
        let (Scope::Shared, Some(checked_at)) =
            (component.scope, component.checked_at.or(seen.report_at))
        else {
            continue;
        };
        let (Some(callee), Some(_)) = (about.callee, about.edge) else {
            continue;
        };
        let resources = &mut snapshot.resources;
        if let Ok(at) = resources.binary_search_by(|known| known.name.cmp(map.name(callee))) {
            let newer = Some(checked_at) > resources[at].evidence_at;
            if newer {
                Arc::make_mut(&mut resources[at]).evidence_at = Some(checked_at);
            }
        }
    }
}
