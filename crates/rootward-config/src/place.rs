//! Where something was written, and the log that collects what is wrong there.

use crate::problem::{Fault, MAX_PROBLEMS, Problem, Problems};
use crate::rule::Severity;
use crate::tree::Position;

/// A point in one of the sources, with the keys that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of the source.
    pub(crate) file: usize,
    pub(crate) at: Position,
    /// Where it ends, if it is one word or value.
    pub(crate) end: Option<Position>,
    pub(crate) path: String,
}

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// A key's value: not written, written and readable, or written and already reported as wrong. The third keeps one
/// mistake from being reported a second time by a check that would miss the value.
#[derive(Debug, Clone)]
pub(crate) enum Field<T> {
    Absent,
    Refused,
    Given(Located<T>),
}

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<&Located<T>> {
        match self {
            Self::Given(located) => Some(located),
            Self::Absent | Self::Refused => None,
        }
    }

    pub(crate) fn value(&self) -> Option<&T> {
        self.given().map(|located| &located.value)
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// Collects problems and warnings from all sources.
#[derive(Debug)]
pub(crate) struct Log {
    files: Vec<String>,
    problems: Vec<(usize, Problem)>,
    left_out: usize,
    warnings: Vec<(usize, Problem)>,
    searches_left: usize,
}

/// How many misspelt names are told which one was meant.
const MAX_SEARCHES: usize = 100;

impl Log {
    pub(crate) fn new(files: Vec<String>) -> Self {
        Self {
            files,
            problems: Vec::new(),
            left_out: 0,
            warnings: Vec::new(),
            searches_left: MAX_SEARCHES,
        }
    }

    /// One more file that problems may be in; returns its index.
    pub(crate) fn add(&mut self, file: String) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    pub(crate) fn problem(&mut self, place: &Place, fault: Fault) {
        debug_assert_eq!(fault.rule.severity(), Severity::Error, "{fault:?}");
        if self.problems.len() == MAX_PROBLEMS {
            self.left_out += 1;
        } else {
            let problem = self.locate(place, fault);
            self.problems.push((place.file, problem));
        }
    }

    pub(crate) fn warning(&mut self, place: &Place, fault: Fault) {
        debug_assert_eq!(fault.rule.severity(), Severity::Warning, "{fault:?}");
        if self.warnings.len() < MAX_PROBLEMS {
            let warning = self.locate(place, fault);
            self.warnings.push((place.file, warning));
        }
    }

    /// Whether one more name may be searched for among all that there are: a file of ten thousand wrong names would
    /// otherwise take their product.
    pub(crate) fn may_search(&mut self) -> bool {
        let left = self.searches_left.checked_sub(1);
        self.searches_left = left.unwrap_or(0);
        left.is_some()
    }

    /// `4:9`, or `other.yaml:4:9` when that is not the file that the reader is looking at.
    pub(crate) fn reference(&self, to: &Place, from: &Place) -> String {
        let Position { line, column } = to.at;
        if to.file == from.file {
            format!("{line}:{column}")
        } else {
            format!("{}:{line}:{column}", self.files[to.file])
        }
    }

    /// The warnings if nothing is wrong, else everything that is.
    pub(crate) fn finish(self) -> Result<Vec<Problem>, Problems> {
        if self.problems.is_empty() {
            Ok(in_order(self.warnings))
        } else {
            Err(Problems::new(in_order(self.problems), self.left_out))
        }
    }

    /// How many problems there are so far.
    pub(crate) fn count(&self) -> usize {
        self.problems.len() + self.left_out
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    fn locate(&self, place: &Place, fault: Fault) -> Problem {
        Problem {
            file: self.files[place.file].clone(),
            line: place.at.line,
            column: place.at.column,
            path: place.path.clone(),
            message: fault.message,
            help: fault.help,
            rule: fault.rule,
            end: place.end.map(|end| (end.line, end.column)),
            nearest: fault.nearest,
        }
    }
}

/// By file, line and column; what was found first stays first where these are equal.
fn in_order(mut found: Vec<(usize, Problem)>) -> Vec<Problem> {
    found.sort_by_key(|(file, problem)| (*file, problem.line, problem.column));
    found.into_iter().map(|(_, problem)| problem).collect()
}
