//! The answers of the aggregator as pages for a terminal: shapes in, text out, nothing asked and nothing decided.
//! Words are those of the page.

use rootward_core::{CheckStatus, ServiceStatus};
use rootward_demo::aggregator::words;
use rootward_wire::v1::api::ImpactEffect;
use rootward_wire::{Time, Word};

use crate::text::{Line, Page, Tone};

pub(crate) mod cause;
pub(crate) mod conform;
pub(crate) mod findings;
pub(crate) mod incident;
pub(crate) mod narration;
pub(crate) mod reading;
pub(crate) mod resource;
pub(crate) mod service;
pub(crate) mod status;

#[cfg(test)]
pub(crate) mod fixture;

/// How wide labels are in front of facts.
const LABEL: usize = 11;

/// At most this many lines of one kind are shown; the rest is counted.
const MAX_LINES: usize = 20;

/// A labelled fact.
fn fact(label: &str, text: impl AsRef<str>) -> Line {
    labelled(label).plain(text)
}

/// A label, ready for what it is about.
fn labelled(label: &str) -> Line {
    Line::new().lead(format!("  {label:<LABEL$}"), Tone::Quiet)
}

/// Facts under one label, cut to a bound.
fn facts(page: &mut Page, label: &str, texts: &[String]) {
    let rest = texts.len().saturating_sub(MAX_LINES);
    for (at, text) in texts.iter().take(MAX_LINES).enumerate() {
        page.push(fact(if at == 0 { label } else { "" }, text));
    }
    if rest > 0 {
        page.push(fact("", format!("and {rest} more")));
    }
}

/// Lines without a label, cut to a bound.
fn items(page: &mut Page, texts: &[String]) {
    for text in texts.iter().take(MAX_LINES) {
        page.push(Line::new().lead("  ", Tone::Plain).plain(text));
    }
    let rest = texts.len().saturating_sub(MAX_LINES);
    if rest > 0 {
        page.push(
            Line::new()
                .lead("  ", Tone::Plain)
                .plain(format!("and {rest} more")),
        );
    }
}

fn heading(text: impl AsRef<str>) -> Line {
    Line::new().body(text, Tone::Strong)
}

/// `03:12:40 UTC (42 s)`; with the day if it was another one.
fn since(then: Time, now: Time) -> String {
    format!("{} UTC ({})", clock(then, now), elapsed(then, now))
}

/// `03:12:40`, or `2026-11-30 03:12:40` on another day than `now`.
fn clock(then: Time, now: Time) -> String {
    let (then, now) = (then.to_string(), now.to_string());
    let time = then.get(11..19).unwrap_or(&then);
    match (then.get(..10), now.get(..10)) {
        (Some(day), Some(today)) if day != today => format!("{day} {time}"),
        _ => time.to_owned(),
    }
}

fn elapsed(then: Time, now: Time) -> String {
    let millis = now.as_unix_millis().saturating_sub(then.as_unix_millis());
    words::duration(u64::try_from(millis).unwrap_or(0))
}

/// `2 s ago`; without an age there is no fresh evidence, whether there was some before or not.
fn age(age_ms: Option<u64>) -> String {
    age_ms.map_or_else(
        || "not seen".to_owned(),
        |age| format!("{} ago", words::duration(age)),
    )
}

/// `seen 2 s ago`, or `not seen`.
fn seen(age_ms: Option<u64>) -> String {
    age_ms.map_or_else(
        || "not seen".to_owned(),
        |age| format!("seen {} ago", words::duration(age)),
    )
}

fn service_tone(status: &Word<ServiceStatus>) -> Tone {
    match status.known() {
        Some(ServiceStatus::Healthy) => Tone::Good,
        Some(ServiceStatus::Degraded | ServiceStatus::Starting) => Tone::Warning,
        Some(ServiceStatus::Unknown) | None => Tone::Unknown,
        Some(ServiceStatus::Unhealthy) => Tone::Bad,
    }
}

fn check_tone(status: &Word<CheckStatus>) -> Tone {
    match status.known() {
        Some(CheckStatus::Up) => Tone::Good,
        Some(CheckStatus::Degraded) => Tone::Warning,
        Some(CheckStatus::Unknown) | None => Tone::Unknown,
        Some(CheckStatus::Down) => Tone::Bad,
    }
}

/// Whether an effect is the one that leaves a service working.
fn only_degrades(effect: &Word<ImpactEffect>) -> bool {
    effect.known() == Some(ImpactEffect::Degraded)
}
