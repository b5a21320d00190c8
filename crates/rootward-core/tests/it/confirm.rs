//! Polls that say the same again: the picture is drawn from them, and is the one that a whole judgement would have made.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::{
    Action, CheckStatus, Component, Criticality, EdgeParts, Engine, InstanceId, InstanceStatus,
    Map, MapParts, Moment, Node, NodeKind, Poll, PollOutcome, Report, Scope, ServiceStatus,
    Settings, Snapshot, Source, Target, Thresholds,
};

use crate::world::name;

const INTERVAL: Duration = Duration::from_secs(10);
const STALE_AFTER: Duration = Duration::from_secs(22);
const PAGE_UNKNOWN_AFTER: Duration = Duration::from_secs(120);

/// `front` calls `cart` and `search`; both read `db`. Two instances each, and all is well.
struct Fleet {
    engine: Engine,
    map: Arc<Map>,
    targets: Vec<Target>,
    hold_limit: Duration,
    now: Moment,
    polls: u64,
    /// What is not answered any more, nor refused: its polls do not end.
    hung: bool,
}

fn node(text: &str, kind: NodeKind) -> Node {
    Node {
        name: name(text),
        kind,
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    }
}

fn callees(service: &str) -> &'static [&'static str] {
    match service {
        "front" => &["cart", "search"],
        _ => &["db"],
    }
}

impl Fleet {
    fn new(services_without_instances: &[&str]) -> Self {
        let services = ["front", "cart", "search"];
        let mut parts = MapParts::default();
        let mut targets = Vec::new();
        let service = NodeKind::Service { at_least: 1 };
        for caller in services {
            parts.nodes.push(node(caller, service.clone()));
            parts
                .edges
                .extend(callees(caller).iter().map(|callee| EdgeParts {
                    caller: name(caller),
                    callee: name(callee),
                    declared: Some(Criticality::Hard),
                    overrides: false,
                    reason: None,
                    owner: None,
                }));
            targets.extend(["0", "1"].map(|instance| Target {
                id: InstanceId {
                    service: name(caller),
                    instance: name(instance),
                },
                interval: INTERVAL,
                stale_after: STALE_AFTER,
                thresholds: Thresholds::DEFAULT,
                source: Source::Polled,
            }));
        }
        for lonely in services_without_instances {
            parts.nodes.push(node(lonely, service.clone()));
        }
        parts
            .nodes
            .push(node("db", NodeKind::Resource { kind: None }));
        let map = Arc::new(Map::build(parts).expect("the map is valid"));
        let hold_limit = Duration::from_secs(45);
        let settings = settings(hold_limit);
        Self {
            engine: Engine::new(Arc::clone(&map), targets.clone(), settings, Moment::ZERO),
            map,
            targets,
            hold_limit,
            now: Moment::ZERO,
            polls: 0,
            hung: false,
        }
    }

    fn report(&self, id: &InstanceId) -> Report {
        let component = |callee: &&str| {
            let mut component = Component::new(name(callee), CheckStatus::Up, Criticality::Hard);
            component.scope = Scope::Shared;
            component.seq = Some(self.polls);
            component.latency_us = Some(self.polls * 7 % 900);
            let age = Duration::from_millis(self.polls * 331 % 5_000);
            component.checked_at = Some(self.now.saturating_sub(age));
            component
        };
        Report {
            service: id.service.clone(),
            instance: id.instance.clone(),
            version: None,
            zone: None,
            host: None,
            status: InstanceStatus::Healthy,
            ready: true,
            draining: false,
            serving: None,
            components: callees(id.service.as_str()).iter().map(component).collect(),
        }
    }

    /// Lets time pass to whatever is due next: whom to ask, and every picture that was published.
    fn pass(&mut self) -> (Vec<InstanceId>, Vec<Arc<Snapshot>>) {
        self.now = self.engine.poll_timeout().max(self.now);
        self.engine.handle_timeout(self.now);
        let (mut asked, mut published) = (Vec::new(), Vec::new());
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Poll(id) => asked.push(id),
                Action::Publish(snapshot) => published.push(snapshot),
                Action::CheckSelf | Action::Record(_) | Action::RecordIncident(_) => {}
            }
        }
        (asked, published)
    }

    fn answer(&mut self, asked: Vec<InstanceId>) {
        for instance in asked {
            self.polls += 1;
            if self.hung {
                continue;
            }
            let poll = Poll {
                started: self.now,
                finished: self.now,
                took_us: self.polls,
                outcome: PollOutcome::Report(Box::new(self.report(&instance))),
                instance,
            };
            self.engine.handle_poll(poll);
        }
    }

    fn until(&mut self, moment: Moment) {
        while self.engine.poll_timeout() <= moment {
            let (asked, _) = self.pass();
            self.answer(asked);
        }
        self.now = moment;
    }

    /// A whole judgement of what is known now: settings that make no difference here are different.
    fn judged(&mut self) -> Arc<Snapshot> {
        self.hold_limit += Duration::from_millis(1);
        let (map, targets) = (Arc::clone(&self.map), self.targets.clone());
        let replaced = self
            .engine
            .replace(map, targets, settings(self.hold_limit), self.now);
        assert!(replaced.changed);
        while self.engine.poll_action().is_some() {}
        self.engine.snapshot()
    }
}

fn settings(hold_limit: Duration) -> Settings {
    Settings {
        epoch_interval: INTERVAL,
        hold_limit,
        page_unknown_after: PAGE_UNKNOWN_AFTER,
        references: false,
    }
}

#[test]
fn a_picture_drawn_from_confirmations_is_the_one_that_a_whole_judgement_makes() {
    let mut fleet = Fleet::new(&[]);
    fleet.until(Moment::from_millis(25_000));
    let (mut drawn, mut compared) = (0, 0);
    let mut before = fleet.engine.snapshot();
    while compared < 20 {
        let (asked, published) = fleet.pass();
        for snapshot in published {
            // A whole judgement draws every service anew.
            let mut pairs = snapshot.services.iter().zip(&before.services);
            let confirmed = pairs.any(|(now, then)| Arc::ptr_eq(now, then));
            drawn += usize::from(confirmed);
            before = snapshot;
            if confirmed && drawn % 9 == 0 {
                let whole = fleet.judged();
                assert_eq!(format!("{before:#?}"), format!("{whole:#?}"));
                before = whole;
                compared += 1;
            }
        }
        fleet.answer(asked);
        assert!(fleet.now < Moment::from_millis(1_000_000), "{drawn} drawn");
    }
}

#[test]
fn an_instance_whose_polls_do_not_end_is_unknown_at_its_deadline_though_nothing_else_is_new() {
    let mut fleet = Fleet::new(&[]);
    fleet.until(Moment::from_millis(60_000));
    fleet.hung = true;
    let newest = fleet.engine.snapshot().newest_evidence.expect("it is seen");
    fleet.until(newest + STALE_AFTER + Duration::from_millis(1_100));
    let snapshot = fleet.engine.snapshot();
    let statuses: Vec<_> = snapshot.services.iter().map(|s| s.status).collect();
    assert_eq!(statuses, [ServiceStatus::Unknown; 3]);
}

#[test]
fn an_entry_point_that_nobody_sees_is_missed_in_time_though_all_others_are_well() {
    let mut fleet = Fleet::new(&["lonely"]);
    fleet.until(Moment::from_millis(119_900));
    assert!(fleet.engine.snapshot().open_incidents.is_empty());
    fleet.until(Moment::ZERO + PAGE_UNKNOWN_AFTER + Duration::from_millis(1_100));
    assert_eq!(fleet.engine.snapshot().open_incidents.len(), 1);
}
