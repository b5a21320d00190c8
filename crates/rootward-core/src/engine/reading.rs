//! What a report is worth at the moment it arrives: it is read beside the one before it, and beside itself.
//!
//! A service may say that it is healthy while its own components say otherwise, go on repeating results that its
//! checker obtained long ago, or leave out when a failure began. Whatever it cannot know or does not tell is settled
//! here, once, always in the direction of less confidence.

use crate::moment::Moment;
use crate::report::{Component, Report};
use crate::rollup::roll_up_components;
use crate::status::{CheckStatus, ErrorCategory, InstanceStatus};

/// A report as the aggregator understands it.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) report: Report,
    /// What the report said of the whole, if its own components do not bear that out.
    pub(super) claimed: Option<InstanceStatus>,
}

/// Reads a report that arrived at `now`, after `previous`.
pub(super) fn read(mut report: Report, previous: Option<&Report>, now: Moment) -> Reading {
    let previous = previous.filter(|previous| previous.instance == report.instance);
    for component in &mut report.components {
        let before = previous.and_then(|report| {
            let mut components = report.components.iter();
            components.find(|before| before.name == component.name)
        });
        if let Some(before) = before {
            remember(component, before);
        }
        if matches!(component.status, CheckStatus::Degraded | CheckStatus::Down) {
            // Where nobody says when a failure began, it began when it was first seen: not at every poll again.
            component.since = component.since.or(component.checked_at).or(Some(now));
        }
        expire(component, now);
    }
    let borne_out = roll_up_components(
        report.status != InstanceStatus::Starting,
        report.components.iter().map(|c| (c.status, c.criticality)),
    );
    let claimed = (severity(borne_out) > severity(report.status)).then_some(report.status);
    if claimed.is_some() {
        report.status = borne_out;
    }
    Reading { report, claimed }
}

/// Takes over from the report before what this one cannot change: the same result counts once, whatever age it is
/// given now, and a status that has not changed began when it was first seen.
fn remember(component: &mut Component, before: &Component) {
    let same_result = component.seq.is_some()
        && component.seq == before.seq
        && component.latency_us == before.latency_us;
    if let (true, Some(then), Some(now)) = (same_result, before.checked_at, component.checked_at) {
        component.checked_at = Some(then.min(now));
    }
    if component.since.is_none() && component.status == before.status {
        component.since = before.since;
    }
}

/// Evidence older than its check's own interval allows is none, whatever it said.
fn expire(component: &mut Component, now: Moment) {
    let (Some(stale_after), Some(checked_at)) = (component.stale_after, component.checked_at)
    else {
        return;
    };
    if now - checked_at > stale_after && component.status != CheckStatus::Unknown {
        component.status = CheckStatus::Unknown;
        component.error_category = Some(ErrorCategory::Stale);
        component.error = None;
        component.since = Some(checked_at + stale_after);
    }
}

/// How bad a status is that an instance reports. Starting says nothing about components, so nothing contradicts it.
const fn severity(status: InstanceStatus) -> u8 {
    match status {
        InstanceStatus::Healthy => 0,
        InstanceStatus::Degraded => 1,
        InstanceStatus::Unhealthy => 2,
        InstanceStatus::Starting => 3,
    }
}
