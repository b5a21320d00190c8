//! What a check answers: that it is up, that it works but worse than it should, or why it failed.
//!
//! A failure has two texts for two readers. What anybody may see is a category and a [`Reason`], which can only be
//! made of words written in the source and of numbers. What the other side said, with its hosts, users and
//! statements, is kept as detail and goes to the service's own log and nowhere else.

use std::error::Error as StdError;
use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use rootward_core::ErrorCategory;
use rootward_wire::text::{cut, shown};

use crate::redact::redact;

/// The longest reason shown in a report, in bytes: 256. What is longer is cut, between characters.
///
/// ```
/// use rootward::{MAX_REASON_BYTES, Reason};
///
/// let reason = (0..100_u32).fold(Reason::new("late:"), |reason, shard| reason.number(shard));
/// assert_eq!(reason.as_str().len(), MAX_REASON_BYTES);
/// ```
pub const MAX_REASON_BYTES: usize = 256;

/// The longest detail of a failure that is written to the log, in bytes: 4096. What is longer is cut, between
/// characters.
pub const MAX_DETAIL_BYTES: usize = 4096;

/// How many causes of an error are written to the log.
const MAX_CAUSES: usize = 8;

/// A check that ended without a failure: good, or good enough to go on.
///
/// `()` becomes [`Outcome::Up`], so a check that has nothing to add ends with `Ok(())`.
///
/// ```
/// use rootward::{Check, ErrorCategory, Failure, Outcome};
/// # fn free_percent() -> u32 { 50 }
///
/// let disk = Check::new("disk", || async {
///     match free_percent() {
///         0..2 => Err(Failure::new(ErrorCategory::ResourceExhausted)),
///         2..10 => Ok(Outcome::degraded(ErrorCategory::ResourceExhausted, "little space is left")),
///         _ => Ok(Outcome::Up),
///     }
/// });
/// ```
#[derive(Debug)]
pub enum Outcome {
    /// Good.
    Up,
    /// It works, but worse than it should; why is said as for a failure.
    Degraded(Failure),
}

impl Outcome {
    /// It works, but worse than it should.
    ///
    /// ```
    /// use rootward::{ErrorCategory, Outcome, Reason};
    /// let outcome = Outcome::degraded(
    ///     ErrorCategory::ResourceExhausted,
    ///     Reason::new("free space is").number(4).text("percent"),
    /// );
    /// # let Outcome::Degraded(failure) = outcome else { unreachable!() };
    /// # assert_eq!(failure.to_string(), "free space is 4 percent");
    /// ```
    #[must_use]
    pub fn degraded(category: ErrorCategory, reason: impl Into<Reason>) -> Self {
        Self::Degraded(Failure::new(category).because(reason))
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Up
    }
}

/// Why a check failed.
///
/// Every error converts into one with `?`: its category is `unknown`, and its text goes to the log only.
///
/// ```
/// use rootward::{ErrorCategory, Failure, Reason};
///
/// fn read() -> Result<(), Failure> {
///     std::fs::read("/nonexistent/password-of-alice")?;
///     Ok(())
/// }
/// // What a report shows holds nothing of the error.
/// assert_eq!(read().unwrap_err().to_string(), "failed");
///
/// let failure = Failure::new(ErrorCategory::HttpStatus).because(Reason::new("HTTP status").number(503));
/// assert_eq!(failure.to_string(), "HTTP status 503");
/// ```
pub struct Failure {
    category: ErrorCategory,
    reason: Option<Reason>,
    detail: Option<Box<dyn StdError + Send + Sync>>,
}

impl Failure {
    /// A failure of this category. Without a reason the report shows the category's own phrase.
    #[must_use]
    pub const fn new(category: ErrorCategory) -> Self {
        Self {
            category,
            reason: None,
            detail: None,
        }
    }

    /// Says more than the category, in our own words and numbers.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Reason>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Keeps the error that caused it. Its text goes to the log only.
    ///
    /// ```
    /// use rootward::{ErrorCategory, Failure};
    ///
    /// fn read_key() -> Result<(), Failure> {
    ///     std::fs::read("/nonexistent/key").map_err(|error| Failure::new(ErrorCategory::NotFound).caused_by(error))?;
    ///     Ok(())
    /// }
    /// assert_eq!(read_key().unwrap_err().to_string(), "not found");
    /// ```
    #[must_use]
    pub fn caused_by(mut self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.detail = Some(error.into());
        self
    }

    /// The category: the word of the report's `error_category`.
    ///
    /// ```
    /// use rootward::{ErrorCategory, Failure};
    ///
    /// // Whatever converts by itself is of no known category.
    /// let failure = Failure::from(std::io::Error::other("user alice was refused"));
    /// assert_eq!(failure.category(), ErrorCategory::Unknown);
    /// ```
    #[must_use]
    pub const fn category(&self) -> ErrorCategory {
        self.category
    }

    /// The error that caused it, to be kept by another failure.
    pub(crate) fn into_cause(self) -> Option<Box<dyn StdError + Send + Sync>> {
        self.detail
    }

    /// The text for the log: the error and its causes, without what looks like a secret. It formats foreign
    /// errors, which may panic: only the check's own task calls it.
    pub(crate) fn detail(&self) -> Option<String> {
        let mut text = Bounded::new(MAX_DETAIL_BYTES);
        let mut error: &dyn StdError = self.detail.as_deref()?;
        // A full buffer refuses what does not fit; that is not an error of ours.
        let _ = write!(text, "{error}");
        for _ in 0..MAX_CAUSES {
            let Some(cause) = error.source() else { break };
            let _ = write!(text, ": {cause}");
            error = cause;
        }
        Some(redact(&text.text))
    }
}

/// What anybody may see.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            self.reason
                .as_ref()
                .map_or(self.category.phrase(), |reason| &reason.0),
        )
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("category", &self.category)
            .field("reason", &self.reason)
            .field("has_detail", &self.detail.is_some())
            .finish()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(ErrorCategory::Unknown).caused_by(error)
    }
}

/// A short sentence that anybody may see: words written in the source, and numbers. No other text fits in.
///
/// ```
/// use rootward::Reason;
/// use std::time::Duration;
/// let reason = Reason::new("backlog is").number(1200).text("older than").number(Duration::from_secs(30));
/// assert_eq!(reason.as_str(), "backlog is 1200 older than 30 s");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// Begins with these words.
    #[must_use]
    pub fn new(words: &'static str) -> Self {
        Self(String::new()).text(words)
    }

    /// Goes on with these words.
    #[must_use]
    pub fn text(self, words: &'static str) -> Self {
        self.push(words)
    }

    /// Goes on with a number: an integer, or a duration with its unit.
    #[must_use]
    pub fn number(self, number: impl Into<Number>) -> Self {
        let number: Number = number.into();
        self.push(&number.0)
    }

    /// Why a check cannot be, in the sentences of whoever described it.
    pub(crate) fn of_configuration(sentences: &[String]) -> Self {
        let sentences = shown(&sentences.join("; "), MAX_REASON_BYTES).into_owned();
        Self("configuration:".to_owned()).push(&sentences)
    }

    /// The sentence.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn push(self, part: &str) -> Self {
        let mut text = Bounded {
            text: self.0,
            limit: MAX_REASON_BYTES,
        };
        let space = if text.text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{part}");
        Self(text.text)
    }
}

impl From<&'static str> for Reason {
    fn from(words: &'static str) -> Self {
        Self::new(words)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number in a [`Reason`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(String);

macro_rules! numbers {
    ($($integer:ty),+) => { $(
        impl From<$integer> for Number {
            fn from(number: $integer) -> Self { Self(number.to_string()) }
        }
    )+ };
}
numbers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl From<Duration> for Number {
    fn from(duration: Duration) -> Self {
        Self(crate::duration::text(duration))
    }
}

/// Text that stops growing at a limit, between characters.
struct Bounded {
    text: String,
    limit: usize,
}

impl Bounded {
    const fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
        }
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.limit.saturating_sub(self.text.len());
        if part.len() <= room {
            self.text.push_str(part);
            return Ok(());
        }
        self.text.push_str(cut(part, room));
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_and_its_causes_are_in_the_detail_only() {
        #[derive(Debug, thiserror::Error)]
        #[error("query failed on db-7")]
        struct Outer(#[source] std::io::Error);
        let failure = Failure::from(Outer(std::io::Error::other("user alice was refused")));
        assert_eq!(failure.to_string(), "failed");
        assert!(!format!("{failure:?}").contains("alice"));
        assert_eq!(
            failure.detail().as_deref(),
            Some("query failed on db-7: user alice was refused")
        );
    }

    #[test]
    fn a_huge_error_text_is_cut_between_characters() {
        let failure = Failure::new(ErrorCategory::Protocol).caused_by("ä".repeat(MAX_DETAIL_BYTES));
        assert_eq!(
            failure.detail().map(|text| text.len()),
            Some(MAX_DETAIL_BYTES)
        );
    }

    #[test]
    fn a_reason_is_cut_at_its_limit() {
        let mut reason = Reason::new("again");
        for _ in 0..100 {
            reason = reason.text("again");
        }
        assert_eq!(reason.as_str().len(), MAX_REASON_BYTES);
    }
}
