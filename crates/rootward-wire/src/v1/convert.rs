//! The report on the wire to the report of the core: words, names and times checked, texts cut.
//!
//! Times come from ages, counted back from the moment of arrival; wall-clock times of the sender are for people and
//! decide nothing. The axis must reach back far enough: an age beyond its origin counts from the origin.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use rootward_core::{
    CheckStatus, Component, Criticality, ErrorCategory, InstanceStatus, Moment, Name, Report,
    Scope, stale_after,
};

use crate::error::Kind;
use crate::limits::{MAX_COMPONENTS, MAX_MILLIS, MAX_NOTES, MAX_TEXT_BYTES};
use crate::text;
use crate::v1::read::other_contract;
use crate::v1::report::{CONTRACT, ComponentBody, ReportBody};
use crate::{ReadError, Word, WordSet};

/// A report, and what was tolerated in reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The report.
    pub report: Report,
    /// Sentences about unknown words and dropped values; at most [`MAX_NOTES`].
    pub notes: Vec<String>,
}

/// The report as the core sees it.
///
/// An unknown status of a component is `unknown`, an unknown criticality `soft`, an unknown error category `unknown`,
/// an unknown scope `shared`, an unknown depth none. A version, zone, host or kind that is not a name is dropped.
///
/// # Errors
/// When it is of another contract, when a name that identifies something is not a name, when two components share a
/// name, when the status is not one of ours, or when a number is beyond belief.
pub fn to_core(body: &ReportBody<'_>, received_at: Moment) -> Result<Report, ReadError> {
    to_core_noting(body, received_at).map(|reading| reading.report)
}

/// As [`to_core`], with remarks about what was tolerated.
///
/// # Errors
/// As [`to_core`].
pub fn to_core_noting(body: &ReportBody<'_>, received_at: Moment) -> Result<Reading, ReadError> {
    if body.contract != CONTRACT {
        return Err(other_contract(&body.contract).into());
    }
    let status = match &body.status {
        Word::Known(status) => *status,
        Word::Other(word) => return Err(Kind::Status { word: word.clone() }.into()),
    };
    if body.components.len() > MAX_COMPONENTS {
        return Err(Kind::TooMany {
            place: "components",
            max: MAX_COMPONENTS,
        }
        .into());
    }
    let mut notes = Notes::default();
    let draining = body.draining.unwrap_or(false);
    let report = Report {
        service: name(Place::of_report("service"), &body.service)?,
        instance: name(Place::of_report("instance"), &body.instance)?,
        version: optional_name(
            Place::of_report("version"),
            body.version.as_deref(),
            &mut notes,
        ),
        zone: optional_name(Place::of_report("zone"), body.zone.as_deref(), &mut notes),
        host: optional_name(Place::of_report("host"), body.host.as_deref(), &mut notes),
        status,
        ready: body
            .ready
            .unwrap_or(status != InstanceStatus::Starting && !draining),
        draining,
        serving: body.serving,
        components: components(&body.components, received_at, &mut notes)?,
    };
    Ok(Reading {
        report,
        notes: notes.0,
    })
}

/// Milliseconds, as the report writes a duration that the core keeps in microseconds.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "exact for 285 years, and a measured duration for people beyond"
)]
pub fn latency_ms(latency_us: u64) -> f64 {
    latency_us as f64 / 1000.0
}

/// Where something stands in a report. Most are never written out: what is right needs no place.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Of a component; without it the field is the report's own.
    component: Option<usize>,
    field: &'static str,
}

impl Place {
    const fn of_report(field: &'static str) -> Self {
        Self {
            component: None,
            field,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.component {
            Some(index) => write!(f, "components[{index}].{}", self.field),
            None => f.write_str(self.field),
        }
    }
}

#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn add(&mut self, note: impl FnOnce() -> String) {
        if self.0.len() < MAX_NOTES {
            self.0.push(note());
        }
    }

    /// The value of a word; for one that is not ours, `otherwise` and a note.
    fn word<T: WordSet>(&mut self, place: Place, word: &Word<T>, otherwise: T) -> T {
        match word {
            Word::Known(value) => *value,
            Word::Other(word) => {
                let read_as = otherwise.word();
                self.add(|| format!("{place} {word:?} is not a known word, read as {read_as}"));
                otherwise
            }
        }
    }
}

fn components(
    bodies: &[ComponentBody<'_>],
    received_at: Moment,
    notes: &mut Notes,
) -> Result<Vec<Component>, ReadError> {
    let mut seen = BTreeSet::new();
    let mut components = Vec::with_capacity(bodies.len());
    for (index, body) in bodies.iter().enumerate() {
        let component = component(index, body, received_at, notes)?;
        if !seen.insert(body.name.as_ref()) {
            let name = component.name.to_string();
            return Err(Kind::Duplicate { name }.into());
        }
        components.push(component);
    }
    Ok(components)
}

fn component(
    index: usize,
    body: &ComponentBody<'_>,
    received_at: Moment,
    notes: &mut Notes,
) -> Result<Component, ReadError> {
    let place = |field| Place {
        component: Some(index),
        field,
    };
    let name = name(place("name"), &body.name)?;
    let at = |field, age_ms: Option<u64>| match age_ms {
        Some(age) if age > MAX_MILLIS => Err(beyond_belief(place(field))),
        Some(age) => Ok(Some(received_at.saturating_sub(Duration::from_millis(age)))),
        None => Ok(None),
    };
    let status = notes.word(place("status"), &body.status, CheckStatus::Unknown);
    let raw_status = match &body.raw_status {
        Some(raw) => notes.word(place("raw_status"), raw, CheckStatus::Unknown),
        None => status,
    };
    let criticality = notes.word(place("criticality"), &body.criticality, Criticality::Soft);
    let scope = match &body.scope {
        Some(scope) => notes.word(place("scope"), scope, Scope::Shared),
        None => Scope::Shared,
    };
    let error_category = body
        .error_category
        .as_ref()
        .map(|category| notes.word(place("error_category"), category, ErrorCategory::Unknown));
    let depth = body.depth.as_ref().and_then(|depth| {
        let known = depth.known();
        if known.is_none() {
            notes.add(|| {
                format!(
                    "{} {:?} is not a known word, dropped",
                    place("depth"),
                    depth.as_str()
                )
            });
        }
        known
    });
    Ok(Component {
        status,
        raw_status,
        pending: body.pending,
        criticality,
        scope,
        depth,
        kind: optional_name(place("kind"), body.kind.as_deref(), notes),
        target: shown(body.target.as_deref().map(text::without_credentials)),
        error_category,
        error: shown(body.error.as_deref().map(Cow::Borrowed)),
        latency_us: body
            .latency_ms
            .map(|millis| latency_us(millis).ok_or_else(|| beyond_belief(place("latency_ms"))))
            .transpose()?,
        checked_at: at("age_ms", body.age_ms)?,
        since: at("since_age_ms", body.since_age_ms)?,
        seq: body.seq,
        stale_after: body.interval_ms.map(|interval| {
            let timeout = body.timeout_ms.unwrap_or(0);
            stale_after(
                Duration::from_millis(interval),
                Duration::from_millis(timeout),
            )
        }),
        gates_readiness: body
            .gates_readiness
            .unwrap_or(scope == Scope::Local && criticality == Criticality::Hard),
        owner: shown(body.owner.as_deref().map(Cow::Borrowed)),
        name,
    })
}

fn beyond_belief(place: Place) -> ReadError {
    let place = place.to_string();
    Kind::Range { place }.into()
}

fn name(place: Place, text: &str) -> Result<Name, ReadError> {
    Name::parse(text).map_err(|source| {
        Kind::Name {
            place: place.to_string(),
            source,
        }
        .into()
    })
}

/// A name that identifies nothing: without it the report is still true.
fn optional_name(place: Place, text: Option<&str>, notes: &mut Notes) -> Option<Name> {
    match Name::parse(text?) {
        Ok(name) => Some(name),
        Err(error) => {
            notes.add(|| format!("{place} is dropped: {error}"));
            None
        }
    }
}

fn shown(text: Option<Cow<'_, str>>) -> Option<Box<str>> {
    text.map(|text| text::shown(&text, MAX_TEXT_BYTES).into())
}

/// Microseconds of a duration in milliseconds, if it is one that can be believed.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the value was found to lie between 0 and one hundred years"
)]
fn latency_us(millis: f64) -> Option<u64> {
    (0.0..=MAX_MILLIS as f64)
        .contains(&millis)
        .then(|| (millis * 1000.0).round() as u64)
}
