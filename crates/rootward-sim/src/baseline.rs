//! Simple ways to find root causes, to be compared with: what dashboards, alert rules and textbooks do.
//!
//! They share [`View`], the newest result of each check, and differ in what they make of it. None of them says what is
//! impacted or unexplained: only their causes are scored.

mod cover;
mod deepest;
mod pagerank;
mod red;
mod reported;
mod view;

pub use cover::SetCover;
pub use deepest::DeepestRed;
pub use pagerank::PageRank;
pub use red::EveryRed;
pub use reported::MostReported;
pub use view::View;

use crate::scenario::{Answer, CauseKind, CauseState, Ranked, RootCause};

/// An answer that names the first `named` of `scored`, best first, and ranks them all.
fn answer(t: f64, mut scored: Vec<(String, CauseKind, f64)>, named: usize) -> Answer {
    scored.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    let best = scored.first().map_or(1.0, |(_, _, score)| score.max(1e-9));
    let root_causes = scored
        .iter()
        .take(named)
        .map(|(id, kind, score)| RootCause {
            id: id.clone(),
            kind: *kind,
            state: CauseState::Down,
            confidence: (0.9 * score / best).clamp(0.5, 0.9),
            evidence: Vec::new(),
            evidence_count: 0,
            alternatives: Vec::new(),
        })
        .collect();
    let rank = scored
        .into_iter()
        .map(|(id, _, margin)| Ranked { id, margin })
        .collect();
    Answer {
        t,
        root_causes,
        rank,
        ..Answer::default()
    }
}
