//! The observer's own trouble: what it may look like from inside, what its self checks say, and what readers are told.
//!
//! Much that fails at once with errors that are made on this machine is more likely our failure than that of many others.
//! Then self checks are asked for before anything is recorded. What they confirm is an observer fault: it is shown as
//! ours and never as a target's.

use crate::moment::Moment;
use crate::name::Name;

/// On which side a poll without an answer failed, as far as its error tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Over there: it was asked, and refused, broke off or kept silent.
    There,
    /// There or here: the error is made on this machine and may have its reason elsewhere.
    Unclear(Doubt),
    /// Here, without doubt: no file descriptor or local port was left to ask with. Says nothing about the target.
    Here,
}

/// What an error of this machine speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The name did not resolve.
    Name,
    /// There was no route.
    Route,
    /// Nothing came, not even a refusal.
    Silence,
}

/// What one self check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelfCheck {
    /// There was nothing to try.
    NotTried,
    /// It works.
    Works,
    /// It does not.
    Fails,
}

/// What the self checks say, tried at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelfChecks {
    /// Whether a file descriptor can be had.
    pub descriptors: SelfCheck,
    /// Whether loopback accepts a connection.
    pub loopback: SelfCheck,
    /// Whether any name resolves of those that targets have.
    pub names: SelfCheck,
    /// Whether anybody answers of those who are configured as `aggregator.self_checks`.
    pub references: SelfCheck,
}

/// How the observer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObserverState {
    /// Nothing speaks against it.
    Sees,
    /// Much failed at once; self checks are under way and nothing is recorded meanwhile.
    Suspect,
    /// It is its own trouble.
    Fault,
    /// Much fails at once, and it is not the observer's trouble.
    Refused,
}

impl ObserverState {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sees => "sees",
            Self::Suspect => "suspect",
            Self::Fault => "fault",
            Self::Refused => "refused",
        }
    }
}

/// How the observer stands, for readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObserverView {
    /// In a word.
    pub state: ObserverState,
    /// Since when it is anything but seeing.
    pub since: Option<Moment>,
    /// Why, in a sentence; empty while it sees.
    pub reason: String,
    /// Instances that could not be asked.
    pub blind_instances: usize,
    /// Instances that are polled.
    pub instances: usize,
    /// The services of those that could not be asked, by name.
    pub blind_to: Vec<Name>,
}

impl ObserverView {
    /// Nothing speaks against it.
    pub const SEES: Self = Self {
        state: ObserverState::Sees,
        since: None,
        reason: String::new(),
        blind_instances: 0,
        instances: 0,
        blind_to: Vec::new(),
    };

    /// Whether the trouble is the observer's own.
    #[must_use]
    pub const fn is_fault(&self) -> bool {
        matches!(self.state, ObserverState::Fault)
    }
}
