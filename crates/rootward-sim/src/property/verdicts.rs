//! What an answer may and must say, given what was seen.

use std::collections::BTreeSet;

use super::{Holds, Make, WINDOW, ask, checks};
use crate::scenario::{CauseKind, CheckStatus, DepReport, ErrorClass, Event, NoAnswer, Report};
use crate::simulator::Simulated;

/// Property 5: every root cause has a fresh bad check in its evidence; `poller:` has silent polls instead.
///
/// Fresh is what was made within the window of eight intervals.
///
/// # Errors
/// When it does not hold.
pub fn evidence(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let oldest = incident.end - WINDOW * graph.interval_s;
    let checks = checks(&incident.scenario.events, incident.end);
    let fresh_bad: BTreeSet<String> = checks
        .iter()
        .filter(|(_, history)| {
            history
                .iter()
                .any(|(made, bad)| *bad && *made >= oldest - 0.1)
        })
        .map(|((instance, to), _)| format!("{instance}->{to}"))
        .collect();
    let answer = ask(make, graph, received(incident), incident.end);
    for cause in &answer.root_causes {
        if cause.kind == CauseKind::Poller {
            continue;
        }
        if !cause
            .evidence
            .iter()
            .any(|text| fresh_bad.contains(first_word(text)))
        {
            return Err(format!(
                "{} has no fresh bad check: {:?}",
                cause.id, cause.evidence
            ));
        }
    }
    Ok(())
}

/// Property 6: a node whose fresh checks are all good, by every observer, is never a root cause.
///
/// # Errors
/// When it does not hold.
pub fn no_invention(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let oldest = incident.end - WINDOW * graph.interval_s;
    let (mut seen, mut bad_once) = (BTreeSet::new(), BTreeSet::new());
    for ((_, to), history) in checks(&incident.scenario.events, incident.end) {
        for (made, bad) in history {
            if made >= oldest - 0.1 {
                seen.insert(to.clone());
                if bad {
                    bad_once.insert(to.clone());
                }
            }
        }
    }
    let answer = ask(make, graph, received(incident), incident.end);
    for cause in &answer.root_causes {
        if let Some(node) = cause.id.strip_prefix("node:")
            && seen.contains(node)
            && !bad_once.contains(node)
        {
            return Err(format!(
                "{} is named, and every check of it is good",
                cause.id
            ));
        }
    }
    Ok(())
}

/// Property 7: silence alone, or old results alone, make nothing but `poller:` a root cause.
///
/// From the middle of the incident on, every report becomes a poll without an answer.
///
/// # Errors
/// When it does not hold.
pub fn unknown_is_not_down(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let from = incident.end / 2.0;
    let mut localiser = make(graph);
    let nothing = localiser.answer(graph.interval_s);
    if let Some(cause) = nothing.root_causes.first() {
        return Err(format!("{} is named before anything was seen", cause.id));
    }
    for event in &incident.scenario.events {
        match event {
            Event::Report(report) if report.recv > from => {
                let silence = NoAnswer {
                    recv: report.recv,
                    sent: report.sent,
                    instance: report.instance.clone(),
                    error: Some(ErrorClass::Timeout),
                };
                localiser.apply(&Event::NoAnswer(silence));
            }
            Event::Report(_) | Event::NoAnswer(_) | Event::Change(_) => localiser.apply(event),
        }
    }
    let t = incident.end;
    if t - from < 5.0 * graph.interval_s {
        return Err("the incident is too short for results to grow old".to_owned());
    }
    let answer = localiser.answer(t);
    match answer
        .root_causes
        .iter()
        .find(|cause| cause.kind != CauseKind::Poller)
    {
        Some(cause) => Err(format!("{} is named after silence only", cause.id)),
        None => Ok(()),
    }
}

/// Property 8: every fresh bad check is in the evidence of a root cause, or unexplained.
///
/// Fresh is the newest check of its kind, at most two intervals old.
///
/// # Errors
/// When it does not hold.
pub fn nothing_is_lost(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let oldest = incident.end - 2.0 * graph.interval_s;
    let answer = ask(make, graph, received(incident), incident.end);
    let evidence = answer.root_causes.iter().flat_map(|cause| &cause.evidence);
    let told: BTreeSet<&str> = evidence
        .chain(&answer.unexplained)
        .map(|text| first_word(text))
        .collect();
    for ((instance, to), history) in checks(&incident.scenario.events, incident.end) {
        if let Some((made, true)) = history.last()
            && *made >= oldest
            && !told.contains(format!("{instance}->{to}").as_str())
        {
            return Err(format!(
                "the bad check {instance}->{to} of {made} is nowhere"
            ));
        }
    }
    Ok(())
}

/// Property 12: when all checks have been good for as long as the window, there is no root cause.
///
/// # Errors
/// When it does not hold.
pub fn recovery(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let mut localiser = make(graph);
    for event in received(incident) {
        localiser.apply(event);
    }
    let mut t = incident.end;
    // One more than the window: the first good check may come late in its interval.
    for round in 0_u32..9 {
        for one in &graph.instances {
            if !graph
                .nodes
                .iter()
                .any(|node| node.id == one.service && node.polled)
            {
                continue;
            }
            let sent = t + graph.interval_s / 2.0;
            let deps = graph.edges.iter().filter(|edge| edge.from == one.service);
            localiser.apply(&Event::Report(Report {
                recv: sent + 0.1,
                sent,
                seq: None,
                instance: one.id.clone(),
                version: one.version.clone(),
                deps: deps
                    .map(|edge| DepReport {
                        to: edge.to.clone(),
                        status: CheckStatus::Up,
                        latency_ms: None,
                        error: None,
                        age_s: Some(0.5),
                        seq: Some(1_000_000 + u64::from(round)),
                    })
                    .collect(),
            }));
        }
        t += graph.interval_s;
    }
    match localiser.answer(t).root_causes.first() {
        Some(cause) => Err(format!(
            "{} is still named after all has been good",
            cause.id
        )),
        None => Ok(()),
    }
}

fn received(incident: &Simulated) -> impl Iterator<Item = &Event> {
    let events = incident.scenario.events.iter();
    events.filter(|event| event.recv() <= incident.end)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or(text)
}
