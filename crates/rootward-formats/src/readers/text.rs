//! Plain text and pages: a word, the lines of Kubernetes and etcd, of OkComputer, django and ClickHouse, Rails' colours.

use rootward_core::ErrorCategory;

use crate::answer::Answer;
use crate::category::Texts;
use crate::code::{self, Http};
use crate::format::Format;
use crate::found::{Found, Part, Said};
use crate::words::{self, Word};

use super::{own, strings};

/// Lines that are read.
const MAX_LINES: usize = 10_000;

/// The format that a text is of, by what it holds.
pub(crate) fn format_of(text: &str, answer: &Answer<'_>) -> Option<Format> {
    if text.starts_with("[+]") || text.starts_with("[-]") {
        let summary = text.lines().last().unwrap_or_default().trim();
        let withheld = text.contains("failed: reason withheld");
        let of_kubernetes =
            withheld || summary.ends_with("check passed") || summary.ends_with("check failed");
        return Some(if of_kubernetes {
            Format::Kubernetes
        } else {
            Format::Etcd
        });
    }
    match text {
        "Healthy" | "Degraded" | "Unhealthy" => return Some(Format::AspNetPlain),
        "LIVE" | "PRE_INITIALIZING" | "INITIALIZING" | "DRAINING" => return Some(Format::Envoy),
        "ok" => return Some(Format::Kubernetes),
        "Ok." => return Some(Format::ClickHouse),
        // Only of a server that is known to be Traefik does a 5xx tell that it is ending.
        "OK" if answer.http_status == Some(200) => return Some(Format::Traefik),
        "ready" => return Some(Format::Linkerd),
        _ => {}
    }
    if lightship(text).is_some() {
        Some(Format::Lightship)
    } else if words::known(text).is_some() {
        Some(Format::Generic)
    } else if okcomputer(text).is_some() {
        Some(Format::OkComputer)
    } else if clickhouse_lines(text, Word::Unknown).is_some() {
        Some(Format::ClickHouse)
    } else if openmetrics(text).is_some() || django(text).is_some() {
        Some(Format::Django)
    } else {
        None
    }
}

/// Reads a text in a format.
pub(crate) fn read(format: Format, text: &str, answer: &Answer<'_>) -> Option<Found> {
    match format {
        Format::HttpOnly => Some(Found::nothing()),
        Format::Istio | Format::MinIo => own::empty(format, answer),
        Format::Kubernetes | Format::Etcd => lines(text).or_else(|| word(text)),
        Format::Lightship => lightship(text),
        Format::Envoy => own::envoy_state(text),
        Format::Linkerd if words::uniform(text).as_deref() == Some("notready") => {
            // A latch: once ready, it never says so again.
            Some(Found::said(Word::Starting))
        }
        Format::Traefik => traefik(text, answer),
        Format::ClickHouse => {
            let bad = answer.http_status.is_some_and(|code| code >= 500);
            let word = if bad { Word::Down } else { Word::Up };
            clickhouse_lines(text, word).or_else(|| self::word(text))
        }
        Format::OkComputer => okcomputer(text),
        Format::Django => openmetrics(text).or_else(|| django(text)),
        Format::Consul => word(text).map(Found::own_codes),
        Format::Docker => None,
        _ => word(text),
    }
}

/// A page. Rails' says only that the application has booted, by its colour.
pub(crate) fn markup(format: Format, page: &str, answer: &Answer<'_>) -> Option<Found> {
    match format {
        Format::Rails => rails(page).map(Found::said),
        // What is busy answers with XML.
        Format::MinIo => own::minio(answer),
        _ => None,
    }
}

/// The colour of Rails' page (`Rails::HealthController`).
pub(crate) fn rails(page: &str) -> Option<Word> {
    let mut packed = String::new();
    packed.extend(page.chars().take(4096).filter(|c| !c.is_whitespace()));
    let packed = packed.to_ascii_lowercase();
    let (_, style) = packed.split_once("<bodystyle=\"background-color:")?;
    match style.split(['"', ';']).next() {
        Some("green") => Some(Word::Up),
        Some("red") => Some(Word::Down),
        _ => None,
    }
}

/// A status word.
fn word(text: &str) -> Option<Found> {
    words::known(text)?;
    let said = Said::of(text);
    Some(Found::of(Some(said)))
}

/// `[+]name ok`, `[-]name failed: why`, `[+]name excluded: ok`, and a last line about the whole.
fn lines(text: &str) -> Option<Found> {
    let mut found = Found::default();
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        if let Some(rest) = line.strip_prefix("[+]") {
            let (name, word) = if let Some(name) = rest.strip_suffix(" excluded: ok") {
                // It did not run.
                (name, Word::Unknown)
            } else {
                (rest.strip_suffix(" ok").unwrap_or(rest), Word::Up)
            };
            found.parts.push(Part::new(name.trim(), word));
        } else if let Some(rest) = line.strip_prefix("[-]") {
            let (name, why) = rest.split_once(" failed").unwrap_or((rest, ""));
            let mut texts = Texts::default();
            texts.add(why);
            found
                .parts
                .push(Part::new(name.trim(), Word::Down).because(&texts));
        } else if !found.parts.is_empty() {
            if line.ends_with("check passed") || line == "ok" {
                found.said = Some(Word::Up);
            } else if line.ends_with("check failed") {
                found.said = Some(Word::Down);
            }
        }
    }
    (!found.parts.is_empty()).then_some(found)
}

fn lightship(text: &str) -> Option<Found> {
    Some(match text {
        "SERVER_IS_READY" | "SERVER_IS_NOT_SHUTTING_DOWN" => Found::said(Word::Up),
        "SERVER_IS_NOT_READY" => Found::said(Word::Down).because(ErrorCategory::NotReady),
        "SERVER_IS_SHUTTING_DOWN" => Found::said(Word::Down).because(ErrorCategory::ShuttingDown),
        _ => return None,
    })
}

/// Traefik `/ping`: only termination makes it answer otherwise.
fn traefik(text: &str, answer: &Answer<'_>) -> Option<Found> {
    let bad = answer
        .http_status
        .is_some_and(|code| matches!(code::http(code), Http::Bad(_)));
    let terminating = words::uniform(text).as_deref() == Some("serviceunavailable");
    if bad || terminating {
        return Some(Found::said(Word::Down).because(ErrorCategory::ShuttingDown));
    }
    word(text)
}

/// ClickHouse `/replicas_status`: a line for each table that lags, or with `verbose=1` for each table.
fn clickhouse_lines(text: &str, word: Word) -> Option<Found> {
    let read = |line: &str| {
        let (table, delay) = line.trim_end().split_once(":\t")?;
        delay.contains("delay:").then(|| Part::new(table, word))
    };
    let lines = text
        .lines()
        .take(MAX_LINES)
        .filter(|line| !line.trim().is_empty());
    let parts: Option<Vec<_>> = lines.map(read).collect();
    Found::default().with(parts?).unless_empty()
}

/// OkComputer: `name: PASSED|FAILED message (0.003s)`, below the titles of collections.
fn okcomputer(text: &str) -> Option<Found> {
    let mut parts = Vec::new();
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        for (verdict, word) in [(": PASSED", Word::Up), (": FAILED", Word::Down)] {
            let Some((name, why)) = line.split_once(verdict) else {
                continue;
            };
            if why.is_empty() || why.starts_with([' ', '\t']) {
                let mut texts = Texts::default();
                texts.add(why);
                parts.push(Part::new(name, word).because(&texts));
                break;
            }
        }
    }
    Found::default().with(parts).unless_empty()
}

/// django-health-check 4 as text: `name: OK`, or why not. Only a text of such lines alone, with one of them at least.
fn django(text: &str) -> Option<Found> {
    let mut parts = Vec::new();
    let mut sure = false;
    for line in text
        .lines()
        .take(MAX_LINES)
        .filter(|line| !line.trim().is_empty())
    {
        let (name, rest) = match line.split_once("): ") {
            Some((name, rest)) => (format!("{name})"), rest),
            None => {
                let (name, rest) = line.split_once(": ")?;
                (name.to_owned(), rest)
            }
        };
        let kind = rest.split(':').next().and_then(words::uniform);
        sure |= matches!(kind.as_deref(), Some("ok" | "working")) || name.ends_with(')');
        parts.push(strings::django_part(name.trim(), rest.trim()));
    }
    sure.then(|| Found::default().with(parts))?.unless_empty()
}

/// The metrics of django-health-check 4, which always come with 200.
fn openmetrics(text: &str) -> Option<Found> {
    const OVERALL: &str = "django_health_check_overall_status";
    const ONE: &str = "django_health_check_status";
    let mut found = Found::default();
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        let value = || match line.rsplit(' ').next() {
            Some("1" | "1.0") => Word::Up,
            Some("0" | "0.0") => Word::Down,
            _ => Word::Unknown,
        };
        if line.starts_with(OVERALL) {
            found.said = Some(value());
        } else if let Some(labels) = line
            .strip_prefix(ONE)
            .and_then(|rest| rest.strip_prefix('{'))
        {
            let name = labels
                .split_once("=\"")
                .and_then(|(_, rest)| rest.split_once("\"}"));
            if let Some((name, _)) = name {
                found.parts.push(Part::new(name, value()));
            }
        }
    }
    found.said.is_some().then_some(found)
}
