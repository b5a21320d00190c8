//! Gathers what all reports say, joined to the map: checks of dependencies, local conditions, labels, findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::diagnosis::{Check, Fact, Input, InstanceSeen, LocalCheck};
use crate::engine::seen::{Judged, Seen};
use crate::map::{EdgeIndex, Map, NodeIndex};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::report::{Component, Report};
use crate::rollup::{Effect, effect};
use crate::snapshot::{Finding, FindingKind, LabelSource};
use crate::status::{CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope};

/// Findings kept; a report with thousands of unknown components must not fill the screen.
const MAX_FINDINGS: usize = 500;

/// Everything that a diagnosis and the views are made from.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) checks: Vec<Check>,
    pub(super) local: Vec<LocalCheck>,
    pub(super) instances: Vec<InstanceSeen>,
    /// The label in force for each edge, and where it comes from.
    pub(super) labels: Vec<(Option<Criticality>, LabelSource)>,
    /// The same as the diagnosis takes it: unlabelled is soft.
    pub(super) forced: Vec<Criticality>,
    /// Whether the checks of each edge look deeper than the connection, if any report says so.
    pub(super) depths: Vec<Option<bool>>,
    /// Half of how long a result about each dependency counts, as the slowest of its observers says: about how often it is made.
    pub(super) every: Vec<Duration>,
    /// Failing checks of what the map does not declare.
    pub(super) stray: Vec<Fact>,
    pub(super) findings: Vec<Finding>,
}

impl Gathered {
    pub(super) fn new(map: &Map, instances: &BTreeMap<InstanceId, Seen>, now: Moment) -> Self {
        let mut gathered = Self {
            checks: Vec::new(),
            local: Vec::new(),
            instances: Vec::new(),
            labels: Vec::new(),
            forced: Vec::new(),
            depths: vec![None; map.edges().len()],
            every: vec![Duration::ZERO; map.edges().len()],
            stray: Vec::new(),
            findings: Vec::new(),
        };
        let mut reported: Vec<Option<Criticality>> = vec![None; map.edges().len()];
        let mut checked: BTreeSet<EdgeIndex> = BTreeSet::new();
        let mut reporting: BTreeSet<NodeIndex> = BTreeSet::new();
        for (id, seen) in instances {
            let judged = seen.judge(now);
            gathered.instances.push(InstanceSeen {
                id: id.clone(),
                service: seen.service,
                sight: judged.sight,
                polled_at: seen.last_poll.as_ref().map(|poll| poll.at),
                host: seen.host().cloned(),
                zone: seen.zone(map).cloned(),
                version: seen.version().cloned(),
            });
            gathered.errors_instead_of_reports(id, seen, &judged, now);
            if let Some(foreign) = &seen.foreign {
                gathered.find(
                    FindingKind::IdentityDiffers,
                    &id.service,
                    format!(
                        "the address of {id} answers in the name of {}",
                        foreign.service
                    ),
                );
            }
            // Labels are read from the last report also when it is old: what something means does not go stale.
            let Some(report) = &seen.report else { continue };
            reporting.insert(seen.service);
            for (component, about) in report.components.iter().zip(seen.joined().iter()) {
                let (callee, edge) = (about.callee, about.edge);
                if let (Some(edge), Scope::Shared) = (edge, component.scope) {
                    checked.insert(edge);
                    let depth = &mut gathered.depths[edge.0];
                    *depth = (*depth).max(component.depth.map(looks_deep));
                    let every = &mut gathered.every[edge.0];
                    *every = (*every).max(component.stale_after.unwrap_or_default() / 2);
                    let label = &mut reported[edge.0];
                    // Among instances that disagree (a rollout), the harder label counts.
                    *label = Some(label.map_or(component.criticality, |known| {
                        known.min(component.criticality)
                    }));
                }
                let fresh = judged.report.is_some();
                gathered.component(id, seen, component, callee, edge, fresh);
            }
            if let (Some(claimed), Some(report)) = (seen.claimed, judged.report) {
                gathered.find(
                    FindingKind::StatusContradicted,
                    &id.service,
                    format!(
                        "{id} calls itself {claimed}, but by its own components it is {}; the components count",
                        report.status
                    ),
                );
            }
            if let Some(report) = judged.report {
                gathered.unexplained_status(id, seen.service, report, now);
            }
        }
        gathered.label(map, &reported, &checked, &reporting);
        gathered.findings.sort();
        gathered.findings.dedup();
        gathered.findings.truncate(MAX_FINDINGS);
        gathered
    }

    pub(super) fn input<'a>(
        &'a self,
        map: &'a Map,
        ids: &'a BTreeMap<Arc<str>, InstanceId>,
        hold_limit: Duration,
        now: Moment,
    ) -> Input<'a> {
        Input {
            now,
            map,
            ids,
            labels: &self.forced,
            checks: &self.checks,
            local: &self.local,
            instances: &self.instances,
            hold_limit,
        }
    }

    fn find(&mut self, kind: FindingKind, subject: &Name, text: String) {
        self.findings.push(Finding {
            kind,
            subject: subject.clone(),
            text,
        });
    }

    /// One component of a report.
    fn component(
        &mut self,
        id: &InstanceId,
        seen: &Seen,
        component: &Component,
        callee: Option<NodeIndex>,
        edge: Option<EdgeIndex>,
        fresh: bool,
    ) {
        // A result without an age is one all the same; the report that brought it is as near as anybody can date it.
        let checked_at = component
            .checked_at
            .or(seen.report_at)
            .filter(|_| component.status != CheckStatus::Unknown);
        match (component.scope, edge) {
            (Scope::Local, _) => {
                let Some(checked_at) = checked_at.filter(|_| fresh) else {
                    return;
                };
                self.local.push(LocalCheck {
                    instance: id.clone(),
                    service: seen.service,
                    component: component.name.clone(),
                    status: component.status,
                    criticality: component.criticality,
                    category: component.error_category,
                    error: component.error.clone(),
                    checked_at,
                    since: component.since.unwrap_or(checked_at),
                });
            }
            (Scope::Shared, Some(edge)) => {
                let Some(checked_at) = checked_at.filter(|_| fresh) else {
                    return;
                };
                self.checks.push(Check {
                    observer: id.clone(),
                    edge,
                    status: component.status,
                    raw_status: component.raw_status,
                    category: component.error_category,
                    error: component.error.clone(),
                    checked_at,
                    since: component.since.unwrap_or(checked_at),
                });
            }
            (Scope::Shared, None) => {
                self.find(
                    FindingKind::UndeclaredDependency,
                    &id.service,
                    format!(
                        "{} checks {}, which its entry on the map does not declare",
                        id.service, component.name
                    ),
                );
                let bad = effect(component.status, component.criticality);
                let Some(at) = checked_at.filter(|_| fresh) else {
                    return;
                };
                match (bad, callee) {
                    (Effect::None, _) => {}
                    // Nothing on the map can be blamed for it, and the instance cannot work: it stands for its own failure.
                    (Effect::Unhealthy, None) => self.local.push(LocalCheck {
                        instance: id.clone(),
                        service: seen.service,
                        component: component.name.clone(),
                        status: component.status,
                        criticality: component.criticality,
                        category: component.error_category,
                        error: component.error.clone(),
                        checked_at: at,
                        since: component.since.unwrap_or(at),
                    }),
                    (Effect::Degraded | Effect::Unhealthy, _) => self.stray.push(Fact {
                        observer: id.to_string(),
                        target: component.name.clone(),
                        status: component.status,
                        decided: true,
                        category: component.error_category,
                        error: component.error.clone(),
                        at,
                        since: component.since.unwrap_or(at),
                    }),
                }
            }
        }
    }

    /// An instance that answers with an error status speaks against itself.
    fn errors_instead_of_reports(
        &mut self,
        id: &InstanceId,
        seen: &Seen,
        judged: &Judged<'_>,
        now: Moment,
    ) {
        let (Some((code, since)), Ok(component)) = (judged.error, Name::parse("poll")) else {
            return;
        };
        self.local.push(LocalCheck {
            instance: id.clone(),
            service: seen.service,
            component,
            status: CheckStatus::Down,
            criticality: Criticality::Hard,
            category: Some(ErrorCategory::HttpStatus),
            error: Some(format!("answers HTTP {code} without a report").into()),
            checked_at: seen.evidence_at().unwrap_or(now),
            since,
        });
    }

    /// An instance that says it is unhealthy without saying why speaks against itself.
    fn unexplained_status(
        &mut self,
        id: &InstanceId,
        service: NodeIndex,
        report: &Report,
        now: Moment,
    ) {
        let explained = report
            .components
            .iter()
            .any(|component| effect(component.status, component.criticality) > Effect::None);
        if report.status != InstanceStatus::Unhealthy || explained {
            return;
        }
        let Ok(component) = Name::parse("report") else {
            return;
        };
        self.local.push(LocalCheck {
            instance: id.clone(),
            service,
            component,
            status: CheckStatus::Down,
            criticality: Criticality::Hard,
            category: None,
            error: Some("reports unhealthy without a failing component".into()),
            checked_at: now,
            since: now,
        });
    }

    /// Settles the label of each edge: the report's wins, unless the map overrides it.
    fn label(
        &mut self,
        map: &Map,
        reported: &[Option<Criticality>],
        checked: &BTreeSet<EdgeIndex>,
        reporting: &BTreeSet<NodeIndex>,
    ) {
        for (at, edge) in map.edges().iter().enumerate() {
            let (caller, callee) = (map.name(edge.caller), map.name(edge.callee));
            let (label, source) = match (reported[at], edge.declared) {
                (_, Some(declared)) if edge.overrides => (Some(declared), LabelSource::Map),
                (Some(reported), Some(declared)) => {
                    if reported != declared {
                        self.find(FindingKind::CriticalityDiffers, caller, format!(
                            "{caller} reports {callee} as {reported}, the map says {declared}; the report counts"
                        ));
                    }
                    (Some(reported), LabelSource::Report)
                }
                (Some(reported), None) => (Some(reported), LabelSource::Report),
                (None, Some(declared)) => (Some(declared), LabelSource::Map),
                (None, None) => (None, LabelSource::None),
            };
            if reporting.contains(&edge.caller) && !checked.contains(&EdgeIndex(at)) {
                self.find(FindingKind::UncheckedDependency, caller, format!(
                    "the map says that {caller} depends on {callee}, but {caller} does not check it"
                ));
            }
            self.labels.push((label, source));
            self.forced.push(label.unwrap_or(Criticality::Soft));
        }
    }
}

/// Whether a check sees more than that somebody is there.
const fn looks_deep(depth: Depth) -> bool {
    match depth {
        Depth::Connect | Depth::Ping => false,
        Depth::Readiness | Depth::Query => true,
    }
}
