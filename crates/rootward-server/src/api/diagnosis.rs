//! `GET /api/v1/diagnosis`: which faults explain what was seen, and what speaks for and against them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_core::diagnosis::{Fact, RootCause, Unseen};
use rootward_wire::Word;
use rootward_wire::v1::api;

use crate::api::Shared;
use crate::api::convert::{View, count, impact_of_anybody, text, word};
use crate::api::reply::ok;

/// Candidates that are listed, best first.
const MAX_RANK: usize = 20;

/// Failing checks without a cause that are listed.
const MAX_UNEXPLAINED: usize = 1_000;

pub(super) async fn get(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshots.current();
    ok(&shared.view(&snapshot).diagnosis())
}

impl View<'_> {
    fn diagnosis(self) -> api::Diagnosis {
        let diagnosis = &self.snapshot.diagnosis;
        let causes = |causes: &[RootCause]| causes.iter().map(|c| self.cause(c)).collect();
        let unexplained = by_turns(&diagnosis.unexplained)
            .into_iter()
            .take(MAX_UNEXPLAINED);
        let ranked = diagnosis.rank.iter().take(MAX_RANK);
        api::Diagnosis {
            generated_at: self.now(),
            root_causes: causes(&diagnosis.root_causes),
            suspected: causes(&diagnosis.suspected),
            impacted: diagnosis.impacted.iter().map(impact_of_anybody).collect(),
            unexplained: unexplained.map(|fact| self.fact(fact)).collect(),
            unknown: diagnosis.unknown.iter().map(|u| self.unseen(u)).collect(),
            rank: ranked
                .map(|ranked| api::Ranked {
                    id: ranked.id.to_string(),
                    margin: ranked.margin,
                })
                .collect(),
        }
    }

    fn cause(self, cause: &RootCause) -> api::Cause {
        api::Cause {
            id: cause.id.to_string(),
            kind: word(cause.id.kind()),
            state: word(cause.state.as_str()),
            confidence: cause.confidence,
            margin: cause.margin,
            since: self.time(cause.since),
            summary: cause.summary.clone(),
            evidence: self.evidence(&cause.evidence),
            evidence_count: count(cause.evidence.len()),
            silent: cause.silent.iter().map(text).collect(),
            against: self.evidence(&cause.against),
            against_count: count(cause.against_count),
            group: cause.group.iter().map(text).collect(),
            alternatives: cause.alternatives.iter().map(text).collect(),
            reasons: cause.reasons.clone(),
            held: cause.held.clone(),
        }
    }

    /// An instance that is not seen, with what is known of it otherwise.
    fn unseen(self, unseen: &Unseen) -> api::UnknownInstance {
        let mut instances = self.snapshot.services.iter().flat_map(|s| &s.instances);
        let known = instances.find(|instance| instance.id == unseen.instance);
        api::UnknownInstance {
            instance: unseen.instance.to_string(),
            reason: known.map_or_else(|| "not seen".into(), |instance| instance.reason.clone()),
            last_known: known.and_then(|instance| instance.last_known.map(Word::from)),
            age_ms: known.and_then(|instance| instance.evidence_at.map(|at| self.age_ms(at))),
        }
    }
}

/// The first fact of each observer, then the second of each: one report with a thousand failing checks crowds nobody out.
fn by_turns(facts: &[Fact]) -> Vec<&Fact> {
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut order: Vec<(usize, &Fact)> = facts
        .iter()
        .map(|fact| {
            let turn = turns.entry(&fact.observer).or_default();
            *turn += 1;
            (*turn, fact)
        })
        .collect();
    order.sort_by_key(|(turn, _)| *turn);
    order.into_iter().map(|(_, fact)| fact).collect()
}

#[cfg(test)]
mod tests {
    use rootward_core::{CheckStatus, Moment, Name};

    use super::*;

    #[test]
    fn one_service_with_a_thousand_failing_checks_does_not_hide_the_failing_check_of_another() {
        let fact = |observer: &str, target: &str| Fact {
            observer: observer.to_owned(),
            target: Name::parse(target).unwrap(),
            status: CheckStatus::Down,
            decided: true,
            category: None,
            error: None,
            at: Moment::ZERO,
            since: Moment::ZERO,
        };
        let mut facts: Vec<Fact> = (0..MAX_UNEXPLAINED)
            .map(|at| fact("loud#0", &format!("check-{at}")))
            .collect();
        facts.push(fact("quiet#0", "db"));
        let listed = by_turns(&facts);
        assert_eq!(listed.len(), facts.len());
        let first: Vec<&str> = listed[..2]
            .iter()
            .map(|fact| fact.observer.as_str())
            .collect();
        assert_eq!(first, ["loud#0", "quiet#0"]);
    }
}
