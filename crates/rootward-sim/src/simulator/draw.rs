//! Draws the faults of an incident.

use std::fmt;

use super::accept::{Truth, truth};
use super::fault::{Fault, Pattern, Place};
use super::world::{Release, World};
use crate::random::Random;
use crate::scenario::{ErrorClass, NodeKind};

/// How many more bad checks an interval a fault must cause, so that somebody can find it.
const LEAST: f64 = 0.5;
/// Draws in one world before another world is tried.
const DRAWS: usize = 60;
/// Milliseconds of one interval.
pub(super) const INTERVAL: u64 = 10_000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)+) => {
        /// What kind of incident: a row of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $variant,)+ }

        impl Kind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name in the table.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

kinds! {
    /// A service or a resource is down.
    NodeDown = "node down",
    /// It is slow.
    NodeDegraded = "node degraded",
    /// It comes and goes.
    NodeIntermittent = "node intermittent",
    /// The application of a service is sick; connections are accepted.
    App = "application",
    /// One replica is dead.
    InstanceDead = "instance dead",
    /// One replica reaches nothing.
    InstanceEgress = "instance egress",
    /// One service does not reach another node.
    Edge = "edge",
    /// One replica does not reach one node.
    InstanceEdge = "instance edge",
    /// A host is down.
    Host = "host",
    /// A zone is cut off.
    Zone = "zone",
    /// The aggregator does not see a zone.
    Poller = "poller",
    /// A release is bad.
    Version = "version",
    /// Two faults.
    Two = "mix of two",
    /// Three faults.
    Three = "mix of three",
    /// A fault in or right under a cycle of services.
    Cycle = "inside a cycle",
    /// A host is down, and the application of something that runs there is sick.
    HostAndApp = "host + application",
    /// A flapping fault that one instance sees.
    OneObserver = "flapping, one observer",
    /// Any single fault on a map of 300 nodes.
    Large = "any, 300 nodes",
    /// A zone of a map of 300 nodes is cut off.
    LargeZone = "zone, 300 nodes",
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The kinds of single faults.
const SINGLE: &[Kind] = &[
    Kind::NodeDown,
    Kind::NodeDegraded,
    Kind::NodeIntermittent,
    Kind::App,
    Kind::InstanceDead,
    Kind::InstanceEgress,
    Kind::Edge,
    Kind::InstanceEdge,
    Kind::Host,
    Kind::Zone,
    Kind::Poller,
    Kind::Version,
];

/// Faults that can be found, and the truth about them.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// What is right to say about it.
    pub truth: Truth,
}

/// Faults of a kind in a world, the first of them from `start` milliseconds on. Nothing when the world has no place for
/// such a fault that anybody could find.
pub fn draw(world: &mut World, kind: Kind, start: u64, random: &mut Random) -> Option<Drawn> {
    let releases = world.releases().len();
    for _ in 0..DRAWS {
        world.forget_releases(releases);
        let Some(faults) = faults(world, kind, start, random) else {
            continue;
        };
        if let Some(truth) = truth(world, &faults, LEAST) {
            return Some(Drawn { faults, truth });
        }
    }
    None
}

fn faults(world: &mut World, kind: Kind, start: u64, random: &mut Random) -> Option<Vec<Fault>> {
    let mix = |count: usize, world: &mut World, random: &mut Random| {
        let mut at = start;
        let mut faults = Vec::new();
        for _ in 0..count {
            let kind = *random.pick(SINGLE)?;
            faults.push(single(world, kind, at, random)?);
            at += random.between(0, 3) * INTERVAL / 2;
        }
        Some(faults)
    };
    match kind {
        Kind::Two => mix(2, world, random),
        Kind::Three => mix(3, world, random),
        Kind::HostAndApp => {
            let one = random.index(world.graph().instances.len());
            let host = Place::Host(world.host_of_instance(one)?);
            let app = Place::App(world.service(one));
            let later = start + random.between(0, 2) * INTERVAL;
            Some(vec![
                fault(world, host, Pattern::Steady, start, random)?,
                fault(world, app, Pattern::Steady, later, random)?,
            ])
        }
        Kind::Large => {
            let kind = *random.pick(SINGLE)?;
            Some(vec![single(world, kind, start, random)?])
        }
        Kind::NodeDown
        | Kind::NodeDegraded
        | Kind::NodeIntermittent
        | Kind::App
        | Kind::InstanceDead
        | Kind::InstanceEgress
        | Kind::Edge
        | Kind::InstanceEdge
        | Kind::Host
        | Kind::Zone
        | Kind::Poller
        | Kind::Version
        | Kind::Cycle
        | Kind::OneObserver
        | Kind::LargeZone => Some(vec![single(world, kind, start, random)?]),
    }
}

fn single(world: &mut World, kind: Kind, start: u64, random: &mut Random) -> Option<Fault> {
    let (place, pattern) = match kind {
        Kind::NodeDown => (Place::Node(node(world, random)), Pattern::Steady),
        Kind::NodeDegraded => {
            let slow = Pattern::Slow(0.6 + 0.4 * random.unit());
            (Place::Node(node(world, random)), slow)
        }
        Kind::NodeIntermittent => (Place::Node(node(world, random)), comes_and_goes(random)),
        Kind::App => (Place::App(service(world, random)), Pattern::Steady),
        Kind::InstanceDead => (Place::Instance(replica(world, random)?), Pattern::Steady),
        Kind::InstanceEgress => (Place::Egress(replica(world, random)?), Pattern::Steady),
        Kind::Edge => {
            let (from, to) = edge(world, random)?;
            (Place::Edge(from, to), mostly_steady(random))
        }
        Kind::InstanceEdge => {
            let (from, to) = edge(world, random)?;
            let one = *random.pick(world.replicas(from))?;
            (Place::InstanceEdge(one, to), mostly_steady(random))
        }
        Kind::Host => {
            let host = random.index(world.graph().hosts.len());
            (Place::Host(host), Pattern::Steady)
        }
        Kind::Zone | Kind::LargeZone => {
            let zone = random.index(world.zones().len());
            (Place::Zone(zone), Pattern::Steady)
        }
        Kind::Poller => {
            let zone = random.index(world.zones().len());
            (Place::Poller(zone), Pattern::Steady)
        }
        Kind::Version => (release(world, start, random)?, Pattern::Steady),
        Kind::Cycle => (in_cycle(world, random)?, Pattern::Steady),
        Kind::OneObserver => {
            let (from, to) = edge(world, random)?;
            let one = *random.pick(world.replicas(from))?;
            let place = if world.replicas(from).len() == 1 && random.chance(0.5) {
                Place::Node(to)
            } else {
                Place::InstanceEdge(one, to)
            };
            (place, flapping(random))
        }
        Kind::Two | Kind::Three | Kind::HostAndApp | Kind::Large => return None,
    };
    fault(world, place, pattern, start, random)
}

fn fault(
    world: &World,
    place: Place,
    pattern: Pattern,
    start: u64,
    random: &mut Random,
) -> Option<Fault> {
    let class: ErrorClass = random.weighted(Fault::classes(world, place, pattern))?;
    Some(Fault {
        place,
        class,
        pattern,
        start,
    })
}

fn node(world: &World, random: &mut Random) -> usize {
    random.index(world.graph().nodes.len())
}

fn service(world: &World, random: &mut Random) -> usize {
    world.service(random.index(world.graph().instances.len()))
}

/// An instance of a service that has others.
fn replica(world: &World, random: &mut Random) -> Option<usize> {
    let one = random.index(world.graph().instances.len());
    (world.replicas(world.service(one)).len() > 1).then_some(one)
}

fn edge(world: &World, random: &mut Random) -> Option<(usize, usize)> {
    let from = service(world, random);
    let dep = random.pick(world.deps(from))?;
    Some((from, dep.to))
}

fn comes_and_goes(random: &mut Random) -> Pattern {
    if random.chance(0.6) {
        flapping(random)
    } else {
        Pattern::Sometimes(0.4 + 0.2 * random.unit())
    }
}

fn mostly_steady(random: &mut Random) -> Pattern {
    if random.chance(0.75) {
        Pattern::Steady
    } else {
        comes_and_goes(random)
    }
}

fn flapping(random: &mut Random) -> Pattern {
    Pattern::Flapping {
        on: random.between(15_000, 40_000),
        off: random.between(15_000, 40_000),
    }
}

/// A release on some instances of a service, or on all of them, that is bad in one of two ways.
fn release(world: &mut World, start: u64, random: &mut Random) -> Option<Place> {
    let of = service(world, random);
    let replicas = world.replicas(of).to_vec();
    let count = random
        .between(2, 5)
        .min(u64::try_from(replicas.len()).ok()?);
    let instances: Vec<usize> = replicas
        .into_iter()
        .take(usize::try_from(count).ok()?)
        .collect();
    let to = random.pick(world.deps(of)).map(|dep| dep.to);
    let version = format!("2.{}.0", random.between(0, 40));
    let at = world.release(Release {
        service: of,
        version,
        instances,
        at: start,
    });
    match to {
        Some(to) if random.chance(0.6) => Some(Place::WayOfRelease(at, to)),
        Some(_) | None => Some(Place::SickRelease(at)),
    }
}

/// A service on a cycle, or a resource under one.
fn in_cycle(world: &World, random: &mut Random) -> Option<Place> {
    let on_cycle: Vec<usize> = (0..world.graph().nodes.len())
        .filter(|&node| on_cycle(world, node))
        .collect();
    let member = *random.pick(&on_cycle)?;
    if random.chance(0.5) {
        return Some(Place::App(member));
    }
    let below: Vec<usize> = world
        .deps(member)
        .iter()
        .map(|dep| dep.to)
        .filter(|&to| world.graph().nodes[to].kind != NodeKind::Service)
        .collect();
    Some(Place::Node(*random.pick(&below).unwrap_or(&member)))
}

fn on_cycle(world: &World, start: usize) -> bool {
    let mut seen = vec![false; world.graph().nodes.len()];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for dep in world.deps(at) {
            if dep.to == start {
                return true;
            }
            if !seen[dep.to] {
                seen[dep.to] = true;
                open.push(dep.to);
            }
        }
    }
    false
}
