//! A small world in virtual time: services with damped background checks, resources, faults, and the engine that polls
//! them. It is written as text, a line each:
//!
//! ```text
//! service checkout x2 -> orders-db cache(soft)     two instances; hard unless it says soft or info
//! resource orders-db
//! place cart#0 h3 eu-1a                            its reports name this host and this zone; `-` for none
//! release cart#0 2.1                               its reports name this version
//! at 30 fail orders-db connection_refused          every check of it fails
//! at 30 fail checkout->orders-db timeout           only the way from one service
//! at 30 fail checkout#1->orders-db timeout         only the way from one instance
//! at 30 kill cart                                  all its instances stop answering anybody
//! at 30 cut cart                                   only our polls of it are lost
//! at 30 sick cart#0 disk                           its own hard local condition fails
//! at 60 heal orders-db                             undoes any of these
//! expect 55 root node:orders-db                    exactly these causes, space separated; `-` for none
//! expect 55 impacted checkout front                exactly these, with hard ways
//! expect 55 degraded search                        reached by a soft edge
//! expect 55 status checkout unhealthy
//! expect 55 incidents 1                            open ones
//! expect 55 opened 1                               ever opened
//! expect 55 causes node:orders-db                  all that incidents were ever given
//! expect 55 unknown cart#0
//! expect 55 evidence node:orders-db orders#0       exactly these observers
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::diagnosis::ImpactEffect;
use rootward_core::incident::IncidentEvent;
use rootward_core::schedule::phase;
use rootward_core::snapshot::Subject;
use rootward_core::{
    Action, CheckStatus, Component, Criticality, Damped, Damping, Doubt, EdgeParts, Engine,
    ErrorCategory, Evidence, InstanceId, Map, MapParts, Moment, Name, Node, NodeKind, Poll,
    PollOutcome, Report, Scope, Settings, Side, Snapshot, Source, Target, Thresholds,
    roll_up_components, stale_after,
};

const STEP: Duration = Duration::from_millis(50);
const INTERVAL: Duration = Duration::from_secs(10);
const CHECK_TIMEOUT: Duration = Duration::from_millis(500);
const POLL_TIMEOUT: Duration = Duration::from_secs(2);
const RECHECK: Duration = Duration::from_secs(1);

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("the scenario's names are valid")
}

#[derive(Debug)]
struct Check {
    to: Name,
    label: Criticality,
    damping: Damping,
    next: Moment,
    checked_at: Option<Moment>,
    since: Option<Moment>,
    category: Option<ErrorCategory>,
    seq: u64,
}

#[derive(Debug)]
struct Instance {
    checks: Vec<Check>,
}

#[derive(Debug)]
enum Line {
    Fail(String, ErrorCategory),
    Kill(String),
    Cut(String),
    Sick(String, String),
    Heal(String),
    Expect(Vec<String>),
}

/// Plays a scenario and checks its expectations; panics with the line that does not hold.
pub(crate) fn play(text: &str) {
    World::parse(text).run();
}

struct World {
    services: BTreeSet<Name>,
    instances: BTreeMap<InstanceId, Instance>,
    script: Vec<(Moment, String, Line)>,
    faults: BTreeMap<String, ErrorCategory>,
    dead: BTreeSet<String>,
    cut: BTreeSet<String>,
    sick: BTreeMap<String, String>,
    /// Host and zone by instance.
    places: BTreeMap<String, (Option<Name>, Option<Name>)>,
    releases: BTreeMap<String, Name>,
    engine: Engine,
    running: Vec<(Moment, Poll)>,
    opened: Vec<String>,
    /// Every cause that an incident was ever given.
    causes: BTreeSet<String>,
    /// The last recorded status of each subject.
    recorded: BTreeMap<String, &'static str>,
    snapshot: Arc<Snapshot>,
}

impl World {
    fn parse(text: &str) -> Self {
        let mut parts = MapParts::default();
        let mut instances = BTreeMap::new();
        let mut script = Vec::new();
        let (mut places, mut releases) = (BTreeMap::new(), BTreeMap::new());
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["service", service, rest @ ..] => {
                    parse_service(service, rest, &mut parts, &mut instances);
                }
                ["resource", resource] => parts
                    .nodes
                    .push(node(resource, NodeKind::Resource { kind: None })),
                ["place", instance, host, zone] => {
                    let told = |text: &str| (text != "-").then(|| name(text));
                    places.insert((*instance).to_owned(), (told(host), told(zone)));
                }
                ["release", instance, version] => {
                    releases.insert((*instance).to_owned(), name(version));
                }
                ["at", at, action @ ..] => {
                    script.push((at_secs(at), line.to_owned(), parse_action(action, line)));
                }
                ["expect", at, what @ ..] => {
                    let what = what.iter().map(|word| (*word).to_owned()).collect();
                    script.push((at_secs(at), line.to_owned(), Line::Expect(what)));
                }
                other => panic!("not a line of a scenario: {other:?}"),
            }
        }
        // Expectations see the world after what happens at the same second.
        script.sort_by_key(|(at, _, line)| (*at, matches!(line, Line::Expect(_))));
        let services = parts
            .nodes
            .iter()
            .filter(|node| matches!(node.kind, NodeKind::Service { .. }))
            .map(|node| node.name.clone())
            .collect();
        let map = Arc::new(Map::build(parts).expect("the scenario's map is valid"));
        let targets = instances
            .keys()
            .map(|id: &InstanceId| Target {
                id: id.clone(),
                interval: INTERVAL,
                stale_after: stale_after(INTERVAL, POLL_TIMEOUT),
                thresholds: Thresholds::DEFAULT,
                source: Source::Polled,
            })
            .collect();
        let settings = Settings {
            epoch_interval: INTERVAL,
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references: false,
        };
        let engine = Engine::new(map, targets, settings, Moment::ZERO);
        let snapshot = engine.snapshot();
        Self {
            services,
            instances,
            script,
            faults: BTreeMap::new(),
            dead: BTreeSet::new(),
            cut: BTreeSet::new(),
            sick: BTreeMap::new(),
            places,
            releases,
            engine,
            running: Vec::new(),
            opened: Vec::new(),
            causes: BTreeSet::new(),
            recorded: BTreeMap::new(),
            snapshot,
        }
    }

    fn run(mut self) {
        let end = self.script.last().map_or(Moment::ZERO, |(at, _, _)| *at);
        let mut script = std::mem::take(&mut self.script).into_iter().peekable();
        let mut now = Moment::ZERO;
        while now <= end {
            while let Some((_, text, line)) = script.next_if(|(at, _, _)| *at <= now) {
                self.apply(&text, line);
            }
            self.run_checks(now);
            self.run_engine(now);
            now = now + STEP;
        }
    }

    fn apply(&mut self, text: &str, line: Line) {
        match line {
            Line::Fail(what, category) => {
                self.faults.insert(what, category);
            }
            Line::Kill(what) => {
                self.dead.insert(what);
            }
            Line::Cut(what) => {
                self.cut.insert(what);
            }
            Line::Sick(instance, component) => {
                self.sick.insert(instance, component);
            }
            Line::Heal(what) => {
                self.faults.remove(&what);
                self.dead.remove(&what);
                self.cut.remove(&what);
                self.sick.remove(&what);
            }
            Line::Expect(words) => self.expect(text, &words),
        }
    }

    fn is_in(set: &BTreeSet<String>, id: &InstanceId) -> bool {
        set.contains(&id.to_string()) || set.contains(id.service.as_str())
    }

    /// Whether an instance's own hard resources and local conditions allow it to serve.
    fn serves(&self, id: &InstanceId) -> bool {
        let resources_up = self.instances[id].checks.iter().all(|check| {
            check.label != Criticality::Hard
                || self.services.contains(&check.to)
                || check.damping.status() != CheckStatus::Down
        });
        resources_up && !self.sick.contains_key(&id.to_string())
    }

    fn outcome(&self, observer: &InstanceId, to: &Name) -> (Evidence, Option<ErrorCategory>) {
        let edge = format!("{}->{to}", observer.service);
        let instance_edge = format!("{observer}->{to}");
        for key in [instance_edge.as_str(), edge.as_str(), to.as_str()] {
            if let Some(category) = self.faults.get(key) {
                return (Evidence::Down, Some(*category));
            }
        }
        if !self.services.contains(to) {
            return (Evidence::Up, None);
        }
        let answering = self
            .instances
            .keys()
            .find(|id| &id.service == to && !Self::is_in(&self.dead, id));
        match answering {
            None => (Evidence::Down, Some(ErrorCategory::ConnectionRefused)),
            Some(id) if self.serves(id) => (Evidence::Up, None),
            Some(_) => (Evidence::Degraded, Some(ErrorCategory::NotServing)),
        }
    }

    fn run_checks(&mut self, now: Moment) {
        let ids: Vec<InstanceId> = self.instances.keys().cloned().collect();
        for id in ids {
            let due: Vec<(usize, Name)> = self.instances[&id]
                .checks
                .iter()
                .enumerate()
                .filter(|(_, check)| check.next <= now)
                .map(|(at, check)| (at, check.to.clone()))
                .collect();
            for (at, to) in due {
                let (result, category) = self.outcome(&id, &to);
                let check = &mut self
                    .instances
                    .get_mut(&id)
                    .expect("it was just listed")
                    .checks[at];
                check.seq += 1;
                check.checked_at = Some(now);
                check.category = category;
                let damped = check.damping.observe(result);
                if matches!(damped, Damped::First(_) | Damped::Changed { .. }) {
                    check.since = Some(now);
                }
                let wait = if matches!(damped, Damped::Pending { .. }) {
                    RECHECK
                } else {
                    INTERVAL
                };
                check.next = now + wait;
            }
        }
    }

    fn run_engine(&mut self, now: Moment) {
        let (done, running): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|(end, _)| *end <= now);
        self.running = running;
        for (_, poll) in done {
            self.engine.handle_poll(poll);
        }
        self.engine.handle_timeout(now);
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Poll(id) => {
                    let poll = self.poll(id, now);
                    self.running.push((poll.finished, poll));
                }
                Action::Record(transition) => {
                    assert!(!transition.reason.is_empty(), "P-4: {transition:?}");
                    let subject = transition.subject.to_string();
                    let before = self.recorded.insert(subject, transition.to);
                    assert_eq!(
                        before.unwrap_or("unknown"),
                        transition.from,
                        "P-4: {transition:?}"
                    );
                }
                Action::CheckSelf => panic!("no scenario fails by errors of this machine"),
                Action::RecordIncident(IncidentEvent::Opened(incident)) => {
                    self.causes.insert(incident.cause.to_string());
                    self.opened.push(format!(
                        "{} at {} s: {:?}",
                        incident.cause,
                        now.as_millis() / 1_000,
                        incident.reasons
                    ));
                }
                Action::RecordIncident(IncidentEvent::Revised(incident)) => {
                    self.causes.insert(incident.cause.to_string());
                }
                Action::RecordIncident(IncidentEvent::Resolved(_)) => {}
                Action::Publish(snapshot) => {
                    self.nothing_changed_unrecorded(&snapshot);
                    nothing_is_told_twice(&snapshot);
                    self.snapshot = snapshot;
                }
            }
        }
    }

    /// P-4: what is shown is what was recorded last.
    fn nothing_changed_unrecorded(&self, snapshot: &Snapshot) {
        let recorded = |subject: Subject, shown: &str| {
            let last = self.recorded.get(&subject.to_string());
            assert_eq!(last.copied().unwrap_or("unknown"), shown, "P-4: {subject}");
        };
        for service in &snapshot.services {
            recorded(
                Subject::Service(service.name.clone()),
                service.status.as_str(),
            );
            for instance in &service.instances {
                let subject = Subject::Instance(instance.id.clone());
                recorded(subject, instance.status.as_str());
            }
        }
        for resource in &snapshot.resources {
            recorded(
                Subject::Resource(resource.name.clone()),
                resource.status.as_str(),
            );
        }
    }

    fn poll(&self, id: InstanceId, now: Moment) -> Poll {
        let no_answer = |category, text: &str| PollOutcome::NoAnswer {
            category,
            text: text.to_owned(),
            side: match category {
                ErrorCategory::Timeout => Side::Unclear(Doubt::Silence),
                _ => Side::There,
            },
        };
        let (took, outcome) = if Self::is_in(&self.cut, &id) {
            (
                POLL_TIMEOUT,
                no_answer(ErrorCategory::Timeout, "timed out after 2 s"),
            )
        } else if Self::is_in(&self.dead, &id) {
            (
                STEP,
                no_answer(ErrorCategory::ConnectionRefused, "connection refused"),
            )
        } else {
            (STEP, PollOutcome::Report(Box::new(self.report(&id))))
        };
        Poll {
            instance: id,
            started: now,
            finished: now + took,
            took_us: 1_000,
            outcome,
        }
    }

    fn report(&self, id: &InstanceId) -> Report {
        let mut components: Vec<Component> = self.instances[id]
            .checks
            .iter()
            .map(|check| {
                let mut component =
                    Component::new(check.to.clone(), check.damping.status(), check.label);
                component.raw_status = check.damping.raw_status();
                component.pending = check.damping.pending();
                component.checked_at = check.checked_at;
                // Computed from an age, it moves a little from report to report.
                let late = Duration::from_millis(check.seq * 7 % 25);
                component.since = check.since.map(|since| since + late);
                component.seq = Some(check.seq);
                component.error_category = check.category;
                component
            })
            .collect();
        if let Some(local) = self.sick.get(&id.to_string()) {
            let mut component = Component::new(name(local), CheckStatus::Down, Criticality::Hard);
            component.scope = Scope::Local;
            component.checked_at = Some(Moment::ZERO);
            component.error_category = Some(ErrorCategory::ResourceExhausted);
            components.push(component);
        }
        let statuses = components.iter().map(|c| (c.status, c.criticality));
        let (host, zone) = self
            .places
            .get(&id.to_string())
            .cloned()
            .unwrap_or_default();
        Report {
            service: id.service.clone(),
            instance: id.instance.clone(),
            version: self.releases.get(&id.to_string()).cloned(),
            zone,
            host,
            status: roll_up_components(true, statuses),
            ready: true,
            draining: false,
            serving: Some(self.serves(id)),
            components,
        }
    }

    fn expect(&self, text: &str, words: &[String]) {
        let snapshot = &self.snapshot;
        let diagnosis = &snapshot.diagnosis;
        let wanted: BTreeSet<String> = words[1..]
            .iter()
            .filter(|word| *word != "-")
            .cloned()
            .collect();
        let reached = |effect: ImpactEffect| -> BTreeSet<String> {
            diagnosis
                .impacted
                .iter()
                .filter(|i| i.effect == effect)
                .map(|i| i.service.to_string())
                .collect()
        };
        let found: BTreeSet<String> = match words[0].as_str() {
            "root" => diagnosis
                .root_causes
                .iter()
                .map(|cause| cause.id.to_string())
                .collect(),
            "impacted" => reached(ImpactEffect::Impacted),
            "degraded" => reached(ImpactEffect::Degraded),
            "unknown" => diagnosis
                .unknown
                .iter()
                .map(|unseen| unseen.instance.to_string())
                .collect(),
            "incidents" => BTreeSet::from([snapshot.open_incidents.len().to_string()]),
            "evidence" => {
                let cause = diagnosis
                    .root_causes
                    .iter()
                    .find(|cause| cause.id.to_string() == words[1]);
                let found: BTreeSet<String> = cause
                    .map(|cause| {
                        cause
                            .evidence
                            .iter()
                            .map(|fact| fact.observer.clone())
                            .collect()
                    })
                    .unwrap_or_default();
                let wanted: BTreeSet<String> = words[2..].iter().cloned().collect();
                assert_eq!(found, wanted, "{text}\n{diagnosis:#?}");
                return;
            }
            "opened" => {
                assert_eq!(
                    self.opened.len().to_string(),
                    words[1],
                    "{text}\n{:#?}",
                    self.opened
                );
                return;
            }
            "causes" => self.causes.clone(),
            "paging" => snapshot
                .open_incidents
                .iter()
                .filter(|incident| incident.pages)
                .map(|incident| incident.cause.to_string())
                .collect(),
            "status" => {
                let service = snapshot
                    .services
                    .iter()
                    .find(|service| service.name.as_str() == words[1]);
                let status = service.map_or("absent", |service| service.status.as_str());
                assert_eq!(status, words[2], "{text}\n{diagnosis:#?}");
                return;
            }
            other => panic!("cannot expect {other}"),
        };
        assert_eq!(
            found, wanted,
            "{text}\n{diagnosis:#?}\n{:#?}",
            snapshot.open_incidents
        );
    }
}

/// One onset is one line of an incident's timeline, however often it is reported.
fn nothing_is_told_twice(snapshot: &Snapshot) {
    for incident in &snapshot.open_incidents {
        for (at, line) in incident.timeline.iter().enumerate() {
            let again = incident.timeline[at + 1..].iter().find(|other| {
                (&other.subject, &other.text) == (&line.subject, &line.text)
                    && other.at - line.at < Duration::from_secs(1)
            });
            assert_eq!(again, None, "told twice in {}", incident.id);
        }
    }
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

fn at_secs(text: &str) -> Moment {
    Moment::from_millis(text.parse::<u64>().expect("a time is whole seconds") * 1_000)
}

fn parse_action(words: &[&str], line: &str) -> Line {
    match *words {
        ["fail", what, category] => Line::Fail(
            what.to_owned(),
            ErrorCategory::parse(category).expect("a known category"),
        ),
        ["kill", what] => Line::Kill(what.to_owned()),
        ["cut", what] => Line::Cut(what.to_owned()),
        ["sick", instance, component] => Line::Sick(instance.to_owned(), component.to_owned()),
        ["heal", what] => Line::Heal(what.to_owned()),
        _ => panic!("not an action: {line}"),
    }
}

fn parse_service(
    service: &str,
    rest: &[&str],
    parts: &mut MapParts,
    instances: &mut BTreeMap<InstanceId, Instance>,
) {
    parts
        .nodes
        .push(node(service, NodeKind::Service { at_least: 1 }));
    let count: usize = rest
        .iter()
        .find_map(|word| word.strip_prefix('x').and_then(|count| count.parse().ok()))
        .unwrap_or(1);
    let deps = rest.iter().skip_while(|word| **word != "->").skip(1);
    let mut labelled = Vec::new();
    for dep in deps {
        let (to, label) = match dep.split_once('(') {
            Some((to, "soft)")) => (to, Criticality::Soft),
            Some((to, "info)")) => (to, Criticality::Informational),
            Some(other) => panic!("not a label: {other:?}"),
            None => (*dep, Criticality::Hard),
        };
        labelled.push((name(to), label));
        parts.edges.push(EdgeParts {
            caller: name(service),
            callee: name(to),
            declared: Some(label),
            overrides: false,
            reason: None,
            owner: None,
        });
    }
    for n in 0..count {
        let id = InstanceId {
            service: name(service),
            instance: name(&n.to_string()),
        };
        let checks = labelled
            .iter()
            .map(|(to, label)| Check {
                to: to.clone(),
                label: *label,
                damping: Damping::new(Thresholds::DEFAULT),
                next: Moment::ZERO + phase(&format!("{id}/{to}"), INTERVAL / 10) + CHECK_TIMEOUT,
                checked_at: None,
                since: None,
                category: None,
                seq: 0,
            })
            .collect();
        instances.insert(id, Instance { checks });
    }
}
