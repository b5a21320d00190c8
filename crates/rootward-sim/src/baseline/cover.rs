//! Minimal set cover: the fewest faults that explain every confirmed bad check and every silence.

use std::collections::{BTreeMap, BTreeSet};

use super::{View, answer};
use crate::Localiser;
use crate::scenario::{Answer, CauseKind, Event, Graph};

/// Names a small set of faults, found greedily: what covers most comes first.
#[derive(Debug)]
pub struct SetCover {
    view: View,
    ties: Ties,
    host_zone: BTreeMap<String, String>,
}

/// What comes first among faults that cover equally much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    /// The likelier kind: nodes before edges before instances, then the name.
    Kind,
    /// Of which a larger share is bad, as SCORE does (NSDI 2005).
    HitRatio,
}

/// Something to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Symptom {
    Bad(usize, usize),
    Silent(usize),
}

type Candidate = (CauseKind, String);

impl SetCover {
    /// The plain one, before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        Self::with(graph, Ties::Kind)
    }

    /// The one that prefers faults of which a larger share is bad, before anything was seen.
    #[must_use]
    pub fn with_hit_ratio(graph: &Graph) -> Self {
        Self::with(graph, Ties::HitRatio)
    }

    fn with(graph: &Graph, ties: Ties) -> Self {
        let host_zone = graph
            .hosts
            .iter()
            .filter_map(|host| Some((host.id.clone(), host.zone.clone()?)))
            .collect();
        Self {
            view: View::new(graph),
            ties,
            host_zone,
        }
    }

    /// The faults that could cause a symptom.
    fn causes(&self, symptom: Symptom) -> Vec<Candidate> {
        let graph = self.view.graph();
        match symptom {
            Symptom::Bad(instance, to) => {
                let from = &graph.nodes[self.view.service(instance)].id;
                let one = &graph.instances[instance].id;
                let target = &graph.nodes[to];
                let mut causes = vec![
                    (CauseKind::Node, target.id.clone()),
                    (CauseKind::Edge, format!("{from}->{}", target.id)),
                    (CauseKind::Instance, one.clone()),
                    (CauseKind::InstanceEdge, format!("{one}->{}", target.id)),
                ];
                causes.extend(self.places(target.host.as_ref(), target.zone.as_ref()));
                causes
            }
            Symptom::Silent(instance) => {
                let one = &graph.instances[instance];
                let mut causes = vec![
                    (CauseKind::Node, one.service.clone()),
                    (CauseKind::Instance, one.id.clone()),
                ];
                causes.extend(self.places(one.host.as_ref(), one.zone.as_ref()));
                causes.extend(one.zone.clone().map(|zone| (CauseKind::Poller, zone)));
                causes
            }
        }
    }

    fn places(&self, host: Option<&String>, zone: Option<&String>) -> Vec<Candidate> {
        let zone = zone.or_else(|| self.host_zone.get(host?));
        let host = host.cloned().map(|host| (CauseKind::Host, host));
        let zone = zone.cloned().map(|zone| (CauseKind::Zone, zone));
        host.into_iter().chain(zone).collect()
    }
}

impl Localiser for SetCover {
    fn apply(&mut self, event: &Event) {
        self.view.apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        let mut open: BTreeSet<Symptom> = self
            .view
            .confirmed(t)
            .into_iter()
            .map(|(instance, to)| Symptom::Bad(instance, to))
            .collect();
        open.extend(self.view.silent(2).map(Symptom::Silent));
        let mut covers: BTreeMap<Candidate, BTreeSet<Symptom>> = BTreeMap::new();
        let mut sizes: BTreeMap<Candidate, f64> = BTreeMap::new();
        for &symptom in &open {
            for cause in self.causes(symptom) {
                covers.entry(cause).or_default().insert(symptom);
            }
        }
        for (instance, to, _) in self.view.fresh(t) {
            for cause in self.causes(Symptom::Bad(instance, to)) {
                *sizes.entry(cause).or_default() += 1.0;
            }
        }
        let share = |cause: &Candidate, hits: usize| {
            if self.ties == Ties::Kind {
                return 0.0;
            }
            let hits = f64::from(u32::try_from(hits).unwrap_or(u32::MAX));
            (hits / sizes.get(cause).copied().unwrap_or(1.0).max(1.0)).min(1.0)
        };
        let mut named = Vec::new();
        while !open.is_empty() {
            let best = covers
                .iter()
                .map(|(cause, symptoms)| (symptoms.intersection(&open).count(), cause))
                .filter(|(hits, _)| *hits > 0)
                .max_by(|(hits, cause), (other_hits, other)| {
                    hits.cmp(other_hits)
                        .then(share(cause, *hits).total_cmp(&share(other, *other_hits)))
                        .then_with(|| other.cmp(cause))
                });
            let Some((hits, cause)) = best else {
                break;
            };
            let hits = f64::from(u32::try_from(hits).unwrap_or(u32::MAX));
            named.push((format!("{}:{}", cause.0, cause.1), cause.0, hits));
            for symptom in &covers[cause] {
                open.remove(symptom);
            }
        }
        let count = named.len();
        answer(t, named, count)
    }
}
