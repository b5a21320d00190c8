//! Whether an answer is right.

use crate::Localiser;
use crate::scenario::Answer;
use crate::simulator::{CheckOf, Simulated, Truth};

use super::calibration::Calibration;

/// Instants at the end of an incident that are judged; each counts the same.
const JUDGED: usize = 3;

/// A fault is asked about once so many checks that it made fail have been received: one bad check is noise to anybody,
/// and two are a coincidence that a noisy system shows every hour.
const SIGNS: usize = 3;
/// Intervals in which they have to be made: what is older has recovered, or nobody can tell that it has not.
const RECENT: f64 = 8.0;

/// What one incident says about a localiser.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The share of the judged instants at which the most certain cause was right, of those at which anything could be
    /// known; none when there was no such instant.
    pub top1: Option<f64>,
    /// The share at which the set was exactly right: every fault that could be known, and none that was not there.
    pub exact: Option<f64>,
    /// The same of all judged instants, whatever could be known, with nothing accepted but what is identical for good.
    pub strict_top1: f64,
    /// The same, with every fault wanted at every instant.
    pub strict_exact: f64,
    /// One divided by the place of the first right id in the ranked list, averaged over the judged instants.
    pub reciprocal_rank: f64,
    /// Seconds from the last onset to the first instant at which the set was exactly right; none when never.
    pub time_to_right: Option<f64>,
    /// Answers by confidence, of all instants after the last onset.
    pub calibration: Calibration,
    /// The last answer.
    pub last: Answer,
}

/// Plays an incident and judges the answers. The last three intervals are judged; the time counts from the onset of
/// the last fault to the first instant with the right set.
pub fn judge(incident: &Simulated, localiser: &mut dyn Localiser) -> Verdict {
    let onset = incident.truth.last_onset();
    let interval = incident.scenario.graph.interval_s;
    let mut calibration = Calibration::default();
    let mut time_to_right = None;
    let mut judged = Vec::new();
    ask_each_interval(incident, localiser, |t, answer| {
        if t <= onset {
            return;
        }
        for cause in &answer.root_causes {
            let right = incident.truth.matching(&cause.id).is_some();
            calibration.add(cause.confidence, right);
        }
        if time_to_right.is_none() && exact(&incident.truth, &answer) {
            time_to_right = Some(t - onset);
        }
        if t > incident.end - (f64::from(u32::try_from(JUDGED).unwrap_or(3)) - 0.5) * interval {
            judged.push((answer, known(incident, t)));
        }
    });
    let truth = &incident.truth;
    let asked = || judged.iter().filter(|(_, known)| !known.is_empty());
    let plain = truth.strict();
    let first = |(answer, _): &(Answer, Vec<usize>)| share(first_right(truth, answer));
    let strict_first = |(answer, _): &(Answer, Vec<usize>)| share(first_right(&plain, answer));
    let strict = |(answer, _): &(Answer, Vec<usize>)| share(exact(&plain, answer));
    let rank = |(answer, _): &(Answer, Vec<usize>)| reciprocal_rank(truth, answer);
    let fair = |(answer, known): &(Answer, Vec<usize>)| share(exact_of(truth, answer, known));
    Verdict {
        top1: mean(asked().map(first)),
        exact: mean(asked().map(fair)),
        strict_top1: mean(judged.iter().map(strict_first)).unwrap_or(0.0),
        strict_exact: mean(judged.iter().map(strict)).unwrap_or(0.0),
        reciprocal_rank: mean(judged.iter().map(rank)).unwrap_or(0.0),
        time_to_right,
        calibration,
        last: judged.pop().map(|(answer, _)| answer).unwrap_or_default(),
    }
}

fn share(yes: bool) -> f64 {
    if yes { 1.0 } else { 0.0 }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then_some(sum / count)
}

/// The faults that have shown enough by then, and have not ended as far as anybody can tell, as positions in the truth.
#[must_use]
pub fn known(incident: &Simulated, t: f64) -> Vec<usize> {
    let since = t - RECENT * incident.scenario.graph.interval_s;
    let shown = |fault: &usize| {
        let mut signs = incident
            .signs
            .iter()
            .filter(|sign| sign.fault == *fault && sign.recv <= t);
        let recent = signs.clone().filter(|sign| sign.made >= since);
        recent.count() >= SIGNS && signs.any(|sign| goes_on(incident, *fault, sign.check, t))
    };
    (0..incident.truth.causes.len()).filter(shown).collect()
}

/// Whether a check tells that the fault is not over: it failed when it was heard of last, or it failed again after having
/// been good. One run of failures that has ended is over, until there is a second.
fn goes_on(incident: &Simulated, fault: usize, check: Option<CheckOf>, t: f64) -> bool {
    let Some(check) = check else {
        return true;
    };
    let signs = incident.signs.iter();
    let signs = signs
        .filter(|sign| sign.check == Some(check) && sign.fault == fault && sign.recv <= t)
        .map(|sign| (sign.made, true));
    let good = incident.others.iter();
    let good = good
        .filter(|other| other.check == check && other.good && other.recv <= t)
        .map(|other| (other.made, false));
    let mut made: Vec<(f64, bool)> = signs.chain(good).collect();
    made.sort_by(|a, b| a.0.total_cmp(&b.0));
    let begins = |pair: &&[(f64, bool)]| !pair[0].1 && pair[1].1;
    let runs = made.windows(2).filter(begins).count()
        + usize::from(made.first().is_some_and(|first| first.1));
    runs >= 2 || made.last().is_some_and(|last| last.1)
}

/// Plays a scenario and asks at the end of each interval, after all events received until then.
pub(super) fn ask_each_interval(
    incident: &Simulated,
    localiser: &mut dyn Localiser,
    mut say: impl FnMut(f64, Answer),
) {
    let interval = incident.scenario.graph.interval_s;
    let mut events = incident.scenario.events.iter().peekable();
    let mut number = 1_u32;
    loop {
        let t = f64::from(number) * interval;
        if t > incident.end + interval / 1000.0 {
            return;
        }
        while let Some(event) = events.next_if(|event| event.recv() <= t) {
            localiser.apply(event);
        }
        let answer = localiser.answer(t);
        say(t, answer);
        number += 1;
    }
}

/// Whether the most certain cause is one of the injected ones. With nothing named it is not.
#[must_use]
pub fn first_right(truth: &Truth, answer: &Answer) -> bool {
    let mut best: Option<&crate::scenario::RootCause> = None;
    for cause in &answer.root_causes {
        if best.is_none_or(|best| cause.confidence > best.confidence) {
            best = Some(cause);
        }
    }
    best.is_some_and(|cause| truth.matching(&cause.id).is_some())
}

/// Whether each injected fault is named once, and nothing else is.
#[must_use]
pub fn exact(truth: &Truth, answer: &Answer) -> bool {
    let all: Vec<usize> = (0..truth.causes.len()).collect();
    exact_of(truth, answer, &all)
}

/// Whether each of the faults `wanted`, as positions in the truth, is named once, and nothing is named that was not injected.
#[must_use]
pub fn exact_of(truth: &Truth, answer: &Answer, wanted: &[usize]) -> bool {
    let causes = answer.root_causes.iter();
    let named: Vec<&str> = causes.map(|cause| cause.id.as_str()).collect();
    pairs_up(truth, &named, wanted, &mut Vec::new())
}

/// Whether every name from the first unpaired one on finds a fault of its own, and no wanted fault is left over.
fn pairs_up(truth: &Truth, named: &[&str], wanted: &[usize], taken: &mut Vec<usize>) -> bool {
    let Some(name) = named.get(taken.len()) else {
        return wanted.iter().all(|fault| taken.contains(fault));
    };
    for (number, cause) in truth.causes.iter().enumerate() {
        if !taken.contains(&number) && cause.accept.iter().any(|id| id == name) {
            taken.push(number);
            if pairs_up(truth, named, wanted, taken) {
                return true;
            }
            taken.pop();
        }
    }
    false
}

/// One divided by the place of the first right id in the ranked list; 0 when there is none.
#[must_use]
pub fn reciprocal_rank(truth: &Truth, answer: &Answer) -> f64 {
    answer
        .rank
        .iter()
        .position(|ranked| truth.matching(&ranked.id).is_some())
        .map_or(0.0, |at| {
            1.0 / (f64::from(u32::try_from(at).unwrap_or(u32::MAX)) + 1.0)
        })
}

#[cfg(test)]
mod tests {
    use super::{exact, exact_of, first_right, reciprocal_rank};
    use crate::scenario::{Answer, CauseKind, CauseState, Ranked, RootCause};
    use crate::simulator::{TrueCause, Truth};

    fn truth(causes: &[&[&str]]) -> Truth {
        let cause = |accept: &&[&str]| TrueCause {
            id: accept[0].to_owned(),
            accept: accept.iter().map(|id| (*id).to_owned()).collect(),
            identical: vec![accept[0].to_owned()],
            since_s: 100.0,
        };
        Truth {
            causes: causes.iter().map(cause).collect(),
        }
    }

    fn answer(causes: &[(&str, f64)]) -> Answer {
        let cause = |(id, confidence): &(&str, f64)| RootCause {
            id: (*id).to_owned(),
            kind: CauseKind::Node,
            state: CauseState::Down,
            confidence: *confidence,
            evidence: Vec::new(),
            evidence_count: 0,
            alternatives: Vec::new(),
        };
        let ranked = |(id, margin): &(&str, f64)| Ranked {
            id: (*id).to_owned(),
            margin: *margin,
        };
        Answer {
            root_causes: causes.iter().map(cause).collect(),
            rank: causes.iter().map(ranked).collect(),
            ..Answer::default()
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_right_once() {
        let truth = truth(&[&["node:db", "edge:api->db"]]);
        assert!(exact(&truth, &answer(&[("edge:api->db", 0.9)])));
        assert!(!exact(
            &truth,
            &answer(&[("edge:api->db", 0.9), ("node:db", 0.8)])
        ));
        assert!(!exact(&truth, &answer(&[])));
    }

    #[test]
    fn overlapping_sets_are_paired_as_well_as_possible() {
        let truth = truth(&[&["node:a", "node:b"], &["node:a"]]);
        assert!(exact(&truth, &answer(&[("node:a", 0.9), ("node:b", 0.8)])));
    }

    #[test]
    fn a_fault_that_showed_too_little_may_be_named_and_need_not_be() {
        let truth = truth(&[&["node:a"], &["node:b"]]);
        assert!(exact_of(&truth, &answer(&[("node:a", 0.9)]), &[0]));
        let both = answer(&[("node:b", 0.9), ("node:a", 0.8)]);
        assert!(exact_of(&truth, &both, &[0]));
        assert!(!exact_of(&truth, &answer(&[("node:a", 0.9)]), &[0, 1]));
        assert!(!exact_of(&truth, &answer(&[("node:c", 0.9)]), &[]));
    }

    #[test]
    fn the_most_certain_cause_is_the_first_whatever_its_place() {
        let truth = truth(&[&["node:db"]]);
        let answer = answer(&[("node:api", 0.6), ("node:db", 0.9)]);
        assert!(first_right(&truth, &answer));
        assert!((reciprocal_rank(&truth, &answer) - 0.5).abs() < 1e-9);
    }
}
