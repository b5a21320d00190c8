//! The age of a file: a backup that somebody makes, an index that somebody loads, a heartbeat of another process.
//!
//! The clock that wrote the file and the one that reads it may differ, so a file is never taken for fresher than this
//! check has seen it change itself.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rootward::{Check, ErrorCategory, Failure, Outcome, Reason, Unlabelled};

/// How far in the future a file may lie before its age is doubted: the coarsest clock of a file system (FAT) has steps
/// of 2 s.
const FUTURE: Duration = Duration::from_secs(2);

/// Which file, and how old it may be.
///
/// ```
/// use std::time::Duration;
/// use rootward_checks::FreshnessSettings;
///
/// let hour = Duration::from_secs(3600);
/// let backup = FreshnessSettings::new("/backup/orders.dump", 26 * hour).warn_older(25 * hour);
/// ```
#[derive(Debug, Clone)]
pub struct FreshnessSettings {
    path: PathBuf,
    warn: Option<Duration>,
    fail: Duration,
}

impl FreshnessSettings {
    /// Down when it was last changed longer ago than this.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, fail_older: Duration) -> Self {
        Self {
            path: path.into(),
            warn: None,
            fail: fail_older,
        }
    }

    /// Degraded when it was last changed longer ago than this.
    #[must_use]
    pub fn warn_older(mut self, age: Duration) -> Self {
        self.warn = Some(age);
        self
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.path.as_os_str().is_empty() {
            return Some("the file's path is empty");
        }
        if self.fail.is_zero() {
            return Some("the file's age is zero");
        }
        let crossed = self.warn.is_some_and(|warn| warn >= self.fail);
        crossed.then_some("the file's age for a warning is not below the other")
    }
}

/// How long ago a file was changed, by its time of modification.
///
/// | what it finds | result |
/// | --- | --- |
/// | changed lately | up |
/// | older than [`FreshnessSettings::warn_older`] | degraded, `stale`, with both ages |
/// | older than [`FreshnessSettings::new`] allows | down, `stale`, with both ages |
/// | its time lies in the future | degraded, `unknown`: nobody knows how old it is; and down, `stale`, when it has not changed for so long before our eyes |
/// | it is not there | down, `not_found` |
/// | this user may not look at it | degraded, `unknown` |
/// | its file system does not answer | down, `timeout`, until it does: one thread is held, and never a second one |
///
/// A clock that is set back does not make a file young again: its age is at least the time since this check first saw
/// the state that it is in. It asks for the file's time and does not open it, so it says nothing about its content;
/// a directory has a time as well, of its entries and not of what they hold.
///
/// **For a fleet**: it is local, so a hard one takes the instance out of rotation while it is down. That is right for a
/// file that this instance loads or writes for itself. One that all instances read from one place is
/// [`shared`](Check::shared): without that, the job that no longer writes it takes all of them out at once.
///
/// ```
/// use std::time::Duration;
/// use rootward::Health;
/// use rootward_checks::{FreshnessSettings, freshness};
///
/// let index = FreshnessSettings::new("/var/lib/search/index", Duration::from_secs(3600));
/// Health::builder("search").check(freshness("index", index).soft());
/// ```
pub fn freshness(name: impl Into<String>, settings: FreshnessSettings) -> Check<Unlabelled> {
    let problem = settings.problem();
    let seen = Mutex::new(Seen::default());
    let check = Check::blocking(name, move || {
        let changed = std::fs::metadata(&settings.path).and_then(|file| file.modified());
        let changed = match changed {
            Ok(changed) => changed,
            Err(error) => return of_system(error),
        };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let unchanged = seen.unchanged(changed, Instant::now());
        judge(&settings, Age::of(changed, SystemTime::now()), unchanged)
    });
    let check = check.local().kind("freshness");
    match problem {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

/// Since when the file has been as it is, as far as this check knows.
#[derive(Debug, Default)]
struct Seen(Option<(SystemTime, Instant)>);

impl Seen {
    fn unchanged(&mut self, changed: SystemTime, now: Instant) -> Duration {
        match self.0 {
            Some((before, since)) if before == changed => now.saturating_duration_since(since),
            Some(_) | None => {
                self.0 = Some((changed, now));
                Duration::ZERO
            }
        }
    }
}

/// By the clocks.
#[derive(Debug, Clone, Copy)]
enum Age {
    Past(Duration),
    Future(Duration),
}

impl Age {
    fn of(changed: SystemTime, now: SystemTime) -> Self {
        match now.duration_since(changed) {
            Ok(age) => Self::Past(age),
            Err(ahead) if ahead.duration() <= FUTURE => Self::Past(Duration::ZERO),
            Err(ahead) => Self::Future(ahead.duration()),
        }
    }
}

fn judge(settings: &FreshnessSettings, age: Age, unchanged: Duration) -> Result<Outcome, Failure> {
    let stale = |age: Duration, limit: Duration| {
        Reason::new("the file was changed")
            .number(age)
            .text("ago, expected within")
            .number(limit)
    };
    let (known, ahead) = match age {
        Age::Past(age) => (age.max(unchanged), None),
        Age::Future(ahead) => (unchanged, Some(ahead)),
    };
    if known > settings.fail {
        return Err(Failure::new(ErrorCategory::Stale).because(stale(known, settings.fail)));
    }
    if let Some(ahead) = ahead {
        return Ok(Outcome::degraded(
            ErrorCategory::Unknown,
            Reason::new("the file's time lies")
                .number(ahead)
                .text("in the future and nobody knows how old it is"),
        ));
    }
    if let Some(warn) = settings.warn.filter(|warn| known > *warn) {
        return Ok(Outcome::degraded(ErrorCategory::Stale, stale(known, warn)));
    }
    Ok(Outcome::Up)
}

fn of_system(error: io::Error) -> Result<Outcome, Failure> {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let failure = Failure::new(ErrorCategory::NotFound).because("the file is not there");
            Err(failure.caused_by(error))
        }
        _ => {
            let words = "the file cannot be looked at and nobody knows how old it is";
            let failure = Failure::new(ErrorCategory::Unknown).because(words);
            Ok(Outcome::Degraded(failure.caused_by(error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn say(result: &Result<Outcome, Failure>) -> String {
        match result {
            Ok(Outcome::Up) => "up".to_owned(),
            Ok(Outcome::Degraded(failure)) => {
                format!("degraded, {}, {failure}", failure.category())
            }
            Err(failure) => format!("down, {}, {failure}", failure.category()),
        }
    }

    #[test]
    fn an_age_is_judged_by_the_clock_and_by_what_was_seen() {
        let settings = FreshnessSettings::new("/x", s(60)).warn_older(s(30));
        let cases = [
            (Age::Past(s(30)), s(0), "up"),
            (
                Age::Past(s(31)),
                s(0),
                "degraded, stale, the file was changed 31 s ago, expected within 30 s",
            ),
            (
                Age::Past(s(61)),
                s(0),
                "down, stale, the file was changed 61 s ago, expected within 60 s",
            ),
            // Somebody has set the clock back.
            (
                Age::Past(s(1)),
                s(61),
                "down, stale, the file was changed 61 s ago, expected within 60 s",
            ),
            (
                Age::Future(s(90)),
                s(0),
                "degraded, unknown, the file's time lies 90 s in the future and nobody knows how old it is",
            ),
            (
                Age::Future(s(90)),
                s(61),
                "down, stale, the file was changed 61 s ago, expected within 60 s",
            ),
        ];
        for (age, unchanged, expected) in cases {
            assert_eq!(say(&judge(&settings, age, unchanged)), expected, "{age:?}");
        }
    }

    #[test]
    fn a_file_is_as_old_as_the_state_that_was_seen_and_a_new_state_is_new() {
        let (first, second) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + s(5));
        let began = Instant::now();
        let mut seen = Seen::default();
        let mut at = |changed, second| seen.unchanged(changed, began + s(second));
        assert_eq!(at(first, 0), s(0));
        assert_eq!(at(first, 70), s(70));
        assert_eq!(at(second, 80), s(0));
        assert_eq!(at(second, 81), s(1));
        assert_eq!(
            at(first, 82),
            s(0),
            "an older file put in its place is a change"
        );
    }

    #[test]
    fn two_seconds_ahead_are_the_clock_of_the_file_system() {
        let now = SystemTime::UNIX_EPOCH + s(100);
        assert!(matches!(Age::of(now + s(2), now), Age::Past(age) if age == s(0)));
        assert!(matches!(Age::of(now + s(3), now), Age::Future(ahead) if ahead == s(3)));
        assert!(matches!(Age::of(now - s(3), now), Age::Past(age) if age == s(3)));
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        let of = |fail| FreshnessSettings::new("/x", s(fail));
        let crossed = Some("the file's age for a warning is not below the other");
        assert_eq!(of(1).problem(), None);
        assert_eq!(of(0).problem(), Some("the file's age is zero"));
        assert_eq!(of(1).warn_older(s(1)).problem(), crossed);
        let nowhere = FreshnessSettings::new("", s(1));
        assert_eq!(nowhere.problem(), Some("the file's path is empty"));
    }
}
