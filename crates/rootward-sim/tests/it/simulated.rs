//! What is simulated is the same for the same seed, noisy enough, and has the truth about it.

use rootward_sim::random::Random;
use rootward_sim::scenario::{CheckStatus, Event};
use rootward_sim::score::{Contestant, Seeds, Size, Suite, incidents, run};
use rootward_sim::simulator::{Kind, healthy_hours};
use rootward_sim::topology::healthy_twenty;

#[test]
fn the_same_seed_gives_the_same_incident() {
    for kind in [Kind::Edge, Kind::Three, Kind::Version] {
        let of = || incidents(Seeds::Tuning, kind, 2).collect::<Vec<_>>();
        let (one, other) = (of(), of());
        assert_eq!(one.len(), 2);
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(one.scenario, other.scenario);
            assert_eq!(one.truth, other.truth);
        }
    }
}

#[test]
fn tuning_and_reporting_share_no_incident() {
    let of = |seeds| incidents(seeds, Kind::NodeDown, 3).collect::<Vec<_>>();
    for one in of(Seeds::Tuning) {
        for other in of(Seeds::Reporting) {
            assert_ne!(one.scenario, other.scenario);
        }
    }
}

#[test]
fn every_kind_has_incidents_and_each_fault_its_own_id_among_the_accepted() {
    for &kind in Kind::ALL {
        let incident = incidents(Seeds::Tuning, kind, 1).next().unwrap();
        assert!(!incident.truth.causes.is_empty(), "{kind}");
        for cause in &incident.truth.causes {
            assert!(cause.accept.contains(&cause.id), "{kind}: {cause:?}");
        }
        let bad = incident.scenario.events.iter().any(|event| match event {
            Event::Report(report) => report.deps.iter().any(|dep| dep.error.is_some()),
            Event::NoAnswer(_) => true,
            Event::Change(_) => false,
        });
        assert!(bad, "{kind}");
    }
}

#[test]
fn healthy_hours_are_noisy() {
    let calm = healthy_hours(&healthy_twenty(&mut Random::new(5)), 1, 5);
    let (mut lost, mut polls, mut late) = (0.0, 0.0, 0.0);
    let (mut bad, mut checks) = (0.0, 0.0);
    for event in &calm.scenario.events {
        polls += 1.0;
        match event {
            Event::NoAnswer(_) => lost += 1.0,
            Event::Report(report) => {
                if report.recv - report.sent > 0.5 {
                    late += 1.0;
                }
                for dep in &report.deps {
                    checks += 1.0;
                    if matches!(dep.status, CheckStatus::Down | CheckStatus::Degraded) {
                        bad += 1.0;
                    }
                }
            }
            Event::Change(_) => {}
        }
    }
    assert!(bad / checks >= 0.01, "{bad} of {checks} checks are bad");
    assert!(lost / polls >= 0.015, "{lost} of {polls} polls are lost");
    assert!(late / polls >= 0.035, "{late} of {polls} reports are late");
}

#[test]
fn who_says_nothing_is_never_right_and_never_wrong_in_healthy_hours() {
    struct Silence;
    impl rootward_sim::Localiser for Silence {
        fn apply(&mut self, _: &Event) {}
        fn answer(&mut self, _: f64) -> rootward_sim::scenario::Answer {
            rootward_sim::scenario::Answer::default()
        }
    }
    let silence = Contestant {
        name: "silence",
        make: |_| Ok(Box::new(Silence)),
    };
    let size = Size {
        of_each_kind: 1,
        healthy_systems: 1,
        hours: 1,
    };
    let rows = run(&[silence], &Suite::new(Seeds::Tuning, size)).unwrap();
    let healthy = rows[0].healthy.score();
    assert_eq!(healthy.false_per_hour, Some(0.0));
    for (kind, tally) in &rows[0].kinds {
        assert!(tally.score().top1 < 1e-9, "{kind}");
        assert!(tally.score().median_time.is_infinite(), "{kind}");
    }
}
