//! Writes the history, and knows whether that works.
//!
//! A change that cannot be written is lost to the history, and only to it: nothing is judged by what is remembered,
//! so the loop goes on. It is said once in the log, counted, and shown by readiness until a write succeeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rootward_core::incident::IncidentEvent;
use rootward_core::snapshot::Transition;
use rootward_history::{Error, History, Reader};

use crate::events;

/// The history and how writing it went.
#[derive(Debug)]
pub(crate) struct Ledger {
    history: Box<dyn History>,
    failing: Arc<AtomicBool>,
    /// Changes lost since writing last worked.
    lost: u64,
}

/// Whether the newest write failed, for those who do not write.
#[derive(Debug, Clone)]
pub(crate) struct WriteHealth(Arc<AtomicBool>);

impl WriteHealth {
    pub(crate) fn is_failing(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Ledger {
    pub(crate) fn new(history: Box<dyn History>) -> Self {
        Self {
            history,
            failing: Arc::default(),
            lost: 0,
        }
    }

    pub(crate) fn reader(&self) -> Arc<dyn Reader> {
        self.history.reader()
    }

    pub(crate) fn write_health(&self) -> WriteHealth {
        WriteHealth(Arc::clone(&self.failing))
    }

    /// Returns whether it was written.
    pub(crate) fn record(&mut self, transition: &Transition) -> bool {
        let result = self.history.record(transition);
        self.note(result)
    }

    /// Returns whether it was written.
    pub(crate) fn record_incident(&mut self, event: &IncidentEvent) -> bool {
        let result = self.history.record_incident(event);
        self.note(result)
    }

    fn note(&mut self, result: Result<(), Error>) -> bool {
        match result {
            Ok(()) => {
                if self.lost > 0 {
                    events::history_recovered(self.lost);
                    self.lost = 0;
                    self.failing.store(false, Ordering::Relaxed);
                }
                true
            }
            Err(error) => {
                if self.lost == 0 {
                    events::history_failed(&error);
                    self.failing.store(true, Ordering::Relaxed);
                }
                self.lost += 1;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::snapshot::Subject;
    use rootward_core::{Moment, Name};
    use rootward_history::{ErrorKind, Memory};

    use super::*;

    /// Fails for the given number of writes, then works.
    #[derive(Debug)]
    struct Failing(u32, Memory);

    impl History for Failing {
        fn record(&mut self, transition: &Transition) -> Result<(), Error> {
            if self.0 > 0 {
                self.0 -= 1;
                return Err(Error::new(ErrorKind::Unavailable, "the disk is full", None));
            }
            self.1.record(transition)
        }

        fn record_incident(&mut self, event: &IncidentEvent) -> Result<(), Error> {
            self.1.record_incident(event)
        }

        fn reader(&self) -> Arc<dyn Reader> {
            self.1.reader()
        }
    }

    #[test]
    fn a_failed_write_shows_until_one_succeeds_and_stops_nothing() {
        let transition = Transition {
            at: Moment::ZERO,
            subject: Subject::Service(Name::parse("cart").unwrap()),
            from: "unknown",
            to: "healthy",
            reason: "all 1 instances healthy".into(),
        };
        let mut ledger = Ledger::new(Box::new(Failing(2, Memory::new())));
        let health = ledger.write_health();
        assert!(!health.is_failing());
        assert!(!ledger.record(&transition));
        assert!(!ledger.record(&transition));
        assert!(health.is_failing());
        assert!(ledger.record(&transition));
        assert!(!health.is_failing());
        assert_eq!(ledger.reader().transitions(9).unwrap().len(), 1);
    }
}
