//! Which answers are right: the injected faults, and what nobody can tell from them.
//!
//! The rule: an id is accepted in place of an injected fault when injecting it instead, in some rhythm and with a class
//! of error that such a fault can show, has the same [`Effects`]: the same checks fail, as often and in the same way,
//! and the same instances are silent. Nothing else is accepted, however plausible.

use std::collections::BTreeSet;

use serde::Serialize;

use super::effects::Effects;
use super::fault::{Fault, Pattern, Place, seconds};
use super::world::World;

/// Hops through which readiness may pass a failure on.
const HOPS: usize = 4;

/// Checks of each dependency that are seen before an incident ends.
const SEEN: f64 = 10.0;

/// What was injected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename = "truth")]
pub struct Truth {
    /// One entry a fault.
    pub causes: Vec<TrueCause>,
}

/// One injected fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrueCause {
    /// Its id.
    pub id: String,
    /// The ids that are right: its own, and those that cannot be told from it by what is observed until the end.
    pub accept: Vec<String>,
    /// Of these, those that could not be told from it however long one looked.
    pub identical: Vec<String>,
    /// Seconds, when it began.
    pub since_s: f64,
}

impl Truth {
    /// Which injected fault an id is right for.
    #[must_use]
    pub fn matching(&self, id: &str) -> Option<usize> {
        self.causes
            .iter()
            .position(|cause| cause.accept.iter().any(|accepted| accepted == id))
    }

    /// The same truth with nothing accepted but what could not be told apart however long one looked.
    #[must_use]
    pub fn strict(&self) -> Self {
        let mut strict = self.clone();
        for cause in &mut strict.causes {
            cause.accept.clone_from(&cause.identical);
        }
        strict
    }

    /// Seconds, when the last fault began; 0 without any.
    #[must_use]
    pub fn last_onset(&self) -> f64 {
        self.causes
            .iter()
            .map(|cause| cause.since_s)
            .fold(0.0, f64::max)
    }
}

/// The truth about `faults`, or nothing when they cannot be found by anybody: one of them changes too little, is hidden
/// by the others, or all of them look like one other fault.
///
/// `least` is how many more bad checks an interval each fault must cause.
#[must_use]
pub fn truth(world: &World, faults: &[Fault], least: f64) -> Option<Truth> {
    let all = Effects::of(world, faults);
    let mut causes = Vec::with_capacity(faults.len());
    for (at, fault) in faults.iter().enumerate() {
        let others: Vec<Fault> = faults
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, other)| *other)
            .collect();
        let without = Effects::of(world, &others);
        let found = match fault.place {
            // The view is broken: silence is all there is.
            Place::Poller(_) => all.silent() >= without.silent() + 3,
            Place::Zone(_) => {
                all.silent() >= without.silent() + 3 && all.more_than(&without) >= 2.0
            }
            Place::Node(_)
            | Place::App(_)
            | Place::Instance(_)
            | Place::Egress(_)
            | Place::Edge(..)
            | Place::InstanceEdge(..)
            | Place::Host(_)
            | Place::SickRelease(_)
            | Place::WayOfRelease(..) => all.more_than(&without) >= least,
        };
        if !found {
            return None;
        }
        let Equals { identical, accept } = equals(world, fault, &others, &all, &without);
        causes.push(TrueCause {
            id: fault.id(world),
            accept,
            identical,
            since_s: seconds(fault.start),
        });
    }
    if faults.len() > 1 && looks_like_one(world, faults, &all) {
        return None;
    }
    Some(Truth { causes })
}

/// The ids with which a fault can be exchanged, its own included.
struct Equals {
    /// Without any effect.
    identical: Vec<String>,
    /// Without an effect that would be seen in time.
    accept: Vec<String>,
}

fn equals(
    world: &World,
    fault: &Fault,
    others: &[Fault],
    all: &Effects,
    without: &Effects,
) -> Equals {
    let mut identical = BTreeSet::from([fault.id(world)]);
    let mut accept = identical.clone();
    if let Some(check) = all.most_beyond(without) {
        for other in candidates(world, check, fault, all.share(check)) {
            let id = other.id(world);
            if identical.contains(&id) {
                continue;
            }
            let mut instead = others.to_vec();
            instead.push(other);
            let instead = Effects::of(world, &instead);
            if instead.same_as(all) {
                identical.insert(id.clone());
            }
            if instead.same_as(all) || all.hardly_differ(&instead, SEEN) {
                accept.insert(id);
            }
        }
    }
    Equals {
        identical: identical.into_iter().collect(),
        accept: accept.into_iter().collect(),
    }
}

fn looks_like_one(world: &World, faults: &[Fault], all: &Effects) -> bool {
    let (Some(check), Some(first)) = (all.most_beyond(&Effects::default()), faults.first()) else {
        return false;
    };
    faults.iter().any(|like| {
        candidates(
            world,
            check,
            &Fault {
                start: first.start,
                ..*like
            },
            all.share(check),
        )
        .into_iter()
        .any(|one| Effects::of(world, &[one]).same_as(all))
    })
}

/// Every single fault that could make `check` bad: in the rhythm of `like`, and in one that makes it bad as often.
fn candidates(world: &World, check: (usize, usize), like: &Fault, share: f64) -> Vec<Fault> {
    let (instance, dep) = check;
    let service = world.service(instance);
    let to = world.deps(service)[dep].to;
    let mut places = vec![
        Place::Egress(instance),
        Place::Edge(service, to),
        Place::InstanceEdge(instance, to),
    ];
    let mut level = vec![to];
    let mut seen = BTreeSet::from([to]);
    for _ in 0..HOPS {
        let mut next = Vec::new();
        for node in level {
            places.extend([Place::Node(node), Place::App(node)]);
            let mut hosts = BTreeSet::new();
            hosts.extend(world.host_of_node(node));
            for &replica in world.replicas(node) {
                places.extend([Place::Instance(replica), Place::Egress(replica)]);
                hosts.extend(world.host_of_instance(replica));
            }
            for host in hosts {
                places.push(Place::Host(host));
                places.extend(world.zone_of_host(Some(host)).map(Place::Zone));
            }
            for dep in world.deps(node) {
                places.push(Place::Edge(node, dep.to));
                for &replica in world.replicas(node) {
                    places.push(Place::InstanceEdge(replica, dep.to));
                }
                if seen.insert(dep.to) {
                    next.push(dep.to);
                }
            }
        }
        level = next;
    }
    let here = world.zone_of_host(world.host_of_instance(instance));
    places.extend(here.map(Place::Zone));
    for (at, release) in world.releases().iter().enumerate() {
        places.push(Place::SickRelease(at));
        places.push(Place::WayOfRelease(at, to));
        if release.service != service {
            places.extend(
                world
                    .deps(release.service)
                    .iter()
                    .map(|dep| Place::WayOfRelease(at, dep.to)),
            );
        }
    }
    places.sort_unstable();
    places.dedup();
    let mut rhythms = vec![like.pattern];
    if like.pattern.fails() && share < 0.999 {
        rhythms.push(Pattern::Sometimes(share));
        rhythms.push(Pattern::Steady);
    }
    let mut faults = Vec::new();
    for place in places {
        for &pattern in &rhythms {
            for &(class, _) in Fault::classes(world, place, pattern) {
                // Cascades look alike whatever the class; direct failures must look as those of `like`.
                faults.push(Fault {
                    place,
                    class,
                    pattern,
                    start: like.start,
                });
            }
        }
    }
    faults
}
