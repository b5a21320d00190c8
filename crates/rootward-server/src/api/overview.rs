//! `GET /api/v1/overview`: everything that the first screen shows.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rootward_config::GroupSpec;
use rootward_core::snapshot::{ResourceView, ServiceView};
use rootward_core::{CheckStatus, Name, ServiceStatus};
use rootward_wire::Word;
use rootward_wire::v1::api;

use crate::api::Shared;
use crate::api::convert::{View, count, impact, text, word};
use crate::api::reply::ok;
use crate::headline::headline;
use crate::reload::Described;

/// Disagreements of map and reports that are listed. Whoever has more begins with these.
const MAX_FINDINGS: usize = 200;

/// Services that are listed because the aggregator cannot ask them.
const MAX_BLIND: usize = 200;

pub(super) async fn get(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshots.current();
    let view = shared.view(&snapshot);
    let described = Arc::clone(&shared.described.borrow());
    ok(&view.overview(&described))
}

impl View<'_> {
    fn overview(self, described: &Described) -> api::Overview {
        let snapshot = self.snapshot;
        api::Overview {
            api: api::API.into(),
            // An environment without a name has an empty one: the field is always there.
            environment: described.environment.as_ref().map(text).unwrap_or_default(),
            generated_at: self.now(),
            newest_evidence_at: snapshot.newest_evidence.map(|at| self.time(at)),
            headline: headline(snapshot, self.reading),
            epoch: self.epoch(),
            counts: self.counts(),
            incidents: self.open_incidents(),
            services: self.services_by_urgency(),
            resources: self.resources_by_urgency(),
            observer: Some(self.observer()),
            configuration: Some(self.configuration(described)),
            groups: described
                .groups
                .iter()
                .map(|group| self.group(group))
                .collect(),
            cycles: snapshot
                .map
                .cycles()
                .iter()
                .map(|cycle| api::Cycle {
                    chain: cycle.chain.iter().map(text).collect(),
                    text: cycle.to_string(),
                })
                .collect(),
            findings: snapshot
                .findings
                .iter()
                .take(MAX_FINDINGS)
                .map(|finding| api::Finding {
                    kind: finding.kind.as_str().into(),
                    subject: finding.subject.to_string(),
                    text: finding.text.clone(),
                })
                .collect(),
        }
    }

    /// How the aggregator itself stands.
    fn observer(self) -> api::Observer {
        let observer = &self.snapshot.observer;
        let blind_to = observer.blind_to.iter();
        api::Observer {
            state: word(observer.state.as_str()),
            since: observer.since.map(|since| self.time(since)),
            age_ms: observer.since.map(|since| self.age_ms(since)),
            reason: observer.since.map(|_| observer.reason.clone()),
            blind_instances: count(observer.blind_instances),
            instances: count(observer.instances),
            blind_to: blind_to.take(MAX_BLIND).map(text).collect(),
        }
    }

    /// How the configuration stands.
    fn configuration(self, described: &Described) -> api::Configuration {
        let refused = described.refused.as_ref();
        api::Configuration {
            loaded_at: self.time(described.loaded_at),
            age_ms: self.age_ms(described.loaded_at),
            reloads: described.reloads,
            refused: refused.map(|(at, refused)| api::RefusedConfiguration {
                at: self.time(*at),
                age_ms: self.age_ms(*at),
                problems: refused.sentences.clone(),
                left_out: count(refused.left_out),
            }),
        }
    }

    /// The last complete round; before the first, one that is not complete.
    fn epoch(self) -> api::Epoch {
        let last = self.snapshot.epoch;
        let interval = self.snapshot.epoch_interval.as_millis();
        api::Epoch {
            number: last.map_or(0, |epoch| epoch.number),
            interval_ms: u64::try_from(interval).unwrap_or(u64::MAX),
            completed_at: last.map(|epoch| self.time(epoch.completed_at)),
            age_ms: last.map(|epoch| self.age_ms(epoch.completed_at)),
            complete: last.is_some(),
            polls: last.map_or(0, |epoch| count(epoch.started)),
            answered: last.map_or(0, |epoch| count(epoch.answered)),
        }
    }

    fn counts(self) -> api::Counts {
        let mut counts = api::Counts::default();
        for service in &self.snapshot.services {
            let counted = match service.status {
                ServiceStatus::Healthy => &mut counts.services.healthy,
                ServiceStatus::Degraded => &mut counts.services.degraded,
                ServiceStatus::Unknown => &mut counts.services.unknown,
                ServiceStatus::Starting => &mut counts.services.starting,
                ServiceStatus::Unhealthy => &mut counts.services.unhealthy,
            };
            *counted += 1;
        }
        for resource in &self.snapshot.resources {
            let counted = match resource.status {
                CheckStatus::Up => &mut counts.resources.up,
                CheckStatus::Degraded => &mut counts.resources.degraded,
                CheckStatus::Down => &mut counts.resources.down,
                CheckStatus::Unknown => &mut counts.resources.unknown,
            };
            *counted += 1;
        }
        counts
    }

    /// Those that deserve a look first: the worst, then whom a cause reaches, then whose status may flip.
    fn services_by_urgency(self) -> Vec<api::ServiceRow> {
        let mut impacts = self.impacts_by_service();
        let urgency = |service: &&ServiceView| {
            let calm = (!impacts.contains_key(&service.name), !service.pending);
            // The order of the words is the order of the screen.
            (Reverse(service.status), calm, service.name.clone())
        };
        let mut services: Vec<&ServiceView> =
            self.snapshot.services.iter().map(AsRef::as_ref).collect();
        services.sort_by_cached_key(urgency);
        services
            .into_iter()
            .map(|service| {
                let impacted_by = impacts.remove(&service.name).unwrap_or_default();
                self.service_row(service, impacted_by)
            })
            .collect()
    }

    fn resources_by_urgency(self) -> Vec<api::ResourceRow> {
        let urgency = |resource: &&ResourceView| {
            // Unknown stands between down and degraded, as it does for services.
            let rank = match resource.status {
                CheckStatus::Down => 0,
                CheckStatus::Unknown => 1,
                CheckStatus::Degraded => 2,
                CheckStatus::Up => 3,
            };
            (
                rank,
                !self.is_root_cause(&resource.name),
                resource.name.clone(),
            )
        };
        let mut resources: Vec<&ResourceView> =
            self.snapshot.resources.iter().map(AsRef::as_ref).collect();
        resources.sort_by_cached_key(urgency);
        resources
            .into_iter()
            .map(|r| self.resource_row(r))
            .collect()
    }

    fn impacts_by_service(&self) -> BTreeMap<&Name, Vec<api::Impact>> {
        let mut impacts: BTreeMap<&Name, Vec<api::Impact>> = BTreeMap::new();
        for reaching in &self.snapshot.diagnosis.impacted {
            let of_service = impacts.entry(&reaching.service).or_default();
            of_service.push(impact(reaching));
        }
        impacts
    }

    fn is_impacted(self, name: &Name) -> bool {
        let mut impacted = self.snapshot.diagnosis.impacted.iter();
        impacted.any(|impact| impact.service == *name)
    }

    fn group(self, group: &GroupSpec) -> api::Group {
        let services = self.snapshot.services.iter();
        let members = services.filter(|service| group.members.contains(&service.name));
        // A group of which nothing is on the map is a group of which nothing is known.
        let status = members.map(|service| service.status).max();
        api::Group {
            name: group.name.to_string(),
            public_name: group.public_name.clone(),
            status: Word::from(status.unwrap_or(ServiceStatus::Unknown)),
            impacted: group.members.iter().any(|name| self.is_impacted(name)),
            members: group.members.iter().map(text).collect(),
        }
    }
}
