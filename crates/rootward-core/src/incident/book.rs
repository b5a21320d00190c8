//! The book of incidents: opens, revises and resolves them from one diagnosis to the next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::diagnosis::{Diagnosis, Fact, Impact, ImpactEffect, RootCause};
use crate::incident::{
    CausePeriod, Incident, IncidentCause, IncidentEvent, IncidentId, TimelineEntry,
};
use crate::moment::Moment;
use crate::name::Name;
use crate::observer::ObserverView;

/// Resolved incidents kept for readers; the history keeps more.
const MAX_RESOLVED: usize = 100;

/// Lines kept of one incident's timeline: its beginning and its newest steps.
pub const MAX_TIMELINE: usize = 200;

/// Of those, lines about who saw what, so that a wide outage leaves room for what became of it.
const MAX_SIGHTINGS: usize = 150;

/// Causes kept of one incident: the first and the newest.
pub const MAX_CAUSES: usize = 50;

/// Failing checks that are remembered of one open incident.
const MAX_RESTED_ON: usize = 10_000;

/// Services that an incident about the observer names.
const MAX_BLIND_NAMES: usize = 100;

/// The onset of one failure, computed from the ages of two reports, differs by what the reports took to arrive.
const SAME_ONSET: Duration = Duration::from_secs(2);

/// How a cause stands that the diagnosis does not name any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its checks still fail.
    Failing,
    /// There is fresh good evidence and none against it.
    Good,
    /// Nothing fresh is known: silence is not recovery.
    NoEvidence,
}

/// What the map says about the subject of a cause.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Who answers for it.
    pub owner: Option<String>,
    /// Whether it is a service that nobody calls: its failure reaches users directly.
    pub entry_point: bool,
}

/// An entry point that has not been seen for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnseenFront {
    /// Which.
    pub service: Name,
    /// Since when it is unknown.
    pub since: Moment,
}

/// What the book asks of whoever knows the evidence and the map.
pub trait Context {
    /// How the cause of an incident stands that is no longer named; only evidence newer than `after` counts as good.
    fn standing(&self, incident: &Incident, after: Moment) -> Standing;

    /// What the map says about its subject.
    fn about(&self, cause: &IncidentCause) -> About;
}

/// Open and recently resolved incidents.
#[derive(Debug, Clone, Default)]
pub struct IncidentBook {
    opened: u64,
    open: BTreeMap<IncidentId, Arc<Incident>>,
    /// The failing checks that each open incident ever rested on, and when they were last seen failing.
    rested_on: BTreeMap<IncidentId, BTreeMap<(String, Name), Moment>>,
    resolved: VecDeque<Arc<Incident>>,
}

impl IncidentBook {
    /// Open incidents, oldest first.
    #[must_use]
    pub fn open(&self) -> Vec<Arc<Incident>> {
        self.open.values().cloned().collect()
    }

    /// Resolved incidents, newest first.
    #[must_use]
    pub fn resolved(&self) -> Vec<Arc<Incident>> {
        self.resolved.iter().cloned().collect()
    }

    /// Whether nothing is open.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the newest diagnosis and says what it did to the incidents.
    pub fn handle_diagnosis(
        &mut self,
        diagnosis: &Diagnosis,
        unseen: &[UnseenFront],
        context: &impl Context,
        now: Moment,
    ) -> Vec<IncidentEvent> {
        let mut events = Vec::new();
        for cause in &diagnosis.root_causes {
            let key = IncidentCause::Fault(cause.id.clone());
            let about = context.about(&key);
            if let Some(id) = self.with_cause(&key) {
                if let Some(incident) = self.open.get_mut(&id) {
                    take_over(Arc::make_mut(incident), cause, diagnosis, about);
                }
                continue;
            }
            if self.is_part_of_another(cause, diagnosis) {
                continue;
            }
            let event = match self.orphan_for(cause, diagnosis) {
                Some(id) => self.revise(id, cause, diagnosis, about, now),
                None => Some(self.open_fault(cause, diagnosis, about, now)),
            };
            events.extend(event);
        }
        self.remember(diagnosis);
        for front in unseen {
            let key = IncidentCause::Unseen(front.service.clone());
            if self.with_cause(&key).is_none() {
                let about = context.about(&key);
                events.push(self.open_unseen(key, front, about, now));
            }
        }
        events.extend(self.close(diagnosis, unseen, context, now));
        events
    }

    /// Takes how the observer stands: its own trouble is an incident that calls a person, whatever else is.
    pub fn handle_observer(&mut self, view: &ObserverView, now: Moment) -> Option<IncidentEvent> {
        let key = IncidentCause::Observer;
        match (self.with_cause(&key), view.is_fault()) {
            (None, false) => None,
            (None, true) => {
                let since = view.since.unwrap_or(now);
                let mut incident = self.new_incident(key, observer_title(view), since, now);
                incident.pages = true;
                incident.reasons = observer_reasons(view);
                note(
                    &mut incident,
                    TimelineEntry {
                        at: now,
                        subject: "aggregator".to_owned(),
                        text: format!("cannot see: {}", view.reason),
                    },
                );
                let incident = Arc::new(incident);
                self.open.insert(incident.id, Arc::clone(&incident));
                Some(IncidentEvent::Opened(incident))
            }
            (Some(id), true) => {
                let incident = Arc::make_mut(self.open.get_mut(&id)?);
                incident.title = observer_title(view);
                incident.reasons = observer_reasons(view);
                None
            }
            (Some(id), false) => self.resolve(id, "the aggregator sees again".to_owned(), now),
        }
    }

    /// Resolves the open incidents whose cause is one of these, for this reason.
    pub fn end(
        &mut self,
        is_over: impl Fn(&IncidentCause) -> bool,
        why: &str,
        now: Moment,
    ) -> Vec<IncidentEvent> {
        let open = self.open.iter();
        let over: Vec<IncidentId> = open
            .filter(|(_, incident)| is_over(&incident.cause))
            .map(|(id, _)| *id)
            .collect();
        over.into_iter()
            .filter_map(|id| self.resolve(id, why.to_owned(), now))
            .collect()
    }

    fn with_cause(&self, cause: &IncidentCause) -> Option<IncidentId> {
        self.open
            .iter()
            .find(|(_, incident)| &incident.cause == cause)
            .map(|(id, _)| *id)
    }

    /// An open incident whose cause is no longer named and that the new cause explains.
    fn orphan_for(&self, cause: &RootCause, diagnosis: &Diagnosis) -> Option<IncidentId> {
        let impacted = impacts(diagnosis, cause);
        self.open
            .values()
            .find(|incident| {
                !is_named(diagnosis, &incident.cause) && explains(cause, &impacted, incident)
            })
            .map(|incident| incident.id)
    }

    /// Whether an incident that is named still rested on the very same failures before: a machine whose parts recover one
    /// after the other, or look like faults of their own for a moment, is one episode.
    fn is_part_of_another(&self, cause: &RootCause, diagnosis: &Diagnosis) -> bool {
        let mut failing = cause.evidence.iter().filter(|fact| fact.decided).peekable();
        if failing.peek().is_none() {
            return false;
        }
        let failing: Vec<_> = failing
            .map(|fact| ((fact.observer.clone(), fact.target.clone()), fact.since))
            .collect();
        self.open
            .values()
            .filter(|incident| is_named(diagnosis, &incident.cause))
            .filter_map(|incident| self.rested_on.get(&incident.id))
            .any(|known| {
                failing
                    .iter()
                    .all(|(check, since)| known.get(check).is_some_and(|last| since <= last))
            })
    }

    /// Remembers what the named incidents rest on now.
    fn remember(&mut self, diagnosis: &Diagnosis) {
        for cause in &diagnosis.root_causes {
            let key = IncidentCause::Fault(cause.id.clone());
            let Some(id) = self.with_cause(&key) else {
                continue;
            };
            let known = self.rested_on.entry(id).or_default();
            for fact in cause.evidence.iter().filter(|fact| fact.decided) {
                let check = (fact.observer.clone(), fact.target.clone());
                if known.len() < MAX_RESTED_ON || known.contains_key(&check) {
                    known.insert(check, fact.at);
                }
            }
        }
        self.rested_on.retain(|id, _| self.open.contains_key(id));
    }

    fn open_fault(
        &mut self,
        cause: &RootCause,
        diagnosis: &Diagnosis,
        about: About,
        now: Moment,
    ) -> IncidentEvent {
        let key = IncidentCause::Fault(cause.id.clone());
        let mut incident = self.new_incident(key, cause.summary.clone(), cause.since, now);
        take_over(&mut incident, cause, diagnosis, about);
        let text = format!("named as the cause: {}", cause.summary);
        note(
            &mut incident,
            TimelineEntry {
                at: now,
                subject: cause.id.to_string(),
                text,
            },
        );
        let incident = Arc::new(incident);
        self.open.insert(incident.id, Arc::clone(&incident));
        IncidentEvent::Opened(incident)
    }

    fn open_unseen(
        &mut self,
        key: IncidentCause,
        front: &UnseenFront,
        about: About,
        now: Moment,
    ) -> IncidentEvent {
        let title = format!("cannot see {}", front.service);
        let mut incident = self.new_incident(key, title, front.since, now);
        incident.pages = true;
        incident.owner = about.owner;
        incident.reasons = vec![format!(
            "nobody on the map calls {}, and it gives no answer: whether users are served is not known",
            front.service
        )];
        let subject = front.service.to_string();
        let text = "became unknown".to_owned();
        note(
            &mut incident,
            TimelineEntry {
                at: front.since,
                subject,
                text,
            },
        );
        let incident = Arc::new(incident);
        self.open.insert(incident.id, Arc::clone(&incident));
        IncidentEvent::Opened(incident)
    }

    fn new_incident(
        &mut self,
        cause: IncidentCause,
        title: String,
        began_at: Moment,
        now: Moment,
    ) -> Incident {
        self.opened += 1;
        Incident {
            id: IncidentId(self.opened),
            cause_history: vec![CausePeriod {
                cause: cause.clone(),
                from: now,
                until: None,
            }],
            cause,
            state: None,
            confidence: 1.0,
            title,
            pages: false,
            owner: None,
            began_at,
            opened_at: now,
            resolved_at: None,
            resolution: None,
            unconfirmed: None,
            impacted: Vec::new(),
            evidence: Vec::new(),
            reasons: Vec::new(),
            alternatives: Vec::new(),
            timeline: Vec::new(),
        }
    }

    fn revise(
        &mut self,
        id: IncidentId,
        cause: &RootCause,
        diagnosis: &Diagnosis,
        about: About,
        now: Moment,
    ) -> Option<IncidentEvent> {
        let entry = self.open.get_mut(&id)?;
        let incident = Arc::make_mut(entry);
        let key = IncidentCause::Fault(cause.id.clone());
        if let Some(last) = incident.cause_history.last_mut() {
            last.until = Some(now);
        }
        if incident.cause_history.len() >= MAX_CAUSES {
            incident.cause_history.remove(1);
        }
        incident.cause_history.push(CausePeriod {
            cause: key.clone(),
            from: now,
            until: None,
        });
        let text = format!(
            "cause revised from {} to {key}: {}",
            incident.cause, cause.summary
        );
        incident.cause = key;
        note(
            incident,
            TimelineEntry {
                at: now,
                subject: cause.id.to_string(),
                text,
            },
        );
        take_over(incident, cause, diagnosis, about);
        Some(IncidentEvent::Revised(Arc::clone(entry)))
    }

    /// Resolves what has recovered, and marks what is merely not seen any more.
    fn close(
        &mut self,
        diagnosis: &Diagnosis,
        unseen: &[UnseenFront],
        context: &impl Context,
        now: Moment,
    ) -> Vec<IncidentEvent> {
        let mut done: Vec<(IncidentId, String)> = Vec::new();
        for (id, incident) in &mut self.open {
            let still_named = match &incident.cause {
                IncidentCause::Fault(_) => is_named(diagnosis, &incident.cause),
                IncidentCause::Unseen(name) => unseen.iter().any(|front| &front.service == name),
                IncidentCause::Observer => true,
            };
            if still_named {
                continue;
            }
            let last_bad = incident
                .evidence
                .iter()
                .map(|fact| fact.at)
                .max()
                .unwrap_or(incident.began_at);
            let explained_by = diagnosis
                .root_causes
                .iter()
                .find(|cause| explains(cause, &impacts(diagnosis, cause), incident));
            match (context.standing(incident, last_bad), explained_by) {
                (Standing::Good, _) => done.push((*id, "fresh evidence is good again".to_owned())),
                (Standing::Failing, Some(cause)) => {
                    done.push((*id, format!("explained by {}", cause.id)));
                }
                (Standing::Failing, None) => {
                    Arc::make_mut(incident).unconfirmed =
                        Some("its checks still fail, but too few to name the cause".to_owned());
                }
                (Standing::NoEvidence, _) => {
                    Arc::make_mut(incident).unconfirmed =
                        Some("no fresh evidence: nobody sees it fail or recover".to_owned());
                }
            }
        }
        done.into_iter()
            .filter_map(|(id, why)| self.resolve(id, why, now))
            .collect()
    }

    fn resolve(&mut self, id: IncidentId, why: String, now: Moment) -> Option<IncidentEvent> {
        let mut incident = Arc::unwrap_or_clone(self.open.remove(&id)?);
        incident.resolved_at = Some(now);
        incident.unconfirmed = None;
        if let Some(last) = incident.cause_history.last_mut() {
            last.until = Some(now);
        }
        let subject = incident.cause.to_string();
        let text = format!("resolved: {why}");
        note(
            &mut incident,
            TimelineEntry {
                at: now,
                subject,
                text,
            },
        );
        incident.resolution = Some(why);
        let incident = Arc::new(incident);
        self.resolved.push_front(Arc::clone(&incident));
        self.resolved.truncate(MAX_RESOLVED);
        Some(IncidentEvent::Resolved(incident))
    }
}

/// Whether the diagnosis names the cause, or suspects it.
fn is_named(diagnosis: &Diagnosis, key: &IncidentCause) -> bool {
    match key {
        IncidentCause::Fault(id) => diagnosis
            .root_causes
            .iter()
            .chain(&diagnosis.suspected)
            .any(|cause| &cause.id == id),
        IncidentCause::Unseen(_) | IncidentCause::Observer => false,
    }
}

fn impacts(diagnosis: &Diagnosis, cause: &RootCause) -> Vec<Impact> {
    diagnosis
        .impacted
        .iter()
        .filter(|impact| impact.cause == cause.id)
        .cloned()
        .collect()
}

/// `the aggregator itself cannot see 12 of 40 instances: no name resolves here`
fn observer_title(view: &ObserverView) -> String {
    format!(
        "the aggregator itself cannot see {} of {} instances: {}",
        view.blind_instances, view.instances, view.reason
    )
}

/// What it means: for whom nothing is known, and that nobody of them is blamed.
fn observer_reasons(view: &ObserverView) -> Vec<String> {
    let names: Vec<&str> = view.blind_to.iter().map(Name::as_str).collect();
    let shown = &names[..names.len().min(MAX_BLIND_NAMES)];
    let rest = names.len() - shown.len();
    let more = if rest > 0 {
        format!(" and {rest} more")
    } else {
        String::new()
    };
    vec![
        format!("it could not ask {}{more}", shown.join(", ")),
        "what it cannot ask keeps its status until it is too old and is unknown then; none of it is called failing".to_owned(),
    ]
}

/// Whether the cause accounts for what the incident was about: it reaches its subject, speaks of it, or rests on the
/// same checks.
fn explains(cause: &RootCause, impacted: &[Impact], incident: &Incident) -> bool {
    let IncidentCause::Fault(old) = &incident.cause else {
        return false;
    };
    if *old == cause.id {
        return false;
    }
    let subjects = cause.id.subjects();
    let speaks_of = old.subjects().into_iter().any(|name| {
        subjects.contains(&name) || impacted.iter().any(|impact| &impact.service == name)
    });
    let seen_by = |fact: &Fact| (fact.observer.clone(), fact.target.clone());
    let known: BTreeSet<_> = incident.evidence.iter().map(seen_by).collect();
    speaks_of
        || cause
            .evidence
            .iter()
            .any(|fact| known.contains(&seen_by(fact)))
}

/// Takes what the newest diagnosis says of the incident's cause.
fn take_over(incident: &mut Incident, cause: &RootCause, diagnosis: &Diagnosis, about: About) {
    let impacted = impacts(diagnosis, cause);
    // What its observer is not sure of may never have happened.
    for fact in cause.evidence.iter().filter(|fact| fact.decided) {
        let text = format!("{} sees {}: {}", fact.observer, fact.target, fact.why());
        let subject = fact.target.to_string();
        let known = incident.timeline.iter().any(|line| {
            let apart = (line.at - fact.since).max(fact.since - line.at);
            apart < SAME_ONSET && line.subject == subject && line.text == text
        });
        if !known && incident.timeline.len() < MAX_SIGHTINGS {
            note(
                incident,
                TimelineEntry {
                    at: fact.since,
                    subject,
                    text,
                },
            );
        }
    }
    incident.state = Some(cause.state);
    incident.confidence = cause.confidence;
    incident.title.clone_from(&cause.summary);
    incident.owner = about.owner;
    incident.began_at = incident.began_at.min(cause.since);
    let reaches_hard = impacted
        .iter()
        .any(|impact| impact.effect == ImpactEffect::Impacted);
    incident.pages = reaches_hard || about.entry_point;
    incident.impacted = impacted;
    incident.evidence.clone_from(&cause.evidence);
    incident.reasons.clone_from(&cause.reasons);
    incident.alternatives.clone_from(&cause.alternatives);
    incident.unconfirmed = None;
}

/// Adds a line in order of time. Where there is no room, the line after the first is forgotten.
fn note(incident: &mut Incident, entry: TimelineEntry) {
    if incident.timeline.len() >= MAX_TIMELINE {
        incident.timeline.remove(1);
    }
    let at = incident
        .timeline
        .partition_point(|line| line.at <= entry.at);
    incident.timeline.insert(at, entry);
}
