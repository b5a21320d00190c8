//! What every store promises, tried on each of them.

use std::sync::Arc;
use std::thread;

use rootward_core::diagnosis::{CauseId, CauseState};
use rootward_core::incident::{Incident, IncidentCause, IncidentEvent, IncidentId};
use rootward_core::snapshot::{Subject, Transition};
use rootward_core::{Moment, Name};

use crate::History;

/// Runs the whole suite; `empty` makes a store that remembers nothing yet.
pub(crate) fn check<H: History>(empty: impl Fn() -> H) {
    an_empty_store_answers_with_nothing(&empty());
    transitions_come_newest_first_and_no_more_than_asked_for(empty());
    transitions_at_one_moment_keep_their_order(empty());
    a_transition_comes_back_as_it_went_in(empty());
    an_incident_is_read_as_of_its_newest_event(empty());
    incidents_come_newest_first_and_no_more_than_asked_for(empty());
    a_revision_of_an_incident_that_was_never_opened_is_kept(empty());
    a_reader_sees_what_is_recorded_after_it_was_made(empty());
    readers_may_ask_while_the_owner_records(empty());
}

/// A change of status at a moment.
pub(crate) fn transition(millis: u64) -> Transition {
    Transition {
        at: Moment::from_millis(millis),
        subject: Subject::Service(name("cart")),
        from: "healthy",
        to: "unhealthy",
        reason: format!("the change at {millis} ms"),
    }
}

/// An open incident with a key.
pub(crate) fn incident(number: u64) -> Incident {
    Incident {
        id: IncidentId(number),
        cause: IncidentCause::Fault(CauseId::Node(name("orders-db"))),
        state: Some(CauseState::Down),
        confidence: 0.97,
        title: "orders-db refuses connections".into(),
        pages: true,
        owner: None,
        began_at: Moment::from_millis(number * 10),
        opened_at: Moment::from_millis(number * 10 + 5),
        resolved_at: None,
        resolution: None,
        unconfirmed: None,
        cause_history: Vec::new(),
        impacted: Vec::new(),
        evidence: Vec::new(),
        reasons: vec!["4 of 4 callers report connection refused".into()],
        alternatives: Vec::new(),
        timeline: Vec::new(),
    }
}

/// The same incident after its end.
pub(crate) fn resolved(incident: Incident) -> Incident {
    Incident {
        resolved_at: Some(Moment::from_millis(1_000_000)),
        resolution: Some("its callers see it up again".into()),
        ..incident
    }
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn an_empty_store_answers_with_nothing(history: &impl History) {
    let reader = history.reader();
    assert_eq!(reader.transitions(100).unwrap(), []);
    assert_eq!(reader.incidents(100).unwrap(), []);
    assert_eq!(reader.incident(IncidentId(1)).unwrap(), None);
}

fn transitions_come_newest_first_and_no_more_than_asked_for(mut history: impl History) {
    for millis in [10, 20, 30] {
        history.record(&transition(millis)).unwrap();
    }
    let reader = history.reader();
    assert_eq!(
        reader.transitions(2).unwrap(),
        [transition(30), transition(20)]
    );
    assert_eq!(reader.transitions(0).unwrap(), []);
}

fn transitions_at_one_moment_keep_their_order(mut history: impl History) {
    let first = transition(10);
    let second = Transition {
        reason: "the second of that moment".into(),
        ..transition(10)
    };
    history.record(&first).unwrap();
    history.record(&second).unwrap();
    assert_eq!(history.reader().transitions(9).unwrap(), [second, first]);
}

fn a_transition_comes_back_as_it_went_in(mut history: impl History) {
    let awkward = Transition {
        at: Moment::from_millis(7),
        subject: Subject::Resource(name("orders-db")),
        from: "unknown",
        to: "down",
        reason: "it's \"down\"; DROP TABLE x; -- \u{1f4a5}\n".into(),
    };
    history.record(&awkward).unwrap();
    assert_eq!(history.reader().transitions(1).unwrap(), [awkward]);
}

fn an_incident_is_read_as_of_its_newest_event(mut history: impl History) {
    let opened = incident(1);
    let revised = Incident {
        cause: IncidentCause::Fault(CauseId::Node(name("host-7"))),
        ..opened.clone()
    };
    let ended = resolved(revised.clone());
    history
        .record_incident(&IncidentEvent::Opened(Arc::new(opened)))
        .unwrap();
    history
        .record_incident(&IncidentEvent::Revised(Arc::new(revised)))
        .unwrap();
    history
        .record_incident(&IncidentEvent::Resolved(Arc::new(ended.clone())))
        .unwrap();
    let reader = history.reader();
    assert_eq!(
        reader.incident(IncidentId(1)).unwrap().as_deref(),
        Some(&ended)
    );
    assert_eq!(reader.incidents(9).unwrap().len(), 1);
}

fn incidents_come_newest_first_and_no_more_than_asked_for(mut history: impl History) {
    for number in [1, 2, 3] {
        history
            .record_incident(&IncidentEvent::Opened(Arc::new(incident(number))))
            .unwrap();
    }
    // An event about an older incident does not make it a newer one.
    history
        .record_incident(&IncidentEvent::Resolved(Arc::new(resolved(incident(1)))))
        .unwrap();
    let ids = |limit| -> Vec<u64> {
        let kept = history.reader().incidents(limit).unwrap();
        kept.iter().map(|incident| incident.id.0).collect()
    };
    assert_eq!(ids(2), [3, 2]);
    assert_eq!(ids(9), [3, 2, 1]);
}

fn a_revision_of_an_incident_that_was_never_opened_is_kept(mut history: impl History) {
    history
        .record_incident(&IncidentEvent::Revised(Arc::new(incident(4))))
        .unwrap();
    assert!(history.reader().incident(IncidentId(4)).unwrap().is_some());
}

fn a_reader_sees_what_is_recorded_after_it_was_made(mut history: impl History) {
    let reader = history.reader();
    history.record(&transition(10)).unwrap();
    assert_eq!(reader.transitions(9).unwrap(), [transition(10)]);
}

fn readers_may_ask_while_the_owner_records(mut history: impl History) {
    const CHANGES: u32 = 200;
    let reader = history.reader();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            while seen < CHANGES as usize {
                let kept = reader.transitions(usize::MAX).unwrap();
                assert!(kept.len() >= seen, "something recorded was lost again");
                let in_order = kept.windows(2).all(|pair| pair[0].at > pair[1].at);
                assert!(in_order, "a reader saw changes out of order");
                seen = kept.len();
            }
        });
        for millis in 0..CHANGES {
            history.record(&transition(u64::from(millis))).unwrap();
        }
    });
}
