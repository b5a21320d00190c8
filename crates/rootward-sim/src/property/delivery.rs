//! How events reach a localiser makes no difference.

use super::{Holds, Make, ask, same};
use crate::random::Random;
use crate::scenario::Event;
use crate::simulator::Simulated;

/// Property 1: every order of delivery, and every duplicate, gives the same answer.
///
/// # Errors
/// When it does not hold.
pub fn order(make: Make<'_>, incident: &Simulated, random: &mut Random) -> Holds {
    let graph = &incident.scenario.graph;
    let events = received(incident);
    let mut shuffled = events.clone();
    for event in &events {
        if random.chance(0.1) {
            shuffled.push(event);
        }
    }
    random.shuffle(&mut shuffled);
    let straight = ask(make, graph, events, incident.end);
    same(&straight, &ask(make, graph, shuffled, incident.end))
}

/// Property 9: the events of the last `memory` intervals afresh give the answer of having run for long.
///
/// # Errors
/// When it does not hold.
pub fn restart(make: Make<'_>, incident: &Simulated, memory: f64) -> Holds {
    let graph = &incident.scenario.graph;
    let from = incident.end - memory * graph.interval_s;
    if from <= 0.0 {
        return Err(format!("the incident is shorter than {memory} intervals"));
    }
    let events = received(incident);
    let last = events.iter().copied().filter(|event| match event {
        // What a service said of itself is not asked again.
        Event::Report(_) | Event::NoAnswer(_) => event.recv() > from,
        Event::Change(_) => true,
    });
    let fresh = ask(make, graph, last.collect::<Vec<_>>(), incident.end);
    same(&ask(make, graph, events, incident.end), &fresh)
}

/// Property 10: having been asked after every interval changes no answer.
///
/// # Errors
/// When it does not hold.
pub fn incremental(make: Make<'_>, incident: &Simulated) -> Holds {
    let graph = &incident.scenario.graph;
    let mut running = make(graph);
    let mut taken = 0;
    let events = received(incident);
    let mut number = 1_u32;
    loop {
        let t = f64::from(number) * graph.interval_s;
        if t > incident.end {
            return Ok(());
        }
        while let Some(event) = events.get(taken)
            && event.recv() <= t
        {
            running.apply(event);
            taken += 1;
        }
        let answer = running.answer(t);
        // A fresh one costs as much as the whole past: every fourth instant is compared.
        if number.is_multiple_of(4) {
            let fresh = ask(make, graph, events[..taken].iter().copied(), t);
            same(&answer, &fresh).map_err(|difference| format!("at {t}: {difference}"))?;
        }
        number += 1;
    }
}

fn received(incident: &Simulated) -> Vec<&Event> {
    let events = incident.scenario.events.iter();
    events
        .filter(|event| event.recv() <= incident.end)
        .collect()
}
