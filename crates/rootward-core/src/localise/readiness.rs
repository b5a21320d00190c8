//! How much of a service was not ready at an instant, as far as its own checks tell.
//!
//! A readiness that looks at dependencies follows the instance's own newest results: while they are bad it fails, and
//! once they are good again it holds. So what callers see of a service is compared with what the service itself saw at
//! the same time. A service whose own checks were good explains no failure of its readiness by them, and one instance in
//! three that cannot reach a dependency explains one failure in three.

use super::anomaly::Scene;
use super::graph::Label;
use super::history::SAME_CHECK;
use super::timeline::{Account, Likelihood, Rhythm, Timeline};

/// What one bad result does, for services that say at once that they are not ready, and for those that wait for a second.
const FIRST: [f64; 2] = [0.9, 0.15];
/// Results between two that were reported are not known: half of the time after a bad one that a good one follows.
const ENDING: f64 = 0.5;
/// And shortly before a bad one.
const BEGINNING: f64 = 0.3;
/// For each interval since the newest result, when others of the service fail.
const UNHEARD: f64 = 0.25;
/// At most.
const UNHEARD_LIMIT: f64 = 0.5;

/// Which of a service's own checks are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of them.
    All,
    /// Not those of services that depend on it in turn: else two services could be each other's only reason.
    OutsideItsCircle,
}

/// What is known of a service's own checks.
struct Readiness<'a> {
    scene: &'a Scene<'a>,
    /// The checks of each instance that is heard, and whether the dependency fails for any of them.
    instances: Vec<Vec<(usize, bool)>>,
}

impl<'a> Readiness<'a> {
    /// `None` when nobody is heard.
    fn new(scene: &'a Scene<'a>, node: usize, with_soft: bool, scope: Scope) -> Option<Self> {
        let topology = scene.topology;
        let info = &topology.nodes[node];
        let mut instances = vec![Vec::new(); info.instances.len()];
        for &edge in &info.dependencies {
            let edge = &topology.edges[edge];
            let is_around = info.circle.is_some() && info.circle == topology.nodes[edge.to].circle;
            if is_around && scope == Scope::OutsideItsCircle {
                continue;
            }
            let mut links = edge.links.clone();
            let fails = links.any(|link| scene.observation_of_link(link).is_some());
            match edge.label {
                Label::Hard => {}
                Label::Soft if fails && with_soft => {}
                Label::Soft | Label::Informational => continue,
            }
            for (link, checks) in edge.links.clone().zip(&mut instances) {
                if scene.is_fresh(link) {
                    checks.push((link, fails));
                }
            }
        }
        instances.retain(|checks| !checks.is_empty());
        (!instances.is_empty()).then_some(Self { scene, instances })
    }

    /// The share of the instances that were not ready.
    fn unready(&self, first: f64, at: u64) -> f64 {
        let levels = self.instances.iter().map(|checks| {
            let levels = checks
                .iter()
                .map(|&(link, fails)| self.level(link, fails, first, at));
            levels.fold(0.0, f64::max)
        });
        levels.sum::<f64>() / self.instances.len() as f64
    }

    /// How likely one check of an instance kept it from being ready.
    fn level(&self, link: usize, fails: bool, first: f64, at: u64) -> f64 {
        let interval = self.scene.topology.link_interval(link);
        let window = self.scene.checks[link].long_window(interval);
        let later = window.partition_point(|check| check.at > at.saturating_add(SAME_CHECK));
        let bad = |place: usize| {
            let check = window.get(place)?;
            Some(check.failure().is_some() && !check.is_degraded())
        };
        let next = later.checked_sub(1);
        let next_bad = next.and_then(bad);
        let soon = next.is_some_and(|next| window[next].at <= at.saturating_add(interval / 2));
        let Some(newest) = window.get(later) else {
            return if next_bad == Some(true) && soon {
                BEGINNING
            } else {
                0.0
            };
        };
        let since = at.saturating_sub(newest.at);
        if bad(later) == Some(true) {
            let full = if bad(later + 1) == Some(true) {
                1.0
            } else {
                first
            };
            return if next_bad == Some(false) && since > interval / 2 {
                full * ENDING
            } else {
                full
            };
        }
        match next_bad {
            Some(true) if soon => BEGINNING,
            Some(_) => 0.0,
            None if fails => (UNHEARD * since as f64 / interval as f64).min(UNHEARD_LIMIT),
            None => 0.0,
        }
    }
}

/// What callers see of a service whose readiness passes on what its own checks find.
pub(super) struct Echo {
    pub(super) account: Account,
    /// Its own checks are known, and the account follows them in time.
    pub(super) is_heard: bool,
}

/// The account of a service's failing readiness by its own failing checks; `None` if they explain nothing.
pub(super) fn echo(scene: &Scene<'_>, node: usize, scope: Scope) -> Option<Echo> {
    let (topology, model) = (scene.topology, scene.model);
    let links = topology
        .links_to(node)
        .filter(|&link| topology.edges[topology.link_edge[link]].readiness);
    let horizon = scene.horizon(links.clone());
    let mut terms = Vec::new();
    for link in links {
        scene.link_terms(&mut terms, link, 1.0, horizon);
    }
    let steady = Likelihood {
        ping: None,
        readiness: model.cascade,
        rhythm: Rhythm::Steady,
        silent: None,
        classes: Some(&model.cascade_classes),
    };
    let mut is_heard = false;
    let mut best: Option<Account> = None;
    // Soft dependencies are thought of only where hard ones explain nothing: most services are ready without them.
    for with_soft in [false, true] {
        if best.is_some() {
            break;
        }
        let Some(readiness) = Readiness::new(scene, node, with_soft, scope) else {
            continue;
        };
        is_heard = true;
        let scattered = Likelihood {
            rhythm: Rhythm::Scattered,
            ..steady
        };
        for first in FIRST {
            for term in &mut terms {
                term.share = readiness.unready(first, term.at);
            }
            better(
                &mut best,
                Timeline::new(terms.clone()).account(model, &scattered),
            );
        }
    }
    if !is_heard {
        let timeline = Timeline::new(terms);
        let partly = |readiness: f64| Likelihood {
            readiness,
            rhythm: Rhythm::Scattered,
            ..steady
        };
        for likelihood in [steady, partly(model.often), partly(model.sometimes)] {
            better(&mut best, timeline.account(model, &likelihood));
        }
    }
    Some(Echo {
        account: best?,
        is_heard,
    })
}

/// Keeps the account that is worth more.
fn better(best: &mut Option<Account>, other: Option<Account>) {
    let known = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.worth);
    if other.as_ref().is_some_and(|other| other.worth > known) {
        *best = other;
    }
}
