//! What instances say of themselves: a failing local condition, an error status instead of a report.
//!
//! Nobody has to infer it and nobody else can see it, so it is a cause at once: of the instance, or of the service if all
//! of several instances say it. What callers see of such a service is explained by it, unless the way they fail says
//! that nobody was there to answer.

use std::collections::BTreeMap;

use crate::diagnosis::cause::{state_of, summary_of_own};
use crate::diagnosis::scene::Scene;
use crate::diagnosis::{CauseId, Check, Fact, LocalCheck, RootCause};
use crate::map::NodeIndex;
use crate::name::InstanceId;
use crate::status::ErrorCategory;

/// A cause by the own word of instances.
pub(super) struct Own {
    pub(super) service: NodeIndex,
    pub(super) cause: RootCause,
}

/// What instances say against themselves.
pub(super) fn causes(scene: &Scene<'_>) -> Vec<Own> {
    let mut causes = Vec::new();
    for (&service, said) in &scene.local {
        let mut by_instance: BTreeMap<&InstanceId, Vec<&LocalCheck>> = BTreeMap::new();
        for own in said {
            by_instance.entry(&own.instance).or_default().push(own);
        }
        let total = scene.instances_of(service).len();
        let groups: Vec<(CauseId, Vec<&LocalCheck>)> = if total > 1 && by_instance.len() == total {
            let all = by_instance.into_values().flatten().collect();
            vec![(CauseId::Node(scene.input.map.name(service).clone()), all)]
        } else {
            by_instance
                .into_iter()
                .map(|(id, all)| (CauseId::Instance(id.clone()), all))
                .collect()
        };
        for (id, said) in groups {
            let cause = cause(scene, service, id, &said);
            causes.push(Own { service, cause });
        }
    }
    causes
}

fn cause(scene: &Scene<'_>, service: NodeIndex, id: CauseId, said: &[&LocalCheck]) -> RootCause {
    let mut evidence: Vec<Fact> = said.iter().map(|own| own.fact()).collect();
    evidence
        .sort_by(|a, b| (a.since, &a.observer, &a.target).cmp(&(b.since, &b.observer, &b.target)));
    let state = state_of(&evidence);
    let since = evidence.iter().map(|fact| fact.since).min();
    let category = said.first().and_then(|own| own.category);
    evidence.extend(echoes(scene, service).map(|check| check.fact(scene.input.map)));
    let margin = margin(said.len());
    RootCause {
        summary: summary_of_own(&id, state, category.unwrap_or(ErrorCategory::Unknown)),
        id,
        state,
        confidence: confidence(margin),
        margin,
        since: since.unwrap_or(scene.input.now),
        evidence,
        silent: Vec::new(),
        against: Vec::new(),
        against_count: 0,
        alternatives: Vec::new(),
        group: Vec::new(),
        reasons: said.iter().map(|own| sentence(own)).collect(),
        held: None,
    }
}

/// What callers see of a service that speaks against itself.
pub(super) fn echoes<'a>(
    scene: &'a Scene<'_>,
    service: NodeIndex,
) -> impl Iterator<Item = &'a Check> {
    let checks = scene.checks_of(service).iter().copied();
    checks.filter(|check| check.is_bad() && may_come_from_below(check.category))
}

fn sentence(own: &LocalCheck) -> String {
    let category = own.category.unwrap_or(ErrorCategory::Unknown);
    let why = own.error.as_deref().unwrap_or(category.phrase());
    format!(
        "{} itself reports {} {}: {why}",
        own.instance, own.component, own.status
    )
}

/// How much better a fault of the instance explains its own failing conditions than chance does, in nats: three results
/// in a row stand behind each, at one false failure in a hundred.
fn margin(failing: usize) -> f64 {
    const INSTANCE: f64 = 7.8;
    const CHANCE: f64 = 3.0 * 4.6;
    f64::from(u32::try_from(failing.max(1)).unwrap_or(u32::MAX)) * CHANCE - INSTANCE
}

/// The logistic function of half the margin.
fn confidence(margin: f64) -> f64 {
    (1.0 / (1.0 + (-margin / 2.0).exp())).clamp(0.0, 0.99)
}

/// Whether a failure of this category can be the echo of something deeper: the target answered, or answered late.
pub(super) const fn may_come_from_below(category: Option<ErrorCategory>) -> bool {
    match category {
        None => true,
        Some(category) => match category {
            ErrorCategory::Timeout
            | ErrorCategory::RateLimited
            | ErrorCategory::ResourceExhausted
            | ErrorCategory::Starting
            | ErrorCategory::NotReady
            | ErrorCategory::NotServing
            | ErrorCategory::HttpStatus
            | ErrorCategory::Unknown => true,
            ErrorCategory::ConnectionRefused
            | ErrorCategory::ConnectionReset
            | ErrorCategory::Dns
            | ErrorCategory::Tls
            | ErrorCategory::Auth
            | ErrorCategory::ShuttingDown
            | ErrorCategory::Stale
            | ErrorCategory::Protocol
            | ErrorCategory::Redirect
            | ErrorCategory::NotFound
            | ErrorCategory::Panic => false,
        },
    }
}
