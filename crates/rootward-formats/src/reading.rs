//! What an answer was understood to say. No text of the service is in it but the names of components.

use std::fmt;

use rootward_core::{CheckStatus, ErrorCategory};

use crate::Format;

/// The most components that are listed. More than that count for the whole and are not named.
pub const MAX_COMPONENTS: usize = 1000;

/// Longer names of components are cut to so many bytes.
pub const MAX_NAME_BYTES: usize = 200;

/// How the service is, by its own answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overall {
    /// It works.
    Healthy,
    /// It works with something missing.
    Degraded,
    /// It does not work.
    Unhealthy,
    /// It has not begun to work yet.
    Starting,
    /// The answer does not tell.
    Unknown,
}

impl Overall {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Unhealthy => "unhealthy",
            Self::Starting => "starting",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Overall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who took the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TakenBy {
    /// The reader of a format.
    Format(Format),
    /// None: it begins like JSON and is none, or it is no text.
    Nobody,
}

impl TakenBy {
    /// The name of the format, or `malformed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Format(format) => format.as_str(),
            Self::Nobody => "malformed",
        }
    }
}

/// One component of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name, `parent/child` where components are nested; without control characters and passwords, at most
    /// [`MAX_NAME_BYTES`] long, unique in the reading.
    pub name: String,
    /// How it is.
    pub status: CheckStatus,
    /// Why, where a text makes it clear.
    pub error_category: Option<ErrorCategory>,
}

/// An answer as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Who took it.
    pub format: TakenBy,
    /// How the service is.
    pub overall: Overall,
    /// Its components, in the order of the answer; at most [`MAX_COMPONENTS`].
    pub components: Vec<Component>,
    /// Why the whole is as it is, where no component says it.
    pub error_category: Option<ErrorCategory>,
    /// In words of our own, how this reading came about.
    pub why: String,
}

impl Reading {
    /// Whether the body is broken: it begins like JSON and is none, or it is no text.
    #[must_use]
    pub const fn is_malformed(&self) -> bool {
        matches!(self.format, TakenBy::Nobody)
    }
}
