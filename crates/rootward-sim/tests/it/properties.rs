//! The properties of section 5 of `fixtures/rootcause/README.md`, for the engine, on simulated incidents.

use rootward_core::localise::{LEARNING_WINDOW, Settings};
use rootward_sim::Localiser;
use rootward_sim::baseline::EveryRed;
use rootward_sim::engine::CoreEngine;
use rootward_sim::property::{self, Holds, Make};
use rootward_sim::random::Random;
use rootward_sim::scenario::Graph;
use rootward_sim::simulator::{Kind, Simulated, incident, incident_after};
use rootward_sim::topology::{layered, shapes};

fn engine(graph: &Graph) -> Box<dyn Localiser> {
    Box::new(CoreEngine::new(graph, Settings::default()).expect("the map is good"))
}

/// Holds for two incidents of every kind, on small maps.
fn always(property: impl Fn(Make<'_>, &Simulated) -> Holds) {
    let mut tried = 0;
    for seed in 0..2 {
        for (turn, &kind) in Kind::ALL.iter().enumerate() {
            // The eight smaller shapes and a synthetic map take turns.
            let plan = match shapes()[..8].get((turn + 4 * seed) % 9) {
                Some(shape) => shape.plan(),
                None => layered("layered", 40, &mut Random::new(7)),
            };
            let Some(incident) = incident(&plan, kind, 500) else {
                continue;
            };
            tried += 1;
            if let Err(wrong) = property(&engine, &incident) {
                panic!("{}: {wrong}", incident.scenario.graph.scenario);
            }
        }
    }
    assert!(tried > 25, "{tried} incidents only");
}

#[test]
fn p01_order_and_duplicates_change_nothing() {
    always(|make, incident| property::order(make, incident, &mut Random::new(1)));
}

#[test]
fn p02_renaming_renames_the_answer_and_changes_nothing_else() {
    always(|make, incident| property::names(make, incident, &mut Random::new(2)));
}

#[test]
fn p03_an_unrelated_healthy_node_changes_nothing() {
    always(property::locality);
}

#[test]
fn p04_a_healthy_replica_of_a_bystander_changes_no_cause() {
    always(property::replicas);
}

#[test]
fn p05_every_cause_has_a_fresh_bad_check_as_evidence() {
    always(property::evidence);
}

#[test]
fn p06_what_everybody_sees_good_is_never_a_cause() {
    always(property::no_invention);
}

#[test]
fn p07_silence_alone_makes_nothing_but_a_poller_a_cause() {
    always(property::unknown_is_not_down);
}

#[test]
fn p08_every_fresh_bad_check_is_evidence_or_unexplained() {
    always(property::nothing_is_lost);
}

#[test]
fn p09_a_restart_with_the_last_intervals_changes_nothing() {
    // What falls silent with the fault keeps the window that it had: ten intervals and a few more on top.
    let memory = f64::from(LEARNING_WINDOW) + 14.0;
    for (turn, &kind) in Kind::ALL.iter().enumerate() {
        let plan = shapes()[turn % 6].plan();
        if let Some(incident) = incident_after(&plan, kind, 56, 600)
            && let Err(wrong) = property::restart(&engine, &incident, memory)
        {
            panic!("{}: {wrong}", incident.scenario.graph.scenario);
        }
    }
}

#[test]
fn p10_having_been_asked_before_changes_no_answer() {
    always(property::incremental);
}

#[test]
fn p11_one_more_bad_check_by_a_new_observer_never_lowers_the_node() {
    always(property::monotone_support);
}

#[test]
fn p12_after_all_has_been_good_for_a_window_nothing_is_a_cause() {
    always(property::recovery);
}

/// The functions can fail: a dashboard that shows every red tile as a cause breaks several of them.
#[test]
fn a_dashboard_of_red_tiles_does_not_have_the_properties() {
    let red = |graph: &Graph| -> Box<dyn Localiser> { Box::new(EveryRed::new(graph)) };
    let incident = incident(&shapes()[0].plan(), Kind::NodeDown, 1).expect("a node can be down");
    assert!(property::evidence(&red, &incident).is_err());
    assert!(property::nothing_is_lost(&red, &incident).is_err());
}
