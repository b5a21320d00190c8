//! Builds what readers see of services, instances and resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnosis::Check;
use crate::engine::evidence::Gathered;
use crate::engine::seen::Seen;
use crate::map::{EdgeIndex, Map, NodeIndex, NodeKind};
use crate::moment::Moment;
use crate::name::InstanceId;
use crate::rollup::{InstanceVote, roll_up_instances};
use crate::snapshot::{DependencyView, InstanceView, ResourceView, ServiceView};
use crate::status::{CheckStatus, ErrorCategory, ServiceStatus};

/// All services, by name.
pub(super) fn services(
    map: &Map,
    instances: &BTreeMap<InstanceId, Seen>,
    evidence: &Gathered,
    now: Moment,
) -> Vec<Arc<ServiceView>> {
    let mut of_service: BTreeMap<NodeIndex, Vec<(&InstanceId, &Seen)>> = BTreeMap::new();
    for (id, seen) in instances {
        of_service.entry(seen.service).or_default().push((id, seen));
    }
    let by_edge = checks_by_edge(evidence);
    map.indices()
        .filter_map(|node| match map.node(node).kind {
            NodeKind::Service { at_least } => {
                let own = of_service.remove(&node).unwrap_or_default();
                let dependencies = map
                    .callees(node)
                    .iter()
                    .map(|edge| dependency(map, evidence, &by_edge, *edge))
                    .collect();
                let view = service(map, node, at_least, &own, dependencies, now);
                Some(Arc::new(view))
            }
            NodeKind::Resource { .. } => None,
        })
        .collect()
}

fn service(
    map: &Map,
    node: NodeIndex,
    at_least: usize,
    own: &[(&InstanceId, &Seen)],
    dependencies: Vec<DependencyView>,
    now: Moment,
) -> ServiceView {
    let mut votes = Vec::new();
    let mut instances = Vec::new();
    let mut pending = false;
    for (id, seen) in own {
        let judged = seen.judge(now);
        votes.push(judged.vote);
        pending |= seen.is_pending()
            || judged
                .report
                .is_some_and(|report| report.components.iter().any(|c| c.pending.is_some()));
        instances.push(InstanceView {
            id: (*id).clone(),
            status: judged.status,
            last_known: seen.report.as_ref().map(|report| report.status),
            since: None,
            reason: judged.reason,
            evidence_at: seen.evidence_at(),
            last_poll: seen.last_poll.clone(),
            report: seen.report.clone(),
        });
    }
    let status = roll_up_instances(votes.iter().copied(), at_least);
    ServiceView {
        name: map.name(node).clone(),
        status,
        since: None,
        reason: service_reason(status, &votes, &instances, at_least),
        evidence_at: instances
            .iter()
            .filter_map(|instance| instance.evidence_at)
            .max(),
        pending,
        instances,
        dependencies,
    }
}

/// Why a service has its status: how many instances, and what the worst of them says.
fn service_reason(
    status: ServiceStatus,
    votes: &[InstanceVote],
    instances: &[InstanceView],
    at_least: usize,
) -> String {
    let total = votes
        .iter()
        .filter(|vote| **vote != InstanceVote::Gone)
        .count();
    if votes.is_empty() {
        return "it has no instances".to_owned();
    }
    if total == 0 {
        return "all its instances are draining".to_owned();
    }
    let worst = instances
        .iter()
        .filter(|instance| instance.status != ServiceStatus::Healthy)
        .max_by_key(|instance| instance.status);
    let Some(worst) = worst else {
        return if total == 1 {
            "its instance is healthy".to_owned()
        } else {
            format!("all {total} instances healthy")
        };
    };
    if total == 1 {
        return worst.reason.clone();
    }
    let alike = instances
        .iter()
        .filter(|instance| instance.status == worst.status)
        .count();
    let serving = votes
        .iter()
        .filter(|vote| matches!(vote, InstanceVote::Healthy | InstanceVote::Degraded))
        .count();
    let quorum = match status {
        ServiceStatus::Unhealthy | ServiceStatus::Unknown | ServiceStatus::Starting
            if serving > 0 =>
        {
            format!(" ({serving} serving, {at_least} needed)")
        }
        ServiceStatus::Healthy
        | ServiceStatus::Degraded
        | ServiceStatus::Unhealthy
        | ServiceStatus::Unknown
        | ServiceStatus::Starting => String::new(),
    };
    format!(
        "{alike} of {total} instances {}{quorum}: {}",
        worst.status, worst.reason
    )
}

fn checks_by_edge(evidence: &Gathered) -> BTreeMap<EdgeIndex, Vec<&Check>> {
    let mut by_edge: BTreeMap<EdgeIndex, Vec<&Check>> = BTreeMap::new();
    for check in &evidence.checks {
        by_edge.entry(check.edge).or_default().push(check);
    }
    by_edge
}

fn dependency(
    map: &Map,
    evidence: &Gathered,
    by_edge: &BTreeMap<EdgeIndex, Vec<&Check>>,
    index: EdgeIndex,
) -> DependencyView {
    let edge = map.edge(index);
    let (criticality, label_source) = evidence.labels[index.0];
    let checks = by_edge.get(&index).map_or(&[][..], Vec::as_slice);
    let bad: Vec<&&Check> = checks.iter().filter(|check| check.is_bad()).collect();
    DependencyView {
        caller: map.name(edge.caller).clone(),
        callee: map.name(edge.callee).clone(),
        criticality,
        label_source,
        status: checks
            .iter()
            .map(|check| check.status)
            .max()
            .unwrap_or(CheckStatus::Unknown),
        category: bad.first().and_then(|check| check.category),
        failing_instances: bad.len(),
        observing_instances: checks.len(),
        reason: edge.reason.clone(),
        owner: edge.owner.clone(),
    }
}

/// All resources, by name, as their callers see them.
pub(super) fn resources(map: &Map, evidence: &Gathered) -> Vec<Arc<ResourceView>> {
    let mut of_node: BTreeMap<NodeIndex, Vec<&Check>> = BTreeMap::new();
    for check in &evidence.checks {
        of_node
            .entry(map.edge(check.edge).callee)
            .or_default()
            .push(check);
    }
    map.indices()
        .filter(|node| !map.is_service(*node))
        .map(|node| resource(map, node, of_node.get(&node).map_or(&[][..], Vec::as_slice)))
        .map(Arc::new)
        .collect()
}

fn resource(map: &Map, node: NodeIndex, checks: &[&Check]) -> ResourceView {
    let callers: BTreeSet<_> = checks.iter().map(|check| &check.observer.service).collect();
    let bad: Vec<&&Check> = checks.iter().filter(|check| check.is_bad()).collect();
    let failing: BTreeSet<_> = bad.iter().map(|check| &check.observer.service).collect();
    let all_bad = bad.len() == checks.len();
    let any_down = bad.iter().any(|check| check.status == CheckStatus::Down);
    let status = match (checks.is_empty(), bad.is_empty(), all_bad && any_down) {
        (true, _, _) => CheckStatus::Unknown,
        (false, true, _) => CheckStatus::Up,
        (false, false, true) => CheckStatus::Down,
        (false, false, false) => CheckStatus::Degraded,
    };
    let reason = match status {
        CheckStatus::Unknown => "no caller has a fresh check of it".to_owned(),
        CheckStatus::Up => format!("{} it up", see(callers.len(), callers.len())),
        CheckStatus::Down | CheckStatus::Degraded => {
            let why = bad.first().map_or("failing", |check| {
                check
                    .error
                    .as_deref()
                    .unwrap_or(check.category.unwrap_or(ErrorCategory::Unknown).phrase())
            });
            format!("{} it failing: {why}", see(failing.len(), callers.len()))
        }
    };
    ResourceView {
        name: map.name(node).clone(),
        status,
        since: None,
        reason,
        evidence_at: checks.iter().map(|check| check.checked_at).max(),
        callers: map.callers(node).len(),
        failing_callers: failing.len(),
    }
}

/// `1 of 1 caller sees`, `1 of 3 callers sees`, `3 of 3 callers see`.
fn see(some: usize, all: usize) -> String {
    let callers = if all == 1 { "caller" } else { "callers" };
    let verb = if some == 1 { "sees" } else { "see" };
    format!("{some} of {all} {callers} {verb}")
}
