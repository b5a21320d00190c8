//! The engine: takes what the poller saw and `now`, returns what to poll, record and publish.
//!
//! The only mutable thing of the core. Verbs carry the direction: `handle_…` gives it something, `poll_…` takes
//! something out. The driver calls [`Engine::handle_poll`] for each outcome, [`Engine::handle_timeout`] when
//! [`Engine::poll_timeout`] says so (calling it early or twice is harmless), and after each of them takes
//! [`Engine::poll_action`] until it is empty.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::damping::Thresholds;
use crate::diagnosis::{Sight, diagnose};
use crate::incident::{IncidentBook, IncidentEvent, UnseenFront};
use crate::map::Map;
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::observer::{ObserverView, SelfChecks, Side};
use crate::report::Report;
use crate::schedule::Schedule;
use crate::snapshot::{ServiceView, Snapshot, Subject, Transition};
use crate::status::{ErrorCategory, ServiceStatus};

mod confirm;
mod epochs;
mod evidence;
mod localiser;
mod reading;
mod replace;
mod seen;
mod standing;
mod tape;
mod vantage;
mod view;

pub use replace::Replaced;
pub use tape::Told;

use confirm::Confirmed;
use epochs::Epochs;
use evidence::Gathered;
use localiser::Localiser;
use seen::{Novelty, Seen};
use vantage::{Admitted, Corroboration, Released, Vantage};

/// What the engine is told once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The length of an epoch: the usual polling interval.
    pub epoch_interval: Duration,
    /// The longest time a symptom is held back while the rest of the picture comes in.
    pub hold_limit: Duration,
    /// How long an entry point may be unseen before that is an incident.
    pub page_unknown_after: Duration,
    /// Whether the self checks have somebody to ask who is no target.
    pub references: bool,
}

/// An instance to poll, or one that reports by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which.
    pub id: InstanceId,
    /// How often.
    pub interval: Duration,
    /// From which age its last report counts for nothing.
    pub stale_after: Duration,
    /// How many failed polls in a row make it unknown (or unhealthy, for error statuses).
    pub thresholds: Thresholds,
    /// How its reports come.
    pub source: Source,
}

/// How the reports of an instance come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is asked for them.
    Polled,
    /// It sends them, each good for `stale_after`.
    Pushed,
}

/// How one poll ended.
#[derive(Debug, Clone)]
pub struct Poll {
    /// Whom it asked.
    pub instance: InstanceId,
    /// When it began.
    pub started: Moment,
    /// When it ended.
    pub finished: Moment,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// What came of it.
    pub outcome: PollOutcome,
}

/// What came of a poll.
#[derive(Debug, Clone)]
pub enum PollOutcome {
    /// A report, whatever HTTP status it came with.
    Report(Box<Report>),
    /// A 5xx without a report: the service answers, and says that it cannot.
    ErrorStatus(u16),
    /// An answer that is neither: unknown, with a sentence.
    Malformed(String),
    /// Nothing: unknown, with a sentence safe for outsiders.
    NoAnswer {
        /// In a word.
        category: ErrorCategory,
        /// In a sentence: `timed out after 2 s while connecting`.
        text: String,
        /// On which side it failed.
        side: Side,
    },
}

/// What the driver should do.
#[derive(Debug, Clone)]
pub enum Action {
    /// Poll this instance now. Exactly one `handle_poll` must follow.
    Poll(InstanceId),
    /// Try how things are here. Exactly one `handle_self_checks` must follow.
    CheckSelf,
    /// Remember a change of status.
    Record(Transition),
    /// Remember what happened to an incident.
    RecordIncident(IncidentEvent),
    /// Show this to readers.
    Publish(Arc<Snapshot>),
}

/// The shortest time between two judgements while news comes in: thousands of reports make a few pictures.
const JUDGE_AFTER_EVIDENCE: Duration = Duration::from_millis(200);

/// The longest time between two judgements: ages and deadlines pass also when nothing comes in.
const JUDGE_ANYWAY: Duration = Duration::from_secs(1);

/// Judgements later than this were late because nobody called: the process was stopped, or the machine slept.
const PAUSED: Duration = Duration::from_secs(5);

/// Decides what is polled, recorded and published.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use rootward_core::{Action, Engine, InstanceId, Map, MapParts, Moment, Name, Node, NodeKind};
/// use rootward_core::{Poll, PollOutcome, ErrorCategory, ServiceStatus, Settings, Source, Target, Thresholds};
///
/// let cart = Name::parse("cart").unwrap();
/// let node = Node {
///     name: cart.clone(), kind: NodeKind::Service { at_least: 1 }, owner: None, zone: None, target: None, aliases: vec![],
/// };
/// let map = Map::build(MapParts { nodes: vec![node], edges: vec![] }).unwrap();
/// let target = Target {
///     id: InstanceId { service: cart, instance: Name::parse("0").unwrap() },
///     interval: Duration::from_secs(10), stale_after: Duration::from_secs(22), thresholds: Thresholds::DEFAULT,
///     source: Source::Polled,
/// };
/// let settings = Settings {
///     epoch_interval: Duration::from_secs(10), hold_limit: Duration::from_secs(45), page_unknown_after: Duration::from_secs(120),
///     references: false,
/// };
/// let mut engine = Engine::new(Arc::new(map), vec![target], settings, Moment::ZERO);
/// assert_eq!(engine.snapshot().services[0].status, ServiceStatus::Unknown);
///
/// let now = Moment::from_millis(10_050);
/// engine.handle_timeout(now);
/// let polled = std::iter::from_fn(|| engine.poll_action()).find_map(|action| match action {
///     Action::Poll(id) => Some(id),
///     Action::CheckSelf | Action::Record(_) | Action::RecordIncident(_) | Action::Publish(_) => None,
/// });
/// assert_eq!(polled.unwrap().to_string(), "cart#0");
/// ```
#[derive(Debug)]
pub struct Engine {
    map: Arc<Map>,
    settings: Settings,
    schedule: Schedule,
    instances: BTreeMap<InstanceId, Seen>,
    epochs: Epochs,
    localiser: Localiser,
    book: IncidentBook,
    vantage: Vantage,
    statuses: BTreeMap<Subject, Standing>,
    /// Services that were added to the running engine, and when.
    joined: BTreeMap<Name, Moment>,
    judged_at: Moment,
    /// When the aggregator last came back from a pause of its own. Nobody's silence is counted from before.
    resumed_at: Option<Moment>,
    fresh_evidence: bool,
    confirmed: Confirmed,
    actions: VecDeque<Action>,
    snapshot: Arc<Snapshot>,
}

/// The status that was last published for a subject, and since when.
#[derive(Debug, Clone, Copy)]
struct Standing {
    status: &'static str,
    since: Option<Moment>,
}

impl Engine {
    /// An engine that has seen nothing: everything is unknown. Targets of services that are not on the map are ignored;
    /// a checked configuration has none.
    #[must_use]
    pub fn new(map: Arc<Map>, targets: Vec<Target>, settings: Settings, now: Moment) -> Self {
        let instances: BTreeMap<InstanceId, Seen> = targets
            .into_iter()
            .filter_map(|target| {
                let service = map.find(target.id.service.as_str())?;
                Some((target.id.clone(), Seen::new(target, service)))
            })
            .collect();
        let schedule = Schedule::new(polled(&instances), now);
        let epochs = Epochs::new(now, settings.epoch_interval);
        let localiser = Localiser::new(&map, &instances, settings.epoch_interval);
        let empty = Snapshot {
            at: now,
            map: Arc::clone(&map),
            epoch: None,
            epoch_interval: settings.epoch_interval,
            newest_evidence: None,
            services: Vec::new(),
            resources: Vec::new(),
            diagnosis: Arc::default(),
            open_incidents: Vec::new(),
            resolved_incidents: Vec::new(),
            findings: Vec::new(),
            observer: ObserverView::SEES,
        };
        let vantage = Vantage::new(polled(&instances).count(), settings.references);
        let mut engine = Self {
            map,
            settings,
            schedule,
            instances,
            epochs,
            localiser,
            book: IncidentBook::default(),
            vantage,
            statuses: BTreeMap::new(),
            joined: BTreeMap::new(),
            judged_at: now,
            resumed_at: None,
            fresh_evidence: false,
            confirmed: Confirmed::default(),
            actions: VecDeque::new(),
            snapshot: Arc::new(empty),
        };
        engine.judge(now);
        engine
    }

    /// Takes the outcome of a poll that an [`Action::Poll`] asked for.
    pub fn handle_poll(&mut self, poll: Poll) {
        self.notice_pause(poll.finished);
        self.schedule.finished(&poll.instance, poll.finished);
        self.epochs.finished(
            poll.started,
            matches!(poll.outcome, PollOutcome::Report(_)),
            poll.finished,
        );
        // It may have been removed from the configuration while it was asked.
        if !self.instances.contains_key(&poll.instance) {
            return;
        }
        match self.vantage.admit(poll) {
            Admitted::Counts(poll) => self.take(poll),
            Admitted::Blind(poll) => self.take_blind(poll),
            Admitted::Held => self.fresh_evidence = true,
        }
        self.want_self_checks();
    }

    /// Takes a report that an instance has sent by itself. It counts as one that a poll has brought; who is no target is
    /// ignored.
    pub fn handle_pushed(&mut self, instance: InstanceId, report: Report, now: Moment) {
        self.notice_pause(now);
        self.take(Poll {
            instance,
            started: now,
            finished: now,
            took_us: 0,
            outcome: PollOutcome::Report(Box::new(report)),
        });
    }

    /// Takes what the self checks say that an [`Action::CheckSelf`] asked for.
    pub fn handle_self_checks(&mut self, checks: SelfChecks, now: Moment) {
        self.notice_pause(now);
        let others = self.corroboration(now);
        let released = self.vantage.handle_self_checks(checks, others, now);
        self.release(released);
        self.want_self_checks();
    }

    /// What a poll says counts from now on.
    fn take(&mut self, poll: Poll) {
        let Some(seen) = self.instances.get_mut(&poll.instance) else {
            return;
        };
        let at = poll.finished;
        let instance = poll.instance.clone();
        let (heard, novelty) = seen.handle(poll, &self.map);
        self.localiser.hear(heard, seen, &self.map, at);
        match novelty {
            Novelty::News => self.fresh_evidence = true,
            Novelty::Again => self.confirmed.take(instance),
        }
    }

    /// A poll that says nothing about its target: it was not asked.
    fn take_blind(&mut self, poll: Poll) {
        if let Some(seen) = self.instances.get_mut(&poll.instance) {
            seen.handle_blind(poll);
            self.fresh_evidence = true;
        }
    }

    fn release(&mut self, released: Released) {
        let Released { counting, blind } = released;
        self.fresh_evidence |= !counting.is_empty() || !blind.is_empty();
        counting.into_iter().for_each(|poll| self.take(poll));
        blind.into_iter().for_each(|poll| self.take_blind(poll));
        if self.vantage.is_fault() {
            // What was counted against targets before it was known whose trouble it is.
            self.instances.values_mut().for_each(Seen::absolve);
        }
    }

    fn want_self_checks(&mut self) {
        if self.vantage.take_wish() {
            self.actions.push_back(Action::CheckSelf);
        }
    }

    /// What those who were reached report about the services that could not be asked.
    fn corroboration(&self, now: Moment) -> Corroboration {
        let hidden = self.vantage.hidden();
        let recent = self.settings.epoch_interval * 2;
        let mut failing: BTreeMap<&Name, bool> = BTreeMap::new();
        for seen in self.instances.values() {
            for (callee, fails) in seen.sees(&self.map, now, recent) {
                let name = self.map.name(callee);
                if hidden.contains(name) {
                    *failing.entry(name).or_default() |= fails;
                }
            }
        }
        let all = failing.len();
        let failing = failing.into_values().filter(|fails| *fails).count();
        Corroboration {
            failing,
            well: all - failing,
        }
    }

    /// From now on, [`Engine::take_told`] gives what the fault localisation was told: the map of now, then each report,
    /// each silence and each other map as they come. Who calls this takes them after every step, or they pile up.
    pub fn record(&mut self) {
        self.localiser.record(&self.map, &self.instances);
    }

    /// What it was told since the last time, in order; nothing unless [`Engine::record`] was called.
    pub fn take_told(&mut self) -> Vec<Told> {
        self.localiser.take_told()
    }

    /// Lets time pass: releases due polls, and judges when there is something to judge.
    pub fn handle_timeout(&mut self, now: Moment) {
        self.notice_pause(now);
        for id in self.schedule.take_due(now) {
            self.epochs.started(now);
            self.actions.push_back(Action::Poll(id));
        }
        let released = self.vantage.handle_timeout(now);
        self.release(released);
        self.want_self_checks();
        if now < self.next_judgement() {
            return;
        }
        if !self.fresh_evidence && self.is_confirmed(now) {
            self.confirm(now);
        } else {
            self.judge(now);
        }
    }

    /// When [`Engine::handle_timeout`] should be called next.
    #[must_use]
    pub fn poll_timeout(&self) -> Moment {
        let judgement = self.next_judgement();
        self.schedule
            .next_due()
            .map_or(judgement, |due| due.min(judgement))
    }

    /// The next thing to do, in order; `None` when there is nothing.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// How the observer stands.
    #[must_use]
    pub fn observer(&self) -> ObserverView {
        self.vantage.view()
    }

    /// The newest picture.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn next_judgement(&self) -> Moment {
        let wait = if self.fresh_evidence {
            JUDGE_AFTER_EVIDENCE
        } else {
            JUDGE_ANYWAY
        };
        self.judged_at + wait
    }

    /// Time in which we did not run says nothing about anybody else.
    fn notice_pause(&mut self, now: Moment) {
        let expected = self
            .resumed_at
            .map_or(self.judged_at, |at| at.max(self.judged_at))
            + JUDGE_ANYWAY;
        let pause = now - expected;
        if pause > PAUSED {
            self.resumed_at = Some(now);
            self.confirmed.end();
            for seen in self.instances.values_mut() {
                seen.not_watched(pause);
            }
        }
    }

    /// Makes one consistent picture of everything as of `now`.
    fn judge(&mut self, now: Moment) {
        self.judged_at = now;
        self.fresh_evidence = false;
        self.epochs.roll(now);
        let evidence = Gathered::new(&self.map, &self.instances, now);
        self.forget_unseen(&evidence);
        let answer = self
            .localiser
            .answer(&self.map, &self.instances, &evidence, now);
        let hold_limit = self.settings.hold_limit;
        let input = evidence.input(&self.map, &self.localiser.ids, hold_limit, now);
        let mut diagnosis = diagnose(&input, &answer);
        diagnosis.unexplained.extend(evidence.stray.iter().cloned());

        let mut services = view::services(&self.map, &self.instances, &evidence, now);
        let mut resources = view::resources(&self.map, &evidence);
        for service in &mut services {
            let service = Arc::make_mut(service);
            for instance in &mut service.instances {
                let subject = Subject::Instance(instance.id.clone());
                instance.since =
                    self.settle(subject, instance.status.as_str(), &instance.reason, now);
            }
            let subject = Subject::Service(service.name.clone());
            service.since = self.settle(subject, service.status.as_str(), &service.reason, now);
        }
        for resource in &mut resources {
            let resource = Arc::make_mut(resource);
            let subject = Subject::Resource(resource.name.clone());
            resource.since = self.settle(subject, resource.status.as_str(), &resource.reason, now);
        }

        let unseen = self.unseen_fronts(&services, now);
        let context = standing::Known {
            map: &self.map,
            instances: &self.instances,
            evidence: &evidence,
            now,
        };
        let events = self
            .book
            .handle_diagnosis(&diagnosis, &unseen, &context, now);
        self.actions
            .extend(events.into_iter().map(Action::RecordIncident));
        let observer = self.vantage.view();
        let event = self.book.handle_observer(&observer, now);
        self.actions.extend(event.map(Action::RecordIncident));

        self.settle_quiet(&evidence, &diagnosis, &services, &observer, now);
        self.snapshot = Arc::new(Snapshot {
            at: now,
            map: Arc::clone(&self.map),
            epoch: self.epochs.last_complete(),
            epoch_interval: self.settings.epoch_interval,
            newest_evidence: services
                .iter()
                .filter_map(|service| service.evidence_at)
                .max(),
            services,
            resources,
            diagnosis: Arc::new(diagnosis),
            open_incidents: self.book.open(),
            resolved_incidents: self.book.resolved(),
            findings: evidence.findings,
            observer,
        });
        self.actions
            .push_back(Action::Publish(Arc::clone(&self.snapshot)));
    }

    /// Unknown says nothing: what an instance said last explains nothing once it is not seen any more.
    fn forget_unseen(&mut self, evidence: &Gathered) {
        for (seen, known) in self.instances.values_mut().zip(&evidence.instances) {
            if seen.counts && known.sight != Sight::Answers {
                self.localiser.forget(seen);
                seen.counts = false;
            }
        }
    }

    /// Remembers the status of a subject, records a change, and says since when it is what it is.
    fn settle(
        &mut self,
        subject: Subject,
        status: &'static str,
        reason: &str,
        now: Moment,
    ) -> Option<Moment> {
        const UNKNOWN: &str = ServiceStatus::Unknown.as_str();
        let before = self.statuses.get(&subject).copied().unwrap_or(Standing {
            status: UNKNOWN,
            since: None,
        });
        if before.status == status {
            return before.since;
        }
        let transition = Transition {
            at: now,
            subject: subject.clone(),
            from: before.status,
            to: status,
            reason: reason.to_owned(),
        };
        self.actions.push_back(Action::Record(transition));
        self.statuses.insert(
            subject,
            Standing {
                status,
                since: Some(now),
            },
        );
        Some(now)
    }

    /// Entry points that have been unknown for too long.
    fn unseen_fronts(&self, services: &[Arc<ServiceView>], now: Moment) -> Vec<UnseenFront> {
        let mut fronts = Vec::new();
        let hidden = if self.vantage.is_fault() {
            self.vantage.hidden()
        } else {
            BTreeSet::new()
        };
        for service in services {
            let entry = self
                .map
                .find(service.name.as_str())
                .is_some_and(|node| self.map.is_entry_point(node));
            let blind = hidden.contains(&service.name).then_some(now);
            let watched = self.watched_since(service, blind);
            let too_long = now - watched >= self.settings.page_unknown_after;
            if entry && service.status == ServiceStatus::Unknown && too_long {
                fronts.push(UnseenFront {
                    service: service.name.clone(),
                    since: self.known_since(service),
                });
            }
        }
        fronts
    }

    /// Since when a service is what it is. Never seen at all counts from the start, or from when it was added.
    fn known_since(&self, service: &ServiceView) -> Moment {
        let added = self.joined.get(&service.name).copied();
        let watched = added.unwrap_or(self.epochs.origin());
        service.since.unwrap_or(watched)
    }

    /// The same, but nobody's silence is counted from while the aggregator itself did not run, or could not see: until
    /// `blind` if it still cannot.
    fn watched_since(&self, service: &ServiceView, blind: Option<Moment>) -> Moment {
        let blind_until = blind.or(self.vantage.over_at());
        [self.resumed_at, blind_until]
            .into_iter()
            .flatten()
            .fold(self.known_since(service), Moment::max)
    }
}

/// Those that are asked, and how often.
fn polled(
    instances: &BTreeMap<InstanceId, Seen>,
) -> impl Iterator<Item = (InstanceId, Duration)> + '_ {
    let polled = instances.iter().filter(|(_, seen)| seen.is_asked());
    polled.map(|(id, seen)| (id.clone(), seen.target.interval))
}
