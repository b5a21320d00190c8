//! How far the clock of this machine is from another one.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{AGE, DATE};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use rootward_fetch::{Target, resolve};

use super::Unusable;
use super::http::{Asking, HttpMethod, HttpSettings};
use super::target::endpoint;
use crate::asking::{deadline, no_answer};
use crate::sntp;

/// By which clock this machine's is judged, and how far it may be off.
///
/// ```
/// use std::time::Duration;
/// use rootward_checks::open::{ClockSettings, ClockSource};
///
/// let settings = ClockSettings {
///     fail_above: Some(Duration::from_secs(300)), // S3 refuses signatures that are older than 15 minutes
///     ..ClockSettings::new(ClockSource::Sntp { host: "time.internal".into(), port: 123 })
/// };
/// ```
#[derive(Debug, Clone)]
pub struct ClockSettings {
    /// The other clock.
    pub source: ClockSource,
    /// Degraded when the clocks are certainly further apart than this.
    pub warn_above: Duration,
    /// Down when the clocks are certainly further apart than this; never unless it is set.
    pub fail_above: Option<Duration>,
    /// The clock of this machine; another one in a test.
    pub now: fn() -> SystemTime,
}

/// A clock that is not this machine's.
///
/// ```
/// use rootward_checks::open::{ClockSource, HttpSettings};
///
/// let site = ClockSource::Http(Box::new(HttpSettings::new("https://site.internal/")));
/// # let _ = site;
/// ```
#[derive(Clone)]
pub enum ClockSource {
    /// The header `date` of an HTTP server, asked with HEAD; its status is of no interest. It has whole seconds.
    Http(Box<HttpSettings>),
    /// A time server (SNTP, RFC 4330), asked with one datagram.
    Sntp {
        /// A name or an address.
        host: String,
        /// 123 unless it is another.
        port: u16,
    },
}

impl fmt::Debug for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(settings) => f.debug_tuple("Http").field(settings).finish(),
            Self::Sntp { host, port } => {
                let mut shown = f.debug_struct("Sntp");
                shown.field("host", host).field("port", port).finish()
            }
        }
    }
}

impl ClockSettings {
    /// Degraded above 5 s, never down.
    #[must_use]
    pub fn new(source: ClockSource) -> Self {
        Self {
            source,
            warn_above: Duration::from_secs(5),
            fail_above: None,
            now: SystemTime::now,
        }
    }
}

/// Compares this machine's clock with another one.
///
/// | what happens | result |
/// | --- | --- |
/// | the clocks are not certainly further apart than `warn_above` | up |
/// | further than `warn_above` | degraded, `unknown`, with the difference |
/// | further than `fail_above` | down, `unknown`, with the difference |
/// | an HTTP answer without a date, or out of a cache; a datagram that is no answer | down, `protocol` |
/// | the time server says that its own clock is not set | down, `not_ready` |
/// | the time server wants to be asked less often | down, `rate_limited` |
/// | nothing within the time limit, no connection | as [`http()`](crate::http) |
///
/// The way there and back and the whole seconds of HTTP make the difference uncertain; only what is certain counts. If
/// the other clock is wrong, this says so of the right one: choose one that is looked after. The check is local: it
/// speaks about this machine. A run costs one datagram, or one HEAD; once in some minutes is enough. A datagram that is
/// lost is a timeout.
///
/// # Errors
/// When the server cannot be asked, or the warning would come after the failure.
///
/// ```
/// use rootward_checks::open::{ClockSettings, ClockSource};
///
/// let source = ClockSource::Sntp { host: "time.internal".into(), port: 123 };
/// let check = rootward_checks::clock("clock", ClockSettings::new(source))?.informational(); // sntp://time.internal:123
/// # Ok::<(), rootward_checks::open::Unusable>(())
/// ```
pub fn clock(
    name: impl Into<String>,
    settings: ClockSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let (warn, fail, now) = (settings.warn_above, settings.fail_above, settings.now);
    if fail.is_some_and(|fail| fail < warn) {
        return Err(Unusable::because(&[
            "the warning would come after the failure",
        ]));
    }
    let (source, target) = Source::new(settings.source)?;
    let source = Arc::new(source);
    let check = Check::with_context(name, move |context| {
        let source = Arc::clone(&source);
        async move { judge(source.ask(&context, now).await?, warn, fail) }
    });
    let check = check.kind("clock").depth(Depth::Query).local();
    Ok(check.target(target))
}

enum Source {
    Http(Box<Asking>),
    Sntp(Target),
}

/// Where the true difference lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    /// Seconds by which the other clock is ahead of this one; negative if it is behind.
    pub(crate) ahead: f64,
    /// Seconds that it may be off in either direction.
    pub(crate) uncertain: f64,
}

impl Source {
    fn new(source: ClockSource) -> Result<(Self, String), Unusable> {
        match source {
            ClockSource::Http(settings) => {
                let settings = HttpSettings {
                    method: HttpMethod::Head,
                    ..*settings
                };
                let target = settings.roots.target(settings.url.reveal())?;
                let asking = Asking::new(&settings, target.clone())?;
                Ok((Self::Http(Box::new(asking)), target.to_string()))
            }
            ClockSource::Sntp { host, port } => {
                let (target, identity) = endpoint(&host, port, |authority| {
                    Ok(Target::parse(&format!("http://{authority}"))?)
                })?;
                Ok((Self::Sntp(target), format!("sntp://{identity}")))
            }
        }
    }

    async fn ask(
        &self,
        context: &CheckContext,
        now: fn() -> SystemTime,
    ) -> Result<Difference, Failure> {
        match self {
            Self::Http(asking) => {
                let answer = asking.ask(context).await?;
                let here = now();
                let no_date = |reason| Failure::new(ErrorCategory::Protocol).because(reason);
                if answer.headers.contains_key(AGE) {
                    return Err(no_date("the answer comes out of a cache"));
                }
                let date = answer.headers.get(DATE).and_then(|date| date.to_str().ok());
                let there = date
                    .and_then(|date| httpdate::parse_http_date(date).ok())
                    .ok_or_else(|| no_date("the answer has no date"))?;
                Ok(of_date(there, here, answer.took))
            }
            Self::Sntp(target) => {
                let limit = deadline(context);
                let found = resolve(target, limit).await;
                let found = found.map_err(|error| no_answer(error, context))?;
                sntp::ask(&found, limit, now).await
            }
        }
    }
}

/// The date was written at some time during the exchange, and up to a second before it was true.
fn of_date(there: SystemTime, here: SystemTime, took: Duration) -> Difference {
    Difference {
        ahead: seconds(there, here) + 0.5 + took.as_secs_f64() / 2.0,
        uncertain: 0.5 + took.as_secs_f64() / 2.0,
    }
}

/// How much later the one is than the other.
pub(crate) fn seconds(one: SystemTime, other: SystemTime) -> f64 {
    match one.duration_since(other) {
        Ok(later) => later.as_secs_f64(),
        Err(earlier) => -earlier.duration().as_secs_f64(),
    }
}

fn judge(
    difference: Difference,
    warn: Duration,
    fail: Option<Duration>,
) -> Result<Outcome, Failure> {
    let certain = (difference.ahead.abs() - difference.uncertain).max(0.0);
    // More than centuries are as bad as centuries.
    let certain = Duration::try_from_secs_f64(certain).unwrap_or(Duration::MAX);
    let apart = || {
        let reason = Reason::new("the clock here is at least").number(certain);
        Failure::new(ErrorCategory::Unknown).because(if difference.ahead > 0.0 {
            reason.text("behind")
        } else {
            reason.text("ahead")
        })
    };
    match fail {
        Some(fail) if certain > fail => Err(apart()),
        _ if certain > warn => Ok(Outcome::Degraded(apart())),
        _ => Ok(Outcome::Up),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }

    fn said(difference: Difference) -> String {
        let (warn, fail) = (Duration::from_secs(2), Some(Duration::from_secs(60)));
        match judge(difference, warn, fail) {
            Ok(Outcome::Up) => "up".to_owned(),
            Ok(Outcome::Degraded(failure)) => format!("degraded, {failure}"),
            Err(failure) => format!("down, {failure}"),
        }
    }

    #[test]
    fn a_date_has_whole_seconds_and_what_they_hide_is_not_held_against_the_clock() {
        // Both clocks stand at 100.999, and the server writes 100.
        let took = Duration::from_millis(200);
        assert_eq!(said(of_date(at(100_000), at(100_999), took)), "up");
        let apart = of_date(at(103_000), at(100_000), took);
        assert_eq!(
            said(apart),
            "degraded, the clock here is at least 3 s behind"
        );
        assert_eq!(said(of_date(at(102_000), at(100_000), took)), "up");
    }

    #[test]
    fn a_clock_that_is_far_off_is_said_with_its_direction() {
        let off = |ahead| {
            said(Difference {
                ahead,
                uncertain: 0.01,
            })
        };
        assert_eq!(off(0.0), "up");
        assert_eq!(off(2.0), "up");
        assert_eq!(
            off(-12.31),
            "degraded, the clock here is at least 12.3 s ahead"
        );
        assert_eq!(off(61.5), "down, the clock here is at least 61.4 s behind");
    }
}
