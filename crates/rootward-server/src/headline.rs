//! The one sentence that says how things are.
//!
//! In order: whether there is a picture at all, then what is wrong and why (incidents), then what is wrong without a
//! known cause, and only then that all is well, with the age of the oldest evidence that says so.

use std::sync::Arc;

use rootward_core::incident::{Incident, IncidentCause};
use rootward_core::snapshot::{ResourceView, ServiceView, Snapshot};
use rootward_core::{CheckStatus, ServiceStatus};

use crate::clock::Reading;
use crate::round::is_behind;
use crate::words;

/// Titles of incidents that the sentence gives in full.
const MAX_TITLES: usize = 3;

/// The sentence for a snapshot, read at a moment.
pub(crate) fn headline(snapshot: &Snapshot, reading: Reading) -> String {
    // A picture that nobody renews says nothing about now, however good it looks.
    if is_behind(snapshot, reading.now()) {
        let age = words::duration(reading.age(snapshot.at));
        let then = state(snapshot, reading.back_at(snapshot.at));
        return format!("nothing was judged for {age}; before that: {then}");
    }
    state(snapshot, reading)
}

fn state(snapshot: &Snapshot, reading: Reading) -> String {
    if snapshot.services.is_empty() {
        return "no services are configured".into();
    }
    if snapshot.newest_evidence.is_none() && snapshot.open_incidents.is_empty() {
        return nothing_seen(snapshot);
    }
    let own = &snapshot.observer;
    let others: Vec<Arc<Incident>> = snapshot
        .open_incidents
        .iter()
        .filter(|incident| incident.cause != IncidentCause::Observer)
        .cloned()
        .collect();
    if own.is_fault() {
        return format!(
            "the aggregator itself cannot see {} of {} instances ({}); what it does see: {}",
            own.blind_instances,
            own.instances,
            own.reason,
            known(snapshot, reading, &others)
        );
    }
    known(snapshot, reading, &snapshot.open_incidents)
}

fn known(snapshot: &Snapshot, reading: Reading, incidents: &[Arc<Incident>]) -> String {
    match incidents {
        [] => statuses(snapshot, reading),
        [only] => only.title.clone(),
        several => {
            // Oldest first in the snapshot: the one that began it all is named first.
            let titles: Vec<&str> = several.iter().map(|i| i.title.as_str()).collect();
            let shown = &titles[..titles.len().min(MAX_TITLES)];
            let rest = titles.len() - shown.len();
            let mut text = format!("{} incidents: {}", titles.len(), shown.join("; "));
            if rest > 0 {
                text.push_str(&format!("; and {rest} more"));
            }
            text
        }
    }
}

/// No report yet; but a poll may have ended without one, and that is not the same as no poll.
fn nothing_seen(snapshot: &Snapshot) -> String {
    let instances = || snapshot.services.iter().flat_map(|s| &s.instances);
    let total = instances().count();
    let polled = instances().filter(|i| i.last_poll.is_some()).count();
    if polled == 0 {
        "nothing was seen yet".into()
    } else {
        format!("nothing was seen yet: polled {polled} of {total} instances, got no report")
    }
}

fn statuses(snapshot: &Snapshot, reading: Reading) -> String {
    let services = &snapshot.services;
    let total = services.len();
    let with = |status| -> Vec<&str> {
        let matching = services.iter().filter(move |s| s.status == status);
        matching.map(|s| s.name.as_str()).collect()
    };
    let healthy = with(ServiceStatus::Healthy).len();
    let mut text = if healthy == total {
        format!("{} healthy", services_of(total))
    } else {
        format!("{healthy} of {} healthy", services_of(total))
    };
    let resources = resources_that_are_not_up(&snapshot.resources);
    if healthy == total
        && resources.is_empty()
        && let Some(oldest) = services.iter().filter_map(|s| oldest_evidence(s)).min()
    {
        text.push_str(", all seen within ");
        text.push_str(&words::at_most(reading.age(oldest)));
    }
    // Worst first. Healthy was counted above.
    for status in ServiceStatus::ALL.iter().rev() {
        if *status != ServiceStatus::Healthy {
            append(&mut text, &with(*status), status.as_str());
        }
    }
    for (status, names) in resources {
        append(&mut text, &names, status.as_str());
    }
    text
}

/// When the instance of this service that was seen longest ago was seen.
fn oldest_evidence(service: &ServiceView) -> Option<rootward_core::Moment> {
    service.instances.iter().filter_map(|i| i.evidence_at).min()
}

/// Resources known to be bad. One that is unknown is what its callers cannot say: they are listed already.
fn resources_that_are_not_up(resources: &[Arc<ResourceView>]) -> Vec<(CheckStatus, Vec<&str>)> {
    [CheckStatus::Down, CheckStatus::Degraded]
        .into_iter()
        .map(|status| {
            let bad = resources.iter().filter(|r| r.status == status);
            (status, bad.map(|r| r.name.as_str()).collect::<Vec<_>>())
        })
        .filter(|(_, names)| !names.is_empty())
        .collect()
}

fn append(text: &mut String, names: &[&str], word: &str) {
    if !names.is_empty() {
        let verb = if names.len() == 1 { "is" } else { "are" };
        text.push_str(&format!("; {} {verb} {word}", words::list(names)));
    }
}

fn services_of(count: usize) -> String {
    if count == 1 {
        "1 service".into()
    } else {
        format!("{count} services")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rootward_core::incident::{Incident, IncidentId};
    use rootward_core::snapshot::{PollView, PollWord};
    use rootward_core::{ObserverState, ObserverView};

    use super::*;
    use crate::sample;

    fn say(snapshot: &Snapshot) -> String {
        headline(snapshot, sample::reading())
    }

    fn with_status(names: &[(&str, ServiceStatus)]) -> Snapshot {
        let mut snapshot = sample::healthy();
        for service in snapshot.services.iter_mut().map(Arc::make_mut) {
            for (name, status) in names {
                if service.name.as_str() == *name {
                    service.status = *status;
                }
            }
        }
        snapshot
    }

    #[test]
    fn when_all_is_well_it_says_how_old_the_oldest_evidence_is() {
        insta::assert_snapshot!(say(&sample::healthy()), @"8 services healthy, all seen within 2 s");
        let mut snapshot = sample::healthy();
        Arc::make_mut(&mut snapshot.services[3]).instances[0].evidence_at =
            Some(sample::ago(11_000));
        insta::assert_snapshot!(say(&snapshot), @"8 services healthy, all seen within 12 s");
        snapshot.services.truncate(1);
        insta::assert_snapshot!(say(&snapshot), @"1 service healthy, all seen within 2 s");
    }

    #[test]
    fn before_the_first_evidence_nothing_is_claimed() {
        let mut snapshot = sample::unseen();
        insta::assert_snapshot!(say(&snapshot), @"nothing was seen yet");
        Arc::make_mut(&mut snapshot.services[0]).instances[0].last_poll = Some(PollView {
            at: sample::ago(100),
            outcome: PollWord::NoAnswer,
            text: "connection refused".into(),
            took_us: 90,
        });
        insta::assert_snapshot!(say(&snapshot), @"nothing was seen yet: polled 1 of 8 instances, got no report");
        snapshot.services.clear();
        insta::assert_snapshot!(say(&snapshot), @"no services are configured");
    }

    #[test]
    fn what_is_not_healthy_is_named_worst_first() {
        let snapshot = with_status(&[("rates", ServiceStatus::Unknown)]);
        insta::assert_snapshot!(say(&snapshot), @"7 of 8 services healthy; rates is unknown");
        let mut snapshot = with_status(&[
            ("accounts", ServiceStatus::Degraded),
            ("cart", ServiceStatus::Unhealthy),
            ("checkout", ServiceStatus::Degraded),
            ("orders", ServiceStatus::Degraded),
            ("payments", ServiceStatus::Degraded),
            ("search", ServiceStatus::Degraded),
            ("rates", ServiceStatus::Starting),
        ]);
        Arc::make_mut(&mut snapshot.resources[0]).status = CheckStatus::Down;
        insta::assert_snapshot!(say(&snapshot), @"1 of 8 services healthy; cart is unhealthy; rates is starting; accounts, checkout, orders and 2 more are degraded; cache is down");
    }

    #[test]
    fn a_bad_resource_alone_is_said_too() {
        let mut snapshot = sample::healthy();
        Arc::make_mut(&mut snapshot.resources[0]).status = CheckStatus::Degraded;
        insta::assert_snapshot!(say(&snapshot), @"8 services healthy; cache is degraded");
    }

    #[test]
    fn incidents_come_before_everything() {
        let mut snapshot = sample::database_down();
        insta::assert_snapshot!(say(&snapshot), @"orders-db refuses connections");
        for number in 3..=6 {
            snapshot.open_incidents.push(Arc::new(Incident {
                id: IncidentId(number),
                title: format!("fault {number}"),
                ..sample::incident()
            }));
        }
        insta::assert_snapshot!(say(&snapshot), @"5 incidents: orders-db refuses connections; fault 3; fault 4; and 2 more");
    }

    #[test]
    fn what_the_aggregator_cannot_see_is_said_before_everything() {
        let mut snapshot = with_status(&[("rates", ServiceStatus::Unknown)]);
        snapshot.observer = ObserverView {
            state: ObserverState::Fault,
            since: Some(sample::ago(20_000)),
            reason: "no name resolves here".into(),
            blind_instances: 3,
            instances: 8,
            blind_to: vec![sample::name("rates")],
        };
        snapshot.open_incidents.push(Arc::new(Incident {
            cause: IncidentCause::Observer,
            ..sample::incident()
        }));
        insta::assert_snapshot!(say(&snapshot), @"the aggregator itself cannot see 3 of 8 instances (no name resolves here); what it does see: 7 of 8 services healthy; rates is unknown");
    }

    #[test]
    fn a_picture_that_nobody_renews_is_not_served_as_healthy() {
        let stale = headline(&sample::healthy(), sample::reading_after(95_000));
        insta::assert_snapshot!(stale, @"nothing was judged for 95 s; before that: 8 services healthy, all seen within 1 s");
    }
}
