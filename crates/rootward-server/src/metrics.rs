//! What the aggregator says about itself in OpenMetrics.
//!
//! Counters and histograms are kept as things happen; everything that is a view of the snapshot is computed when it
//! is scraped ([`view`]). Nothing here is labelled by instance: the number of series is a few for each service.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use rootward_core::snapshot::PollWord;
use rootward_wire::Time;
use tokio::sync::watch;

use crate::published::SnapshotReader;
use crate::reload::Described;

mod view;

/// The content type of the answer.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the buckets for how long a poll took, in seconds. Time limits are usually 2 s.
const DURATION_BUCKETS: [f64; 11] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

/// Upper bounds of the buckets for how late a poll began, in seconds. Polls are released every 50 ms.
const LATENESS_BUCKETS: [f64; 8] = [0.005, 0.01, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Everything that is counted as it happens.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    polls: PollsByOutcome,
    poll_duration: Histogram,
    poll_lateness: Histogram,
    in_flight: Gauge,
    last_report: Gauge<f64, AtomicU64>,
    pub(crate) incidents_opened: Counter,
    pub(crate) incidents_resolved: Counter,
    pub(crate) transitions: Counter,
    pub(crate) history_errors: Counter,
    pub(crate) reloads: Counter,
    pub(crate) reloads_refused: Counter,
}

impl Metrics {
    /// All at zero, with a view of what is published.
    pub(crate) fn new(
        snapshots: SnapshotReader,
        described: watch::Receiver<Arc<Described>>,
    ) -> Self {
        let mut registry = Registry::with_prefix("rootward");
        let polls = PollsByOutcome::default();
        let poll_duration = Histogram::new(DURATION_BUCKETS);
        let poll_lateness = Histogram::new(LATENESS_BUCKETS);
        let in_flight = Gauge::default();
        let last_report = Gauge::<f64, AtomicU64>::default();
        let incidents_opened = Counter::default();
        let incidents_resolved = Counter::default();
        let transitions = Counter::default();
        let history_errors = Counter::default();
        let reloads = Counter::default();
        let reloads_refused = Counter::default();
        registry.register("polls", "Polls that ended, by outcome", polls.clone());
        registry.register_with_unit(
            "poll_duration",
            "How long polls took, whatever their outcome",
            Unit::Seconds,
            poll_duration.clone(),
        );
        registry.register_with_unit(
            "poll_lateness",
            "How long after they were due polls began",
            Unit::Seconds,
            poll_lateness.clone(),
        );
        registry.register(
            "polls_in_flight",
            "Polls that have not ended",
            in_flight.clone(),
        );
        registry.register_with_unit(
            "last_report_timestamp",
            "When a poll last brought a report, in seconds since 1970; 0 before the first",
            Unit::Seconds,
            last_report.clone(),
        );
        registry.register(
            "incidents_opened",
            "Incidents opened since the start",
            incidents_opened.clone(),
        );
        registry.register(
            "incidents_resolved",
            "Incidents resolved since the start",
            incidents_resolved.clone(),
        );
        registry.register(
            "transitions",
            "Changes of status of services, instances and resources since the start",
            transitions.clone(),
        );
        registry.register(
            "history_errors",
            "Changes that could not be written to the history",
            history_errors.clone(),
        );
        registry.register(
            "config_reloads",
            "Changed configurations that were taken up since the start",
            reloads.clone(),
        );
        registry.register(
            "config_reloads_refused",
            "Changed configurations that were refused since the start",
            reloads_refused.clone(),
        );
        registry.register_collector(Box::new(view::View::new(snapshots, described)));
        Self {
            registry,
            polls,
            poll_duration,
            poll_lateness,
            in_flight,
            last_report,
            incidents_opened,
            incidents_resolved,
            transitions,
            history_errors,
            reloads,
            reloads_refused,
        }
    }

    pub(crate) fn poll_began(&self) {
        self.in_flight.inc();
    }

    /// It ended without an outcome: its target is not polled any more.
    pub(crate) fn poll_abandoned(&self) {
        self.in_flight.dec();
    }

    pub(crate) fn poll_sent(&self, late: Duration) {
        self.poll_lateness.observe(late.as_secs_f64());
    }

    pub(crate) fn poll_ended(&self, word: PollWord, took: Duration, at: Time) {
        self.in_flight.dec();
        self.polls.of(word).inc();
        self.poll_duration.observe(took.as_secs_f64());
        match word {
            PollWord::Report => {
                self.last_report.set(unix_seconds(at));
            }
            PollWord::NoAnswer | PollWord::ErrorStatus | PollWord::Malformed => {}
        }
    }

    /// The whole exposition.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A counter for each way to end, all of them there from the start: a counter that appears with 1 hides its first
/// step.
#[derive(Debug, Clone, Default)]
struct PollsByOutcome {
    report: Counter,
    no_answer: Counter,
    error_status: Counter,
    malformed: Counter,
}

impl PollsByOutcome {
    const fn of(&self, word: PollWord) -> &Counter {
        match word {
            PollWord::Report => &self.report,
            PollWord::NoAnswer => &self.no_answer,
            PollWord::ErrorStatus => &self.error_status,
            PollWord::Malformed => &self.malformed,
        }
    }
}

impl EncodeMetric for PollsByOutcome {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for word in [
            PollWord::Report,
            PollWord::NoAnswer,
            PollWord::ErrorStatus,
            PollWord::Malformed,
        ] {
            let labels = [("outcome", word.as_str())];
            self.of(word).encode(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

/// A time in the unit of timestamps here.
fn unix_seconds(time: Time) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds since 1970 fit the 53 bits of the mantissa until the year 287000"
    )]
    let millis = time.as_unix_millis() as f64;
    millis / 1_000.0
}
