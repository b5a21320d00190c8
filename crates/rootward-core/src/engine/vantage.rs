//! "Is it me?": when much fails at once with errors of this machine, self checks decide before anything is recorded.
//!
//! Counted is the last outcome of each instance, so that every instance counts once whatever its interval. A suspicion holds
//! the polls that gave rise to it; the self checks, and what others report who were reached, make it an observer fault or
//! refuse it. A fault freezes what it hides and ends when too few are hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::{Poll, PollOutcome};
use crate::moment::Moment;
use crate::name::{InstanceId, Name};
use crate::observer::{Doubt, ObserverState, ObserverView, SelfCheck, SelfChecks, Side};

/// Fewer than this are never "much at once".
const LEAST: usize = 3;

/// The share of instances that must fail by errors of this machine, in hundredths.
const SHARE: usize = 30;

/// The share that must be silent before silence alone is suspicious, in hundredths.
const SILENT_SHARE: usize = 80;

/// Self checks that have not ended after this time have failed, and what is held goes on.
const VERDICT_WITHIN: Duration = Duration::from_secs(10);

/// From one round of self checks to the next, while a fault lasts.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// A suspicion that was refused is looked at again after this time, if it still stands.
const DOUBT_AGAIN: Duration = Duration::from_secs(60);

/// What reports that did arrive say about the services that could not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Corroboration {
    /// Services that callers see failing.
    pub(super) failing: usize,
    /// Services that callers see well.
    pub(super) well: usize,
}

impl Corroboration {
    /// Whether others see the same failure from where they are.
    const fn speaks_for_a_real_failure(self) -> bool {
        self.failing > self.well
    }
}

/// What to do with a poll.
#[derive(Debug)]
pub(super) enum Admitted {
    /// It counts.
    Counts(Poll),
    /// It says nothing about its target.
    Blind(Poll),
    /// It waits for the self checks.
    Held,
}

/// What became of the polls that were held.
#[derive(Debug, Default)]
pub(super) struct Released {
    /// They count.
    pub(super) counting: Vec<Poll>,
    /// They say nothing about their targets.
    pub(super) blind: Vec<Poll>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Sees,
    Suspect {
        since: Moment,
        kind: Kind,
    },
    Fault {
        since: Moment,
        kind: Kind,
        why: &'static str,
        asked_at: Moment,
        asking: bool,
    },
    Refused {
        since: Moment,
        kind: Kind,
        at: Moment,
        why: &'static str,
    },
}

/// What is suspicious.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Errors of this machine.
    Local,
    /// Silence of nearly everybody.
    Silence,
}

/// Judges the place that this observer sees from.
#[derive(Debug)]
pub(super) struct Vantage {
    /// Whether anybody is configured whom the self checks can ask.
    references: bool,
    state: State,
    /// How the last poll of each instance failed, where it did so without an answer.
    last: BTreeMap<InstanceId, Side>,
    counts: Counts,
    instances: usize,
    held: BTreeMap<InstanceId, Poll>,
    wants_check: bool,
    /// When the last fault was over.
    over_at: Option<Moment>,
}

impl Vantage {
    pub(super) const fn new(instances: usize, references: bool) -> Self {
        Self {
            references,
            state: State::Sees,
            last: BTreeMap::new(),
            counts: Counts::NONE,
            instances,
            held: BTreeMap::new(),
            wants_check: false,
            over_at: None,
        }
    }

    /// Goes on with other instances.
    pub(super) fn replace(&mut self, ids: &BTreeSet<InstanceId>, references: bool) {
        self.instances = ids.len();
        self.references = references;
        self.last.retain(|id, _| ids.contains(id));
        self.counts = Counts::NONE;
        for side in self.last.values() {
            *self.counts.of(*side) += 1;
        }
        self.held.retain(|id, _| ids.contains(id));
    }

    /// When the last fault was over.
    pub(super) const fn over_at(&self) -> Option<Moment> {
        self.over_at
    }

    /// Whether it is the observer's own trouble now.
    pub(super) const fn is_fault(&self) -> bool {
        matches!(self.state, State::Fault { .. })
    }

    /// Whether self checks are wanted since this was asked last.
    pub(super) fn take_wish(&mut self) -> bool {
        std::mem::take(&mut self.wants_check)
    }

    /// Takes note of how a poll ended, and says whether it counts.
    pub(super) fn admit(&mut self, poll: Poll) -> Admitted {
        let now = poll.finished;
        let side = side(&poll.outcome);
        let before = match side {
            Some(side) => self.last.insert(poll.instance.clone(), side),
            None => self.last.remove(&poll.instance),
        };
        if let Some(before) = before {
            *self.counts.of(before) -= 1;
        }
        if let Some(side) = side {
            *self.counts.of(side) += 1;
        }
        self.step(now);
        let Some(side) = side else {
            // It answers: what was held of it is outdated.
            self.held.remove(&poll.instance);
            return Admitted::Counts(poll);
        };
        match &self.state {
            _ if side == Side::Here => Admitted::Blind(poll),
            State::Suspect { kind, .. } if concerns(side, *kind) => {
                self.held.insert(poll.instance.clone(), poll);
                Admitted::Held
            }
            State::Fault { kind, .. } if concerns(side, *kind) => Admitted::Blind(poll),
            State::Sees | State::Suspect { .. } | State::Fault { .. } | State::Refused { .. } => {
                Admitted::Counts(poll)
            }
        }
    }

    /// Takes what the self checks say, and what others report about those who could not be asked.
    pub(super) fn handle_self_checks(
        &mut self,
        checks: SelfChecks,
        others: Corroboration,
        now: Moment,
    ) -> Released {
        match self.state.clone() {
            State::Sees | State::Refused { .. } => Released::default(),
            State::Suspect { since, kind } => match self.verdict(kind, checks, others) {
                Ok(why) => self.confirm(since, kind, why, now),
                Err(why) => self.refuse(since, kind, why, now),
            },
            State::Fault {
                since,
                kind,
                asked_at,
                ..
            } => {
                match self.verdict(kind, checks, others) {
                    Ok(why) => {
                        self.state = State::Fault {
                            since,
                            kind,
                            why,
                            asked_at,
                            asking: false,
                        };
                    }
                    Err(why) => {
                        self.over_at = Some(now);
                        self.state = State::Refused {
                            since: now,
                            kind,
                            at: now,
                            why,
                        };
                    }
                }
                self.step(now);
                Released::default()
            }
        }
    }

    /// Lets time pass.
    pub(super) fn handle_timeout(&mut self, now: Moment) -> Released {
        self.step(now);
        match self.state {
            State::Suspect { since, kind } if now - since > VERDICT_WITHIN => {
                self.confirm(since, kind, "its self checks did not end", now)
            }
            State::Sees | State::Suspect { .. } | State::Fault { .. } | State::Refused { .. } => {
                Released::default()
            }
        }
    }

    /// What readers are told.
    pub(super) fn view(&self) -> ObserverView {
        let (state, since, why, kind) = match &self.state {
            State::Sees => {
                return ObserverView {
                    instances: self.instances,
                    ..ObserverView::SEES
                };
            }
            State::Suspect { since, kind } => (
                ObserverState::Suspect,
                *since,
                "self checks are under way",
                *kind,
            ),
            State::Fault {
                since, why, kind, ..
            } => (ObserverState::Fault, *since, *why, *kind),
            State::Refused {
                since, why, kind, ..
            } => (ObserverState::Refused, *since, *why, *kind),
        };
        let blind = || self.last.iter().filter(|(_, side)| concerns(**side, kind));
        let services: BTreeSet<&Name> = blind().map(|(id, _)| &id.service).collect();
        ObserverView {
            state,
            since: Some(since),
            reason: why.to_owned(),
            blind_instances: blind().count(),
            instances: self.instances,
            blind_to: services.into_iter().cloned().collect(),
        }
    }

    /// The services of those who could not be asked.
    pub(super) fn hidden(&self) -> BTreeSet<Name> {
        self.view().blind_to.into_iter().collect()
    }

    fn step(&mut self, now: Moment) {
        let suspicious = self.suspicious();
        match (&mut self.state, suspicious) {
            (State::Sees, None) | (State::Suspect { .. }, _) => {}
            (State::Sees, Some(kind)) => {
                self.state = State::Suspect { since: now, kind };
                self.wants_check = true;
            }
            (State::Fault { .. }, None) => {
                self.over_at = Some(now);
                self.state = State::Sees;
            }
            (
                State::Fault {
                    asked_at, asking, ..
                },
                Some(_),
            ) => {
                if !*asking && now - *asked_at >= ASK_AGAIN {
                    (*asked_at, *asking) = (now, true);
                    self.wants_check = true;
                }
            }
            (State::Refused { .. }, None) => self.state = State::Sees,
            (State::Refused { at, .. }, Some(kind)) => {
                if now - *at >= DOUBT_AGAIN {
                    self.state = State::Suspect { since: now, kind };
                    self.wants_check = true;
                }
            }
        }
    }

    fn suspicious(&self) -> Option<Kind> {
        let Counts {
            here,
            name,
            route,
            silence,
            ..
        } = self.counts;
        let local = here + name + route;
        let enough = |count: usize, share| count >= LEAST && count * 100 >= self.instances * share;
        if enough(local, SHARE) {
            Some(Kind::Local)
        } else if self.references && enough(local + silence, SILENT_SHARE) {
            Some(Kind::Silence)
        } else {
            None
        }
    }

    /// Why it is the observer's own trouble, or why it is not.
    fn verdict(
        &self,
        kind: Kind,
        checks: SelfChecks,
        others: Corroboration,
    ) -> Result<&'static str, &'static str> {
        let Counts {
            here: surely_here,
            name: names,
            route: routes,
            ..
        } = self.counts;
        // What says nothing about others cannot be borne out by others.
        if checks.descriptors == SelfCheck::Fails {
            return Ok("no file descriptor is left here");
        }
        if checks.loopback == SelfCheck::Fails {
            return Ok("not even loopback answers here");
        }
        if surely_here >= LEAST && surely_here > names + routes {
            return Ok("no file descriptor or local port was left here to ask with");
        }
        if others.speaks_for_a_real_failure() {
            return Err("others who were reached see the same failure");
        }
        match (kind, checks.references) {
            (_, SelfCheck::Fails) => return Ok("nobody answers of those whom its self checks ask"),
            (Kind::Silence, SelfCheck::Works | SelfCheck::NotTried) => {
                return Err("those whom its self checks ask do answer");
            }
            (Kind::Local, SelfCheck::Works | SelfCheck::NotTried) => {}
        }
        let by_names = names >= routes;
        match (by_names, checks.names, checks.references) {
            (true, SelfCheck::Fails, _) => Ok("no name resolves here"),
            (true, SelfCheck::Works, _) => Err("other names do resolve here"),
            (true, SelfCheck::NotTried, SelfCheck::NotTried) => Ok("names do not resolve here"),
            (false, _, SelfCheck::NotTried) => Ok("there is no route from here"),
            (true, SelfCheck::NotTried, _) | (false, _, _) => {
                Err("those whom its self checks ask do answer")
            }
        }
    }

    fn confirm(&mut self, since: Moment, kind: Kind, why: &'static str, now: Moment) -> Released {
        self.state = State::Fault {
            since,
            kind,
            why,
            asked_at: now,
            asking: false,
        };
        let blind = self.take_held();
        self.step(now);
        Released {
            blind,
            counting: Vec::new(),
        }
    }

    fn refuse(&mut self, since: Moment, kind: Kind, why: &'static str, now: Moment) -> Released {
        self.state = State::Refused {
            since,
            kind,
            at: now,
            why,
        };
        let counting = self.take_held();
        self.step(now);
        Released {
            counting,
            blind: Vec::new(),
        }
    }

    /// In the order in which they ended.
    fn take_held(&mut self) -> Vec<Poll> {
        let mut held: Vec<Poll> = std::mem::take(&mut self.held).into_values().collect();
        held.sort_by_key(|poll| poll.finished);
        held
    }
}

/// Instances by how their last polls failed.
#[derive(Debug, Clone, Copy)]
struct Counts {
    here: usize,
    name: usize,
    route: usize,
    silence: usize,
    there: usize,
}

impl Counts {
    const NONE: Self = Self {
        here: 0,
        name: 0,
        route: 0,
        silence: 0,
        there: 0,
    };

    const fn of(&mut self, side: Side) -> &mut usize {
        match side {
            Side::Here => &mut self.here,
            Side::Unclear(Doubt::Name) => &mut self.name,
            Side::Unclear(Doubt::Route) => &mut self.route,
            Side::Unclear(Doubt::Silence) => &mut self.silence,
            Side::There => &mut self.there,
        }
    }
}

/// On which side it failed, if it brought no answer.
fn side(outcome: &PollOutcome) -> Option<Side> {
    match outcome {
        PollOutcome::NoAnswer {
            side: Side::There, ..
        }
        | PollOutcome::Report(_)
        | PollOutcome::ErrorStatus(_)
        | PollOutcome::Malformed(_) => None,
        PollOutcome::NoAnswer { side, .. } => Some(*side),
    }
}

/// Whether a failure of this side is of this kind.
const fn concerns(side: Side, kind: Kind) -> bool {
    match (side, kind) {
        (Side::There, _) => false,
        (Side::Here | Side::Unclear(Doubt::Name | Doubt::Route), _) => true,
        (Side::Unclear(Doubt::Silence), Kind::Silence) => true,
        (Side::Unclear(Doubt::Silence), Kind::Local) => false,
    }
}
