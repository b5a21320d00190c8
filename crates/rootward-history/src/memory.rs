//! The store that forgets at exit: two bounded queues behind one lock.
//!
//! The lock is held for a push or for copying what was asked for, never across anything that waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rootward_core::incident::{Incident, IncidentEvent, IncidentId};
use rootward_core::snapshot::Transition;

use crate::{Error, History, Reader};

/// Changes of status that are kept; the oldest is forgotten first.
pub const MAX_TRANSITIONS: usize = 10_000;

/// Incidents that are kept; the oldest resolved one is forgotten first, an open one only when all are open.
pub const MAX_INCIDENTS: usize = 1_000;

/// Remembers until the process ends: the newest [`MAX_TRANSITIONS`] and [`MAX_INCIDENTS`]. Never fails.
#[derive(Debug, Default)]
pub struct Memory {
    kept: Arc<Kept>,
}

impl Memory {
    /// Remembers nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl History for Memory {
    fn record(&mut self, transition: &Transition) -> Result<(), Error> {
        self.kept.write().add_transition(transition.clone());
        Ok(())
    }

    fn record_incident(&mut self, event: &IncidentEvent) -> Result<(), Error> {
        self.kept.write().put_incident(Arc::clone(event.incident()));
        Ok(())
    }

    fn reader(&self) -> Arc<dyn Reader> {
        Arc::<Kept>::clone(&self.kept)
    }
}

/// What owner and readers share.
#[derive(Debug, Default)]
struct Kept {
    shelves: RwLock<Shelves>,
}

#[derive(Debug, Default)]
struct Shelves {
    /// Oldest first.
    transitions: VecDeque<Transition>,
    /// By key, which counts up in order of opening.
    incidents: BTreeMap<IncidentId, Arc<Incident>>,
}

impl Kept {
    // A panic while the lock was held cannot leave half a change behind, so a poisoned lock is still good.
    fn read(&self) -> RwLockReadGuard<'_, Shelves> {
        self.shelves.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelves> {
        self.shelves.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelves {
    fn add_transition(&mut self, transition: Transition) {
        if self.transitions.len() == MAX_TRANSITIONS {
            self.transitions.pop_front();
        }
        self.transitions.push_back(transition);
    }

    fn put_incident(&mut self, incident: Arc<Incident>) {
        self.incidents.insert(incident.id, incident);
        if self.incidents.len() > MAX_INCIDENTS {
            let oldest_resolved = self
                .incidents
                .values()
                .find(|kept| kept.resolved_at.is_some())
                .map(|kept| kept.id);
            match oldest_resolved {
                Some(id) => drop(self.incidents.remove(&id)),
                None => drop(self.incidents.pop_first()),
            }
        }
    }
}

impl Reader for Kept {
    fn transitions(&self, limit: usize) -> Result<Vec<Transition>, Error> {
        let shelves = self.read();
        Ok(shelves
            .transitions
            .iter()
            .rev()
            .take(limit)
            .cloned()
            .collect())
    }

    fn incidents(&self, limit: usize) -> Result<Vec<Arc<Incident>>, Error> {
        let shelves = self.read();
        let newest_first = shelves.incidents.values().rev();
        Ok(newest_first.take(limit).cloned().collect())
    }

    fn incident(&self, id: IncidentId) -> Result<Option<Arc<Incident>>, Error> {
        Ok(self.read().incidents.get(&id).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn memory_keeps_the_contract() {
        contract::check(Memory::new);
    }

    #[test]
    fn the_oldest_transition_is_forgotten_first() {
        let mut history = Memory::new();
        for millis in 0..=MAX_TRANSITIONS as u64 {
            history.record(&contract::transition(millis)).unwrap();
        }
        let kept = history.reader().transitions(usize::MAX).unwrap();
        assert_eq!(kept.len(), MAX_TRANSITIONS);
        assert_eq!(kept.last().map(|t| t.at.as_millis()), Some(1));
    }

    #[test]
    fn an_open_incident_outlives_a_thousand_resolved_ones() {
        let mut history = Memory::new();
        history
            .record_incident(&IncidentEvent::Opened(Arc::new(contract::incident(1))))
            .unwrap();
        for number in 2..=MAX_INCIDENTS as u64 + 5 {
            let resolved = contract::resolved(contract::incident(number));
            history
                .record_incident(&IncidentEvent::Resolved(Arc::new(resolved)))
                .unwrap();
        }
        let reader = history.reader();
        assert_eq!(reader.incidents(usize::MAX).unwrap().len(), MAX_INCIDENTS);
        assert!(reader.incident(IncidentId(1)).unwrap().is_some());
        assert!(reader.incident(IncidentId(2)).unwrap().is_none());
    }
}
