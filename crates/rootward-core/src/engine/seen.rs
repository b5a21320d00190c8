//! What the polls of one instance have shown.
//!
//! Reports are damped where their checks run, so a report counts at once. Our own outcomes are damped here: it takes
//! `fall` polls without an answer to make an instance unknown, and `fall` error statuses to make it unhealthy; until
//! then the last status is shown with its age, and never longer than `stale_after`.

use std::sync::Arc;
use std::time::Duration;

use crate::diagnosis::Sight;
use crate::engine::confirm;
use crate::engine::localiser::Heard;
use crate::engine::reading::{self, Reading};
use crate::engine::{Poll, PollOutcome, Source, Target};
use crate::map::{EdgeIndex, Map, NodeIndex};
use crate::moment::Moment;
use crate::name::Name;
use crate::observer::{Doubt, Side};
use crate::report::{Component, Report};
use crate::rollup::{Effect, InstanceVote, effect};
use crate::snapshot::{PollView, PollWord};
use crate::status::{CheckStatus, ErrorCategory, InstanceStatus, Scope, ServiceStatus};

/// Components that are written out in the reason of a status.
const COMPONENTS_IN_A_REASON: usize = 3;

/// One instance and its polls.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) target: Target,
    pub(super) service: NodeIndex,
    /// Its name in the fault localisation.
    pub(super) key: Arc<str>,
    /// The last report, kept also when it counts for nothing any more.
    pub(super) report: Option<Arc<Report>>,
    /// What on the map its components are about, in their order, for the map that it was asked for last.
    joined: Arc<[About]>,
    /// What it said of the whole, if its own components do not bear that out.
    pub(super) claimed: Option<InstanceStatus>,
    /// When it came.
    pub(super) report_at: Option<Moment>,
    pub(super) last_poll: Option<PollView>,
    /// In whose name the address answered last, if not in the expected one.
    pub(super) foreign: Option<Arc<Report>>,
    /// Whether the last report is of another release than the one before.
    released: bool,
    /// Whether the fault localisation still counts what it said.
    pub(super) counts: bool,
    standing: Standing,
    /// Polls in a row without a usable answer.
    silent_run: u32,
    /// Polls in a row with an error status and no report.
    error_run: u32,
    /// When the present run of polls without an answer began.
    silent_since: Option<Moment>,
    /// The last evidence: a report, or an error status.
    evidence_at: Option<Moment>,
    /// When the present run of error statuses began.
    error_since: Option<Moment>,
    /// How long the aggregator itself did not run since the last evidence.
    not_watched: Duration,
    /// It could not be asked, since when and why, though nothing is wrong with it as far as is known.
    not_asked: Option<NotAsked>,
    /// How many of the silent polls, counted from the last, failed by an error of this machine.
    doubtful_run: u32,
    /// Added to a service whose other instances are seen, and not polled yet: it does not count until then.
    awaited: bool,
}

/// What hides an instance.
#[derive(Debug)]
struct NotAsked {
    since: Moment,
    why: String,
}

/// For how long an instance that cannot be asked keeps its status, if its last report does not get too old before.
const FREEZE: Duration = Duration::from_secs(60);

/// What on the map a component is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// The node it speaks of.
    pub(super) callee: Option<NodeIndex>,
    /// The dependency that its service has on that.
    pub(super) edge: Option<EdgeIndex>,
}

/// Whether a poll brought anything that was not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// The same report as before, but for its times.
    Again,
    /// Anything else.
    News,
}

/// What the polls so far have settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    NeverPolled,
    Reports,
    Errors(u16),
    Silent,
}

/// What is known of an instance now.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) status: ServiceStatus,
    pub(super) vote: InstanceVote,
    pub(super) sight: Sight,
    pub(super) reason: String,
    /// The last report, if it still counts.
    pub(super) report: Option<&'a Arc<Report>>,
    /// The error status that it answers with, and since when.
    pub(super) error: Option<(u16, Moment)>,
}

impl Seen {
    pub(super) fn new(target: Target, service: NodeIndex) -> Self {
        Self {
            key: target.id.to_string().into(),
            target,
            service,
            released: false,
            counts: false,
            report: None,
            joined: Arc::default(),
            claimed: None,
            report_at: None,
            last_poll: None,
            foreign: None,
            standing: Standing::NeverPolled,
            silent_run: 0,
            error_run: 0,
            silent_since: None,
            evidence_at: None,
            error_since: None,
            not_watched: Duration::ZERO,
            not_asked: None,
            doubtful_run: 0,
            awaited: false,
        }
    }

    /// The same instance by another configuration: what was seen of it stays.
    pub(super) fn retarget(&mut self, target: Target, service: NodeIndex, map: &Map) {
        (self.target, self.service) = (target, service);
        self.join(map);
    }

    /// What on the map the components of its last report are about, in their order.
    pub(super) fn joined(&self) -> &Arc<[About]> {
        &self.joined
    }

    fn join(&mut self, map: &Map) {
        let components = self.report.iter().flat_map(|report| &report.components);
        let service = self.service;
        self.joined = components
            .map(|component| {
                let callee = map.resolve(component.name.as_str(), component.target.as_deref());
                About {
                    callee,
                    edge: callee.and_then(|callee| map.edge_between(service, callee)),
                }
            })
            .collect();
    }

    /// Whether a poll of it has ended.
    pub(super) fn is_polled(&self) -> bool {
        self.standing != Standing::NeverPolled
    }

    /// Whether the service does without it until its first poll.
    pub(super) fn await_first_poll(&mut self, awaited: bool) {
        self.awaited = awaited;
    }

    /// The aggregator itself did not run for so long.
    pub(super) fn not_watched(&mut self, pause: Duration) {
        self.not_watched += pause;
    }

    /// The machine it runs on, if it ever said so.
    pub(super) fn host(&self) -> Option<&Name> {
        self.report.as_ref()?.host.as_ref()
    }

    /// The zone it runs in: as it said, or as the map says of its service.
    pub(super) fn zone<'a>(&'a self, map: &'a Map) -> Option<&'a Name> {
        let told = self.report.as_ref().and_then(|report| report.zone.as_ref());
        told.or_else(|| map.node(self.service).zone.as_ref())
    }

    /// The release it runs, if it ever said so.
    pub(super) fn version(&self) -> Option<&Name> {
        self.report.as_ref()?.version.as_ref()
    }

    /// Whether the last report is of another release than the one before.
    pub(super) const fn was_changed(&self) -> bool {
        self.released
    }

    /// When the last evidence came.
    pub(super) const fn evidence_at(&self) -> Option<Moment> {
        self.evidence_at
    }

    /// Whether the newest poll disagrees with what is shown.
    pub(super) const fn is_pending(&self) -> bool {
        match self.standing {
            Standing::NeverPolled | Standing::Silent => false,
            Standing::Reports => {
                self.silent_run > 0 || self.error_run > 0 || self.not_asked.is_some()
            }
            Standing::Errors(_) => self.silent_run > 0,
        }
    }

    /// Takes the outcome of a poll, and says what it was, and whether that is news.
    pub(super) fn handle(&mut self, poll: Poll, map: &Map) -> (Heard, Novelty) {
        let before = (self.standing, self.silent_run, self.error_run);
        let known = self.foreign.is_none() && self.claimed.is_none() && self.not_asked.is_none();
        let Poll {
            finished,
            took_us,
            outcome,
            ..
        } = poll;
        self.foreign = None;
        self.not_asked = None;
        let mut novelty = Novelty::News;
        let (heard, word, text) = match outcome {
            PollOutcome::Report(report) if self.is_of_this_service(&report, map) => {
                self.standing = Standing::Reports;
                (self.silent_run, self.error_run) = (0, 0);
                (self.silent_since, self.error_since) = (None, None);
                self.evidence_at = Some(finished);
                self.not_watched = Duration::ZERO;
                self.report_at = Some(finished);
                let Reading { report, claimed } =
                    reading::read(*report, self.report.as_deref(), finished);
                let newest = self.report.as_deref();
                let again = newest.is_some_and(|newest| confirm::says_again(&report, newest));
                let undisturbed = before == (Standing::Reports, 0, 0) && known && self.counts;
                if again && undisturbed && claimed.is_none() {
                    novelty = Novelty::Again;
                }
                self.counts = true;
                self.released = newest.is_some_and(|newest| newest.version != report.version);
                self.report = Some(Arc::new(report));
                if !again {
                    self.join(map);
                }
                self.claimed = claimed;
                let text = match self.target.source {
                    Source::Polled => "answered with a report".to_owned(),
                    Source::Pushed => "sent a report".to_owned(),
                };
                (Heard::Report, PollWord::Report, text)
            }
            PollOutcome::Report(report) => {
                self.no_answer(finished, 1);
                let text = format!(
                    "answers as {}, not as {}",
                    report.service, self.target.id.service
                );
                self.foreign = Some(Arc::new(*report));
                (Heard::Nonsense, PollWord::Malformed, text)
            }
            PollOutcome::ErrorStatus(code) => {
                (self.silent_run, self.silent_since) = (0, None);
                self.error_run = self.error_run.saturating_add(1);
                self.error_since.get_or_insert(finished);
                self.evidence_at = Some(finished);
                self.not_watched = Duration::ZERO;
                let first = match self.standing {
                    Standing::NeverPolled | Standing::Silent | Standing::Errors(_) => true,
                    Standing::Reports => false,
                };
                if first || self.error_run >= u32::from(self.target.thresholds.fall()) {
                    self.standing = Standing::Errors(code);
                }
                (
                    Heard::ErrorStatus,
                    PollWord::ErrorStatus,
                    format!("answered HTTP {code} without a report"),
                )
            }
            PollOutcome::Malformed(text) => {
                self.no_answer(finished, 1);
                (Heard::Nonsense, PollWord::Malformed, text)
            }
            PollOutcome::NoAnswer { text, side, .. } => {
                let (heard, needed) = match side {
                    Side::There | Side::Unclear(Doubt::Silence) => (Heard::Silence, 1),
                    // What may be ours turns nothing at the first time: the round is not over that shows whose it is.
                    Side::Unclear(Doubt::Name | Doubt::Route) | Side::Here => {
                        self.doubtful_run += 1;
                        let first = self.silent_run == 0;
                        (
                            if first {
                                Heard::Nonsense
                            } else {
                                Heard::Silence
                            },
                            2,
                        )
                    }
                };
                let doubtful = if needed > 1 { self.doubtful_run } else { 0 };
                self.no_answer(finished, needed);
                self.doubtful_run = doubtful;
                (heard, PollWord::NoAnswer, text)
            }
        };
        self.last_poll = Some(PollView {
            at: finished,
            outcome: word,
            text,
            took_us,
        });
        (heard, novelty)
    }

    /// Whether its last evidence counts now, and nothing hides it.
    pub(super) fn is_fresh(&self, now: Moment) -> bool {
        self.not_asked.is_none() && !self.is_stale(now)
    }

    fn is_stale(&self, now: Moment) -> bool {
        self.evidence_at
            .is_none_or(|at| now - at > self.target.stale_after)
    }

    fn no_answer(&mut self, at: Moment, needed: u32) {
        self.doubtful_run = 0;
        self.silent_run = self.silent_run.saturating_add(1);
        self.silent_since.get_or_insert(at);
        (self.error_run, self.error_since) = (0, None);
        let never = self.standing == Standing::NeverPolled;
        if never || self.silent_run >= u32::from(self.target.thresholds.fall()).max(needed) {
            self.standing = Standing::Silent;
        }
    }

    /// Takes a poll for which it was not asked: nothing is learned about it.
    pub(super) fn handle_blind(&mut self, poll: Poll) {
        let PollOutcome::NoAnswer { text, .. } = poll.outcome else {
            return;
        };
        match &mut self.not_asked {
            Some(hidden) => hidden.why.clone_from(&text),
            None => {
                self.not_asked = Some(NotAsked {
                    since: poll.finished,
                    why: text.clone(),
                });
            }
        }
        self.last_poll = Some(PollView {
            at: poll.finished,
            outcome: PollWord::NoAnswer,
            text,
            took_us: poll.took_us,
        });
    }

    /// Takes back what was counted against it by errors that turned out to be this machine's.
    pub(super) fn absolve(&mut self) {
        if self.doubtful_run == 0 {
            return;
        }
        self.silent_run = self.silent_run.saturating_sub(self.doubtful_run);
        self.doubtful_run = 0;
        if self.silent_run == 0 {
            self.silent_since = None;
        }
    }

    /// The dependencies that its fresh report has checks of within `recent`, and whether they fail.
    pub(super) fn sees<'a>(
        &'a self,
        map: &'a Map,
        now: Moment,
        recent: Duration,
    ) -> impl Iterator<Item = (NodeIndex, bool)> + 'a {
        let fresh = self.not_asked.is_none() && self.standing == Standing::Reports;
        let report = self.report.as_ref().filter(|_| fresh);
        let components = report.into_iter().flat_map(|report| &report.components);
        components.filter_map(move |component| {
            let at = component.checked_at.or(self.report_at)?;
            let shared = component.scope == Scope::Shared && now - at <= recent;
            let callee = map.resolve(component.name.as_str(), component.target.as_deref())?;
            let fails = match component.raw_status {
                CheckStatus::Down => true,
                CheckStatus::Up | CheckStatus::Degraded => false,
                CheckStatus::Unknown => return None,
            };
            shared.then_some((callee, fails))
        })
    }

    fn is_of_this_service(&self, report: &Report, map: &Map) -> bool {
        map.resolve(report.service.as_str(), None) == Some(self.service)
    }

    /// What is known now.
    pub(super) fn judge(&self, now: Moment) -> Judged<'_> {
        let stale = self.is_stale(now);
        // What hides it is ours: it keeps its status while that is fresh, and is unknown then.
        if let Some(hidden) = &self.not_asked {
            let too_long = now - hidden.since > FREEZE;
            match self.standing {
                Standing::NeverPolled if self.awaited => {}
                Standing::Reports | Standing::Errors(_) if !stale && !too_long => {}
                Standing::NeverPolled
                | Standing::Silent
                | Standing::Reports
                | Standing::Errors(_) => {
                    let reason = format!(
                        "the aggregator itself could not ask it for {} ({})",
                        seconds(now - hidden.since),
                        hidden.why
                    );
                    return unknown(Sight::NotAsked, reason);
                }
            }
        }
        match self.standing {
            Standing::NeverPolled if self.awaited => Judged {
                vote: InstanceVote::Gone,
                ..unknown(Sight::NotPolledYet, "not polled yet".to_owned())
            },
            Standing::NeverPolled => unknown(Sight::NotPolledYet, "not polled yet".to_owned()),
            Standing::Silent => unknown(Sight::Silent, self.silence(now)),
            Standing::Reports | Standing::Errors(_) if stale => {
                unknown(Sight::Silent, self.silence(now))
            }
            Standing::Errors(code) => Judged {
                status: ServiceStatus::Unhealthy,
                vote: InstanceVote::Unhealthy,
                sight: Sight::AnswersWithoutReport,
                reason: format!("answers HTTP {code} without a report"),
                report: None,
                error: Some((code, self.error_since.unwrap_or(now))),
            },
            Standing::Reports => match &self.report {
                Some(report) => judged_by_report(report),
                None => unknown(Sight::Silent, self.silence(now)),
            },
        }
    }

    /// Whether it is polled at all.
    pub(super) const fn is_asked(&self) -> bool {
        match self.target.source {
            Source::Polled => true,
            Source::Pushed => false,
        }
    }

    /// Why nothing is known.
    fn silence(&self, now: Moment) -> String {
        if let (false, Some(at)) = (self.is_asked(), self.evidence_at) {
            return format!(
                "it has sent nothing for {}; what it sends is good for {}",
                seconds(now - at),
                seconds(self.target.stale_after)
            );
        }
        let how = self
            .last_poll
            .as_ref()
            .map_or("not polled yet", |poll| poll.text.as_str());
        match self.evidence_at {
            Some(at) if self.not_watched > Duration::ZERO => format!(
                "nothing usable for {}, of which the aggregator itself did not run for {} (last poll: {how})",
                seconds(now - at),
                seconds(self.not_watched)
            ),
            Some(at) => format!("nothing usable for {} ({how})", seconds(now - at)),
            None => format!("never seen ({how})"),
        }
    }
}

fn unknown<'a>(sight: Sight, reason: String) -> Judged<'a> {
    Judged {
        status: ServiceStatus::Unknown,
        vote: InstanceVote::Unknown,
        sight,
        reason,
        report: None,
        error: None,
    }
}

fn judged_by_report(report: &Arc<Report>) -> Judged<'_> {
    let (status, vote) = match report.status {
        InstanceStatus::Healthy => (ServiceStatus::Healthy, InstanceVote::Healthy),
        InstanceStatus::Degraded => (ServiceStatus::Degraded, InstanceVote::Degraded),
        InstanceStatus::Unhealthy => (ServiceStatus::Unhealthy, InstanceVote::Unhealthy),
        InstanceStatus::Starting => (ServiceStatus::Starting, InstanceVote::Starting),
    };
    let vote = if report.draining {
        InstanceVote::Gone
    } else {
        vote
    };
    Judged {
        status,
        vote,
        sight: Sight::Answers,
        reason: reason_of(report),
        report: Some(report),
        error: None,
    }
}

/// The worst components of a report, in a sentence.
fn reason_of(report: &Report) -> String {
    match report.status {
        InstanceStatus::Starting => return "it has not finished starting".to_owned(),
        InstanceStatus::Healthy if report.draining => return "it is draining".to_owned(),
        InstanceStatus::Healthy => return "all that matters is up".to_owned(),
        InstanceStatus::Degraded | InstanceStatus::Unhealthy => {}
    }
    let mut bad: Vec<(Effect, &Component)> = report
        .components
        .iter()
        .map(|component| (effect(component.status, component.criticality), component))
        .filter(|(effect, _)| *effect > Effect::None)
        .collect();
    bad.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.name.cmp(&y.name)));
    if bad.is_empty() {
        return "it reports no component that would explain it".to_owned();
    }
    let more = bad.len().saturating_sub(COMPONENTS_IN_A_REASON);
    let mut text = bad
        .iter()
        .take(COMPONENTS_IN_A_REASON)
        .map(|(_, component)| component_reason(component))
        .collect::<Vec<_>>()
        .join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

fn component_reason(component: &Component) -> String {
    let why = component
        .error
        .as_deref()
        .or_else(|| component.error_category.map(ErrorCategory::phrase))
        .map(|why| format!(" ({why})"))
        .unwrap_or_default();
    format!("{} {}{why}", component.name, component.status)
}

/// A duration for people: `0.4 s`, `40 s`, `3 min`.
fn seconds(duration: Duration) -> String {
    let secs = duration.as_secs();
    match secs {
        0..=1 => format!("{:.1} s", duration.as_secs_f64()),
        2..=119 => format!("{secs} s"),
        _ => format!("{} min", secs / 60),
    }
}
