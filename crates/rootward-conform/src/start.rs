//! The start, looked at from the first moment: what it says before its last latch, what its first results mean, and
//! whether dependencies that do not answer keep it from starting.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use rootward_core::CheckStatus;
use serde_json::Value;
use tokio::time::sleep;

use crate::ask::{Asker, Missing, Seen};
use crate::detail::{Detail, Entry};
use crate::launch::{Launch, Process, how};
use crate::rule::Rule;
use crate::stage::Prop;
use crate::verdict::{Evidence, Ledger};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(15);

/// Between two reports: fewer than a limit of rate refuses.
const REPORT_PAUSE: Duration = Duration::from_millis(80);

/// Between two looks at all that says how it is, likewise.
const WORDS_PAUSE: Duration = Duration::from_millis(200);

/// For a busy machine, beyond what the service itself says about its checks.
const SLACK: Duration = Duration::from_secs(10);

/// Assumed of a service whose report does not say how long its checks may take.
const UNSAID: Duration = Duration::from_secs(10);

/// The service did not start.
#[derive(Debug)]
pub struct NotStarted {
    what: String,
    output: Vec<String>,
}

impl NotStarted {
    /// The last lines that it has said. They may hold anything.
    #[must_use]
    pub fn output(&self) -> &[String] {
        &self.output
    }
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// What its dependencies do while it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dependencies<'a> {
    /// Whatever they do: nothing here stands in for them, or they are well.
    Well,
    /// None of these answers.
    Dead(&'a [Prop]),
}

impl Dependencies<'_> {
    const fn condition(self) -> &'static str {
        match self {
            Self::Well => "while it starts",
            Self::Dead(_) => "while it starts and its dependencies do not answer",
        }
    }
}

/// Looks at a start until it is over and the first results are there.
pub(crate) async fn watch(
    asker: &Asker,
    launch: &Launch,
    process: &mut Process,
    dependencies: Dependencies<'_>,
    ledger: &mut Ledger,
) -> Result<(), NotStarted> {
    let mut watching = Watching {
        asker,
        condition: dependencies.condition(),
        lived: false,
        held: false,
        reported: None,
        worded: None,
        firsts: Firsts::new(dependencies),
    };
    let begun = Instant::now();
    let last = loop {
        if let Some(status) = process.has_ended() {
            let what = format!(
                "{launch} ended with {} after {} ms, before it had started",
                how(status),
                begun.elapsed().as_millis()
            );
            return Err(not_started(what, process).await);
        }
        let last = watching.look(ledger).await;
        match &last {
            Some(seen) if is_started(seen) => break seen.took,
            _ if begun.elapsed() > launch.start_within => {
                let said = last.map_or_else(
                    || "nothing answers /startupz".to_owned(),
                    |seen| format!("/startupz answers {}", seen.came()),
                );
                let seconds = launch.start_within.as_secs();
                let what = format!("{launch} has not started within {seconds} s: {said}");
                return Err(not_started(what, process).await);
            }
            Some(_) | None => {}
        }
        sleep(PAUSE).await;
    };
    if !watching.held {
        let reason = format!(
            "it had started before it could be looked at ({} ms; a look takes {} ms)",
            begun.elapsed().as_millis(),
            last.as_millis()
        );
        ledger.not_tested(Rule::Starting, reason.clone());
        ledger.not_tested(Rule::LiveStarting, reason);
    }
    watching.rest(ledger).await;
    Ok(())
}

async fn not_started(what: String, process: &mut Process) -> NotStarted {
    NotStarted {
        what,
        output: process.last_lines().await,
    }
}

/// `/startupz` says so.
fn is_started(seen: &Seen) -> bool {
    seen.status == 200
}

struct Watching<'a> {
    asker: &'a Asker,
    condition: &'static str,
    /// Liveness has answered once.
    lived: bool,
    /// It was seen before its last latch.
    held: bool,
    reported: Option<Instant>,
    worded: Option<Instant>,
    firsts: Firsts<'a>,
}

impl Watching<'_> {
    /// One look; returns what `/startupz` said.
    async fn look(&mut self, ledger: &mut Ledger) -> Option<Seen> {
        let live = self.asker.get("/livez", &[]).await;
        let before = self.asker.get("/startupz", &[]).await.ok();
        let starting = before.as_ref().is_some_and(|seen| seen.status == 503);
        // Who starts after this was starting when it was asked whether it lives.
        if starting || self.lived {
            self.judge_life(&live, starting, ledger);
        }
        self.lived |= live.is_ok();
        self.report(ledger).await;
        let due = self.worded.is_none_or(|last| last.elapsed() >= WORDS_PAUSE);
        if !starting || !due {
            return before;
        }
        self.worded = Some(Instant::now());
        let words = [
            self.asker.get("/status", &[]).await,
            self.asker.known("/health", &[]).await,
            self.asker.get("/readyz", &[]).await,
        ];
        let after = self.asker.get("/startupz", &[]).await.ok();
        // Between two that say that it has not started, nothing else may say that it has.
        if after.as_ref().is_some_and(|seen| seen.status == 503) {
            self.held = true;
            for seen in words.into_iter().flatten() {
                self.judge_word(&seen, ledger);
            }
        }
        after
    }

    fn judge_life(&self, live: &Result<Seen, Missing>, starting: bool, ledger: &mut Ledger) {
        let right = "200: only a restart would help is never said of a start";
        match live {
            Ok(seen) if seen.status == 200 && !starting => {}
            Ok(seen) => ledger.judge(Rule::LiveStarting, seen.status == 200, || {
                let asked = format!("{} {}", seen.asked, self.condition);
                Evidence::new(asked, seen.came(), right)
            }),
            // Before it listens nobody answers.
            Err(_) if !self.lived => {}
            Err(missing) => {
                let asked = format!("{} {}", missing.asked, self.condition);
                let came = format!("no answer, after there had been one: {}", missing.error);
                ledger.broken(Rule::LiveStarting, Evidence::new(asked, came, right));
            }
        }
    }

    fn judge_word(&self, seen: &Seen, ledger: &mut Ledger) {
        // Refused or limited: that says nothing about the start.
        if matches!(seen.status, 401 | 403 | 429) {
            return;
        }
        let word = seen
            .json()
            .and_then(|body| Some(body.get("status")?.as_str()?.to_owned()));
        let ready = seen
            .json()
            .and_then(|body| body.get("ready").and_then(Value::as_bool));
        let holds = if seen.asked.starts_with("GET /readyz") {
            seen.status == 503 && ready == Some(false)
        } else {
            seen.status == 503 && word.as_deref() == Some("starting")
        };
        ledger.judge(Rule::Starting, holds, || {
            let asked = format!("{} while /startupz answers 503", seen.asked);
            Evidence::new(asked, seen.came(), "503 and starting, or not ready")
        });
    }

    /// A report, if it is time for one.
    async fn report(&mut self, ledger: &mut Ledger) {
        let due = self
            .reported
            .is_none_or(|last| last.elapsed() >= REPORT_PAUSE);
        if !due || !self.lived {
            return;
        }
        self.reported = Some(Instant::now());
        if let Ok(seen) = self.asker.known("/health", &[]).await
            && let Some(detail) = Detail::read(&seen.body)
        {
            self.firsts.take(&detail, ledger);
        }
    }

    /// After the start: until each component has a result.
    async fn rest(&mut self, ledger: &mut Ledger) {
        let begun = Instant::now();
        loop {
            self.report(ledger).await;
            match self.firsts.still_waits() {
                Some(at_most) if begun.elapsed() < at_most => sleep(PAUSE).await,
                Some(_) | None => break,
            }
        }
        if self.firsts.seen.is_empty() {
            ledger.not_tested(Rule::First, "there is no report with a component");
        } else {
            ledger.not_tested(
                Rule::First,
                "there was a second result before a report with the first one could be seen",
            );
        }
    }
}

/// The first results of the components.
struct Firsts<'a> {
    dependencies: Dependencies<'a>,
    seen: BTreeMap<String, Entry>,
}

impl<'a> Firsts<'a> {
    const fn new(dependencies: Dependencies<'a>) -> Self {
        Self {
            dependencies,
            seen: BTreeMap::new(),
        }
    }

    fn take(&mut self, detail: &Detail, ledger: &mut Ledger) {
        for entry in &detail.components {
            self.judge(entry, ledger);
            self.seen.insert(entry.name.clone(), entry.clone());
        }
    }

    /// With one result there is nothing that a status could be but that result.
    fn judge(&self, entry: &Entry, ledger: &mut Ledger) {
        if entry.seq != Some(1) || is_stale(entry) {
            return;
        }
        let counts = entry.status == entry.raw && entry.status != CheckStatus::Unknown;
        // Nobody has answered it: a status that is good was not measured.
        let invented = self.is_dead(&entry.name) && entry.status == CheckStatus::Up;
        ledger.judge(Rule::First, counts && !invented, || {
            let asked = match self.dependencies {
                Dependencies::Well => "GET /health after a start",
                Dependencies::Dead(_) => "GET /health after a start without dependencies",
            };
            let right = if invented {
                "down, because the dependency has never answered".to_owned()
            } else {
                format!("{}, because the first result counts at once", entry.raw)
            };
            Evidence::new(asked, entry.line(), right)
        });
    }

    fn is_dead(&self, component: &str) -> bool {
        match self.dependencies {
            Dependencies::Well => false,
            Dependencies::Dead(props) => props.iter().any(|prop| prop.component == component),
        }
    }

    /// How long to wait at most for first results that are not there; none if there are all.
    fn still_waits(&self) -> Option<Duration> {
        if self.seen.is_empty() {
            return Some(REPORT_PAUSE * 4);
        }
        let without = self.seen.values().filter(|entry| entry.seq.is_none());
        // What has no seq although it has a result will never have one.
        let without = without.filter(|entry| entry.age.is_none());
        let longest = without
            .map(|entry| {
                let interval = entry.interval.unwrap_or(UNSAID);
                interval.saturating_add(entry.timeout.unwrap_or(UNSAID))
            })
            .max()?;
        Some(longest.min(UNSAID * 6).saturating_add(SLACK))
    }
}

/// Old evidence is unknown for another reason.
fn is_stale(entry: &Entry) -> bool {
    entry
        .age
        .zip(entry.stale_after())
        .is_some_and(|(age, limit)| age > limit)
}
