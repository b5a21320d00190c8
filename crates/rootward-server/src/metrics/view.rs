//! The metrics that are a view of the newest snapshot, computed when they are scraped.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;
use rootward_core::{CheckStatus, ServiceStatus};
use tokio::sync::watch;

use super::unix_seconds;
use crate::published::SnapshotReader;
use crate::reload::Described;

/// Encodes what the newest snapshot says.
#[derive(Debug)]
pub(super) struct View {
    snapshots: SnapshotReader,
    described: watch::Receiver<Arc<Described>>,
}

impl View {
    pub(super) fn new(
        snapshots: SnapshotReader,
        described: watch::Receiver<Arc<Described>>,
    ) -> Self {
        Self {
            snapshots,
            described,
        }
    }
}

impl Collector for View {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let snapshot = self.snapshots.current();
        let reading = self.snapshots.reading();
        let described = Arc::clone(&self.described.borrow());
        let mut one = |name: &str, help: &str, unit: Option<&Unit>, value: f64| -> fmt::Result {
            encoder
                .encode_descriptor(name, help, unit, MetricType::Gauge)?
                .encode_gauge(&value)
        };
        one(
            "targets",
            "Instances that are polled.",
            None,
            count(snapshot.services.iter().map(|s| s.instances.len()).sum()),
        )?;
        one(
            "config_last_reload_successful",
            "1 if the configuration that the files held last is in force, 0 if it was refused.",
            None,
            f64::from(u8::from(described.refused.is_none())),
        )?;
        one(
            "config_last_reload_success_timestamp",
            "When the configuration in force was taken up, in seconds since 1970.",
            Some(&Unit::Seconds),
            unix_seconds(reading.time(described.loaded_at)),
        )?;
        one(
            "snapshot_age",
            "Time since the published picture was judged.",
            Some(&Unit::Seconds),
            reading.age(snapshot.at).as_secs_f64(),
        )?;
        one(
            "incidents_open",
            "Incidents that are open.",
            None,
            count(snapshot.open_incidents.len()),
        )?;
        let own = &snapshot.observer;
        one(
            "observer_fault",
            "1 while the aggregator itself cannot see what it should, else 0.",
            None,
            f64::from(u8::from(own.is_fault())),
        )?;
        one(
            "observer_blind_instances",
            "Instances whose last poll failed by an error of the aggregator's machine, while that is its own fault.",
            None,
            count(if own.is_fault() {
                own.blind_instances
            } else {
                0
            }),
        )?;
        if let Some(epoch) = snapshot.epoch {
            one(
                "epoch_number",
                "The last completed polling round, counted from 0; absent before the first.",
                None,
                count(usize::try_from(epoch.number).unwrap_or(usize::MAX)),
            )?;
        }
        // Zero and not absent, so that an alarm on its age goes off if there never was one.
        let completed = snapshot.epoch.map(|epoch| epoch.completed_at);
        one(
            "epoch_completed_timestamp",
            "When the last polling round was completed, in seconds since 1970; 0 before the first.",
            Some(&Unit::Seconds),
            completed.map_or(0.0, |at| unix_seconds(reading.time(at))),
        )?;
        let services = encoder.encode_descriptor(
            "service_status",
            "1 for the status that a service has, 0 for those it has not.",
            None,
            MetricType::Gauge,
        )?;
        let rows = snapshot.services.iter().flat_map(|service| {
            ServiceStatus::ALL.iter().map(|status| {
                let held = *status == service.status;
                ("service", service.name.as_str(), status.as_str(), held)
            })
        });
        one_hot(services, rows)?;
        let resources = encoder.encode_descriptor(
            "resource_status",
            "1 for the status that a resource has by its callers' checks, 0 for those it has not.",
            None,
            MetricType::Gauge,
        )?;
        let rows = snapshot.resources.iter().flat_map(|resource| {
            CheckStatus::ALL.iter().map(|status| {
                let held = *status == resource.status;
                ("resource", resource.name.as_str(), status.as_str(), held)
            })
        });
        one_hot(resources, rows)
    }
}

fn one_hot<'a>(
    mut encoder: MetricEncoder<'_>,
    rows: impl Iterator<Item = (&'static str, &'a str, &'static str, bool)>,
) -> fmt::Result {
    for (kind, name, status, held) in rows {
        let labels = [(kind, name), ("status", status)];
        encoder
            .encode_family(&labels)?
            .encode_gauge(&u32::from(held))?;
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of things that fit into memory are far below 2^53"
)]
fn count(number: usize) -> f64 {
    number as f64
}
