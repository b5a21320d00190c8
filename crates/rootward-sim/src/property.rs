//! What holds for every scenario: section 5 of `fixtures/rootcause/README.md`, as functions over any localiser.
//!
//! Each takes a way to make localisers and a simulated incident, and says what is wrong, if anything is.

mod delivery;
mod edits;
mod verdicts;

pub use delivery::{incremental, order, restart};
pub use edits::{locality, monotone_support, names, replicas};
pub use verdicts::{evidence, no_invention, nothing_is_lost, recovery, unknown_is_not_down};

use std::collections::BTreeMap;

use crate::Localiser;
use crate::scenario::{Answer, CheckStatus, Event, Graph};

/// Makes a fresh localiser.
pub type Make<'a> = &'a dyn Fn(&Graph) -> Box<dyn Localiser>;

/// Nothing, or a sentence that says what is wrong.
pub type Holds = Result<(), String>;

/// Checks in the window of a check.
const WINDOW: f64 = 8.0;

/// Numbers that differ by less are equal: sums may be added up in another order.
const SAME: f64 = 1e-6;

/// What a fresh localiser says at `t` about `events`.
fn ask<'a>(
    make: Make<'_>,
    graph: &Graph,
    events: impl IntoIterator<Item = &'a Event>,
    t: f64,
) -> Answer {
    let mut localiser = make(graph);
    for event in events {
        localiser.apply(event);
    }
    localiser.answer(t)
}

/// Says how two answers differ. The order within lists is not compared.
fn same(one: &Answer, other: &Answer) -> Holds {
    same_causes(one, other)?;
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let lists = [
        ("impacted", &one.impacted, &other.impacted),
        ("unexplained", &one.unexplained, &other.unexplained),
        ("unknown", &one.unknown, &other.unknown),
    ];
    for (what, one, other) in lists {
        let (one, other) = (sorted(one), sorted(other));
        if one != other {
            return Err(format!("{what}: {one:?} is not {other:?}"));
        }
    }
    let ranks = |answer: &Answer| -> BTreeMap<String, f64> {
        let ranked = answer.rank.iter();
        ranked.map(|one| (one.id.clone(), one.margin)).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    if one.keys().ne(other.keys()) {
        return Err(format!("ranked: {one:?} is not {other:?}"));
    }
    for (id, margin) in &one {
        let theirs = other.get(id).copied().unwrap_or(f64::NAN);
        if (margin - theirs).abs() > SAME * margin.abs().max(1.0) {
            return Err(format!("margin of {id}: {margin} is not {theirs}"));
        }
    }
    Ok(())
}

fn same_causes(one: &Answer, other: &Answer) -> Holds {
    let causes = |answer: &Answer| -> BTreeMap<String, _> {
        let causes = answer.root_causes.iter();
        causes
            .map(|cause| {
                let mut evidence = cause.evidence.clone();
                evidence.sort();
                (cause.id.clone(), (cause.state, evidence, cause.confidence))
            })
            .collect()
    };
    let (one, other) = (causes(one), causes(other));
    if one.keys().ne(other.keys()) {
        let (one, other): (Vec<_>, Vec<_>) = (one.keys().collect(), other.keys().collect());
        return Err(format!("causes: {one:?} is not {other:?}"));
    }
    for ((id, mine), theirs) in one.iter().zip(other.values()) {
        if mine.0 != theirs.0 || mine.1 != theirs.1 || (mine.2 - theirs.2).abs() > SAME {
            return Err(format!("{id}: {mine:?} is not {theirs:?}"));
        }
    }
    Ok(())
}

/// Every check that was heard of until `t`, by instance and dependency, as when it was made and whether it was bad.
fn checks(events: &[Event], t: f64) -> BTreeMap<(String, String), Vec<(f64, bool)>> {
    let mut checks: BTreeMap<(String, String), Vec<(f64, bool)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.recv() <= t) {
        let Event::Report(report) = event else {
            continue;
        };
        for dep in &report.deps {
            let bad = match dep.status {
                CheckStatus::Down | CheckStatus::Degraded => true,
                CheckStatus::Up => false,
                CheckStatus::Unknown => continue,
            };
            let made = report.sent - dep.age_s.unwrap_or(f64::INFINITY);
            let pair = (report.instance.clone(), dep.to.clone());
            checks.entry(pair).or_default().push((made, bad));
        }
    }
    for history in checks.values_mut() {
        history.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    checks
}
