//! From the core's snapshot to the shapes of the API: what several answers share.
//!
//! A [`View`] is one snapshot and one reading of the clock, so every time and age in an answer is taken at the same
//! moment. Lists that could be long are cut here, by bounds that have a name.

use rootward_core::diagnosis::{Fact, Impact};
use rootward_core::incident::Incident;
use rootward_core::snapshot::Snapshot;
use rootward_core::{Moment, Name};
use rootward_wire::v1::api;
use rootward_wire::{Time, Word, WordSet};

use crate::clock::Reading;
use crate::words;

/// Facts for or against one cause that an answer lists. How many speak for it is said in the diagnosis.
const MAX_EVIDENCE: usize = 50;

/// A snapshot at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) reading: Reading,
}

impl View<'_> {
    pub(super) fn now(self) -> Time {
        self.time(self.reading.now())
    }

    pub(super) fn time(self, moment: Moment) -> Time {
        self.reading.time(moment)
    }

    pub(super) fn age_ms(self, moment: Moment) -> u64 {
        self.reading.age_ms(moment)
    }

    /// Who answers for a node, by the map.
    pub(super) fn owner(self, name: &Name) -> Option<String> {
        let map = &self.snapshot.map;
        let node = map.find(name.as_str())?;
        map.node(node).owner.clone()
    }

    pub(super) fn evidence(self, facts: &[Fact]) -> Vec<api::Evidence> {
        let shown = facts.iter().take(MAX_EVIDENCE);
        shown.map(|fact| self.fact(fact)).collect()
    }

    pub(super) fn fact(self, fact: &Fact) -> api::Evidence {
        let why = fact.error.as_deref().map(str::to_owned);
        let why = why.or_else(|| fact.category.map(|category| category.phrase().to_owned()));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let age = words::duration(self.reading.age(fact.at));
        let sure = if fact.decided {
            ""
        } else {
            ", its observer is not sure yet"
        };
        let Fact {
            observer,
            target,
            status,
            ..
        } = fact;
        api::Evidence {
            observer: observer.clone(),
            target: target.to_string(),
            status: Word::from(*status),
            error_category: fact.category.map(Word::from),
            error: fact.error.as_deref().map(str::to_owned),
            undecided: !fact.decided,
            since: Some(self.time(fact.since)),
            age_ms: Some(self.age_ms(fact.at)),
            text: format!("{observer} -> {target} {status}{why} ({age} ago{sure})"),
        }
    }

    pub(super) fn incident(self, incident: &Incident) -> api::Incident {
        let end = incident.resolved_at.unwrap_or(self.reading.now());
        let state = match incident.resolved_at {
            Some(_) => api::IncidentState::Resolved,
            None => api::IncidentState::Open,
        };
        let periods = incident.cause_history.iter();
        let entries = incident.timeline.iter();
        api::Incident {
            id: incident.id.to_string(),
            state: Word::from(state),
            title: incident.title.clone(),
            cause: incident.cause.to_string(),
            kind: word(incident.cause.kind()),
            cause_state: incident.state.map(|state| word(state.as_str())),
            confidence: incident.confidence,
            pages: incident.pages,
            owner: incident.owner.clone(),
            began_at: self.time(incident.began_at),
            opened_at: self.time(incident.opened_at),
            resolved_at: incident.resolved_at.map(|at| self.time(at)),
            duration_ms: end
                .as_millis()
                .saturating_sub(incident.began_at.as_millis()),
            resolution: incident.resolution.clone(),
            unconfirmed: incident.unconfirmed.clone(),
            cause_history: periods
                .map(|period| api::CausePeriod {
                    cause: period.cause.to_string(),
                    from: self.time(period.from),
                    until: period.until.map(|until| self.time(until)),
                })
                .collect(),
            impacted: incident.impacted.iter().map(impact_of_anybody).collect(),
            evidence: self.evidence(&incident.evidence),
            reasons: incident.reasons.clone(),
            alternatives: incident.alternatives.iter().map(text).collect(),
            timeline: entries
                .map(|entry| api::TimelineEntry {
                    at: self.time(entry.at),
                    subject: entry.subject.clone(),
                    text: entry.text.clone(),
                })
                .collect(),
        }
    }
}

/// An impact in a list about one service.
pub(super) fn impact(impact: &Impact) -> api::Impact {
    api::Impact {
        service: None,
        cause: impact.cause.to_string(),
        effect: word(impact.effect.as_str()),
        path: impact.path.iter().map(text).collect(),
    }
}

/// An impact in a list that mixes services.
pub(super) fn impact_of_anybody(reaching: &Impact) -> api::Impact {
    api::Impact {
        service: Some(reaching.service.to_string()),
        ..impact(reaching)
    }
}

/// A word of a vocabulary that core and API share by its spelling.
pub(super) fn word<T: WordSet>(spelling: &str) -> Word<T> {
    Word::read(spelling)
}

pub(super) fn text<T: ToString>(value: &T) -> String {
    value.to_string()
}

pub(super) fn count(number: usize) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use rootward_core::ObserverState;
    use rootward_core::diagnosis::{CauseId, CauseState, ImpactEffect};
    use rootward_core::incident::IncidentCause;
    use rootward_core::snapshot::{LabelSource, PollWord};

    use super::*;
    use crate::sample;

    fn is_known<T: WordSet>(spelling: &str) {
        let word = word::<T>(spelling);
        assert!(word.known().is_some(), "the API has no word {spelling}");
    }

    #[test]
    fn core_and_api_spell_their_words_alike() {
        for state in [
            CauseState::Degraded,
            CauseState::Intermittent,
            CauseState::Cut,
            CauseState::Down,
        ] {
            is_known::<api::CauseState>(state.as_str());
        }
        for effect in [ImpactEffect::Degraded, ImpactEffect::Impacted] {
            is_known::<api::ImpactEffect>(effect.as_str());
        }
        for source in [LabelSource::Report, LabelSource::Map, LabelSource::None] {
            is_known::<api::LabelSource>(source.as_str());
        }
        for outcome in [
            PollWord::Report,
            PollWord::NoAnswer,
            PollWord::ErrorStatus,
            PollWord::Malformed,
        ] {
            is_known::<api::PollOutcome>(outcome.as_str());
        }
        let (service, instance) = (sample::name("cart"), sample::id("cart", "0"));
        for cause in [
            CauseId::Node(service.clone()),
            CauseId::Instance(instance.clone()),
            CauseId::Edge {
                from: service.clone(),
                to: service.clone(),
            },
            CauseId::InstanceEdge {
                from: instance,
                to: service.clone(),
            },
            CauseId::Host(service.clone()),
            CauseId::Zone(service.clone()),
            CauseId::Poller(service.clone()),
            CauseId::Version {
                service: service.clone(),
                version: service.clone(),
            },
        ] {
            is_known::<api::CauseKind>(cause.kind());
        }
        is_known::<api::CauseKind>(IncidentCause::Unseen(service).kind());
        is_known::<api::CauseKind>(IncidentCause::Observer.kind());
        for state in [
            ObserverState::Sees,
            ObserverState::Suspect,
            ObserverState::Fault,
            ObserverState::Refused,
        ] {
            is_known::<api::ObserverState>(state.as_str());
        }
    }
}
