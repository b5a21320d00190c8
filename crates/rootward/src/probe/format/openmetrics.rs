//! `/metrics`: OpenMetrics text. A scrape runs no check; it reads the counters and one view.
//!
//! A status is one gauge for each word, 1 for the one that is held. OpenMetrics calls that a state set and allows it
//! as gauges as well (OpenMetrics 1.0, "StateSet"); most readers, and the library that writes this, know only gauges.
//! The number of series is at most [`MAX_CHECKS`](crate::MAX_CHECKS) times a constant: no label has a value that a
//! dependency or a request chooses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use rootward_core::{CheckStatus, ErrorCategory, Evidence, InstanceStatus, Name};
use tokio::time::Instant;

use crate::probe::reply::Answer;
use crate::shared::Shared;
use crate::telemetry::Distribution;
use crate::view::{Seen, View};
use crate::vitals::{LAG_CLASSES_MS, Vitals};

const CONTENT_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// All results that carry evidence.
const RESULTS: [Evidence; 3] = [Evidence::Up, Evidence::Degraded, Evidence::Down];

/// Everything, as of now.
pub(in crate::probe) fn metrics(shared: &Arc<Shared>, now: Instant) -> Answer {
    let mut registry = Registry::with_prefix("rootward");
    registry.register_collector(Box::new(Scrape {
        shared: Arc::clone(shared),
        now,
    }));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)
        .expect("texts and numbers are always writable into memory");
    Answer {
        code: StatusCode::OK,
        content_type: CONTENT_TYPE,
        body: text.into(),
    }
}

/// One scrape.
struct Scrape {
    shared: Arc<Shared>,
    now: Instant,
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrape").finish_non_exhaustive()
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let view = View::of(&self.shared, self.now);
        let mut families = Families(encoder);
        build(&mut families, &self.shared)?;
        instance(&mut families, &view)?;
        vitals(&mut families, &self.shared.vitals)?;
        checks(&mut families, &view)?;
        probes(&mut families, &self.shared)
    }
}

fn build(families: &mut Families<'_>, shared: &Shared) -> fmt::Result {
    let identity = &shared.identity;
    let version = identity.version.as_ref().map_or("", Name::as_str);
    let help = "What runs: the service, its release, and the release of the crate that reports";
    let mut family = families.plain("build", help, MetricType::Info)?;
    family.encode_info(&[
        ("service", identity.service.as_str()),
        ("version", version),
        ("rootward_version", env!("CARGO_PKG_VERSION")),
    ])
}

fn instance(families: &mut Families<'_>, view: &View<'_>) -> fmt::Result {
    families.flag(
        "alive",
        "0 if only a restart helps, as /livez says",
        view.shared.vitals.seen().alive.is_alive(),
    )?;
    families.flag(
        "ready",
        "1 if the instance wants traffic, as /readyz says",
        view.reasons_not_ready().is_empty(),
    )?;
    families.flag(
        "started",
        "1 if the start is over, as /startupz says",
        view.started,
    )?;
    families.flag(
        "draining",
        "1 once the drain has begun",
        view.shared.drain.is_draining(),
    )?;
    families.flag(
        "serving",
        "0 if a hard component of its own is down",
        view.serving(),
    )?;
    let help = "1 for the status that the instance has, 0 for those it has not";
    let mut family = families.plain("instance_status", help, MetricType::Gauge)?;
    let status = view.status();
    for word in InstanceStatus::ALL {
        let labels = [("status", word.as_str())];
        flag(&mut family, &labels, *word == status)?;
    }
    Ok(())
}

/// The most workers that have a series of their own; the worst of all is in the lag.
const MAX_WORKERS: usize = 256;

fn vitals(families: &mut Families<'_>, vitals: &Vitals) -> fmt::Result {
    if let Some(lag) = vitals.seen().lag {
        let help = "How long the application's runtime takes to answer, at the last sample";
        families
            .seconds("loop_lag", help, MetricType::Gauge)?
            .encode_gauge(&lag.as_secs_f64())?;
    }
    let help = "For how long each worker of the application's runtime has been in one step; 0 while it waits or moves";
    let mut family = families.seconds("worker_held", help, MetricType::Gauge)?;
    for (worker, held) in vitals.seen().workers.iter().enumerate().take(MAX_WORKERS) {
        family
            .encode_family(&[("worker", worker.to_string())])?
            .encode_gauge(&held.as_secs_f64())?;
    }
    let history = vitals.history();
    let help = "The longest that the application's runtime took to answer since the start";
    families
        .seconds("loop_lag_max", help, MetricType::Gauge)?
        .encode_gauge(&history.max().as_secs_f64())?;
    let help = "How long the application's runtime took to answer, all samples";
    let counts = history.counts();
    let bounds = LAG_CLASSES_MS.map(|bound| Duration::from_millis(bound).as_secs_f64());
    let buckets: Vec<_> = bounds
        .into_iter()
        .chain([f64::INFINITY])
        .zip(counts)
        .collect();
    families
        .seconds("loop_lag_samples", help, MetricType::Histogram)?
        .encode_histogram::<NoLabelSet>(
            history.sum().as_secs_f64(),
            counts.iter().sum(),
            &buckets,
            None,
        )
}

fn checks(families: &mut Families<'_>, view: &View<'_>) -> fmt::Result {
    let seen: Vec<Seen<'_>> = view.checks().collect();
    let name = |seen: &Seen<'_>| [("check", seen.facts.name.to_string())];
    let help = "What a check is; 1";
    let mut family = families.plain("check", help, MetricType::Info)?;
    for seen in &seen {
        let facts = seen.facts;
        family.encode_info(&[
            ("check", facts.name.as_str()),
            ("criticality", facts.criticality.as_str()),
            ("scope", facts.scope.as_str()),
            ("kind", facts.kind.as_ref().map_or("", Name::as_str)),
            ("gates_readiness", yes_no(facts.gates_readiness)),
        ])?;
    }
    let help = "1 for the damped status that a check has, 0 for those it has not";
    let mut family = families.plain("check_status", help, MetricType::Gauge)?;
    for seen in &seen {
        for word in CheckStatus::ALL {
            let labels = [
                ("check", seen.facts.name.as_str()),
                ("status", word.as_str()),
            ];
            flag(&mut family, &labels, *word == seen.status)?;
        }
    }
    let help = "Time since the last result of a check; absent before the first";
    let mut family = families.seconds("check_age", help, MetricType::Gauge)?;
    for seen in &seen {
        if let Some(age) = seen.age {
            gauge(&mut family, &name(seen), age.as_secs_f64())?;
        }
    }
    let help = "1 while a run of a check goes on that was given up at its time limit";
    let mut family = families.plain("check_timeouts_running", help, MetricType::Gauge)?;
    for seen in &seen {
        let trouble = seen.state.trouble.as_ref();
        let running = trouble.is_some_and(|trouble| trouble.still_running);
        flag(&mut family, &name(seen), running)?;
    }
    counters(families, &seen, view.shared)
}

/// What was counted of each check.
fn counters(families: &mut Families<'_>, seen: &[Seen<'_>], shared: &Shared) -> fmt::Result {
    let checks = || seen.iter().map(|seen| (seen.facts, seen.stats));
    let help = "Results of a check, by what they were before damping";
    let mut family = families.plain("check_results", help, MetricType::Counter)?;
    for (facts, stats) in checks() {
        for result in RESULTS {
            let labels = [
                ("check", facts.name.as_str()),
                ("result", result.status().as_str()),
            ];
            counter(&mut family, &labels, stats.results(result))?;
        }
    }
    let help = "Results of a check that were not up, by the category of the reason; categories that occurred";
    let mut family = families.plain("check_failures", help, MetricType::Counter)?;
    for (facts, stats) in checks() {
        for category in ErrorCategory::ALL {
            let times = stats.category(*category);
            if times > 0 {
                let labels = [
                    ("check", facts.name.as_str()),
                    ("category", category.as_str()),
                ];
                counter(&mut family, &labels, times)?;
            }
        }
    }
    let help = "Changes of the damped status of a check; the first result is none";
    let mut family = families.plain("check_flips", help, MetricType::Counter)?;
    for (facts, stats) in checks() {
        let labels = [("check", facts.name.as_str())];
        counter(&mut family, &labels, stats.flips())?;
    }
    let help = "How long runs of a check took that ended, whatever they said";
    let mut family = families.seconds("check_duration", help, MetricType::Histogram)?;
    for (facts, stats) in checks() {
        let labels = [("check", facts.name.as_str())];
        histogram(&mut family, &labels, &stats.durations.read())?;
    }
    let help = "Changes that a hook was not told about because its queue was full";
    let mut family = families.plain("changes_dropped", help, MetricType::Counter)?;
    family.encode_counter::<NoLabelSet, u64, u64>(&shared.telemetry.hooks.dropped(), None)
}

fn probes(families: &mut Families<'_>, shared: &Shared) -> fmt::Result {
    let help = "Requests that were answered, by path and code";
    let mut family = families.plain("probe_requests", help, MetricType::Counter)?;
    for counted in shared.telemetry.probes.read() {
        let code = counted.code.to_string();
        let labels = [("endpoint", counted.endpoint), ("code", code.as_str())];
        counter(&mut family, &labels, counted.times)?;
    }
    Ok(())
}

/// The families of metrics, one begun after the other.
struct Families<'a>(DescriptorEncoder<'a>);

impl Families<'_> {
    fn plain<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0
            .encode_descriptor(name, &format!("{help}."), None, kind)
    }

    fn seconds<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0
            .encode_descriptor(name, &format!("{help}."), Some(&Unit::Seconds), kind)
    }

    fn flag(&mut self, name: &str, help: &str, value: bool) -> fmt::Result {
        self.plain(name, help, MetricType::Gauge)?
            .encode_gauge(&u32::from(value))
    }
}

fn gauge(family: &mut MetricEncoder<'_>, labels: &impl EncodeLabelSet, value: f64) -> fmt::Result {
    family.encode_family(labels)?.encode_gauge(&value)
}

fn flag(family: &mut MetricEncoder<'_>, labels: &impl EncodeLabelSet, value: bool) -> fmt::Result {
    family
        .encode_family(labels)?
        .encode_gauge(&u32::from(value))
}

fn counter(
    family: &mut MetricEncoder<'_>,
    labels: &impl EncodeLabelSet,
    value: u64,
) -> fmt::Result {
    family
        .encode_family(labels)?
        .encode_counter::<NoLabelSet, u64, u64>(&value, None)
}

fn histogram(
    family: &mut MetricEncoder<'_>,
    labels: &impl EncodeLabelSet,
    read: &Distribution,
) -> fmt::Result {
    family
        .encode_family(labels)?
        .encode_histogram::<NoLabelSet>(read.sum_seconds, read.count, &read.buckets, None)
}

const fn yes_no(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
