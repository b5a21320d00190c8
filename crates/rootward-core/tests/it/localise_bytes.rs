//! Any bytes as a stream of events: the fault localisation takes them without a panic, with bounded answers, and an
//! engine that was asked all the time says what one says that was never asked before.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rootward_core::Moment;
use rootward_core::localise::{
    Change, DependencyCheck, Engine, ErrorClass, Event, Graph, Host, NoAnswer, RANK_LIMIT, Report,
    Seen, Settings,
};

use crate::localise::map;

/// A circle, a group of stand-ins, releases, hosts and zones.
fn graph() -> Graph {
    let mut graph = map("
        service front 3
        service cart 2
        service user 2
        service mail 1
        resource db
        resource cache
        front -> cart hard
        front -> user soft
        cart -> user hard
        user -> cart hard
        user -> db hard any 1
        user -> cache hard any 1
        mail -> db hard
        version front#0 1.0
        version front#1 1.1");
    for (number, instance) in graph.instances.iter_mut().enumerate() {
        instance.host = Some(format!("h{}", number % 3).into());
        instance.zone = Some(format!("z{}", number % 2).into());
    }
    graph.hosts = (0..3)
        .map(|number| Host {
            id: format!("h{number}").into(),
            zone: None,
        })
        .collect();
    graph
}

/// Up to four minutes mostly, and now and then the end of time.
fn time(byte: u8) -> u64 {
    match byte {
        0..=240 => u64::from(byte) * 1_000,
        241..=247 => u64::from(byte),
        248.. => u64::MAX - u64::from(byte),
    }
}

fn seen(byte: u8) -> Seen {
    let class = ErrorClass::ALL[usize::from(byte >> 2) % ErrorClass::ALL.len()];
    match byte % 4 {
        0 => Seen::Up,
        1 => Seen::Down(class),
        2 => Seen::Degraded(class),
        _ => Seen::Unknown,
    }
}

/// Eight bytes an event. Names that are not on the map occur, too.
fn events(bytes: &[u8], graph: &Graph) -> Vec<Event> {
    let nobody: Arc<str> = "nobody".into();
    let instance = |byte: u8| {
        let known = graph.instances.get(usize::from(byte % 12));
        known.map_or_else(|| nobody.clone(), |known| known.id.clone())
    };
    let node = |byte: u8| {
        let known = graph.nodes.get(usize::from(byte % 8));
        known.map_or_else(|| nobody.clone(), |known| known.id.clone())
    };
    let event = |chunk: &[u8; 8]| {
        let [kind, who, when, to, also_to, how, age, seq] = *chunk;
        let sent = Moment::from_millis(time(when));
        let check = |to: u8, how: u8| DependencyCheck {
            to: node(to),
            seen: seen(how),
            age: Duration::from_millis(time(age)),
            seq: (seq % 3 > 0).then_some(u64::from(seq) << (seq % 64)),
        };
        match kind % 8 {
            0 => Event::Change(Change {
                at: sent,
                service: node(to),
            }),
            1 => Event::NoAnswer(NoAnswer {
                sent,
                instance: instance(who),
            }),
            _ => Event::Report(Report {
                sent,
                instance: instance(who),
                version: (kind & 64 > 0).then(|| format!("1.{}", kind >> 6).into()),
                dependencies: vec![check(to, how), check(also_to, how.rotate_left(3))],
            }),
        }
    };
    let (chunks, _) = bytes.as_chunks();
    chunks.iter().map(event).collect()
}

proptest! {
    #[test]
    fn any_bytes_are_taken_and_having_been_asked_changes_nothing(
        bytes in proptest::collection::vec(any::<u8>(), 0..1600), asked_at in any::<u8>(),
    ) {
        let graph = graph();
        let events = events(&bytes, &graph);
        let mut asked = Engine::new(&graph, Settings::default()).unwrap();
        let mut fresh = Engine::new(&graph, Settings::default()).unwrap();
        let checks = 3 * 2 + 2 + 2 * 3 + 1;
        for (number, event) in events.iter().enumerate() {
            asked.apply(event);
            if number % 16 == 0 {
                let answer = asked.answer(Moment::from_millis(time(asked_at)));
                prop_assert!(answer.rank.len() <= RANK_LIMIT);
                prop_assert!(answer.unexplained.len() <= checks);
                prop_assert!(answer.unknown.len() <= graph.instances.len());
                prop_assert!(answer.impacted.len() <= graph.nodes.len());
            }
        }
        events.iter().for_each(|event| fresh.apply(event));
        for now in [time(asked_at), 120_000, 240_000, u64::MAX] {
            let now = Moment::from_millis(now);
            let answer = asked.answer(now);
            prop_assert_eq!(&answer, &fresh.answer(now));
            for cause in &answer.root_causes {
                prop_assert!((0.0..=1.0).contains(&cause.confidence));
                prop_assert!(!cause.evidence.is_empty() || !cause.silent.is_empty());
            }
        }
    }
}
