//! What an HTTP answer to a poll means.
//!
//! A report of ours is a report, whatever status it comes with. Everything else is read as the format that is configured,
//! or that it looks like (`foreign`). Where that says nothing, only an error status of the server is evidence about the
//! service; the rest says that something is wrong between us and it, and is unknown with a sentence.

use http::header::{AGE, LOCATION};
use http::{HeaderMap, StatusCode, Uri};
use rootward_core::engine::PollOutcome;
use rootward_core::{ErrorCategory, InstanceId, Moment};
use rootward_fetch::{Answer, FetchError};
use rootward_formats::{Choice, Format, Reading, TakenBy};
use rootward_wire::ReadError;
use rootward_wire::v1;

use super::foreign::{Foreign, Reader};

/// Whose answers are read, and what the ones before have left.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) id: &'a InstanceId,
    pub(super) reader: &'a Reader,
    pub(super) foreign: &'a mut Foreign,
}

/// Reads an answer that arrived at `received_at`.
pub(super) fn of_answer(answer: &Answer, asked: Asked<'_>, received_at: Moment) -> PollOutcome {
    match StatusCode::from_u16(answer.status) {
        Ok(status) => of_parts(status, &answer.headers, &answer.body, asked, received_at),
        Err(_) => PollOutcome::Malformed(format!(
            "answered {}, which no HTTP status is",
            answer.status
        )),
    }
}

/// Reads why there is no complete answer. One that breaks the rules of HTTP or a bound of ours is an answer all the
/// same: something is there, and it is not what was asked for.
pub(super) fn of_failure(error: &FetchError) -> PollOutcome {
    let text = error.to_string();
    let category = error.category();
    if category == ErrorCategory::Protocol {
        PollOutcome::Malformed(text)
    } else {
        let side = error.side();
        PollOutcome::NoAnswer {
            category,
            text,
            side,
        }
    }
}

fn of_parts(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    asked: Asked<'_>,
    received_at: Moment,
) -> PollOutcome {
    let not_modified = status == StatusCode::NOT_MODIFIED;
    if status.is_redirection() && !not_modified {
        return PollOutcome::Malformed(redirect(status, headers));
    }
    if let Some(age) = age(headers) {
        return PollOutcome::Malformed(format!(
            "answered {} from a cache, {age} s old: that says nothing about now",
            status.as_u16()
        ));
    }
    if not_modified {
        return match asked.foreign.unchanged() {
            Some((before, reading)) => of_reading(before, &reading, None, asked, received_at),
            None => PollOutcome::Malformed(
                "answered 304, not modified, and nothing was asked about that".into(),
            ),
        };
    }
    let choice = asked.reader.choice();
    let only_ours = choice == Choice::Named(Format::Rootward);
    let is_object = body.trim_ascii_start().starts_with(b"{");
    let mut refused = None;
    if only_ours || choice == Choice::Auto {
        match v1::read(body, received_at) {
            Ok(report) => {
                asked.foreign.forget();
                return PollOutcome::Report(Box::new(report));
            }
            Err(error) if only_ours || (is_object && error.is_violation()) => {
                return without_report(status, &error);
            }
            // A part of something is no answer of anybody's.
            Err(error) if status == StatusCode::PARTIAL_CONTENT => {
                return without_report(status, &error);
            }
            // Somebody else's.
            Err(error) => refused = Some(error),
        }
    }
    let reading = asked.foreign.read(asked.reader, status, headers, body);
    of_reading(status, &reading, refused.as_ref(), asked, received_at)
}

/// What a foreign answer means; `refused` is why it is no report of ours, where it might have been one.
fn of_reading(
    status: StatusCode,
    reading: &Reading,
    refused: Option<&ReadError>,
    asked: Asked<'_>,
    received_at: Moment,
) -> PollOutcome {
    let code = status.as_u16();
    let unrecognised = match reading.format {
        TakenBy::Format(Format::HttpOnly) | TakenBy::Nobody => true,
        TakenBy::Format(_) => false,
    };
    if unrecognised && status.is_server_error() {
        return PollOutcome::ErrorStatus(code);
    }
    let Asked {
        id,
        reader,
        foreign,
    } = asked;
    if let Some(report) = foreign.report(reading, id, reader, received_at) {
        return PollOutcome::Report(Box::new(report));
    }
    match refused {
        Some(error) if unrecognised => without_report(status, error),
        _ => PollOutcome::Malformed(format!(
            "answered {code}, which does not tell how it is: {}",
            reading.why
        )),
    }
}

fn without_report(status: StatusCode, error: &ReadError) -> PollOutcome {
    if status.is_server_error() {
        PollOutcome::ErrorStatus(status.as_u16())
    } else {
        PollOutcome::Malformed(no_report(status, error))
    }
}

fn no_report(status: StatusCode, error: &ReadError) -> String {
    let code = status.as_u16();
    if status.is_success() {
        return format!("answered {code} without a readable report: {error}");
    }
    let why = match status {
        StatusCode::UNAUTHORIZED => "it wants credentials",
        StatusCode::FORBIDDEN => "it does not let us read the report",
        StatusCode::NOT_FOUND => "no report is served at that path",
        StatusCode::METHOD_NOT_ALLOWED => "it does not answer GET at that path",
        StatusCode::TOO_MANY_REQUESTS => "it wants fewer requests",
        _ => "that is no report",
    };
    format!("answered {code}: {why}")
}

fn redirect(status: StatusCode, headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    // Only the host: paths and queries of a login page are nobody's business.
    let target = location.and_then(|text| text.parse::<Uri>().ok());
    let host = target.as_ref().and_then(Uri::host);
    let code = status.as_u16();
    match host {
        Some(host) => {
            let shown: String = host.chars().take(MAX_HOST_CHARS).collect();
            format!("answered {code}, a redirect to {shown}, which is not followed")
        }
        None => format!("answered {code}, a redirect, which is not followed"),
    }
}

/// How much of a foreign host name a sentence repeats.
const MAX_HOST_CHARS: usize = 100;

/// Seconds that the answer spent in caches, if any.
fn age(headers: &HeaderMap) -> Option<u64> {
    let seconds = headers.get(AGE)?.to_str().ok()?.trim().parse().ok()?;
    (seconds > 0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rootward_core::InstanceStatus;

    use super::*;

    const REPORT: &[u8] =
        br#"{"contract":"rootward/1","service":"cart","instance":"0","status":"unhealthy"}"#;

    /// The outcome in one line.
    fn read(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> String {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                let value = HeaderValue::from_str(value).unwrap();
                (http::HeaderName::from_static(name), value)
            })
            .collect();
        let status = StatusCode::from_u16(status).unwrap();
        let asked = Asked {
            id: &crate::sample::id("cart", "0"),
            reader: &Reader::of_anything(),
            foreign: &mut Foreign::default(),
        };
        match of_parts(status, &headers, body, asked, Moment::ZERO) {
            PollOutcome::Report(report) => format!("report: {}", report.status),
            PollOutcome::ErrorStatus(code) => format!("error status {code}"),
            PollOutcome::Malformed(text) => text,
            PollOutcome::NoAnswer { text, .. } => panic!("an answer is an answer: {text}"),
        }
    }

    #[test]
    fn a_report_counts_whatever_status_it_comes_with() {
        for status in [200, 503, 418] {
            let unhealthy = format!("report: {}", InstanceStatus::Unhealthy);
            assert_eq!(read(status, &[], REPORT), unhealthy);
        }
    }

    #[test]
    fn answers_without_a_report_get_a_sentence() {
        let cases = [
            read(500, &[], b"oops"),
            read(503, &[], br#"{"status":"DOWN"}"#),
            read(200, &[], b"OK"),
            read(200, &[], br#"{"status":"UP"}"#),
            read(204, &[], b""),
            read(401, &[], b"<html>log in</html>"),
            read(403, &[], b""),
            read(404, &[], b"nope"),
            read(429, &[], b""),
            read(418, &[], b"short and stout"),
        ];
        insta::assert_snapshot!(cases.join("\n"), @r"
    error status 500
    report: unhealthy
    report: healthy
    report: healthy
    report: healthy
    answered 401: it wants credentials
    answered 403: it does not let us read the report
    answered 404: no report is served at that path
    answered 429: it wants fewer requests
    answered 418: that is no report
    ");
    }

    #[test]
    fn a_redirect_names_the_host_and_is_not_followed() {
        let cases = [
            read(
                302,
                &[("location", "https://sso.example/login?token=x")],
                b"",
            ),
            read(301, &[("location", "/health/")], b""),
            read(307, &[], REPORT),
        ];
        insta::assert_snapshot!(cases.join("\n"), @r"
        answered 302, a redirect to sso.example, which is not followed
        answered 301, a redirect, which is not followed
        answered 307, a redirect, which is not followed
        ");
    }

    #[test]
    fn a_cached_report_is_no_evidence() {
        assert_eq!(read(200, &[("age", "0")], REPORT), "report: unhealthy");
        insta::assert_snapshot!(read(200, &[("age", "30")], REPORT), @"answered 200 from a cache, 30 s old: that says nothing about now");
    }
}
