//! One detailed report, and what can be said against it alone.

use std::collections::BTreeSet;
use std::time::Duration;

use rootward_core::{
    CheckStatus, Criticality, Effect, ErrorCategory, InstanceStatus, Moment, Scope, effect,
    roll_up_components, stale_after,
};
use rootward_wire::v1::{ComponentBody, parse, read_noting};

use crate::ask::{Seen, shown};
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// Where the axis of a reading begins: far enough for any age that is believed.
const NOW: Moment = Moment::from_millis(u64::MAX / 2);

/// What counts of a report.
#[derive(Debug, Clone)]
pub(crate) struct Detail {
    pub(crate) service: String,
    pub(crate) status: InstanceStatus,
    pub(crate) ready: Option<bool>,
    pub(crate) draining: bool,
    pub(crate) serving: Option<bool>,
    pub(crate) loop_lag_ms: Option<f64>,
    pub(crate) components: Vec<Entry>,
    pub(crate) warnings: BTreeSet<String>,
    pub(crate) errors: BTreeSet<String>,
    pub(crate) findings: Vec<String>,
}

/// What counts of a component.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) status: CheckStatus,
    pub(crate) raw: CheckStatus,
    pub(crate) criticality: Criticality,
    pub(crate) kind: Option<String>,
    pub(crate) gates: bool,
    pub(crate) age: Option<Duration>,
    pub(crate) latency_ms: Option<f64>,
    pub(crate) has_last_checked: bool,
    pub(crate) seq: Option<u64>,
    pub(crate) category: Option<ErrorCategory>,
    pub(crate) error: Option<String>,
    pub(crate) interval: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
}

impl Entry {
    fn of(body: &ComponentBody<'_>) -> Self {
        let status = body.status.known().unwrap_or(CheckStatus::Unknown);
        let criticality = body.criticality.known().unwrap_or(Criticality::Soft);
        let scope = body.scope.as_ref().and_then(|scope| scope.known());
        let by_default = scope == Some(Scope::Local) && criticality == Criticality::Hard;
        Self {
            name: body.name.to_string(),
            status,
            raw: match &body.raw_status {
                Some(raw) => raw.known().unwrap_or(CheckStatus::Unknown),
                None => status,
            },
            criticality,
            kind: body.kind.as_ref().map(ToString::to_string),
            gates: body.gates_readiness.unwrap_or(by_default),
            age: body.age_ms.map(Duration::from_millis),
            latency_ms: body.latency_ms,
            has_last_checked: body.last_checked.is_some(),
            seq: body.seq,
            category: body.error_category.as_ref().and_then(|word| word.known()),
            error: body.error.as_ref().map(ToString::to_string),
            interval: body.interval_ms.map(Duration::from_millis),
            timeout: body.timeout_ms.map(Duration::from_millis),
        }
    }

    /// From which age its result counts for nothing.
    pub(crate) fn stale_after(&self) -> Option<Duration> {
        Some(stale_after(self.interval?, self.timeout?))
    }

    /// The entry in a line.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("{} {}", self.name, self.status);
        if self.raw != self.status {
            line.push_str(&format!(", raw_status {}", self.raw));
        }
        if let Some(category) = self.category {
            line.push_str(&format!(", error_category {category}"));
        }
        if let Some(error) = &self.error {
            line.push_str(&format!(", error \"{}\"", shown(error)));
        }
        if let Some(seq) = self.seq {
            line.push_str(&format!(", seq {seq}"));
        }
        if let Some(age) = self.age {
            line.push_str(&format!(", age_ms {}", age.as_millis()));
        }
        if let Some(latency) = self.latency_ms {
            line.push_str(&format!(", latency_ms {latency}"));
        }
        line
    }
}

impl Detail {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let body = parse(bytes).ok()?;
        let names =
            |names: &[std::borrow::Cow<'_, str>]| names.iter().map(ToString::to_string).collect();
        Some(Self {
            service: body.service.to_string(),
            status: body.status.known()?,
            ready: body.ready,
            draining: body.draining.unwrap_or(false),
            serving: body.serving,
            loop_lag_ms: body.loop_lag_ms,
            components: body.components.iter().map(Entry::of).collect(),
            warnings: names(&body.warnings),
            errors: names(&body.errors),
            findings: body
                .findings
                .iter()
                .map(|finding| finding.kind.to_string())
                .collect(),
        })
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.components.iter().find(|entry| entry.name == name)
    }

    /// Whether `serving` may be true: no hard component that is no other service is down.
    fn can_serve(&self) -> bool {
        !self.components.iter().any(|entry| {
            entry.criticality == Criticality::Hard
                && entry.status == CheckStatus::Down
                && entry.kind.as_deref() != Some("service")
        })
    }
}

/// What an answer of `/health` says by itself, put to the test.
pub(crate) fn judge(seen: &Seen, ledger: &mut Ledger) -> Option<Detail> {
    let reading = match read_noting(&seen.body, NOW) {
        Ok(reading) => reading,
        Err(error) => {
            let came = format!("{}; {error}", seen.came());
            ledger.broken(
                Rule::Report,
                Evidence::new(
                    &seen.asked,
                    came,
                    "a report of the contract rootward/1, with the code of its status",
                ),
            );
            return None;
        }
    };
    ledger.kept(Rule::Report);
    ledger.judge(Rule::Words, reading.notes.is_empty(), || {
        Evidence::new(
            &seen.asked,
            shown(&reading.notes.join("; ")),
            "words and names of the contract",
        )
    });
    let detail = Detail::read(&seen.body)?;
    let code = match detail.status {
        InstanceStatus::Healthy | InstanceStatus::Degraded => 200,
        InstanceStatus::Unhealthy | InstanceStatus::Starting => 503,
    };
    ledger.judge(Rule::ReportCode, seen.status == code, || {
        let came = format!("{} with the status {}", seen.status, detail.status);
        Evidence::new(&seen.asked, came, format!("{code}"))
    });
    judge_rollup(seen, &detail, ledger);
    for entry in &detail.components {
        judge_entry(seen, entry, ledger);
    }
    if let Some(serving) = detail.serving {
        ledger.judge(Rule::Serving, serving == detail.can_serve(), || {
            let came = format!("serving: {serving} with {}", lines(&detail));
            Evidence::new(
                &seen.asked,
                came,
                format!("serving: {}", detail.can_serve()),
            )
        });
    } else {
        ledger.not_tested(Rule::Serving, "the report has no serving");
    }
    Some(detail)
}

fn lines(detail: &Detail) -> String {
    let all = detail.components.iter();
    let all: Vec<_> = all
        .map(|entry| format!("{} {} {}", entry.criticality, entry.name, entry.status))
        .collect();
    shown(&all.join(", "))
}

fn judge_rollup(seen: &Seen, detail: &Detail, ledger: &mut Ledger) {
    let started = detail.status != InstanceStatus::Starting;
    let results = detail
        .components
        .iter()
        .map(|entry| (entry.status, entry.criticality));
    let right = roll_up_components(started, results);
    ledger.judge(Rule::Rollup, detail.status == right, || {
        let came = format!("{} with {}", detail.status, lines(detail));
        Evidence::new(&seen.asked, came, right.as_str())
    });
    let with = |wanted: Effect| -> BTreeSet<String> {
        let all = detail.components.iter();
        let all = all.filter(|entry| effect(entry.status, entry.criticality) == wanted);
        all.map(|entry| entry.name.clone()).collect()
    };
    let (warnings, errors) = (with(Effect::Degraded), with(Effect::Unhealthy));
    let same = detail.warnings == warnings && detail.errors == errors;
    ledger.judge(Rule::Effects, same, || {
        let came = format!(
            "warnings {:?}, errors {:?}, with {}",
            detail.warnings,
            detail.errors,
            lines(detail)
        );
        Evidence::new(
            &seen.asked,
            came,
            format!("warnings {warnings:?}, errors {errors:?}"),
        )
    });
}

fn judge_entry(seen: &Seen, entry: &Entry, ledger: &mut Ledger) {
    let completed = [
        entry.age.is_some(),
        entry.latency_ms.is_some(),
        entry.has_last_checked,
        entry.seq.is_some_and(|seq| seq > 0),
    ];
    let none = entry.age.is_none() && entry.latency_ms.is_none();
    let holds = completed.iter().all(|has| *has) || (none && entry.status == CheckStatus::Unknown);
    ledger.judge(Rule::Completed, holds, || {
        Evidence::new(
            &seen.asked,
            entry.line(),
            "latency_ms, last_checked, age_ms and seq; or, before the first result, none of the ages and unknown",
        )
    });
    if entry.status == CheckStatus::Down {
        let has = entry.category.is_some() && entry.error.is_some();
        ledger.judge(Rule::Reasons, has, || {
            Evidence::new(
                &seen.asked,
                entry.line(),
                "error and error_category beside down",
            )
        });
    } else {
        ledger.not_tested(Rule::Reasons, "no component was down");
    }
    let old = entry.age.zip(entry.stale_after());
    match old {
        Some((age, limit)) if age > limit => {
            let right = entry.status == CheckStatus::Unknown
                && entry.category == Some(ErrorCategory::Stale);
            ledger.judge(Rule::Stale, right, || {
                let right = format!(
                    "unknown, with error_category stale, beyond {} ms",
                    limit.as_millis()
                );
                Evidence::new(&seen.asked, entry.line(), right)
            });
        }
        Some((_, limit)) => ledger.not_tested(
            Rule::Stale,
            format!(
                "no evidence became older than {} ms: the checks never stopped",
                limit.as_millis()
            ),
        ),
        None => ledger.not_tested(
            Rule::Stale,
            "the report does not say age_ms, interval_ms and timeout_ms",
        ),
    }
}
