//! What all checks that ask through `rootward-fetch` have in common: who asks, how long, and what no answer means.

#[cfg(any(feature = "http", feature = "tcp", feature = "tls"))]
use std::time::Duration;
#[cfg(any(feature = "http", feature = "tls"))]
use std::time::SystemTime;

#[cfg(any(feature = "http", feature = "service"))]
use http::{HeaderName, HeaderValue};
#[cfg(any(feature = "http", feature = "service"))]
use rootward::CHECK_FROM;
use rootward::{CheckContext, ErrorCategory, Failure, Reason};
use rootward_fetch::{FetchError, Phase};

#[cfg(any(feature = "http", feature = "tls"))]
const DAY: u64 = 24 * 60 * 60;

/// Who asks, so that the other side does not ask on.
#[cfg(any(feature = "http", feature = "service"))]
pub(crate) fn check_from(context: &CheckContext) -> (HeaderName, HeaderValue) {
    let service = HeaderValue::from_str(context.service().as_str())
        .expect("a name holds nothing that a header may not");
    (CHECK_FROM, service)
}

/// A little less than the check has, so that what took so long can still be said.
#[cfg(any(feature = "http", feature = "tcp", feature = "tls"))]
pub(crate) fn deadline(context: &CheckContext) -> Duration {
    context.timeout() - context.timeout() / 20
}

/// Why there is no answer. The error's own text has our words and numbers only; what is below it goes to the log.
///
/// The number of a timeout is the limit of the check, as it was configured: that it gave up a little earlier, so as to
/// say so, is nobody's concern.
pub(crate) fn no_answer(error: FetchError, context: &CheckContext) -> Failure {
    let failure = Failure::new(error.category());
    let waited = error.timed_out_after().zip(error.phase());
    let failure = if let Some(fault) = error.tls_fault() {
        failure.because(fault.phrase())
    } else if let Some((_, phase)) = waited {
        let reason = Reason::new("timed out after").number(context.timeout());
        failure.because(reason.text(match phase {
            Phase::Resolving => "while resolving the name",
            Phase::Connecting => "while connecting",
            Phase::Securing => "in the TLS handshake",
            Phase::Waiting => "while waiting for the answer",
            Phase::Reading => "while reading the answer",
        }))
    } else if error.is_too_large() {
        failure.because("the answer is too large")
    } else if error.category() == ErrorCategory::ResourceExhausted {
        failure.because("no file descriptor or local port is left here")
    } else {
        failure
    };
    failure.caused_by(error)
}

/// What a status says that is not the one that was wanted.
#[cfg(feature = "http")]
pub(crate) fn of_status(status: u16) -> Failure {
    let category = match status {
        300..=399 => ErrorCategory::Redirect,
        401 | 403 => ErrorCategory::Auth,
        404 => ErrorCategory::NotFound,
        429 => ErrorCategory::RateLimited,
        _ => ErrorCategory::HttpStatus,
    };
    Failure::new(category).because(Reason::new("HTTP status").number(status))
}

/// What there is to say about a certificate that ends within this time.
#[cfg(any(feature = "http", feature = "tls"))]
pub(crate) fn ends_within(
    expires: Option<SystemTime>,
    now: SystemTime,
    limit: Duration,
) -> Option<Failure> {
    let left = expires?.duration_since(now).unwrap_or_default();
    if left > limit {
        return None;
    }
    let reason = match left.as_secs() / DAY {
        0 => Reason::new("the certificate of the server ends within a day"),
        1 => Reason::new("the certificate of the server ends in 1 day"),
        days => Reason::new("the certificate of the server ends in")
            .number(days)
            .text("days"),
    };
    Some(Failure::new(ErrorCategory::Tls).because(reason))
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_said_in_whole_days_that_are_left() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 * DAY);
        let days = |days: u64, seconds: u64| Some(now + Duration::from_secs(days * DAY + seconds));
        let limit = Duration::from_secs(21 * DAY);
        let said = |expires| ends_within(expires, now, limit).map(|failure| failure.to_string());
        let sentence = |end: &str| Some(format!("the certificate of the server ends {end}"));
        assert_eq!(said(None), None);
        assert_eq!(said(days(21, 1)), None);
        assert_eq!(said(days(21, 0)), sentence("in 21 days"));
        assert_eq!(said(days(2, DAY - 1)), sentence("in 2 days"));
        assert_eq!(said(days(1, 0)), sentence("in 1 day"));
        assert_eq!(said(days(0, DAY - 1)), sentence("within a day"));
        assert_eq!(said(Some(SystemTime::UNIX_EPOCH)), sentence("within a day"));
    }

    #[test]
    fn a_status_has_its_category() {
        let said: Vec<String> = [301, 400, 401, 403, 404, 418, 429, 500, 503]
            .into_iter()
            .map(|status| {
                let failure = of_status(status);
                format!("{} {failure}", failure.category())
            })
            .collect();
        assert_eq!(
            said,
            [
                "redirect HTTP status 301",
                "http_status HTTP status 400",
                "auth HTTP status 401",
                "auth HTTP status 403",
                "not_found HTTP status 404",
                "http_status HTTP status 418",
                "rate_limited HTTP status 429",
                "http_status HTTP status 500",
                "http_status HTTP status 503",
            ]
        );
    }
}
