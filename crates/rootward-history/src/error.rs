//! What can go wrong with a store.

use std::error::Error as Source;

/// A store could not remember, or could not be asked.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}")]
pub struct Error {
    kind: ErrorKind,
    /// What was attempted and on what, in lower case.
    attempt: String,
    source: Option<Box<dyn Source + Send + Sync>>,
}

/// What kind of trouble it is: what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The store cannot be reached or is full. The same call may succeed later.
    Unavailable,
    /// What is stored makes no sense. Calling again will not help.
    Corrupt,
}

impl Error {
    /// An error of a store: what it attempted (`failed to remember a transition of service:cart`) and why it failed.
    #[must_use]
    pub fn new(
        kind: ErrorKind,
        attempt: impl Into<String>,
        source: Option<Box<dyn Source + Send + Sync>>,
    ) -> Self {
        Self {
            kind,
            attempt: attempt.into(),
            source,
        }
    }

    /// What kind of trouble it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}
