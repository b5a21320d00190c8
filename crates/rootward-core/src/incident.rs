//! Incidents: a cause over time.
//!
//! An incident is an episode with one key. Its cause is an attribute that may be revised, and the revisions are kept.
//! It opens when a cause is named, and resolves only on evidence that the cause is gone: silence is not recovery.

use std::fmt;
use std::sync::Arc;

use crate::diagnosis::{CauseId, CauseState, Fact, Impact};
use crate::moment::Moment;
use crate::name::Name;

mod book;

pub use book::{About, Context, IncidentBook, MAX_CAUSES, MAX_TIMELINE, Standing, UnseenFront};

/// The key of an incident, written `inc-7`; counted from 1 since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IncidentId(pub u64);

impl fmt::Display for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inc-{}", self.0)
    }
}

/// What an incident is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IncidentCause {
    /// A fault that the diagnosis names.
    Fault(CauseId),
    /// An entry point that has not been seen for too long.
    Unseen(Name),
    /// The aggregator itself cannot see.
    Observer,
}

impl IncidentCause {
    /// The word for the kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Fault(id) => id.kind(),
            Self::Unseen(_) => "unseen",
            Self::Observer => "observer",
        }
    }
}

impl fmt::Display for IncidentCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(id) => write!(f, "{id}"),
            Self::Unseen(name) => write!(f, "unseen:{name}"),
            Self::Observer => f.write_str("observer:aggregator"),
        }
    }
}

/// Which cause was suspected from when until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CausePeriod {
    /// What was suspected.
    pub cause: IncidentCause,
    /// From when.
    pub from: Moment,
    /// Until when; `None` while it is.
    pub until: Option<Moment>,
}

/// One line of what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// When it happened (not when it was noticed).
    pub at: Moment,
    /// What it is about.
    pub subject: String,
    /// A sentence.
    pub text: String,
}

/// An episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// Its key.
    pub id: IncidentId,
    /// What it is about now.
    pub cause: IncidentCause,
    /// How bad the cause is; `None` for an entry point that is not seen, of which nothing is known.
    pub state: Option<CauseState>,
    /// How sure the diagnosis is, between 0 and 1.
    pub confidence: f64,
    /// One sentence.
    pub title: String,
    /// Whether a person would be called: false for causes that only soft or informational edges reach.
    pub pages: bool,
    /// Who answers for the cause.
    pub owner: Option<String>,
    /// When the first evidence began.
    pub began_at: Moment,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it was resolved.
    pub resolved_at: Option<Moment>,
    /// Why it was resolved, in a sentence.
    pub resolution: Option<String>,
    /// Why it is still open though its cause is not seen any more.
    pub unconfirmed: Option<String>,
    /// The causes it had, in order; at most [`MAX_CAUSES`], the first and the newest.
    pub cause_history: Vec<CausePeriod>,
    /// Whom it reaches, by the last diagnosis that named it.
    pub impacted: Vec<Impact>,
    /// What it rests on, by the last diagnosis that named it.
    pub evidence: Vec<Fact>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What else it could be.
    pub alternatives: Vec<CauseId>,
    /// What happened, oldest first; at most [`MAX_TIMELINE`] lines, the first and the newest.
    pub timeline: Vec<TimelineEntry>,
}

/// What happened to an incident; goes to the history.
#[derive(Debug, Clone, PartialEq)]
pub enum IncidentEvent {
    /// It was opened.
    Opened(Arc<Incident>),
    /// Its cause was revised.
    Revised(Arc<Incident>),
    /// It was resolved.
    Resolved(Arc<Incident>),
}

impl IncidentEvent {
    /// The incident as it is after the event.
    #[must_use]
    pub const fn incident(&self) -> &Arc<Incident> {
        match self {
            Self::Opened(incident) | Self::Revised(incident) | Self::Resolved(incident) => incident,
        }
    }
}
