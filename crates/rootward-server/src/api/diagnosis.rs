//! `GET /api/v1/diagnosis`: which faults explain what was seen, and what speaks for and against them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_core::diagnosis::{RootCause, Unseen};
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
        let unexplained = diagnosis.unexplained.iter().take(MAX_UNEXPLAINED);
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
            since: self.time(cause.since),
            summary: cause.summary.clone(),
            evidence: self.evidence(&cause.evidence),
            evidence_count: count(cause.evidence.len()),
            against: self.evidence(&cause.against),
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
