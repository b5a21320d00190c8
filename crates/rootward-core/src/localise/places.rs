//! Faults that many things share: hosts, zones, the view of a zone, releases.
//!
//! A place is considered only when two or more things there are wrong, a zone only when at least three of its polled
//! instances and at least three in ten of them are silent: one dead thing is no dead place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::candidate::{Builder, Mode};
use super::cause::Fault;
use super::timeline::{Likelihood, Rhythm, Timeline};

/// Things that have to be wrong in a host.
const WRONG_IN_HOST: usize = 2;
/// Silent instances of a zone before the zone, or the view of it, is considered.
const SILENT_IN_ZONE: usize = 3;
/// And at least this share of its polled instances, in percent.
const SILENT_PERCENT: usize = 30;

impl Builder<'_> {
    pub(super) fn offer_places(&mut self, targets: &BTreeSet<usize>) {
        let topology = self.scene.topology;
        let mut wrong_in_host: BTreeMap<usize, usize> = BTreeMap::new();
        let mut silent_in_zone: BTreeMap<usize, usize> = BTreeMap::new();
        for instance in self.scene.silent() {
            let instance = &topology.instances[instance];
            if let Some(host) = instance.host {
                *wrong_in_host.entry(host).or_default() += 1;
            }
            if let Some(zone) = instance.zone {
                *silent_in_zone.entry(zone).or_default() += 1;
            }
        }
        for &target in targets {
            let node = &topology.nodes[target];
            if !node.is_service {
                if let Some(host) = node.host {
                    *wrong_in_host.entry(host).or_default() += 1;
                }
            } else if !node.polled {
                for &instance in &node.instances {
                    if let Some(host) = topology.instances[instance].host {
                        *wrong_in_host.entry(host).or_default() += 1;
                    }
                }
            }
        }
        for (host, wrong) in wrong_in_host {
            if wrong >= WRONG_IN_HOST {
                self.offer_host(host);
            }
        }
        for (zone, silent) in silent_in_zone {
            let instances = &topology.zones[zone].instances;
            let polled = instances
                .iter()
                .filter(|&&instance| topology.nodes[topology.instances[instance].node].polled)
                .count();
            if silent >= SILENT_IN_ZONE && silent * 100 >= polled * SILENT_PERCENT {
                self.offer_zone(zone);
                self.offer_poller(zone);
            }
        }
    }

    /// The share of each node that runs among these instances and resources.
    fn shares(&self, instances: &[usize], resources: &[usize]) -> BTreeMap<usize, f64> {
        let topology = self.scene.topology;
        let mut shares: BTreeMap<usize, f64> = resources.iter().map(|&node| (node, 1.0)).collect();
        for &instance in instances {
            let service = topology.instances[instance].node;
            let all = topology.nodes[service].instances.len();
            *shares.entry(service).or_default() += 1.0 / all as f64;
        }
        shares
    }

    fn offer_host(&mut self, host: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let place = &topology.hosts[host];
        let shares = self.shares(&place.instances, &place.resources);
        let links = || shares.keys().flat_map(|&node| topology.links_to(node));
        let silences = place.instances.iter();
        let since = silences
            .filter(|&&instance| scene.observation_of_instance(instance).is_some())
            .map(|&instance| scene.silent_since(instance))
            .min();
        let horizon = since.unwrap_or_else(|| scene.horizon(links()));
        let mut terms = Vec::new();
        for (&node, &share) in &shares {
            for link in topology.links_to(node) {
                scene.link_terms(&mut terms, link, share.min(1.0), horizon);
            }
        }
        for &instance in &place.instances {
            scene.poll_terms(&mut terms, instance);
        }
        let timeline = Timeline::new(terms);
        let lost = lost(model);
        self.offer(Fault::Host(host), Mode::Hard, model.host, &timeline, &lost);
    }

    /// A zone that is cut off: silence, and failures of what crosses its border.
    fn offer_zone(&mut self, zone: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let place = &topology.zones[zone];
        let shares = self.shares(&place.instances, &place.resources);
        let silent = place.instances.iter().copied();
        let since = silent
            .filter(|&instance| scene.observation_of_instance(instance).is_some())
            .map(|instance| scene.silent_since(instance))
            .min();
        let horizon = since.unwrap_or(scene.now);
        let mut terms = Vec::new();
        for (&node, &share) in &shares {
            for link in topology.links_to(node) {
                if topology.instances[topology.observer(link)].zone != Some(zone) {
                    scene.link_terms(&mut terms, link, share.min(1.0), horizon);
                }
            }
        }
        for &instance in &place.instances {
            for link in topology.links_of(instance) {
                let target = &topology.nodes[topology.target(link)];
                let elsewhere = match shares.get(&topology.target(link)) {
                    Some(share) => 1.0 - share.min(1.0),
                    None if target.is_service || target.zone.is_some() => 1.0,
                    // Nobody knows where it is.
                    None => 0.0,
                };
                if elsewhere > 0.0 {
                    scene.link_terms(&mut terms, link, elsewhere, horizon);
                }
            }
            scene.poll_terms(&mut terms, instance);
        }
        let timeline = Timeline::new(terms);
        let lost = lost(model);
        self.offer(Fault::Zone(zone), Mode::Hard, model.zone, &timeline, &lost);
    }

    fn offer_poller(&mut self, zone: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let mut terms = Vec::new();
        for &instance in &topology.zones[zone].instances {
            scene.poll_terms(&mut terms, instance);
        }
        let blind = Likelihood {
            ping: None,
            readiness: 0.0,
            rhythm: Rhythm::Steady,
            silent: Some(model.silent),
            classes: None,
        };
        let timeline = Timeline::new(terms);
        self.offer(
            Fault::Poller(zone),
            Mode::View,
            model.poller,
            &timeline,
            &blind,
        );
    }

    /// Releases of services that run more than one, when their instances or their callers see failures.
    pub(super) fn offer_versions(
        &mut self,
        observers: &BTreeMap<usize, usize>,
        targets: &BTreeSet<usize>,
    ) {
        let topology = self.scene.topology;
        let observing = observers.keys();
        let mut services: BTreeSet<usize> = observing
            .map(|&instance| topology.instances[instance].node)
            .collect();
        services.extend(targets);
        for service in services {
            let versions = versions_of(self.versions, &topology.nodes[service].instances);
            if versions.len() < 2 {
                continue;
            }
            for (number, version) in versions.iter().enumerate() {
                let all = topology.nodes[service].instances.iter().copied();
                let ours: Vec<usize> = all
                    .filter(|&instance| self.versions[instance].as_ref() == Some(version))
                    .collect();
                self.offer_sick_release(service, number, ours.len());
                self.offer_ways_of_release(service, number, &ours);
            }
        }
    }

    /// A release whose instances are not ready: its share of the callers' readiness checks fails.
    fn offer_sick_release(&mut self, service: usize, number: usize, ours: usize) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let share = ours as f64 / topology.nodes[service].instances.len() as f64;
        let horizon = scene.horizon(topology.links_to(service));
        let mut terms = Vec::new();
        for link in topology.links_to(service) {
            scene.link_terms(&mut terms, link, share, horizon);
        }
        let sick = Likelihood {
            ping: Some(model.sick_ping),
            readiness: model.sick_readiness,
            rhythm: Rhythm::Scattered,
            silent: None,
            classes: Some(&model.application_classes),
        };
        let fault = Fault::Version(service, number);
        let timeline = Timeline::new(terms);
        self.offer(fault, Mode::Application, model.version, &timeline, &sick);
    }

    /// A release whose instances cannot use one dependency.
    fn offer_ways_of_release(&mut self, service: usize, number: usize, ours: &[usize]) {
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        for &edge in &topology.nodes[service].dependencies {
            let first = topology.edges[edge].links.start;
            let links = ours.iter();
            let links: Vec<usize> = links
                .map(|&instance| first + topology.instances[instance].ordinal)
                .collect();
            let failing = |link: &usize| scene.observation_of_link(*link).is_some();
            if !links.iter().any(failing) {
                continue;
            }
            let horizon = scene.horizon(links.iter().copied());
            let mut terms = Vec::new();
            for &link in &links {
                scene.link_terms(&mut terms, link, 1.0, horizon);
            }
            let way = Likelihood {
                ping: Some(model.hard),
                readiness: model.hard,
                rhythm: Rhythm::Steady,
                silent: None,
                classes: Some(&model.release_classes),
            };
            let fault = Fault::Version(service, number);
            let timeline = Timeline::new(terms);
            self.offer(fault, Mode::Hard, model.version, &timeline, &way);
        }
    }
}

/// The releases that run, sorted by name.
pub(super) fn versions_of(versions: &[Option<Arc<str>>], instances: &[usize]) -> Vec<Arc<str>> {
    let named: BTreeSet<&Arc<str>> = instances
        .iter()
        .filter_map(|&instance| versions[instance].as_ref())
        .collect();
    named.into_iter().cloned().collect()
}

fn lost(model: &super::model::Model) -> Likelihood<'_> {
    Likelihood {
        ping: Some(model.place),
        readiness: model.place,
        rhythm: Rhythm::Scattered,
        silent: Some(model.silent),
        classes: Some(&model.place_classes),
    }
}
