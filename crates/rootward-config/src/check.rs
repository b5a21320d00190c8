//! What was written in all files together, to a configuration that holds or the list of what does not.
//!
//! Each part checks one kind of thing and reports to the log; nothing is built until all have passed, so that every
//! problem is found in one run. The warnings need the map and come last.

use std::collections::BTreeMap;

use rootward_core::{Map, MapParts, MapProblem, Name, Node};

use crate::checked::{
    AggregatorSpec, Checked, DEFAULT_LISTEN_INTERNAL, DEFAULT_PAGE_UNKNOWN_AFTER,
    DEFAULT_PAGE_WITHIN, MAX_SELF_CHECKS,
};
use crate::place::{Field, Log, Place};
use crate::problem::{Fault, Problems};
use crate::raw::{RawFile, RawTiming};
use crate::rule::Rule;
use crate::tree::Position;

mod edges;
mod groups;
mod nodes;
mod targets;
mod timing;

use edges::CheckedEdges;
use nodes::Known;

/// Checks everything and builds the configuration.
pub(crate) fn check(files: Vec<RawFile>, mut log: Log) -> Result<Checked, Problems> {
    let written = merge(files, &mut log);
    let known = Known::collect(&written, &mut log);
    let map_nodes = nodes::check(&written, &known, &mut log);
    let edges = edges::check(&written, &known, &mut log);
    let defaults = written
        .defaults
        .as_ref()
        .map_or(&RawTiming::ABSENT, |defaults| &defaults.timing);
    let (targets, dns, pushed) = targets::check(&written, defaults, &mut log);
    let self_checks = self_checks(&written, &mut log);
    let groups = groups::check(&written, &known, &mut log);
    if log.has_problems() {
        return Err(log.finish().expect_err("there are problems"));
    }
    let map = build_map(map_nodes, &edges, &known, &mut log);
    let Some(map) = map else {
        return Err(log
            .finish()
            .expect_err("a map that cannot be built was reported"));
    };
    edges.warn(&map, &mut log);
    nodes::warn(&written, &map, &mut log);
    let duration_or = |field: Option<&Field<_>>, default| {
        field.and_then(Field::value).copied().unwrap_or(default)
    };
    let aggregator = written.aggregator.as_ref();
    Ok(Checked {
        aggregator: AggregatorSpec {
            environment: aggregator.and_then(|a| a.environment.value().cloned()),
            zone: aggregator.and_then(|a| a.zone.value().cloned()),
            page_within: duration_or(aggregator.map(|a| &a.page_within), DEFAULT_PAGE_WITHIN),
            page_unknown_after: duration_or(
                aggregator.map(|a| &a.page_unknown_after),
                DEFAULT_PAGE_UNKNOWN_AFTER,
            ),
            self_checks,
        },
        listen_internal: written
            .listen
            .as_ref()
            .and_then(|listen| listen.internal.value().copied())
            .unwrap_or(DEFAULT_LISTEN_INTERNAL),
        map,
        targets,
        dns,
        pushed,
        groups,
        namespaces: namespaces(&written),
        reviews: edges.reviews,
        warnings: log.finish()?,
    })
}

/// Who is asked whether the aggregator itself can see.
fn self_checks(written: &RawFile, log: &mut Log) -> Vec<String> {
    let aggregator = written.aggregator.as_ref();
    let given = aggregator.map_or(&[][..], |aggregator| &aggregator.self_checks);
    if let Some(first_too_many) = given.get(MAX_SELF_CHECKS) {
        let fault = Fault::new(
            format!("{} addresses", given.len()),
            format!("at most {MAX_SELF_CHECKS} are allowed"),
        );
        log.problem(&first_too_many.place, fault);
    }
    given.iter().map(|address| address.value.clone()).collect()
}

/// Joins the files: lists are joined in the order of the files, sections that exist once are taken from the first.
fn merge(files: Vec<RawFile>, log: &mut Log) -> RawFile {
    let mut all = RawFile::default();
    for file in files {
        first(
            &mut all.aggregator,
            file.aggregator,
            "aggregator",
            |a| &a.place,
            log,
        );
        first(
            &mut all.defaults,
            file.defaults,
            "defaults",
            |d| &d.place,
            log,
        );
        first(&mut all.listen, file.listen, "listen", |l| &l.place, log);
        all.services.extend(file.services);
        all.resources.extend(file.resources);
        all.groups.extend(file.groups);
        all.services_refused |= file.services_refused;
    }
    if all.services.is_empty() && !all.services_refused {
        let place = Place {
            file: 0,
            at: Position::START,
            end: None,
            path: String::new(),
        };
        let fault = Fault::new(
            "there are no services, so there is nothing to watch",
            format!("write at least one: {}", crate::keys::ROOT.example),
        )
        .of(Rule::Missing);
        log.problem(&place, fault);
    }
    all
}

fn first<T>(
    slot: &mut Option<T>,
    next: Option<T>,
    key: &str,
    place: impl Fn(&T) -> &Place,
    log: &mut Log,
) {
    match (&slot, next) {
        (Some(first), Some(next)) => {
            let at = log.reference(place(first), place(&next));
            let fault = Fault::new(
                format!("`{key}` is already given at {at}"),
                "keep one of them",
            )
            .of(Rule::Duplicate);
            log.problem(place(&next), fault);
        }
        (None, Some(next)) => *slot = Some(next),
        (_, None) => {}
    }
}

fn namespaces(written: &RawFile) -> BTreeMap<Name, Name> {
    written
        .services
        .iter()
        .filter_map(|service| {
            Some((
                service.name.value()?.clone(),
                service.namespace.value()?.clone(),
            ))
        })
        .collect()
}

/// Builds the map. Everything that the core would refuse was checked before; if the two ever disagree, the core's word
/// is reported where it belongs rather than lost.
fn build_map(nodes: Vec<Node>, edges: &CheckedEdges, known: &Known, log: &mut Log) -> Option<Map> {
    let parts = MapParts {
        nodes,
        edges: edges.parts(),
    };
    let problems = match Map::build(parts) {
        Ok(map) => return Some(map),
        Err(problems) => problems,
    };
    for problem in problems {
        let (name, callee) = match &problem {
            MapProblem::DuplicateNode(node)
            | MapProblem::ResourceDepends(node)
            | MapProblem::SelfEdge(node)
            | MapProblem::DuplicateAlias { node, .. }
            | MapProblem::DuplicateTarget { node, .. } => (Some(node), None),
            MapProblem::UnknownCaller { caller, callee }
            | MapProblem::UnknownCallee { caller, callee }
            | MapProblem::DuplicateEdge { caller, callee } => (Some(caller), Some(callee)),
            _ => (None, None),
        };
        let edge = name
            .zip(callee)
            .and_then(|(caller, callee)| edges.place(caller, callee));
        let place = edge
            .or_else(|| name.and_then(|name| known.place(name)))
            .cloned();
        let place = place.unwrap_or(Place {
            file: 0,
            at: Position::START,
            end: None,
            path: String::new(),
        });
        let fault = Fault::plain(Rule::Contradiction, problem.to_string());
        log.problem(&place, fault);
    }
    None
}
