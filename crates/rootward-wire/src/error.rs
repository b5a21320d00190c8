//! Why a body was not read, in a sentence that is safe to show: our own words, field names and numbers.

use rootward_core::NameError;

/// A body that is not what the contract says.
///
/// The text holds nothing that the sender wrote, except words and names that are short and printable; `source` has
/// the parser's own error for the log.
///
/// ```
/// use rootward_core::Moment;
/// let refused = rootward_wire::v1::read(br#"{"status":"UP"}"#, Moment::ZERO).unwrap_err();
/// assert_eq!(refused.to_string(), "not a rootward report: it has no field `contract`");
/// assert!(refused.is_other_contract());
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ReadError(#[from] Kind);

impl ReadError {
    /// The body is larger than what is read at all.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.0, Kind::TooLarge { .. })
    }

    /// The body is not JSON.
    #[must_use]
    pub fn is_not_json(&self) -> bool {
        matches!(
            self.0,
            Kind::Empty | Kind::NotUtf8 { .. } | Kind::Syntax { .. }
        )
    }

    /// The body is JSON but does not say that it is a report of this contract.
    #[must_use]
    pub fn is_other_contract(&self) -> bool {
        matches!(self.0, Kind::NoContract | Kind::Contract { .. })
    }

    /// The body says that it is a report of this contract, and is not.
    #[must_use]
    pub fn is_violation(&self) -> bool {
        matches!(
            self.0,
            Kind::Missing { .. }
                | Kind::Twice { .. }
                | Kind::Shape { .. }
                | Kind::Status { .. }
                | Kind::Name { .. }
                | Kind::TooMany { .. }
                | Kind::Duplicate { .. }
                | Kind::Range { .. }
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("the body has {bytes} bytes, at most {max} are read")]
    TooLarge { bytes: usize, max: usize },
    #[error("the body is empty")]
    Empty,
    #[error("the body is not UTF-8 from byte {at} on")]
    NotUtf8 { at: usize },
    #[error("the body is not JSON: it stops making sense at line {line}, column {column}")]
    Syntax {
        line: usize,
        column: usize,
        source: serde_json::Error,
    },
    #[error("not a rootward report: it has no field `contract`")]
    NoContract,
    #[error("the report speaks contract {found:?}, this reader knows {known:?}")]
    Contract { found: String, known: &'static str },
    #[error("{place} has no field `{field}`")]
    Missing { place: String, field: String },
    #[error("{place} has the field `{field}` twice")]
    Twice { place: String, field: String },
    #[error("{place} is not {expected} (line {line}, column {column})")]
    Shape {
        place: String,
        expected: String,
        line: usize,
        column: usize,
        source: serde_json::Error,
    },
    #[error("status {word:?} is none of healthy, degraded, unhealthy, starting")]
    Status { word: Box<str> },
    #[error("{place} is not a name: {source}")]
    Name { place: String, source: NameError },
    #[error("{place} has more than {max} entries")]
    TooMany { place: &'static str, max: usize },
    #[error("two components are named {name}")]
    Duplicate { name: String },
    #[error("{place} is beyond belief: it must be from 0 to one hundred years, in milliseconds")]
    Range { place: String },
}
