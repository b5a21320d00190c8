//! The newest result of each check, and whose polls got no answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::{CheckStatus, Event, Graph, Report};

/// Intervals after which a result is old.
const FRESH: f64 = 4.0;

/// What is known of one check.
#[derive(Debug, Clone, Copy)]
struct Known {
    made: f64,
    bad: bool,
    /// Bad results in a row, each check counted once.
    in_a_row: u32,
}

/// What is known of everything.
#[derive(Debug)]
pub struct View {
    graph: Graph,
    node_at: BTreeMap<String, usize>,
    instance_at: BTreeMap<String, usize>,
    service: Vec<usize>,
    checks: BTreeMap<(usize, usize), Known>,
    newest: Vec<f64>,
    silent: Vec<u32>,
}

impl View {
    /// Before anything was seen.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        let node_at: BTreeMap<String, usize> = graph
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.id.clone(), at))
            .collect();
        let instance_at = graph
            .instances
            .iter()
            .enumerate()
            .map(|(at, one)| (one.id.clone(), at))
            .collect();
        let service = graph
            .instances
            .iter()
            .map(|one| node_at.get(&one.service).copied().unwrap_or(0))
            .collect();
        let count = graph.instances.len();
        Self {
            graph: graph.clone(),
            node_at,
            instance_at,
            service,
            checks: BTreeMap::new(),
            newest: vec![f64::NEG_INFINITY; count],
            silent: vec![0; count],
        }
    }

    /// The map.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Where a node stands in the map.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<usize> {
        self.node_at.get(id).copied()
    }

    /// Of which node an instance is.
    #[must_use]
    pub fn service(&self, instance: usize) -> usize {
        self.service[instance]
    }

    /// Takes an event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Report(report) => self.report(report),
            Event::NoAnswer(silence) => {
                if let Some(&one) = self.instance_at.get(&silence.instance)
                    && silence.sent > self.newest[one]
                {
                    self.newest[one] = silence.sent;
                    self.silent[one] += 1;
                }
            }
            Event::Change(_) => {}
        }
    }

    fn report(&mut self, report: &Report) {
        let Some(&one) = self.instance_at.get(&report.instance) else {
            return;
        };
        if report.sent <= self.newest[one] {
            return;
        }
        self.newest[one] = report.sent;
        self.silent[one] = 0;
        for dep in &report.deps {
            let (Some(age), Some(&to)) = (dep.age_s, self.node_at.get(&dep.to)) else {
                continue;
            };
            let made = report.sent - age;
            let bad = match dep.status {
                CheckStatus::Down | CheckStatus::Degraded => true,
                CheckStatus::Up => false,
                CheckStatus::Unknown => continue,
            };
            let before = self.checks.get(&(one, to)).copied();
            // Ages may be rounded: what is less than a second newer is the same check.
            if before.is_some_and(|last| made < last.made + 1.0) {
                continue;
            }
            let in_a_row = if bad {
                before.map_or(0, |last| last.in_a_row) + 1
            } else {
                0
            };
            self.checks.insert(
                (one, to),
                Known {
                    made,
                    bad,
                    in_a_row,
                },
            );
        }
    }

    /// Every check that is known and not old, as instance, node and whether it is bad.
    pub fn fresh(&self, t: f64) -> impl Iterator<Item = (usize, usize, bool)> + '_ {
        self.known(t).map(|(at, known)| (at.0, at.1, known.bad))
    }

    /// The bad checks that are not the first: bad twice in a row, or bad for two observers at once.
    #[must_use]
    pub fn confirmed(&self, t: f64) -> BTreeSet<(usize, usize)> {
        let mut observers: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, to, bad) in self.fresh(t) {
            if bad {
                *observers.entry(to).or_default() += 1;
            }
        }
        self.known(t)
            .filter(|((_, to), known)| {
                known.bad && (known.in_a_row >= 2 || observers.get(to).is_some_and(|n| *n >= 2))
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// Instances whose last `polls` polls got no answer.
    pub fn silent(&self, polls: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.silent.len()).filter(move |&one| self.silent[one] >= polls)
    }

    fn known(&self, t: f64) -> impl Iterator<Item = ((usize, usize), &Known)> + '_ {
        let oldest = t - FRESH * self.graph.interval_s;
        self.checks
            .iter()
            .filter(move |(_, known)| known.made >= oldest)
            .map(|(at, known)| (*at, known))
    }
}
