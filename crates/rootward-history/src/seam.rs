//! The seam between those who decide what happened and those who ask about it later.

use std::fmt::Debug;
use std::sync::Arc;

use rootward_core::incident::{Incident, IncidentEvent, IncidentId};
use rootward_core::snapshot::Transition;

use crate::Error;

/// Where changes go. One owner; calls come in the order of what happened.
///
/// ```
/// use rootward_core::snapshot::{Subject, Transition};
/// use rootward_core::{Moment, Name};
/// use rootward_history::{History, Memory};
///
/// let mut history = Memory::new();
/// let reader = history.reader();
/// history.record(&Transition {
///     at: Moment::from_millis(1_200),
///     subject: Subject::Service(Name::parse("cart").unwrap()),
///     from: "healthy",
///     to: "unhealthy",
///     reason: "1 of 1 instances unhealthy".into(),
/// })?;
/// assert_eq!(reader.transitions(10)?.len(), 1);
/// # Ok::<(), rootward_history::Error>(())
/// ```
pub trait History: Debug + Send {
    /// Remembers a change of status.
    ///
    /// # Errors
    /// When it could not be remembered. The caller says so and goes on: nothing is judged by what is remembered.
    fn record(&mut self, transition: &Transition) -> Result<(), Error>;

    /// Remembers what happened to an incident. Of one incident the newest event is what readers get; an incident
    /// that was never opened here is taken as it comes.
    ///
    /// # Errors
    /// As for [`History::record`].
    fn record_incident(&mut self, event: &IncidentEvent) -> Result<(), Error>;

    /// A way to ask what is remembered, which sees each change as soon as `record` has returned.
    fn reader(&self) -> Arc<dyn Reader>;
}

/// What can be asked, by anybody, from any thread.
pub trait Reader: Debug + Send + Sync {
    /// The newest changes of status, newest first, at most `limit`.
    ///
    /// # Errors
    /// When the store could not be asked.
    fn transitions(&self, limit: usize) -> Result<Vec<Transition>, Error>;

    /// The incidents that were opened last, newest first, at most `limit`, each as of its newest event.
    ///
    /// # Errors
    /// When the store could not be asked.
    fn incidents(&self, limit: usize) -> Result<Vec<Arc<Incident>>, Error>;

    /// One incident as of its newest event; `None` if it is not remembered.
    ///
    /// # Errors
    /// When the store could not be asked.
    fn incident(&self, id: IncidentId) -> Result<Option<Arc<Incident>>, Error>;
}
