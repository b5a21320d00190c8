//! The one loop that owns the engine and the history.
//!
//! Everything that happens is one of a few events; after each of them the loop takes actions until the engine has
//! none left. Nothing else decides, nothing else writes, and nothing in the loop waits for a client or a target.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::engine::{Action, Engine, Poll, PollOutcome, Replaced, Settings};
use rootward_core::incident::IncidentEvent;
use rootward_core::snapshot::{PollWord, Snapshot, Transition};
use rootward_core::{InstanceStatus, Map, Moment, SelfChecks};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;

use crate::clock::Clock;
use crate::discovery::{Discovery, Looked};
use crate::events;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::poller::{Begun, Poller};
use crate::pushed::Push;
use crate::recorder::Recorder;
use crate::reload::{Prepared, Request};
use crate::roster::Roster;
use crate::self_checks::SelfChecking;
use crate::stop::Stop;
use crate::summary::Summary;

/// Owns everything that changes.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) engine: Engine,
    pub(crate) ledger: Ledger,
    pub(crate) poller: Poller,
    /// What the engine was told last.
    pub(crate) map: Arc<Map>,
    pub(crate) settings: Settings,
    pub(crate) roster: Roster,
    pub(crate) discovery: Discovery,
    pub(crate) self_checks: SelfChecking,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) publish: watch::Sender<Arc<Snapshot>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) summary: Summary,
    /// Configurations to go on with.
    pub(crate) reloads: mpsc::Receiver<Request>,
    /// Reports that instances have sent.
    pub(crate) pushed: mpsc::Receiver<Push>,
}

/// Everything that can happen.
#[derive(Debug)]
enum Event {
    /// A poll ended, however.
    PollFinished(Poll),
    /// A name was looked up.
    Looked(Looked),
    /// The self checks ended.
    SelfChecked(SelfChecks),
    /// An instance has sent a report.
    Pushed(Push),
    /// There is another configuration.
    Reload(Request),
    /// The engine wants to be told the time; it was due at this moment.
    Tick(Moment),
    /// It is over.
    Stop,
}

impl Driver {
    /// Runs until stop is heard; then no poll is alive.
    pub(crate) async fn run(mut self, mut stop: Stop) -> Summary {
        let now = self.clock.now();
        self.act(now, now);
        self.discovery.watch(self.roster.names());
        loop {
            match self.next(&mut stop).await {
                Event::PollFinished(poll) => self.finish(poll),
                Event::Looked(looked) => self.look(&looked),
                Event::SelfChecked(checks) => self.self_checked(checks),
                Event::Pushed(push) => self.push(push),
                Event::Reload(request) => self.reload(request),
                Event::Tick(due) => {
                    if let Some(step) = self.clock.follow_wall() {
                        events::wall_clock_stepped(step);
                    }
                    let now = self.clock.now();
                    self.engine.handle_timeout(now);
                    self.act(now, due);
                    // Where judging takes longer than from one tick to the next, a tick is always due, and polls that
                    // ended meanwhile would never have their turn.
                    while let Some(poll) = self.poller.try_finished() {
                        self.finish(poll);
                    }
                    // Nor would addresses, or a configuration that asks for less.
                    if let Some(looked) = self.discovery.try_looked() {
                        self.look(&looked);
                    }
                    if let Some(checks) = self.self_checks.try_ended() {
                        self.self_checked(checks);
                    }
                    if let Ok(push) = self.pushed.try_recv() {
                        self.push(push);
                    }
                    if let Ok(request) = self.reloads.try_recv() {
                        self.reload(request);
                    }
                }
                Event::Stop => break,
            }
        }
        self.summary.abandoned += self.poller.stop().await;
        self.summary
    }

    async fn next(&mut self, stop: &mut Stop) -> Event {
        let due = self.engine.poll_timeout();
        tokio::select! {
            biased;
            () = stop.heard() => Event::Stop,
            // Before polls: a tick is due at most every 50 ms, and it is what keeps the others on time.
            () = sleep_until(self.clock.instant(due)) => Event::Tick(due),
            checks = self.self_checks.ended() => Event::SelfChecked(checks),
            Some(push) = self.pushed.recv() => Event::Pushed(push),
            Some(request) = self.reloads.recv() => Event::Reload(request),
            poll = self.poller.finished() => Event::PollFinished(poll),
            looked = self.discovery.looked() => Event::Looked(looked),
        }
    }

    fn finish(&mut self, poll: Poll) {
        self.count(&poll);
        let now = poll.finished;
        let gone = self
            .roster
            .polled(&poll.instance, poll.started, is_well(&poll.outcome));
        self.engine.handle_poll(poll);
        if gone {
            self.retarget(now);
        }
        self.act(now, now);
    }

    /// Takes a report that an instance has sent, or says why not.
    fn push(&mut self, push: Push) {
        let now = self.clock.now();
        let Push {
            report,
            terms,
            done,
        } = push;
        let taken = self.roster.pushed.take(&report, terms, now);
        let answer = match taken {
            Ok(taken) => {
                if taken.is_new {
                    self.retarget(now);
                }
                self.engine.handle_pushed(taken.instance, report, now);
                self.act(now, now);
                Ok(())
            }
            Err(refused) => Err(refused),
        };
        // Whoever sent it may be gone; it counts all the same.
        let _ = done.send(answer);
    }

    /// Takes what the self checks say.
    fn self_checked(&mut self, checks: SelfChecks) {
        let now = self.clock.now();
        self.engine.handle_self_checks(checks, now);
        let view = self.engine.observer();
        events::self_checked(checks, &view);
        self.act(now, now);
    }

    /// Takes what a name resolves to. A failure changes nothing: the last good addresses are polled.
    fn look(&mut self, looked: &Looked) {
        let now = self.clock.now();
        match &looked.found {
            Ok(found) => {
                if self.roster.lost(&looked.service, false) {
                    events::looked_up_again(&looked.service);
                }
                if self.roster.look(&looked.service, found, now) {
                    self.retarget(now);
                    self.act(now, now);
                }
            }
            Err(error) => {
                if self.roster.lost(&looked.service, true) {
                    events::not_looked_up(&looked.service, error);
                }
            }
        }
    }

    /// Goes on with another configuration, in one step: nothing happens between engine and poller taking it up.
    fn reload(&mut self, request: Request) {
        let Prepared {
            map,
            mut roster,
            settings,
            references,
        } = *request.prepared;
        self.self_checks.ask(references);
        let now = self.clock.now();
        roster.succeed(&mut self.roster);
        (self.map, self.settings, self.roster) = (map, settings, roster);
        self.discovery.watch(self.roster.names());
        let replaced = self.retarget(now);
        self.act(now, now);
        // Whoever asked may be gone; it is in force all the same.
        let _ = request.done.send(replaced);
    }

    /// Polls from now on who is on the roster now.
    fn retarget(&mut self, now: Moment) -> Replaced {
        let replaced = self.engine.replace(
            Arc::clone(&self.map),
            self.roster.targets(),
            self.settings.clone(),
            now,
        );
        for begun in self.poller.replace(self.roster.asks()) {
            self.summary.abandoned += 1;
            self.engine
                .handle_abandoned(&begun.instance, begun.released, now);
        }
        events::retargeted(&replaced);
        replaced
    }

    /// Does what the engine wants since it was told at `released`, which should have been at `due`.
    fn act(&mut self, released: Moment, due: Moment) {
        if let Some(recorder) = &mut self.recorder {
            for told in self.engine.take_told() {
                recorder.take(told);
            }
        }
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Poll(instance) => {
                    self.summary.polls_begun += 1;
                    self.poller.begin(Begun {
                        instance,
                        released,
                        due,
                    });
                }
                Action::CheckSelf => {
                    let by_name = self.poller.names().cloned();
                    let looked_up = self.roster.names().map(|(_, target, _)| target);
                    self.self_checks.begin(by_name.chain(looked_up).collect());
                }
                Action::Record(transition) => self.record(&transition),
                Action::RecordIncident(event) => self.record_incident(&event),
                Action::Publish(snapshot) => {
                    self.publish.send_replace(snapshot);
                }
            }
        }
    }

    fn record(&mut self, transition: &Transition) {
        self.summary.transitions += 1;
        self.metrics.transitions.inc();
        events::transition(transition);
        if !self.ledger.record(transition) {
            self.metrics.history_errors.inc();
        }
    }

    fn record_incident(&mut self, event: &IncidentEvent) {
        match event {
            IncidentEvent::Opened(_) => {
                self.summary.incidents_opened += 1;
                self.metrics.incidents_opened.inc();
            }
            IncidentEvent::Revised(_) => {}
            IncidentEvent::Resolved(_) => {
                self.summary.incidents_resolved += 1;
                self.metrics.incidents_resolved.inc();
            }
        }
        events::incident(event);
        if !self.ledger.record_incident(event) {
            self.metrics.history_errors.inc();
        }
    }

    fn count(&mut self, poll: &Poll) {
        let word = word(&poll.outcome);
        self.summary.polls.add(word);
        let at = self.clock.read().time(poll.finished);
        self.metrics
            .poll_ended(word, Duration::from_micros(poll.took_us), at);
        events::poll_ended(poll, word);
    }
}

/// Whether an instance says that it is well.
fn is_well(outcome: &PollOutcome) -> bool {
    match outcome {
        PollOutcome::Report(report) => match report.status {
            InstanceStatus::Healthy | InstanceStatus::Degraded => true,
            InstanceStatus::Unhealthy | InstanceStatus::Starting => false,
        },
        PollOutcome::ErrorStatus(_) | PollOutcome::Malformed(_) | PollOutcome::NoAnswer { .. } => {
            false
        }
    }
}

fn word(outcome: &PollOutcome) -> PollWord {
    match outcome {
        PollOutcome::Report(_) => PollWord::Report,
        PollOutcome::ErrorStatus(_) => PollWord::ErrorStatus,
        PollOutcome::Malformed(_) => PollWord::Malformed,
        PollOutcome::NoAnswer { .. } => PollWord::NoAnswer,
    }
}
