//! Why a line is not a line of a scenario.

use thiserror::Error;

/// A sentence that says which line is wrong, what was found and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}{what}")]
pub struct Problem {
    place: Place,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Line(usize),
    Whole,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}: "),
            Self::Whole => Ok(()),
        }
    }
}

impl Problem {
    pub(super) fn at(line: usize, what: String) -> Self {
        let place = Place::Line(line);
        Self { place, what }
    }

    pub(super) fn whole(what: &str) -> Self {
        let (place, what) = (Place::Whole, what.to_owned());
        Self { place, what }
    }

    pub(super) fn unwritable() -> Self {
        Self::whole("a number in it is infinite or no number, which JSON cannot say")
    }

    /// The number of the line, counted from 1, if one line is to blame.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self.place {
            Place::Line(number) => Some(number),
            Place::Whole => None,
        }
    }
}
