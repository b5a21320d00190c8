//! Where a story is played: does something to the shop, then waits for what the aggregator makes of it.
//!
//! Nothing is assumed to have happened. An expectation is a question that is put to the aggregator's own API again and
//! again, until the answer is the one expected or the time is up, and then what was seen instead is told.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use rootward_wire::v1::api::{Impact, ImpactEffect, Incidents};

use crate::aggregator::{Client, words};
use crate::narration::{Narration, Narrator, NobodyListens, Saying};
use crate::picture::{Picture, Verdict, path_line};
use crate::probes::{ProbeWatch, ask_once};
use crate::shop::Shop;
use crate::summary::{Outcome, Summary};

/// From one look to the next.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long an expectation is waited for. Usually it takes 3 to 6 s; the rest is for machines that are busy otherwise.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// The same when an earlier expectation of the chapter was missed: what depends on it will hardly come.
const PATIENCE_AFTER_MISS: Duration = Duration::from_secs(3);

/// At most this many lines of one kind are told.
const MAX_LINES: usize = 8;

/// Whether there are pauses for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A few seconds after each chapter, so that one can look at the page.
    ForReaders,
    /// None.
    Fast,
}

impl Pace {
    const fn pause(self) -> Duration {
        match self {
            Self::ForReaders => Duration::from_secs(3),
            Self::Fast => Duration::ZERO,
        }
    }
}

/// The stage.
pub(crate) struct Stage<'a> {
    pub(crate) shop: &'a Shop,
    client: &'a Client,
    narrator: &'a mut dyn Narrator,
    pace: Pace,
    began: Instant,
    acted: Instant,
    missed: bool,
    outcomes: Vec<Outcome>,
    probes: Option<ProbeWatch>,
    /// Incidents that were there before the shop was touched.
    pub(crate) incidents_before: Vec<String>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        shop: &'a Shop,
        client: &'a Client,
        narrator: &'a mut dyn Narrator,
        pace: Pace,
    ) -> Self {
        let now = Instant::now();
        Self {
            shop,
            client,
            narrator,
            pace,
            began: now,
            acted: now,
            missed: false,
            outcomes: Vec::new(),
            probes: None,
            incidents_before: Vec::new(),
        }
    }

    pub(crate) fn chapter(
        &mut self,
        number: usize,
        of: usize,
        title: &str,
    ) -> Result<(), NobodyListens> {
        self.missed = false;
        self.acted = Instant::now();
        self.narrator.narrate(&Narration::Chapter {
            number,
            of,
            title: title.to_owned(),
        })
    }

    /// Says what is about to be done, and does it.
    pub(crate) async fn act(
        &mut self,
        text: &str,
        deed: impl Future<Output = io::Result<()>>,
    ) -> Result<(), NobodyListens> {
        self.narrator.narrate(&Narration::Act(text.to_owned()))?;
        let done = deed.await;
        self.acted = Instant::now();
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.settle(text, Err(error.to_string())),
        }
    }

    /// Waits until the aggregator says this.
    pub(crate) async fn expect(
        &mut self,
        expectation: &str,
        judge: impl Fn(&Picture) -> Verdict,
    ) -> Result<(), NobodyListens> {
        let patience = if self.missed {
            PATIENCE_AFTER_MISS
        } else {
            PATIENCE
        };
        let limit = Instant::now() + patience;
        let verdict = loop {
            let verdict = self.look(&judge).await;
            if verdict.is_ok() || Instant::now() >= limit {
                break verdict;
            }
            sleep(LOOK_EVERY).await;
        };
        self.settle(expectation, verdict)
    }

    /// Waits for this long, during which the aggregator must not say anything else.
    pub(crate) async fn expect_throughout(
        &mut self,
        expectation: &str,
        time: Duration,
        judge: impl Fn(&Picture) -> Verdict,
    ) -> Result<(), NobodyListens> {
        let end = Instant::now() + time;
        let verdict = loop {
            let verdict = self.look(&judge).await;
            if verdict.is_err() || Instant::now() >= end {
                break verdict;
            }
            sleep(LOOK_EVERY).await;
        };
        self.settle(expectation, verdict)
    }

    /// Looks once at the services themselves, not at the aggregator: every instance answers these paths with 200.
    pub(crate) async fn expect_answers(
        &mut self,
        expectation: &str,
        paths: &'static [&'static str],
    ) -> Result<(), NobodyListens> {
        let verdict = ask_once(self.shop.instances(), paths).await.verdict();
        self.settle(expectation, verdict)
    }

    /// Writes down something that was asked for elsewhere.
    pub(crate) fn note(
        &mut self,
        expectation: &str,
        verdict: Verdict,
    ) -> Result<(), NobodyListens> {
        self.settle(expectation, verdict)
    }

    /// From here on, these incidents are not of this play.
    pub(crate) async fn remember_incidents(&mut self) {
        if let Ok(picture) = Picture::ask(self.client).await {
            self.incidents_before = picture.incident_ids();
        }
    }

    /// Asks the aggregator for something else than the usual three answers.
    pub(crate) const fn client(&self) -> &'a Client {
        self.client
    }

    /// Begins to ask all instances for liveness and readiness.
    pub(crate) fn watch_probes(&mut self) {
        self.probes = Some(ProbeWatch::start(self.shop.instances().to_vec()));
    }

    /// What the aggregator says now, in the words of its API.
    pub(crate) async fn tell_what_it_says(&mut self) -> Result<(), NobodyListens> {
        let lines = match Picture::ask(self.client).await {
            Ok(picture) => sayings(&picture),
            Err(error) => vec![Saying::new("", error.to_string())],
        };
        let asked = self.probes.as_ref().map(|probes| probes.tally().verdict());
        let probes = match asked {
            Some(Ok(text)) => Some(format!("every /livez and /readyz, so far: {text}")),
            Some(Err(text)) => Some(text),
            None => None,
        };
        let lines = lines
            .into_iter()
            .chain(probes.map(|text| Saying::new("probes", text)))
            .collect();
        self.narrator.narrate(&Narration::Says(lines))
    }

    /// A pause for readers.
    pub(crate) async fn pause(&self) {
        sleep(self.pace.pause()).await;
    }

    /// Ends the play.
    pub(crate) fn finish(mut self) -> Result<Summary, NobodyListens> {
        if let Some(probes) = self.probes.take() {
            let verdict = probes.tally().verdict();
            self.acted = self.began;
            self.settle(
                "all the time, /livez and /readyz of every instance answer 200",
                verdict,
            )?;
        }
        Ok(Summary {
            outcomes: self.outcomes,
            took: self.began.elapsed(),
        })
    }

    async fn look(&self, judge: &impl Fn(&Picture) -> Verdict) -> Verdict {
        match Picture::ask(self.client).await {
            Ok(picture) => judge(&picture),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Writes down what came of an expectation, and tells it.
    fn settle(&mut self, expectation: &str, verdict: Verdict) -> Result<(), NobodyListens> {
        let took = self.acted.elapsed();
        let held = verdict.is_ok();
        let (Ok(seen) | Err(seen)) = verdict;
        self.missed |= !held;
        self.outcomes.push(Outcome {
            expectation: expectation.to_owned(),
            seen: seen.clone(),
            held,
            took,
        });
        let expectation = expectation.to_owned();
        self.narrator.narrate(&if held {
            Narration::Met {
                expectation,
                seen,
                took,
            }
        } else {
            Narration::Missed {
                expectation,
                seen,
                waited: took,
            }
        })
    }
}

/// The picture in labelled lines.
fn sayings(picture: &Picture) -> Vec<Saying> {
    let mut lines = Vec::new();
    if picture.diagnosis.root_causes.is_empty() {
        lines.push(Saying::new("status", picture.overview.headline.clone()));
    }
    for cause in &picture.diagnosis.root_causes {
        let text = format!("{} ({})", cause.summary, words::sureness(cause.confidence));
        lines.push(Saying::new("root cause", text));
        list(&mut lines, "why", cause.reasons.iter().cloned());
        let reached = picture.diagnosis.impacted.iter();
        let reached: Vec<&Impact> = reached.filter(|impact| impact.cause == cause.id).collect();
        for (effect, label) in [
            (ImpactEffect::Impacted, "impacted"),
            (ImpactEffect::Degraded, "degraded"),
        ] {
            let paths = reached
                .iter()
                .filter(|impact| impact.effect == effect.into());
            let paths: Vec<String> = paths.map(|impact| path_line(impact)).collect();
            list(&mut lines, label, paths.into_iter());
        }
    }
    let unknown = picture.diagnosis.unknown.iter();
    let unknown = unknown.map(|unseen| format!("{}: {}", unseen.instance, unseen.reason));
    list(&mut lines, "unknown", unknown);
    lines.push(Saying::new("incidents", incidents(&picture.incidents)));
    lines
}

/// `1 open (inc-1, pages), 0 resolved`
fn incidents(incidents: &Incidents) -> String {
    let open: Vec<String> = incidents
        .open
        .iter()
        .map(|incident| {
            let pages = if incident.pages {
                "pages"
            } else {
                "pages nobody"
            };
            format!("{}, {pages}", incident.id)
        })
        .collect();
    let listed = if open.is_empty() {
        String::new()
    } else {
        format!(" ({})", open.join("; "))
    };
    format!(
        "{} open{listed}, {} resolved",
        open.len(),
        incidents.resolved.len()
    )
}

/// Lines under one label, cut to a bound.
fn list(
    lines: &mut Vec<Saying>,
    label: &'static str,
    texts: impl ExactSizeIterator<Item = String>,
) {
    let rest = texts.len().saturating_sub(MAX_LINES);
    let mut label = Some(label);
    for text in texts.take(MAX_LINES) {
        lines.push(Saying::new(label.take().unwrap_or_default(), text));
    }
    if rest > 0 {
        lines.push(Saying::new("", format!("and {rest} more")));
    }
}
