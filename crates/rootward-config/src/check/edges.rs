//! Dependencies: each leads somewhere, once, and its label is justified where it has to be.

use std::collections::BTreeMap;

use rootward_core::{Criticality, EdgeParts, Map, Name};

use super::nodes::Known;
use crate::checked::LabelReview;
use crate::place::{Located, Log, Place};
use crate::problem::Fault;
use crate::raw::{RawDependency, RawFile};
use crate::rule::Rule;

/// The dependencies that hold.
#[derive(Debug, Default)]
pub(super) struct CheckedEdges {
    edges: BTreeMap<(Name, Name), (EdgeParts, Place)>,
    pub(super) reviews: Vec<LabelReview>,
}

impl CheckedEdges {
    /// As the map wants them.
    pub(super) fn parts(&self) -> Vec<EdgeParts> {
        self.edges
            .values()
            .map(|(parts, _)| parts.clone())
            .collect()
    }

    /// Where an edge was written.
    pub(super) fn place(&self, caller: &Name, callee: &Name) -> Option<&Place> {
        let key = (caller.clone(), callee.clone());
        self.edges.get(&key).map(|(_, place)| place)
    }

    /// Edges without a label, and edges that run in circles. Both are allowed.
    pub(super) fn warn(&self, map: &Map, log: &mut Log) {
        for (parts, place) in self.edges.values() {
            if parts.declared.is_none() {
                let words: Vec<&str> = Criticality::ALL.iter().map(|word| word.as_str()).collect();
                let help = format!("write criticality: {}", words.join(" | "));
                let fault = Fault::new("unlabelled: treated as soft", help);
                log.warning(place, fault.of(Rule::UnlabelledDependency));
            }
        }
        for cycle in map.cycles() {
            let (Some(first), Some(second)) = (cycle.chain.first(), cycle.chain.get(1)) else {
                continue;
            };
            if let Some(place) = self.place(first, second) {
                let message = format!("services depend on each other in a circle: {cycle}");
                log.warning(
                    place,
                    Fault::new(message, "it is kept; remove an edge that is not real")
                        .of(Rule::DependencyCycle),
                );
            }
        }
    }
}

/// Checks the dependencies of every service.
pub(super) fn check(written: &RawFile, known: &Known, log: &mut Log) -> CheckedEdges {
    let mut checked = CheckedEdges::default();
    for service in &written.services {
        for dependency in &service.dependencies {
            check_label(dependency, log);
            let Some(callee) = dependency.name.given() else {
                continue;
            };
            if known.kind(&callee.value).is_none() {
                let message = format!("nothing is named `{}`", callee.value);
                let (help, meant) = known.suggest(&callee.value, None, log);
                let fault = Fault::new(message, help).of(Rule::UnknownName);
                log.problem(&callee.place, fault.meant(meant));
                continue;
            }
            let Some(caller) = service.name.value() else {
                continue;
            };
            check_edge(caller, callee, dependency, &mut checked, log);
        }
    }
    checked
}

/// What a label asks for, wherever it leads.
fn check_label(dependency: &RawDependency, log: &mut Log) {
    let RawDependency {
        criticality,
        reason,
        overrides,
        reviewed,
        review_every,
        ..
    } = dependency;
    if let Some(Located { value: true, place }) = overrides.given() {
        if criticality.is_absent() {
            let fault = Fault::new(
                "there is no label that could override anything",
                "add `criticality`",
            )
            .of(Rule::Contradiction);
            log.problem(place, fault);
        }
        if reason.is_absent() {
            let fault = Fault::new(
                "an override without a reason",
                "add `reason`: why the map knows better than the service",
            )
            .of(Rule::Missing);
            log.problem(place, fault);
        }
    }
    if let Some(every) = review_every.given()
        && reviewed.is_absent()
    {
        let fault = Fault::new(
            "`review_every` counts from `reviewed`, which is missing",
            "add `reviewed`, such as 2026-10-01",
        )
        .of(Rule::Missing);
        log.problem(&every.place, fault);
    }
}

/// One edge whose ends exist.
fn check_edge(
    caller: &Name,
    callee: &Located<Name>,
    dependency: &RawDependency,
    checked: &mut CheckedEdges,
    log: &mut Log,
) {
    let Located {
        value: callee,
        place,
    } = callee;
    if caller == callee {
        let fault = Fault::new(
            format!("`{caller}` depends on itself"),
            "remove the dependency",
        )
        .of(Rule::Contradiction);
        log.problem(place, fault);
        return;
    }
    if let Some(first) = checked.place(caller, callee) {
        let at = log.reference(first, place);
        let message = format!("`{caller}` already depends on `{callee}` at {at}");
        log.problem(
            place,
            Fault::new(message, "keep one of them").of(Rule::Duplicate),
        );
        return;
    }
    let parts = EdgeParts {
        caller: caller.clone(),
        callee: callee.clone(),
        declared: dependency.criticality.value().copied(),
        overrides: dependency.overrides.value().copied().unwrap_or(false),
        reason: dependency.reason.value().cloned(),
        owner: dependency.owner.value().cloned(),
    };
    if let Some(reviewed) = dependency.reviewed.value() {
        checked.reviews.push(LabelReview {
            caller: caller.clone(),
            callee: callee.clone(),
            reviewed: *reviewed,
            every: dependency.review_every.value().copied(),
        });
    }
    let key = (caller.clone(), callee.clone());
    checked.edges.insert(key, (parts, dependency.place.clone()));
}
