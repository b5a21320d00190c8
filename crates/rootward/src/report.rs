//! The detailed report, written from one moment.

use std::borrow::Cow;

use rootward_core::{CheckStatus, Effect, Name, roll_up_components};
use rootward_wire::v1::{ComponentBody, ReportBody};
use rootward_wire::{Time, Word};
use tokio::time::Instant;

use crate::duration::millis;
use crate::finding::{findings, selected};
use crate::view::{Seen, View, lag_millis};

/// Which components are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// In the order of the checks; at least one.
    Only(Box<[bool]>),
}

impl Selection {
    fn shows(&self, index: usize) -> bool {
        match self {
            Self::All => true,
            Self::Only(shown) => shown.get(index).copied().unwrap_or(false),
        }
    }
}

/// What the instance says about itself now. Ages are taken at `view.now`.
pub(crate) fn report<'a>(view: &View<'a>) -> ReportBody<'a> {
    report_of(view, &Selection::All)
}

/// The same, about the components that are wanted: the status and the lists are theirs, and a finding says so. What
/// else is said is about the instance.
pub(crate) fn report_of<'a>(view: &View<'a>, selection: &Selection) -> ReportBody<'a> {
    let all = view.checks().enumerate();
    let shown: Vec<_> = all
        .filter(|(index, _)| selection.shows(*index))
        .map(|(_, seen)| seen)
        .collect();
    let status = roll_up_components(
        view.started,
        shown
            .iter()
            .map(|seen| (seen.status, seen.facts.criticality)),
    );
    let shared = view.shared;
    let identity = &shared.identity;
    let mut body = ReportBody::new(
        identity.service.as_str(),
        identity.instance.as_str(),
        status,
    );
    body.version = borrowed(identity.version.as_ref());
    body.environment = borrowed(identity.environment.as_ref());
    body.namespace = borrowed(identity.namespace.as_ref());
    body.zone = borrowed(identity.zone.as_ref());
    body.host = borrowed(identity.host.as_ref());
    body.uptime_s = Some(view.now.saturating_duration_since(shared.born).as_secs());
    body.ready = Some(view.reasons_not_ready().is_empty());
    body.draining = Some(shared.drain.is_draining());
    body.serving = Some(view.serving());
    body.loop_lag_ms = shared.vitals.seen().lag.map(lag_millis);
    body.components = shown.iter().map(|seen| component(view.now, seen)).collect();
    body.warnings = names(&shown, Effect::Degraded);
    body.errors = names(&shown, Effect::Unhealthy);
    body.findings = findings(view);
    if let Selection::Only(all) = selection {
        body.findings.push(selected(shown.len(), all.len()));
    }
    body
}

/// Of strings of its own: the check may be replaced while the report is still read.
fn component(now: Instant, seen: &Seen<'_>) -> ComponentBody<'static> {
    let facts = seen.facts;
    let state = seen.state;
    let mut body = ComponentBody::new(
        facts.name.as_str().to_owned(),
        seen.status,
        facts.criticality,
    );
    if let Some(last) = state.last {
        let micros = u32::try_from(last.took.as_micros()).unwrap_or(u32::MAX);
        body.latency_ms = Some(f64::from(micros) / 1000.0);
        body.last_checked = Some(Time::from(last.ended.wall));
        body.seq = Some(state.seq);
    }
    body.age_ms = seen.age.map(millis);
    body.error = seen.error().map(Cow::Owned);
    body.error_category = seen.error_category().map(Word::from);
    if seen.stale {
        // What was last seen says nothing any more, undamped or not.
        body.raw_status = Some(CheckStatus::Unknown.into());
        body.since = state
            .last
            .and_then(|last| last.ended.wall.checked_add(facts.stale_after))
            .map(Time::from);
        body.since_age_ms = seen
            .age
            .map(|age| millis(age.saturating_sub(facts.stale_after)));
    } else {
        let trouble = state.trouble.as_ref();
        body.error_ref = trouble
            .and_then(|trouble| trouble.reference.as_deref())
            .map(|reference| Cow::Owned(reference.to_owned()));
        body.raw_status = Some(state.raw_status.into());
        body.pending = state.pending;
        if let Some(since) = state.since {
            body.since = Some(Time::from(since.wall));
            body.since_age_ms = Some(millis(now.saturating_duration_since(since.instant)));
        }
    }
    body.scope = Some(facts.scope.into());
    body.depth = facts.depth.map(Word::from);
    body.kind = facts.kind.as_ref().map(owned);
    body.target = facts.target.clone().map(Cow::Owned);
    body.owner = facts.owner.clone().map(Cow::Owned);
    body.interval_ms = Some(millis(facts.interval));
    body.timeout_ms = Some(millis(facts.timeout));
    body.gates_readiness = Some(facts.gates_readiness);
    body
}

fn names(shown: &[Seen<'_>], effect: Effect) -> Vec<Cow<'static, str>> {
    shown
        .iter()
        .filter(|seen| seen.effect() == effect)
        .map(|seen| owned(&seen.facts.name))
        .collect()
}

fn borrowed(name: Option<&Name>) -> Option<Cow<'_, str>> {
    name.map(|name| Cow::Borrowed(name.as_str()))
}

fn owned(name: &Name) -> Cow<'static, str> {
    Cow::Owned(name.as_str().to_owned())
}
