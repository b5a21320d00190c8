//! The dependencies fail, one way after another, and come back; what the service says meanwhile is looked at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_core::CheckStatus;
use rootward_testkit::Mood;
use tokio::time::sleep;

use crate::ask::Asker;
use crate::course::Course;
use crate::detail::Detail;
use crate::grpc::Watched;
use crate::look::Look;
use crate::plan::Plan;
use crate::rule::Rule;
use crate::stage::{MARKER, Prop};
use crate::verdict::{Evidence, Ledger};
use crate::{Progress, deep, endpoints, grpc, load};

/// Assumed of a service whose report does not say how often and how long it checks.
const UNSAID_INTERVAL: Duration = Duration::from_secs(10);
const UNSAID_TIMEOUT: Duration = Duration::from_secs(2);

/// For a busy machine, in every wait.
const SLACK: Duration = Duration::from_secs(10);

/// The longest pause between the results of a pending change.
const RECHECK: Duration = Duration::from_secs(2);

/// How often the state that a fault leads to is looked at.
const LOOKS_AT_THE_END: u32 = 5;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    interval: Duration,
    timeout: Duration,
    results: u32,
}

impl Pace {
    /// The slowest of these components.
    pub(crate) fn of(plan: &Plan, detail: &Detail) -> Self {
        let stubbed = || {
            plan.stubs
                .iter()
                .filter_map(|stub| detail.entry(&stub.component))
        };
        let interval = stubbed()
            .map(|entry| entry.interval.unwrap_or(UNSAID_INTERVAL))
            .max();
        let timeout = stubbed()
            .map(|entry| entry.timeout.unwrap_or(UNSAID_TIMEOUT))
            .max();
        Self {
            interval: interval.unwrap_or(UNSAID_INTERVAL),
            timeout: timeout.unwrap_or(UNSAID_TIMEOUT),
            results: u32::try_from(plan.fall.max(plan.rise)).unwrap_or(u32::MAX),
        }
    }

    /// For a change of status: the next result, and as many as are needed. Whoever has no second for that takes intervals.
    fn change(self) -> Duration {
        let each = self.timeout + RECHECK.max(self.interval);
        self.interval
            .saturating_add(each.saturating_mul(self.results))
            .saturating_add(SLACK)
    }

    /// For evidence to become old.
    fn old(self) -> Duration {
        self.interval
            .saturating_mul(2)
            .saturating_add(self.timeout)
            .saturating_add(RECHECK)
    }

    /// Everything of this module, at most.
    pub(crate) fn at_most(self) -> Duration {
        self.change().max(self.old()).saturating_mul(8)
    }
}

/// The stage of one run.
pub(crate) struct Faults<'a> {
    pub(crate) asker: &'a Arc<Asker>,
    pub(crate) plan: &'a Plan,
    pub(crate) props: &'a [Prop],
    pub(crate) pace: Pace,
}

impl Faults<'_> {
    /// Waits until every component that is stood in for is up. Returns whether it came to that.
    pub(crate) async fn settle(&self, ledger: &mut Ledger, progress: Progress<'_>) -> bool {
        let at_most = self.pace.change();
        progress("waiting for the stubbed components to be up", at_most);
        let begun = Instant::now();
        loop {
            let detail = self.asker.detail().await;
            let waited = match &detail {
                None => Some("there is no report".to_owned()),
                Some(detail) => {
                    self.props
                        .iter()
                        .find_map(|prop| match detail.entry(&prop.component) {
                            None => Some(format!("the report has no component {}", prop.component)),
                            Some(entry)
                                if entry.status == CheckStatus::Up
                                    && entry.raw == CheckStatus::Up =>
                            {
                                None
                            }
                            Some(entry) => {
                                let connected = if prop.was_connected_to() {
                                    ""
                                } else {
                                    ", and nobody has connected to its stub"
                                };
                                Some(format!(
                                    "{} did not become up: {}{connected}",
                                    prop.component,
                                    entry.line()
                                ))
                            }
                        })
                }
            };
            let Some(reason) = waited else {
                return true;
            };
            if begun.elapsed() >= at_most {
                for rule in Rule::ALL.iter().filter(|rule| rule.need().is_of_stubs()) {
                    ledger.not_tested(*rule, reason.clone());
                }
                return false;
            }
            sleep(Look::PAUSE).await;
        }
    }

    /// All faults, one after another.
    pub(crate) async fn run(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        self.hang(ledger, progress).await;
        self.recover(ledger, progress).await;
        self.refuse(ledger, progress).await;
        self.recover(ledger, progress).await;
        self.slow(ledger, progress).await;
        self.plant(ledger, progress).await;
        self.check_from(ledger).await;
    }

    /// Looks until the courses are over, or the time is. The first entries are from before.
    async fn watch(
        &self,
        before: &Look,
        condition: &str,
        at_most: Duration,
        ledger: &mut Ledger,
        is_over: impl Fn(&[Course]) -> bool,
    ) -> (Vec<Course>, Duration) {
        let begun = Instant::now();
        let mut courses: Vec<Course> = self.props.iter().map(|_| Course::default()).collect();
        let note = |courses: &mut Vec<Course>, look: &Look| {
            for (prop, course) in self.props.iter().zip(courses) {
                let entry = look
                    .detail
                    .as_ref()
                    .and_then(|detail| detail.entry(&prop.component));
                if let Some(entry) = entry {
                    course.push(look.at, entry.clone());
                }
            }
        };
        note(&mut courses, before);
        let (mut unready, mut at_the_end) = (0, 0);
        while begun.elapsed() < at_most {
            let look = Look::take(self.asker, ledger).await;
            look.judge_life(condition, ledger);
            // One moment may have a reason that the report did not show yet.
            match look.unready_for_nothing() {
                Some((seen, failing)) if unready >= 2 => {
                    let asked = format!("{} {condition}", seen.asked);
                    let right = format!("200: {failing} does not gate readiness");
                    ledger.broken(Rule::ReadyShared, Evidence::new(asked, seen.came(), right));
                }
                Some(_) => unready += 1,
                None => {
                    unready = 0;
                    if look.shows_readiness_under_failure() {
                        ledger.kept(Rule::ReadyShared);
                    }
                }
            }
            note(&mut courses, &look);
            // Some looks at the end state, for what is judged by several in a row.
            if is_over(&courses) {
                at_the_end += 1;
            }
            if at_the_end >= LOOKS_AT_THE_END {
                break;
            }
            sleep(Look::PAUSE).await;
        }
        (courses, begun.elapsed())
    }

    async fn all(&self, mood: Mood, only_asked: bool) {
        for prop in self.props {
            if !only_asked || prop.kind.can_hang() {
                // A port that cannot be listened on again shows as a component that does not come back.
                let _ = prop.turn(mood).await;
            }
        }
    }

    async fn hang(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        if !self.props.iter().any(|prop| prop.kind.can_hang()) {
            ledger.not_tested(
                Rule::Timeout,
                "a tcp stub cannot hang: the kernel completes connects",
            );
            return;
        }
        let at_most = self.pace.change().max(self.pace.old());
        progress("all dependencies hang", at_most);
        let before = Look::take(self.asker, ledger).await;
        let mut watched = self.watched().await;
        self.all(Mood::Frozen, true).await;
        let hangs = |index: usize| {
            self.props
                .get(index)
                .is_some_and(|prop| prop.kind.can_hang())
        };
        let condition = "while dependencies hang";
        let (courses, waited) = self
            .watch(&before, condition, at_most, ledger, |courses| {
                courses
                    .iter()
                    .enumerate()
                    .all(|(index, course)| !hangs(index) || course.is_over(true))
            })
            .await;
        let hanging = || {
            courses
                .iter()
                .enumerate()
                .filter(|(index, _)| hangs(*index))
                .map(|(_, course)| course)
        };
        for course in hanging() {
            course.judge_timeout(waited, ledger);
            course.judge_damping(true, self.plan.fall, condition, ledger);
            course.judge_recheck(true, self.plan.fall, ledger);
        }
        if let Some((index, watched)) = &mut watched
            && courses
                .get(*index)
                .is_some_and(|course| course.is_over(true))
        {
            let down = grpc::status_of(CheckStatus::Down);
            watched.expects(down, condition, ledger).await;
        }
        self.grpc(&before, ", while dependencies hang", ledger)
            .await;
        progress("probes while dependencies hang", SLACK);
        load::many(self.asker, ", while dependencies hang", ledger).await;
        endpoints::same_word(self.asker, ledger).await;
        let limits: Vec<Duration> = hanging()
            .filter_map(|course| course.last()?.timeout)
            .collect();
        match limits.iter().max() {
            _ if ledger.is_broken(Rule::Timeout) => {
                ledger.not_tested(
                    Rule::Concurrent,
                    "a check without a time limit keeps everybody waiting",
                );
            }
            Some(longest) if limits.len() > 1 => {
                progress("all checks at once while dependencies hang", SLACK * 2);
                deep::concurrent(self.asker, *longest, limits.iter().sum(), ledger).await;
            }
            Some(_) => ledger.not_tested(
                Rule::Concurrent,
                format!("it needs {}", Rule::Concurrent.need().as_str()),
            ),
            None => ledger.not_tested(Rule::Concurrent, "the report has no timeout_ms"),
        }
    }

    /// The first component that can be made to hang, watched over gRPC.
    async fn watched(&self) -> Option<(usize, Watched)> {
        let grpc = self.asker.grpc()?;
        let (index, prop) = self
            .props
            .iter()
            .enumerate()
            .find(|(_, prop)| prop.kind.can_hang())?;
        Some((index, grpc.watch(&prop.component).await))
    }

    async fn grpc(&self, before: &Look, condition: &str, ledger: &mut Ledger) {
        grpc::readiness(self.asker, before.detail.as_ref(), condition, ledger).await;
        grpc::components(self.asker, condition, ledger).await;
    }

    async fn recover(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        let at_most = self.pace.change();
        progress("the dependencies are back", at_most);
        let before = Look::take(self.asker, ledger).await;
        let was_down: Vec<bool> = self
            .props
            .iter()
            .map(|prop| {
                let entry = before
                    .detail
                    .as_ref()
                    .and_then(|detail| detail.entry(&prop.component));
                entry.is_some_and(|entry| entry.status == CheckStatus::Down)
            })
            .collect();
        self.all(Mood::Healthy, false).await;
        let condition = "while the dependencies answer again";
        let (courses, waited) = self
            .watch(&before, condition, at_most, ledger, |courses| {
                courses.iter().all(|course| {
                    course.last().is_some_and(|entry| {
                        entry.status == CheckStatus::Up && entry.raw == CheckStatus::Up
                    })
                })
            })
            .await;
        for (course, was_down) in courses.iter().zip(was_down) {
            if !was_down {
                continue;
            }
            course.judge_damping(false, self.plan.rise, condition, ledger);
            if !course.is_over(false) {
                let last = course
                    .last()
                    .map_or_else(|| "nothing".to_owned(), super::detail::Entry::line);
                let came = format!("{last}, after {} ms", waited.as_millis());
                let asked = format!("GET /health, again and again, {condition}");
                ledger.broken(
                    Rule::Rise,
                    Evidence::new(asked, came, "up, without anybody doing anything"),
                );
            }
        }
    }

    async fn refuse(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        let at_most = self.pace.change();
        progress("all dependencies refuse", at_most);
        let before = Look::take(self.asker, ledger).await;
        self.all(Mood::Refusing, false).await;
        let condition = "while dependencies refuse connections";
        let over = |courses: &[Course]| courses.iter().all(|course| course.is_over(true));
        let (courses, waited) = self.watch(&before, condition, at_most, ledger, over).await;
        for course in &courses {
            course.judge_refusal(waited, ledger);
            course.judge_damping(true, self.plan.fall, condition, ledger);
            course.judge_recheck(true, self.plan.fall, ledger);
        }
        endpoints::same_word(self.asker, ledger).await;
        self.grpc(&before, ", while dependencies refuse", ledger)
            .await;
        self.talkative().await;
    }

    async fn slow(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        let before = Look::take(self.asker, ledger).await;
        let Some(detail) = &before.detail else { return };
        let limits = self.props.iter().filter(|prop| prop.kind.can_hang());
        let limits = limits.filter_map(|prop| detail.entry(&prop.component)?.timeout);
        let Some(limit) = limits.min() else {
            ledger.not_tested(
                Rule::Latency,
                "it needs a stub that is asked something, and timeout_ms in the report",
            );
            return;
        };
        let delay = limit * 2 / 5;
        let at_most = self.pace.interval * 3 + self.pace.timeout + SLACK;
        progress("all dependencies are slow, within the time limit", at_most);
        self.all(Mood::Slow(delay), true).await;
        let firsts: Vec<Option<u64>> = self
            .props
            .iter()
            .map(|prop| detail.entry(&prop.component).and_then(|entry| entry.seq))
            .collect();
        let condition = "while dependencies are slow";
        let (courses, _) = self
            .watch(&before, condition, at_most, ledger, |courses| {
                courses.iter().zip(&firsts).all(|(course, first)| {
                    let now = course.last().and_then(|entry| entry.seq);
                    now.zip(*first).is_none_or(|(now, first)| now >= first + 2)
                })
            })
            .await;
        for (prop, course) in self.props.iter().zip(&courses) {
            if prop.kind.can_hang() {
                course.judge_latency(delay, ledger);
            }
        }
        self.all(Mood::Healthy, false).await;
    }

    /// HTTP dependencies answer with an error that holds what must not be repeated.
    async fn plant(&self, ledger: &mut Ledger, progress: Progress<'_>) {
        if !self.props.iter().any(|prop| prop.asked().is_some()) {
            return;
        }
        let at_most = self.pace.change();
        progress(
            "HTTP dependencies answer with an error that holds a secret",
            at_most,
        );
        let before = Look::take(self.asker, ledger).await;
        for prop in self.props {
            prop.plant();
        }
        let is_http = |index: usize| {
            self.props
                .get(index)
                .is_some_and(|prop| prop.asked().is_some())
        };
        let condition = "while HTTP dependencies answer 500";
        let (courses, _) = self
            .watch(&before, condition, at_most, ledger, |courses| {
                courses
                    .iter()
                    .enumerate()
                    .all(|(index, course)| !is_http(index) || course.is_over(true))
            })
            .await;
        for (index, course) in courses.iter().enumerate() {
            if is_http(index) {
                course.judge_damping(true, self.plan.fall, condition, ledger);
            }
        }
        let failing = courses.iter().enumerate();
        let failing = failing
            .filter(|(index, course)| is_http(*index) && course.is_over(true))
            .count();
        if failing == 0 {
            ledger.not_tested(
                Rule::NoForeignText,
                "no component failed when its dependency answered 500",
            );
        } else {
            for path in [
                "/health",
                "/readyz?verbose",
                "/readyz",
                "/status",
                "/metrics",
            ] {
                let Ok(seen) = self.asker.patiently(path).await else {
                    continue;
                };
                ledger.judge(Rule::NoForeignText, !seen.text().contains(MARKER), || {
                    let asked = format!("{} {condition}", seen.asked);
                    let came = format!("{} with what the dependency had sent", seen.status);
                    Evidence::new(asked, came, "a reason in own words, such as http_status")
                });
            }
        }
        for prop in self.props {
            prop.clear();
        }
    }

    /// Everything that has words is asked for once, for the search in all answers.
    async fn talkative(&self) {
        for path in [
            "/readyz?verbose",
            "/livez?verbose",
            "/startupz?verbose",
            "/metrics",
        ] {
            // Found or not, the search has seen it.
            let _ = self.asker.known(path, &[]).await;
        }
    }

    async fn check_from(&self, ledger: &mut Ledger) {
        let detail = self.asker.detail().await;
        for prop in self.props {
            let Some((asked, checks)) = prop.asked() else {
                continue;
            };
            let entry = detail
                .as_ref()
                .and_then(|detail| detail.entry(&prop.component));
            let is_service = entry.is_some_and(|entry| entry.kind.as_deref() == Some("service"));
            if !is_service {
                ledger.not_tested(
                    Rule::CheckFrom,
                    "no http stub stands in for a component of the kind service",
                );
            } else if asked > 0 {
                ledger.judge(Rule::CheckFrom, checks == asked, || {
                    let came = format!(
                        "{} of {asked} requests to the stub of {} carried it",
                        checks, prop.component
                    );
                    Evidence::new(
                        "the checks of this service, as the stub received them",
                        came,
                        "all of them",
                    )
                });
            }
        }
    }
}
