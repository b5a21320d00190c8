//! Another configuration while the engine runs: what keeps its identity keeps what is known of it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rootward_core::incident::IncidentEvent;
use rootward_core::snapshot::ServiceView;
use rootward_core::{
    Action, CheckStatus, Component, Criticality, Doubt, EdgeParts, Engine, ErrorCategory,
    InstanceId, InstanceStatus, Map, MapParts, Moment, Node, NodeKind, Poll, PollOutcome, Replaced,
    Report, ServiceStatus, Settings, Side, Source, Target, Thresholds,
};

use crate::world::name;

const INTERVAL: Duration = Duration::from_secs(10);
const TOOK: Duration = Duration::from_millis(40);
const STEP: Duration = Duration::from_millis(50);

/// A configuration as text, words separated by spaces: `front/2 cart/1 front->cart cart->db(soft)`. What stands behind
/// an arrow and is no service is a resource.
#[derive(Debug, Clone)]
struct Written {
    map: Arc<Map>,
    targets: Vec<Target>,
    settings: Settings,
}

fn written(text: &str) -> Written {
    let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
    let mut edges = Vec::new();
    let mut targets = Vec::new();
    for word in text.split_whitespace() {
        if let Some((service, count)) = word.split_once('/') {
            let count = count.parse().expect("a number of instances");
            nodes.insert(service.to_owned(), count);
            targets.extend((0..count).map(|n| target(&format!("{service}#{n}"))));
        } else if let Some((caller, callee)) = word.split_once("->") {
            let soft = callee.strip_suffix("(soft)");
            let callee = soft.unwrap_or(callee);
            nodes.entry(callee.to_owned()).or_insert(0);
            edges.push(EdgeParts {
                caller: name(caller),
                callee: name(callee),
                declared: Some(match soft {
                    Some(_) => Criticality::Soft,
                    None => Criticality::Hard,
                }),
                overrides: true,
                reason: None,
                owner: None,
            });
        } else {
            panic!("not a word of a configuration: {word}");
        }
    }
    let nodes = nodes.into_iter().map(|(text, instances)| Node {
        name: name(&text),
        kind: match instances {
            0 => NodeKind::Resource { kind: None },
            _ => NodeKind::Service { at_least: 1 },
        },
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    });
    let parts = MapParts {
        nodes: nodes.collect(),
        edges,
    };
    Written {
        map: Arc::new(Map::build(parts).expect("the map is valid")),
        targets,
        settings: Settings {
            epoch_interval: INTERVAL,
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references: false,
        },
    }
}

fn id(text: &str) -> InstanceId {
    let (service, instance) = text.split_once('#').expect("service#instance");
    InstanceId {
        service: name(service),
        instance: name(instance),
    }
}

fn target(text: &str) -> Target {
    Target {
        id: id(text),
        interval: INTERVAL,
        stale_after: Duration::from_secs(22),
        thresholds: Thresholds::DEFAULT,
        source: Source::Polled,
    }
}

/// An engine, and instances that answer its polls.
struct Fleet {
    engine: Engine,
    now: Moment,
    under_way: VecDeque<(Moment, InstanceId)>,
    /// Instances that give no answer.
    silent: Vec<InstanceId>,
    /// What each service's checks say, by service.
    components: BTreeMap<String, Vec<(&'static str, CheckStatus)>>,
    polls: Vec<(Moment, InstanceId)>,
    /// Changes of status and steps of incidents, in words.
    told: Vec<String>,
    published: usize,
}

impl Fleet {
    fn new(written: Written) -> Self {
        let Written {
            map,
            targets,
            settings,
        } = written;
        Self {
            engine: Engine::new(map, targets, settings, Moment::ZERO),
            now: Moment::ZERO,
            under_way: VecDeque::new(),
            silent: Vec::new(),
            components: BTreeMap::new(),
            polls: Vec::new(),
            told: Vec::new(),
            published: 0,
        }
    }

    fn outcome(&self, of: &InstanceId) -> PollOutcome {
        if self.silent.contains(of) {
            return PollOutcome::NoAnswer {
                category: ErrorCategory::Timeout,
                text: "timed out after 2 s".to_owned(),
                side: Side::Unclear(Doubt::Silence),
            };
        }
        let checks = self.components.get(of.service.as_str());
        let components: Vec<Component> = checks
            .into_iter()
            .flatten()
            .map(|(callee, status)| {
                let mut component = Component::new(name(callee), *status, Criticality::Hard);
                component.checked_at = Some(self.now);
                component.seq = Some(self.now.as_millis());
                if *status == CheckStatus::Down {
                    component.error_category = Some(ErrorCategory::ConnectionRefused);
                }
                component
            })
            .collect();
        let down = components.iter().any(|c| c.status == CheckStatus::Down);
        PollOutcome::Report(Box::new(Report {
            service: of.service.clone(),
            instance: of.instance.clone(),
            version: None,
            zone: None,
            host: None,
            status: match down {
                true => InstanceStatus::Unhealthy,
                false => InstanceStatus::Healthy,
            },
            ready: true,
            draining: false,
            serving: Some(true),
            components,
        }))
    }

    fn act(&mut self) {
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Poll(instance) => {
                    self.polls.push((self.now, instance.clone()));
                    self.under_way.push_back((self.now, instance));
                }
                Action::Record(change) => self.told.push(format!(
                    "{} {} -> {}: {}",
                    change.subject, change.from, change.to, change.reason
                )),
                Action::RecordIncident(event) => {
                    let incident = event.incident();
                    let (cause, resolution) = (&incident.cause, &incident.resolution);
                    self.told.push(match &event {
                        IncidentEvent::Opened(_) => format!("opened {cause}"),
                        IncidentEvent::Revised(_) => format!("revised {cause}"),
                        IncidentEvent::Resolved(_) => {
                            format!("resolved {cause}: {}", resolution.as_deref().unwrap_or(""))
                        }
                    });
                }
                Action::CheckSelf => panic!("nothing here fails by errors of this machine"),
                Action::Publish(_) => self.published += 1,
            }
        }
    }

    fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.now = self.now + STEP;
            while let Some((started, instance)) = self.under_way.front().cloned()
                && started + TOOK <= self.now
            {
                self.under_way.pop_front();
                let outcome = self.outcome(&instance);
                self.engine.handle_poll(Poll {
                    instance,
                    started,
                    finished: self.now,
                    took_us: 40_000,
                    outcome,
                });
                self.act();
            }
            self.engine.handle_timeout(self.now);
            self.act();
        }
    }

    fn replace(&mut self, written: Written) -> Replaced {
        let Written {
            map,
            targets,
            settings,
        } = written;
        let replaced = self.engine.replace(map, targets, settings, self.now);
        self.act();
        replaced
    }

    fn service(&self, text: &str) -> std::sync::Arc<ServiceView> {
        let snapshot = self.engine.snapshot();
        let mut services = snapshot.services.iter();
        let found = services.find(|service| service.name.as_str() == text);
        found.expect("it is on the map").clone()
    }

    /// When this instance was polled.
    fn polls_of(&self, text: &str) -> Vec<Moment> {
        let polls = self.polls.iter().filter(|(_, polled)| *polled == id(text));
        polls.map(|(at, _)| *at).collect()
    }

    /// What was told since this was asked last.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }
}

#[test]
fn kf_036_known_states_survive_a_reload_and_nothing_is_told() {
    let mut fleet = Fleet::new(written("front/2 cart/1 front->cart"));
    fleet.run(Duration::from_secs(30));
    fleet.told();
    let before = fleet.service("front");
    let replaced = fleet.replace(written("front/2 cart/1 rates/1 front->cart front->rates"));
    assert_eq!(
        replaced,
        Replaced {
            kept: 3,
            begun: 1,
            ended: 0,
            changed: true
        }
    );
    let after = fleet.service("front");
    assert_eq!(after.status, ServiceStatus::Healthy);
    assert_eq!(
        (after.since, after.evidence_at),
        (before.since, before.evidence_at),
        "the age of what is known does not begin again"
    );
    assert_eq!(fleet.told(), [""; 0]);
    fleet.run(Duration::from_secs(40));
    assert_eq!(
        fleet.told(),
        [
            "instance:rates#0 unknown -> healthy: all that matters is up",
            "service:rates unknown -> healthy: its instance is healthy"
        ]
    );
}

#[test]
fn a_streak_of_lost_polls_goes_on_over_a_reload() {
    let mut fleet = Fleet::new(written("cart/1"));
    fleet.run(Duration::from_secs(15));
    fleet.silent.push(id("cart#0"));
    // The phase of the instance decides when; two polls in twenty seconds are lost.
    let until = fleet.polls.len() + 2;
    while fleet.polls.len() < until {
        fleet.run(STEP);
    }
    fleet.run(Duration::from_secs(1));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Healthy);
    fleet.replace(written("cart/1 other/1"));
    assert!(fleet.service("cart").pending, "two of three are lost");
    while fleet.polls_of("cart#0").len() < until + 1 {
        fleet.run(STEP);
    }
    fleet.run(Duration::from_secs(1));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Unknown);
}

#[test]
fn kf_037_what_is_new_is_unknown_and_polled_within_a_tenth_of_its_interval() {
    let many: Vec<String> = (0..20).map(|n| format!("s{n}/1")).collect();
    let many = many.join(" ");
    let mut fleet = Fleet::new(written(&many));
    fleet.run(Duration::from_secs(34));
    fleet.replace(written(&format!("{many} new/1")));
    let added = fleet.now;
    assert_eq!(fleet.service("new").status, ServiceStatus::Unknown);
    fleet.run(Duration::from_secs(60));
    let polls = fleet.polls_of("new#0");
    assert!(polls[0] - added <= INTERVAL / 10 + 2 * STEP, "{polls:?}");
    for pair in polls.windows(2) {
        assert!(pair[1] - pair[0] >= INTERVAL / 2, "{polls:?}");
        assert!(pair[1] - pair[0] <= INTERVAL * 3 / 2 + STEP, "{polls:?}");
    }
}

#[test]
fn an_instance_that_joins_a_healthy_service_makes_it_no_worse() {
    let mut fleet = Fleet::new(written("cart/1"));
    fleet.run(Duration::from_secs(30));
    fleet.told();
    fleet.replace(written("cart/3"));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Healthy);
    fleet.run(Duration::from_secs(30));
    assert_eq!(
        fleet.told(),
        [
            "instance:cart#1 unknown -> healthy: all that matters is up",
            "instance:cart#2 unknown -> healthy: all that matters is up"
        ]
    );
    // One that joins and is not there does.
    fleet.silent.push(id("cart#3"));
    fleet.replace(written("cart/4"));
    fleet.run(Duration::from_secs(30));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Degraded);
}

#[test]
fn kf_042_polls_of_what_stays_keep_their_slots_and_never_overlap() {
    let many: Vec<String> = (0..50).map(|n| format!("s{n}/2")).collect();
    let mut fleet = Fleet::new(written(&many.join(" ")));
    for round in 0..200_u64 {
        fleet.run(Duration::from_millis(350));
        let extra: Vec<String> = (0..round % 7).map(|n| format!("x{n}/1")).collect();
        fleet.replace(written(&format!("{} {}", many.join(" "), extra.join(" "))));
    }
    for service in 0..50 {
        for instance in 0..2 {
            let polls = fleet.polls_of(&format!("s{service}#{instance}"));
            assert!(polls.len() >= 6, "s{service}#{instance}: {polls:?}");
            for pair in polls.windows(2) {
                assert_eq!(pair[1] - pair[0], INTERVAL, "s{service}#{instance}");
            }
        }
    }
    for extra in 0..6 {
        let polls = fleet.polls_of(&format!("x{extra}#0"));
        for pair in polls.windows(2) {
            assert!(pair[1] - pair[0] >= TOOK, "x{extra}: {polls:?}");
        }
    }
}

#[test]
fn one_that_leaves_and_comes_back_is_not_polled_twice_at_once() {
    let mut fleet = Fleet::new(written("cart/1 front/1"));
    while fleet.polls_of("cart#0").is_empty() {
        fleet.run(STEP);
    }
    // Its first poll is under way.
    fleet.replace(written("front/1"));
    fleet.replace(written("front/1 cart/1"));
    let started = fleet.under_way.clone();
    fleet.under_way.clear();
    fleet.run(Duration::from_secs(30));
    assert_eq!(fleet.polls_of("cart#0").len(), 1, "the first has not ended");
    for (at, instance) in started {
        let now = fleet.now;
        fleet.engine.handle_abandoned(&instance, at, now);
    }
    assert_eq!(fleet.service("cart").status, ServiceStatus::Unknown);
    fleet.run(Duration::from_secs(30));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Healthy);
}

#[test]
fn another_interval_counts_from_the_last_poll() {
    for seconds in [1_u64, 3, 20, 60] {
        let mut fleet = Fleet::new(written("cart/1 front/1"));
        fleet.run(Duration::from_secs(33));
        let mut next = written("cart/1 front/1");
        let interval = Duration::from_secs(seconds);
        next.targets[0].interval = interval;
        next.targets[0].stale_after = 3 * interval;
        let changed = fleet.now;
        fleet.replace(next);
        fleet.run(4 * interval);
        let polls = fleet.polls_of("cart#0");
        let first = polls
            .iter()
            .position(|at| *at > changed)
            .expect("it is polled");
        let gap = polls[first] - polls[first - 1];
        assert!(gap >= interval.min(INTERVAL) / 2, "{seconds} s: {gap:?}");
        assert!(polls[first] - changed <= 2 * interval, "{seconds} s");
        for pair in polls[first..].windows(2) {
            assert_eq!(pair[1] - pair[0], interval, "{seconds} s");
        }
    }
}

#[test]
fn another_label_counts_at_once() {
    let mut fleet = Fleet::new(written("front/1 cart/1 front->cart cart->db"));
    let down = vec![("db", CheckStatus::Down)];
    fleet.components.insert("cart".to_owned(), down);
    fleet.run(Duration::from_secs(60));
    let impacted = |fleet: &Fleet| {
        let snapshot = fleet.engine.snapshot();
        let impacted = snapshot.diagnosis.impacted.iter();
        impacted
            .map(|impact| format!("{} {:?}", impact.service, impact.effect))
            .collect::<Vec<_>>()
    };
    let hard = impacted(&fleet);
    assert!(hard.iter().any(|line| line == "cart Impacted"), "{hard:?}");
    fleet.replace(written("front/1 cart/1 front->cart cart->db(soft)"));
    let soft = impacted(&fleet);
    assert!(soft.iter().all(|line| line != "cart Impacted"), "{soft:?}");
}

#[test]
fn kf_041_open_incidents_stay_as_they_are_and_those_about_what_was_removed_end() {
    let mut fleet = Fleet::new(written("front/1 cart/1 front->cart cart->db front->cache"));
    let down = vec![("db", CheckStatus::Down)];
    fleet.components.insert("cart".to_owned(), down);
    fleet.run(Duration::from_secs(90));
    let open = fleet.engine.snapshot().open_incidents.clone();
    assert_eq!(open.len(), 1, "{open:?}");
    fleet.told();
    fleet.replace(written(
        "front/1 cart/1 other/1 front->cart cart->db front->cache",
    ));
    assert_eq!(fleet.told(), [""; 0]);
    let kept = fleet.engine.snapshot().open_incidents.clone();
    assert_eq!(
        (kept[0].id, kept[0].opened_at),
        (open[0].id, open[0].opened_at)
    );

    fleet.components.clear();
    fleet.replace(written("front/1 front->cache"));
    let mut told = fleet.told();
    told.sort();
    insta::assert_snapshot!(told.join("\n"), @r"
    instance:cart#0 unhealthy -> unknown: removed from the configuration
    resolved node:db: removed from the configuration
    resource:db down -> unknown: removed from the configuration
    service:cart unhealthy -> unknown: removed from the configuration
    ");
    assert!(fleet.engine.snapshot().open_incidents.is_empty());
    // What was removed and comes back begins as unknown.
    fleet.replace(written("front/1 cart/1 front->cart cart->db front->cache"));
    assert_eq!(fleet.service("cart").status, ServiceStatus::Unknown);
    assert_eq!(fleet.service("cart").since, None);
}

#[test]
fn a_service_that_was_just_added_has_not_been_missing_since_the_start() {
    let mut fleet = Fleet::new(written("front/1"));
    fleet.run(Duration::from_secs(600));
    fleet.told();
    fleet.silent.push(id("late#0"));
    fleet.replace(written("front/1 late/1"));
    fleet.run(Duration::from_secs(110));
    assert_eq!(fleet.told(), [""; 0], "nobody is paged for what is new");
    fleet.run(Duration::from_secs(20));
    assert_eq!(fleet.told(), ["opened unseen:late"]);
}

#[test]
fn a_round_with_a_removed_target_is_complete_all_the_same() {
    let mut fleet = Fleet::new(written("front/1 cart/1"));
    while fleet.polls_of("cart#0").is_empty() {
        fleet.run(STEP);
    }
    fleet.replace(written("front/1"));
    fleet.run(Duration::from_secs(10));
    let epoch = fleet.engine.snapshot().epoch.expect("a round is complete");
    assert_eq!(epoch.number, 0);
}

#[test]
fn kf_040_a_hundred_reloads_of_the_same_change_nothing_at_all() {
    let same = written("front/2 cart/2 front->cart cart->db");
    let mut fleet = Fleet::new(same.clone());
    fleet.run(Duration::from_secs(25));
    fleet.told();
    let (polls, published) = (fleet.polls.len(), fleet.published);
    let due = fleet.engine.poll_timeout();
    for _ in 0..100 {
        assert!(!fleet.replace(same.clone()).changed);
    }
    assert_eq!(fleet.told(), [""; 0]);
    assert_eq!((fleet.polls.len(), fleet.published), (polls, published));
    assert_eq!(fleet.engine.poll_timeout(), due);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the instances do: with reloads of the same configuration, in any order of its targets, the run is the
    /// same as without.
    #[test]
    fn a_run_with_reloads_of_the_same_is_the_run_without(
        steps in proptest::collection::vec((0_usize..4, any::<bool>(), 1_u64..9, any::<bool>()), 1..20),
    ) {
        let same = written("front/2 cart/2 front->cart cart->db");
        let ids = ["front#0", "front#1", "cart#0", "cart#1"];
        let play = |reloads: bool| {
            let mut fleet = Fleet::new(same.clone());
            for (which, silent, seconds, db_down) in &steps {
                fleet.silent.retain(|of| *of != id(ids[*which]));
                if *silent {
                    fleet.silent.push(id(ids[*which]));
                }
                let status = if *db_down { CheckStatus::Down } else { CheckStatus::Up };
                fleet.components.insert("cart".to_owned(), vec![("db", status)]);
                fleet.run(Duration::from_secs(*seconds));
                if reloads {
                    let mut turned = same.clone();
                    turned.targets.reverse();
                    fleet.replace(turned);
                }
            }
            (fleet.told, fleet.polls, fleet.published)
        };
        prop_assert_eq!(play(true), play(false));
    }

    /// Whatever is added and removed meanwhile: what stays is never told about, and never misses a poll.
    #[test]
    fn what_stays_does_not_notice_what_comes_and_goes(
        extras in proptest::collection::vec((0_usize..5, 1_u64..40), 1..12),
    ) {
        let stays = "front/2 cart/1 front->cart";
        let mut fleet = Fleet::new(written(stays));
        fleet.run(Duration::from_secs(25));
        fleet.told();
        for (extra, tenths) in extras {
            let more: Vec<String> = (0..extra).map(|n| format!("x{n}/1")).collect();
            fleet.replace(written(&format!("{stays} {}", more.join(" "))));
            fleet.run(Duration::from_millis(tenths * 500));
        }
        let told = fleet.told();
        prop_assert!(told.iter().all(|line| line.contains(":x")), "{told:?}");
        for instance in ["front#0", "front#1", "cart#0"] {
            let polls = fleet.polls_of(instance);
            prop_assert!(polls.windows(2).all(|pair| pair[1] - pair[0] == INTERVAL), "{polls:?}");
        }
    }
}
