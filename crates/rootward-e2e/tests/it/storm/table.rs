//! What happened to the fleets, second by second and in sums, for a person.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use tokio::time::Instant;

use super::load::{Done, What};

/// A fleet at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) ready: usize,
    pub(super) restarts: usize,
    pub(super) connections: i64,
}

/// What happened to one fleet.
pub(super) struct Story {
    pub(super) name: &'static str,
    pub(super) samples: Vec<Sample>,
    pub(super) done: Vec<Done>,
}

/// Answered and failed requests of a kind, and how long answers took, sorted.
pub(super) struct Requests {
    pub(super) took: Vec<Duration>,
    pub(super) failed: usize,
}

impl Requests {
    pub(super) fn quantile(&self, percent: usize) -> Duration {
        quantile(&self.took, percent)
    }
}

/// The value that this share of sorted ones stays below; zero without any.
pub(super) fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    let last = sorted.len().saturating_sub(1);
    let at = (sorted.len() * percent / 100).min(last);
    sorted.get(at).copied().unwrap_or_default()
}

impl Story {
    /// Requests that ended within a span.
    pub(super) fn requests(&self, what: What, from: Instant, to: Instant) -> Requests {
        let ended = |done: &&Done| done.what == what && done.ended >= from && done.ended < to;
        let mut requests = Requests {
            took: Vec::new(),
            failed: 0,
        };
        for done in self.done.iter().filter(ended) {
            match done.outcome {
                Ok(took) => requests.took.push(took),
                Err(_) => requests.failed += 1,
            }
        }
        requests.took.sort_unstable();
        requests
    }

    /// How long answers took of requests that were sent within a span.
    pub(super) fn took(&self, what: What, from: Instant, to: Instant) -> Vec<Duration> {
        let sent = |done: &&Done| done.what == what && done.asked >= from && done.asked < to;
        let answers = self.done.iter().filter(sent);
        let mut took: Vec<_> = answers
            .filter_map(|done| done.outcome.as_ref().ok().copied())
            .collect();
        took.sort_unstable();
        took
    }

    /// What happened to requests that failed, and how often.
    pub(super) fn failures(&self, what: What) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for done in self.done.iter().filter(|done| done.what == what) {
            if let Err(text) = &done.outcome {
                *counts.entry(text.as_str()).or_default() += 1;
            }
        }
        counts
    }

    pub(super) fn fewest_ready(&self, from: Instant) -> usize {
        let samples = self.samples.iter().filter(|sample| sample.at >= from);
        samples.map(|sample| sample.ready).min().unwrap_or(0)
    }

    pub(super) fn most_connections(&self) -> i64 {
        self.samples
            .iter()
            .map(|sample| sample.connections)
            .max()
            .unwrap_or(0)
    }

    /// For how long fewer replicas than that were ready.
    pub(super) fn time_below(&self, ready: usize, from: Instant) -> Duration {
        let pairs = self.samples.windows(2);
        let below = pairs.filter(|pair| pair[0].at >= from && pair[0].ready < ready);
        below.map(|pair| pair[1].at - pair[0].at).sum()
    }

    /// How long after that moment it was whole for good: all replicas ready, and no request failing any more.
    pub(super) fn whole_after(&self, from: Instant, replicas: usize) -> Duration {
        let unready = self.samples.iter().filter(|sample| sample.ready < replicas);
        let failed = self.done.iter().filter(|done| done.outcome.is_err());
        let last = unready
            .map(|sample| sample.at)
            .chain(failed.map(|done| done.ended))
            .max();
        last.map_or(Duration::ZERO, |last| last.saturating_duration_since(from))
    }

    /// How long after that moment the last order came that had taken longer than a second.
    pub(super) fn slow_until(&self, from: Instant) -> Duration {
        let slow = self.done.iter().filter(|done| {
            done.what == What::Order
                && matches!(done.outcome, Ok(took) if took > Duration::from_secs(1))
        });
        let last = slow.map(|done| done.ended).max();
        last.map_or(Duration::ZERO, |last| last.saturating_duration_since(from))
    }
}

/// Both fleets, second by second.
pub(super) fn timeline(stories: &[Story; 2], began: Instant, marks: &[(Instant, &str)]) -> String {
    let mut text = String::from("   s |");
    for story in stories {
        let _ = write!(
            text,
            " {:>8}: ready restarts  conns orders failed  cheap failed |",
            story.name
        );
    }
    text.push('\n');
    let last = stories
        .iter()
        .flat_map(|story| &story.samples)
        .map(|sample| sample.at)
        .max();
    let seconds = last.map_or(0, |last| (last - began).as_secs());
    for second in 0..seconds {
        let (from, to) = (
            began + Duration::from_secs(second),
            began + Duration::from_secs(second + 1),
        );
        for (_, mark) in marks.iter().filter(|(at, _)| *at >= from && *at < to) {
            let _ = writeln!(text, "     | {mark}");
        }
        let _ = write!(text, "{second:>4} |");
        for story in stories {
            let seen = story.samples.iter().rfind(|sample| sample.at < to);
            let (ready, restarts, connections) = seen.map_or((0, 0, 0), |sample| {
                (sample.ready, sample.restarts, sample.connections)
            });
            let orders = story.requests(What::Order, from, to);
            let cheap = story.requests(What::Cheap, from, to);
            let _ = write!(
                text,
                "           {ready:>5} {restarts:>8} {connections:>6} {:>6} {:>6} {:>6} {:>6} |",
                orders.took.len(),
                orders.failed,
                cheap.took.len(),
                cheap.failed,
            );
        }
        text.push('\n');
    }
    text
}
