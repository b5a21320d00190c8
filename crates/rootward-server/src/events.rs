//! What the log says: one function for each event, with stable field names.
//!
//! One line for each change of status and for each step of an incident, and for the start and the end. A poll is no
//! event: at ten thousand targets it would be the only thing in the log. Those who ask for `debug` get it.

use std::error::Error as Source;
use std::io;
use std::net::SocketAddr;

use rootward_core::engine::{Poll, Replaced};
use rootward_core::incident::IncidentEvent;
use rootward_core::snapshot::{PollWord, Transition};
use rootward_core::{Name, ObserverView, SelfChecks};
use rootward_fetch::FetchError;
use tracing::{debug, error, info, warn};

use crate::reload::Refused;
use crate::summary::Summary;

pub(crate) fn started(address: SocketAddr, services: usize, targets: usize) {
    info!(%address, services, targets, "started");
}

pub(crate) fn configuration_applied(replaced: &Replaced) {
    let Replaced {
        kept,
        begun,
        ended,
        changed,
    } = replaced;
    info!(
        kept,
        begun, ended, changed, "the changed configuration is in force"
    );
}

/// One line for each sentence that readers are shown.
pub(crate) fn configuration_refused(refused: &Refused) {
    for problem in &refused.sentences {
        error!(
            problem,
            "the changed configuration is refused; what was loaded before stays in force"
        );
    }
}

pub(crate) fn stopped(summary: &Summary) {
    info!(
        polls = summary.polls.total(),
        abandoned = summary.abandoned,
        transitions = summary.transitions,
        incidents_opened = summary.incidents_opened,
        incidents_resolved = summary.incidents_resolved,
        "stopped"
    );
}

pub(crate) fn self_checked(checks: SelfChecks, view: &ObserverView) {
    let SelfChecks {
        descriptors,
        loopback,
        names,
        references,
    } = checks;
    let (state, reason) = (view.state.as_str(), view.reason.as_str());
    let blind = view.blind_instances;
    let of = view.instances;
    if view.is_fault() {
        error!(
            state,
            reason,
            blind,
            of,
            ?descriptors,
            ?loopback,
            ?names,
            ?references,
            "self checked: the aggregator itself cannot see"
        );
    } else {
        info!(
            state,
            reason,
            blind,
            of,
            ?descriptors,
            ?loopback,
            ?names,
            ?references,
            "self checked"
        );
    }
}

pub(crate) fn transition(transition: &Transition) {
    let Transition {
        subject,
        from,
        to,
        reason,
        at: _,
    } = transition;
    info!(%subject, from, to, reason, "status changed");
}

pub(crate) fn incident(event: &IncidentEvent) {
    let incident = event.incident();
    let (id, cause, title) = (incident.id, &incident.cause, incident.title.as_str());
    let (confidence, impacted) = (incident.confidence, incident.impacted.len());
    match event {
        IncidentEvent::Opened(_) => {
            warn!(%id, %cause, title, confidence, impacted, "incident opened");
        }
        IncidentEvent::Revised(_) => {
            warn!(%id, %cause, title, confidence, impacted, "incident revised");
        }
        IncidentEvent::Resolved(_) => {
            let resolution = incident.resolution.as_deref().unwrap_or_default();
            info!(%id, %cause, title, resolution, "incident resolved");
        }
    }
}

pub(crate) fn poll_ended(poll: &Poll, word: PollWord) {
    debug!(
        instance = %poll.instance,
        outcome = word.as_str(),
        took_us = poll.took_us,
        "poll ended"
    );
}

/// Other instances are polled from now on.
pub(crate) fn retargeted(replaced: &Replaced) {
    let Replaced {
        kept,
        begun,
        ended,
        changed: _,
    } = replaced;
    info!(kept, begun, ended, "other instances are polled");
}

pub(crate) fn looked_up_again(service: &Name) {
    info!(%service, "the name is looked up again");
}

pub(crate) fn not_looked_up(service: &Name, error: &FetchError) {
    warn!(
        %service,
        error = %chain(error),
        "the name was not looked up: its last good addresses are polled"
    );
}

pub(crate) fn recording_lost() {
    warn!("the disk is too slow for the recording: parts of it are missing");
}

pub(crate) fn recording_failed(error: &io::Error) {
    error!(%error, "the recording was not written");
}

/// A fault of ours: the poll is given to the engine as one without an answer.
pub(crate) fn poller_failed(instance: &dyn std::fmt::Display) {
    error!(%instance, "the poller failed");
}

pub(crate) fn history_failed(error: &rootward_history::Error) {
    error!(error = %chain(error), "the history was not written");
}

pub(crate) fn history_recovered(lost: u64) {
    warn!(lost, "the history is written again");
}

pub(crate) fn history_unreadable(error: &rootward_history::Error) {
    error!(error = %chain(error), "the history was not read");
}

pub(crate) fn wall_clock_stepped(by_ms: i64) {
    warn!(by_ms, "the wall clock was stepped; displayed times follow");
}

pub(crate) fn accept_failed(error: &io::Error) {
    warn!(%error, "failed to accept a connection");
}

/// An error with everything behind it, in one line.
pub(crate) fn chain(error: &dyn Source) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}
