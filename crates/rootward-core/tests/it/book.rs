//! What is kept of one incident: within bounds, and never at the price of how it ended.

use rootward_core::diagnosis::{CauseId, CauseState, Diagnosis, Fact, RootCause};
use rootward_core::incident::{
    About, Context, Incident, IncidentBook, IncidentCause, MAX_CAUSES, MAX_TIMELINE, Standing,
};
use rootward_core::{CheckStatus, ErrorCategory, Moment};

use crate::world::name;

/// Somebody who knows nothing of the map, and one thing about every cause.
struct Knows(Standing);

impl Context for Knows {
    fn standing(&self, _: &Incident, _: Moment) -> Standing {
        self.0
    }

    fn about(&self, _: &IncidentCause) -> About {
        About::default()
    }
}

fn at(second: u64) -> Moment {
    Moment::from_millis(second * 1_000)
}

/// A diagnosis that names this cause, by as many observers.
fn names(id: CauseId, observers: u64) -> Diagnosis {
    let evidence = (0..observers).map(|at_second| Fact {
        observer: format!("caller-{at_second}#0"),
        target: name("orders-db"),
        status: CheckStatus::Down,
        decided: true,
        category: Some(ErrorCategory::ConnectionRefused),
        error: None,
        at: at(at_second),
        since: at(at_second),
    });
    let cause = RootCause {
        id,
        state: CauseState::Down,
        confidence: 0.97,
        margin: 5.2,
        since: at(0),
        summary: "orders-db refuses connections".to_owned(),
        evidence: evidence.collect(),
        silent: Vec::new(),
        against: Vec::new(),
        against_count: 0,
        alternatives: Vec::new(),
        group: Vec::new(),
        reasons: Vec::new(),
        held: None,
    };
    Diagnosis {
        root_causes: vec![cause],
        ..Diagnosis::default()
    }
}

fn node() -> CauseId {
    CauseId::Node(name("orders-db"))
}

#[test]
fn the_timeline_of_a_wide_outage_still_says_how_it_ended() {
    let mut book = IncidentBook::default();
    let failing = Knows(Standing::Failing);
    book.handle_diagnosis(&names(node(), 1_000), &[], &failing, at(1_000));
    let good = Knows(Standing::Good);
    book.handle_diagnosis(&Diagnosis::default(), &[], &good, at(1_100));
    let incident = &book.resolved()[0];
    let lines: Vec<&str> = incident
        .timeline
        .iter()
        .map(|line| line.text.as_str())
        .collect();
    assert!(lines.len() <= MAX_TIMELINE);
    assert_eq!(lines[0], "caller-0#0 sees orders-db: connection refused");
    assert!(lines.contains(&"named as the cause: orders-db refuses connections"));
    assert_eq!(
        lines.last(),
        Some(&"resolved: fresh evidence is good again")
    );
}

#[test]
fn a_cause_that_is_revised_without_end_keeps_its_first_and_its_newest() {
    let mut book = IncidentBook::default();
    let failing = Knows(Standing::Failing);
    let edge = |caller: u64| CauseId::Edge {
        from: name(&format!("caller-{caller}")),
        to: name("orders-db"),
    };
    book.handle_diagnosis(&names(node(), 1), &[], &failing, at(0));
    for round in 1..=1_000 {
        book.handle_diagnosis(&names(edge(round), 1), &[], &failing, at(round));
    }
    let open = book.open();
    assert_eq!(open.len(), 1, "it is one episode");
    let (causes, lines) = (&open[0].cause_history, &open[0].timeline);
    assert!(causes.len() <= MAX_CAUSES && lines.len() <= MAX_TIMELINE);
    assert_eq!(causes[0].cause, IncidentCause::Fault(node()));
    assert_eq!(
        causes.last().map(|period| &period.cause),
        Some(&IncidentCause::Fault(edge(1_000)))
    );
    assert_eq!(lines.last().map(|line| line.at), Some(at(1_000)));
}
