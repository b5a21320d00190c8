//! The same numbers through the OpenTelemetry API, for an application that exports its metrics that way.
//!
//! What is a state is observed when the SDK collects; a duration is recorded when a run has ended, on a thread of its
//! own behind a bounded queue, because what is behind the API is somebody else's code. Names and attributes are those of
//! the semantic conventions where there are any (`error.type`, `db.system.name`, `server.address`, `server.port`,
//! `service.peer.name`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::Uri;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use rootward_core::{CheckStatus, ErrorCategory, Name};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::shared::{CheckFacts, Shared};
use crate::view::View;

use super::durations;

/// How many durations wait to be recorded. What comes on top is dropped and counted.
const MAX_QUEUED: usize = 1024;

const CHECK: &str = "rootward.check.name";
const STATUS: &str = "rootward.check.status";

/// What is the same for everything about a check.
pub(super) type Attributes = Arc<[KeyValue]>;

/// A run that has ended.
#[derive(Debug, Clone)]
pub(super) struct Ran {
    pub(super) attributes: Attributes,
    pub(super) took: Duration,
    pub(super) category: Option<ErrorCategory>,
}

/// Where durations go; nowhere before the start, after the stop, and without a meter.
#[derive(Default)]
pub(crate) struct Recorder {
    queue: ArcSwapOption<mpsc::Sender<Ran>>,
    dropped: AtomicU64,
}

impl Recorder {
    /// Hands it over, at once or never.
    pub(super) fn ran(&self, ran: Ran) {
        if let Some(queue) = self.queue.load().as_deref()
            && queue.try_send(ran).is_err()
        {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes no more. The thread ends when its queue is empty.
    pub(super) fn close(&self) {
        self.queue.store(None);
    }

    /// Registers the instruments. What is to run on a thread until the recorder is closed.
    pub(super) fn start(
        &self,
        meter: &Meter,
        shared: &Arc<Shared>,
    ) -> impl FnOnce() + Send + use<> {
        observe(meter, Arc::downgrade(shared));
        let longest = shared.longest_timeout();
        let durations = meter
            .f64_histogram("rootward.check.duration")
            .with_unit("s")
            .with_description("How long runs of a check took that ended, whatever they said.")
            .with_boundaries(durations::seconds_of(durations::bounds(longest)))
            .build();
        let (queue, waiting) = mpsc::channel(MAX_QUEUED);
        self.queue.store(Some(Arc::new(queue)));
        move || record(&durations, waiting)
    }
}

/// Until the queue is closed and empty.
fn record(durations: &Histogram<f64>, mut waiting: mpsc::Receiver<Ran>) {
    while let Some(ran) = waiting.blocking_recv() {
        let mut attributes = ran.attributes.to_vec();
        if let Some(category) = ran.category {
            attributes.push(KeyValue::new("error.type", category.as_str()));
        }
        durations.record(ran.took.as_secs_f64(), &attributes);
    }
}

/// What the SDK asks for when it collects. An instance that has ended is not held alive by it, and says nothing.
fn observe(meter: &Meter, shared: Weak<Shared>) {
    let of = shared.clone();
    meter
        .u64_observable_gauge("rootward.check.status")
        .with_description("1 for the damped status that a check has, 0 for those it has not.")
        .with_callback(move |observer| {
            let Some(shared) = of.upgrade().filter(|shared| !shared.is_ended()) else {
                return;
            };
            let view = View::peek(&shared, Instant::now());
            for seen in view.checks() {
                for status in CheckStatus::ALL {
                    let mut attributes = seen.stats.attributes().to_vec();
                    attributes.push(KeyValue::new(STATUS, status.as_str()));
                    observer.observe(u64::from(*status == seen.status), &attributes);
                }
            }
        })
        .build();
    let of = shared.clone();
    meter
        .f64_observable_gauge("rootward.check.age")
        .with_unit("s")
        .with_description("Time since the last result of a check; absent before the first.")
        .with_callback(move |observer| {
            let Some(shared) = of.upgrade().filter(|shared| !shared.is_ended()) else {
                return;
            };
            let view = View::peek(&shared, Instant::now());
            for seen in view.checks() {
                if let Some(age) = seen.age {
                    observer.observe(age.as_secs_f64(), seen.stats.attributes());
                }
            }
        })
        .build();
    let of = shared.clone();
    meter
        .u64_observable_counter("rootward.check.durations_dropped")
        .with_unit("{run}")
        .with_description("Durations that were not recorded because too many waited for it.")
        .with_callback(move |observer| {
            if let Some(shared) = of.upgrade().filter(|shared| !shared.is_ended()) {
                let dropped = shared.telemetry.recorder.dropped.load(Ordering::Relaxed);
                observer.observe(dropped, &[]);
            }
        })
        .build();
    meter
        .u64_observable_counter("rootward.check.flips")
        .with_unit("{flip}")
        .with_description("Changes of the damped status of a check; the first result is none.")
        .with_callback(move |observer| {
            let Some(shared) = shared.upgrade().filter(|shared| !shared.is_ended()) else {
                return;
            };
            for check in shared.checks().iter() {
                observer.observe(check.stats.flips(), check.stats.attributes());
            }
        })
        .build();
}

/// What is the same for everything about a check.
pub(super) fn attributes(facts: &CheckFacts) -> Attributes {
    let name = facts.name.as_str();
    let mut attributes = vec![KeyValue::new(CHECK, name.to_owned())];
    let kind = facts.kind.as_ref().map(Name::as_str);
    if let Some(system) = kind.and_then(database) {
        attributes.push(KeyValue::new("db.system.name", system));
    }
    if kind == Some("service") {
        attributes.push(KeyValue::new("service.peer.name", name.to_owned()));
    }
    let target = facts.target.as_deref();
    // An id that somebody declared is no address.
    let address = target
        .filter(|target| target.contains("://"))
        .and_then(|target| target.parse::<Uri>().ok());
    if let Some(host) = address.as_ref().and_then(Uri::host) {
        attributes.push(KeyValue::new("server.address", host.to_owned()));
    }
    if let Some(port) = address.as_ref().and_then(Uri::port_u16) {
        attributes.push(KeyValue::new("server.port", i64::from(port)));
    }
    attributes.into()
}

/// The well-known values of `db.system.name` (OpenTelemetry semantic conventions 1.33, database).
fn database(kind: &str) -> Option<&'static str> {
    let known = match kind {
        "cassandra" => "cassandra",
        "clickhouse" => "clickhouse",
        "cockroachdb" => "cockroachdb",
        "couchdb" => "couchdb",
        "elasticsearch" => "elasticsearch",
        "mariadb" => "mariadb",
        "memcached" => "memcached",
        "mongodb" => "mongodb",
        "mssql" => "microsoft.sql_server",
        "mysql" => "mysql",
        "opensearch" => "opensearch",
        "oracle" => "oracle.db",
        "postgresql" => "postgresql",
        "redis" => "redis",
        "sqlite" => "sqlite",
        _ => return None,
    };
    Some(known)
}
