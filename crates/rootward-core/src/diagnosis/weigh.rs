//! Weighs what could be wrong with one target: the target itself, the ways to it, or nothing but noise.
//!
//! Each explanation costs its prior plus what the checks say against it, in nats (natural logarithms of probabilities);
//! the cheapest wins, and the distance to the runner-up is the margin. The constants are those of a noisy-max network
//! over binary faults (Shwe et al., "Probabilistic diagnosis using a reformulation of the INTERNIST-1/QMR knowledge
//! base", Methods of Information in Medicine 30, 1991), as starting values that are not calibrated yet.

use std::collections::BTreeMap;

use crate::diagnosis::{CauseId, Check, Ranked};
use crate::map::{Map, NodeIndex};
use crate::name::Name;
use crate::status::ErrorCategory;

/// Costs, in nats.
mod cost {
    /// Prior of a fault of a whole node.
    pub(super) const NODE: f64 = 7.5;
    /// Prior of a fault on the way from a service to a target.
    pub(super) const EDGE: f64 = 8.8;
    /// Prior of a fault on the way from one instance to a target.
    pub(super) const INSTANCE_EDGE: f64 = 10.0;
    /// A failing check that a cause explains (probability .97).
    pub(super) const COVERED: f64 = 0.03;
    /// A good check that a cause should have made fail (probability .03).
    pub(super) const CONTRADICTED: f64 = 3.5;
    /// A failing check that nothing explains (probability .01).
    pub(super) const NOISE: f64 = 4.6;
    /// An instance that does not answer our poll, explained by a fault of the node (probability .7).
    pub(super) const SILENCE_COVERED: f64 = 0.36;
    /// An instance that does not answer our poll, explained by nothing (probability .02).
    pub(super) const SILENCE_NOISE: f64 = 3.9;
    /// An instance that answers our poll although its process should be gone.
    pub(super) const ANSWERS: f64 = 3.0;
}

/// Good checks count as this many in a row: how often each was repeated is not told.
const GOOD_WEIGHT: f64 = 2.0;

/// The failing and good checks of one target, and who of its instances answers us.
#[derive(Debug)]
pub(super) struct Scale<'a> {
    pub(super) map: &'a Map,
    pub(super) target: NodeIndex,
    pub(super) bad: Vec<&'a Check>,
    pub(super) good: Vec<&'a Check>,
    /// Results behind failing checks further up that would be explained as well.
    pub(super) carried: f64,
    pub(super) silent_instances: usize,
    pub(super) answering_instances: usize,
}

/// The cheapest explanation.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    /// The target itself.
    Node,
    /// The ways to it from some callers; what they do not cover is noise.
    Ways { ways: Vec<Way<'a>> },
    /// Too little to name anything.
    Noise,
}

/// A broken way to the target.
#[derive(Debug)]
pub(super) struct Way<'a> {
    pub(super) id: CauseId,
    pub(super) evidence: Vec<&'a Check>,
    /// How much cheaper than taking its checks for noise.
    pub(super) margin: f64,
}

/// What the weighing found.
#[derive(Debug)]
pub(super) struct Weighed<'a> {
    pub(super) choice: Choice<'a>,
    /// How much cheaper than the runner-up.
    pub(super) margin: f64,
    /// The other explanations, cheapest first.
    pub(super) alternatives: Vec<CauseId>,
    pub(super) ranked: Vec<Ranked>,
}

/// A probability from a margin: the logistic function of half of it (two units of log odds a nat would be certain of
/// more than the model knows).
pub(super) fn confidence(margin: f64) -> f64 {
    (1.0 / (1.0 + (-margin / 2.0).exp())).clamp(0.0, 0.99)
}

/// The category that most failing checks have; the first by order of declaration on a tie.
pub(super) fn dominant<'a>(checks: impl IntoIterator<Item = &'a Check>) -> ErrorCategory {
    let mut counts: BTreeMap<ErrorCategory, usize> = BTreeMap::new();
    for check in checks {
        *counts
            .entry(check.category.unwrap_or(ErrorCategory::Unknown))
            .or_default() += 1;
    }
    let mut best = (ErrorCategory::Unknown, 0);
    for (category, count) in counts {
        if count > best.1 {
            best = (category, count);
        }
    }
    best.0
}

/// Minus the logarithm of how usual a category is for a fault of the node: paid once for the fault, not for each check.
const fn node_class(category: ErrorCategory) -> f64 {
    match category {
        ErrorCategory::ConnectionRefused | ErrorCategory::ConnectionReset => 0.7,
        ErrorCategory::Timeout => 1.0,
        ErrorCategory::Dns | ErrorCategory::Tls | ErrorCategory::Auth | ErrorCategory::Redirect => {
            3.9
        }
        ErrorCategory::RateLimited
        | ErrorCategory::ResourceExhausted
        | ErrorCategory::Starting
        | ErrorCategory::ShuttingDown
        | ErrorCategory::NotReady
        | ErrorCategory::NotServing
        | ErrorCategory::Stale
        | ErrorCategory::HttpStatus
        | ErrorCategory::Protocol
        | ErrorCategory::NotFound
        | ErrorCategory::Panic
        | ErrorCategory::Unknown => 1.6,
    }
}

/// The same for a fault on the way.
const fn edge_class(category: ErrorCategory) -> f64 {
    match category {
        ErrorCategory::Timeout => 0.9,
        ErrorCategory::Dns | ErrorCategory::Tls | ErrorCategory::Auth | ErrorCategory::Redirect => {
            1.6
        }
        ErrorCategory::ConnectionRefused | ErrorCategory::ConnectionReset => 1.9,
        ErrorCategory::Stale
        | ErrorCategory::Protocol
        | ErrorCategory::NotFound
        | ErrorCategory::ResourceExhausted
        | ErrorCategory::Panic
        | ErrorCategory::Unknown => 2.5,
        // The target itself wrote these answers, so the way works.
        ErrorCategory::RateLimited
        | ErrorCategory::Starting
        | ErrorCategory::ShuttingDown
        | ErrorCategory::NotReady
        | ErrorCategory::NotServing
        | ErrorCategory::HttpStatus => 4.6,
    }
}

/// Whether the category says that nobody was there to answer.
const fn nobody_answered(category: ErrorCategory) -> bool {
    match category {
        ErrorCategory::Timeout
        | ErrorCategory::ConnectionRefused
        | ErrorCategory::ConnectionReset
        | ErrorCategory::Dns => true,
        ErrorCategory::Tls
        | ErrorCategory::Auth
        | ErrorCategory::RateLimited
        | ErrorCategory::ResourceExhausted
        | ErrorCategory::Starting
        | ErrorCategory::ShuttingDown
        | ErrorCategory::NotReady
        | ErrorCategory::NotServing
        | ErrorCategory::Stale
        | ErrorCategory::HttpStatus
        | ErrorCategory::Protocol
        | ErrorCategory::Redirect
        | ErrorCategory::NotFound
        | ErrorCategory::Panic
        | ErrorCategory::Unknown => false,
    }
}

/// One caller service's part of the scale.
#[derive(Debug, Default)]
struct Caller<'a> {
    bad: Vec<&'a Check>,
    good: Vec<&'a Check>,
}

impl<'a> Scale<'a> {
    /// Weighs the explanations against each other.
    pub(super) fn weigh(&self) -> Weighed<'a> {
        let class = dominant(self.bad.iter().copied());
        let silence = self.silence_noise();
        let node = self.node_cost(class);
        let noise = self.bad.iter().map(|check| noise_of(check)).sum::<f64>()
            + self.carried * cost::NOISE
            + silence;
        let (ways, ways_cost) = self.cheapest_ways();
        let ways_cost = ways_cost + silence;

        let node_id = CauseId::Node(self.map.name(self.target).clone());
        let mut way_ids: Vec<CauseId> = ways.iter().map(|way| way.id.clone()).collect();
        let ways_possible = !ways.is_empty();
        let other_than_node = if ways_possible {
            noise.min(ways_cost)
        } else {
            noise
        };
        let mut ranked = vec![Ranked {
            id: node_id.clone(),
            margin: other_than_node - node,
        }];
        ranked.extend(ways.iter().map(|way| Ranked {
            id: way.id.clone(),
            margin: way.margin.min(node - ways_cost),
        }));

        let ways_win = ways_possible && ways_cost < node && ways_cost < noise;
        if ways_win {
            let margin = node.min(noise) - ways_cost;
            let choice = Choice::Ways { ways };
            return Weighed {
                choice,
                margin,
                alternatives: vec![node_id],
                ranked,
            };
        }
        if node < noise {
            // What it would take to do without the node: the ways, also where each alone looks like noise.
            if way_ids.is_empty() {
                way_ids = self.all_ways();
            }
            let margin = other_than_node - node;
            return Weighed {
                choice: Choice::Node,
                margin,
                alternatives: way_ids,
                ranked,
            };
        }
        way_ids.insert(0, node_id);
        let margin = node.min(ways_cost) - noise;
        Weighed {
            choice: Choice::Noise,
            margin,
            alternatives: way_ids,
            ranked,
        }
    }

    fn node_cost(&self, class: ErrorCategory) -> f64 {
        let covered = count(self.bad.len()) * cost::COVERED;
        let contradicted = count(self.good.len()) * GOOD_WEIGHT * cost::CONTRADICTED;
        let answers = if nobody_answered(class) {
            count(self.answering_instances) * cost::ANSWERS
        } else {
            0.0
        };
        let silent = count(self.silent_instances) * cost::SILENCE_COVERED;
        cost::NODE + node_class(class) + covered + contradicted + answers + silent
    }

    fn silence_noise(&self) -> f64 {
        count(self.silent_instances) * cost::SILENCE_NOISE
    }

    /// The checks of each caller service.
    fn callers(&self) -> BTreeMap<Name, Caller<'a>> {
        let mut callers: BTreeMap<Name, Caller<'a>> = BTreeMap::new();
        for check in &self.bad {
            callers
                .entry(check.observer.service.clone())
                .or_default()
                .bad
                .push(check);
        }
        for check in &self.good {
            if let Some(caller) = callers.get_mut(&check.observer.service) {
                caller.good.push(check);
            }
        }
        callers
    }

    /// For each caller the cheapest of: its way as a whole, the ways of single instances, noise.
    fn cheapest_ways(&self) -> (Vec<Way<'a>>, f64) {
        let to = self.map.name(self.target);
        let (mut ways, mut total) = (Vec::new(), 0.0);
        for (service, caller) in self.callers() {
            let class = edge_class(dominant(caller.bad.iter().copied()));
            let as_noise: f64 = caller.bad.iter().map(|check| noise_of(check)).sum();
            let as_edge = cost::EDGE
                + class
                + count(caller.bad.len()) * cost::COVERED
                + count(caller.good.len()) * GOOD_WEIGHT * cost::CONTRADICTED;
            let per_instance = cost::INSTANCE_EDGE + class + cost::COVERED;
            let as_parts: f64 = caller
                .bad
                .iter()
                .map(|check| noise_of(check).min(per_instance))
                .sum();
            if as_edge < as_noise && as_edge <= as_parts {
                total += as_edge;
                ways.push(Way {
                    id: CauseId::Edge {
                        from: service,
                        to: to.clone(),
                    },
                    evidence: caller.bad,
                    margin: as_noise - as_edge,
                });
                continue;
            }
            total += as_parts;
            for check in caller.bad {
                if per_instance < noise_of(check) {
                    ways.push(Way {
                        id: CauseId::InstanceEdge {
                            from: check.observer.clone(),
                            to: to.clone(),
                        },
                        evidence: vec![check],
                        margin: noise_of(check) - per_instance,
                    });
                }
            }
        }
        (ways, total)
    }

    /// Each failing caller's way, named whether or not it would pay.
    fn all_ways(&self) -> Vec<CauseId> {
        let to = self.map.name(self.target);
        self.callers()
            .into_keys()
            .map(|from| CauseId::Edge {
                from,
                to: to.clone(),
            })
            .collect()
    }
}

/// What it costs to take a failing check for noise: once for each result in a row.
fn noise_of(check: &Check) -> f64 {
    f64::from(check.agreeing.clamp(1, 3)) * cost::NOISE
}

/// What a fault of one instance costs against what its own failing checks would cost as noise.
pub(super) fn local_margin(failing: usize) -> f64 {
    const INSTANCE: f64 = 7.8;
    const AGREEING: f64 = 3.0;
    count(failing.max(1)) * AGREEING * cost::NOISE - INSTANCE
}

/// A count as a number to calculate with; exact up to 2^32.
fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
