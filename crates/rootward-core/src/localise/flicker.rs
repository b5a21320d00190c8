//! Services that were not ready for a moment, for no lasting reason.
//!
//! A readiness that looks at its dependencies multiplies noise: one false failure of one check of one replica is seen by
//! every caller that happens to ask in that moment. That is one event, not as many as there are callers, so it is paid
//! once. It explains only what fits into a moment, and it is never named: it is the noise of services, as the noise of
//! checks is. What it explains stays listed as unexplained.

use std::collections::BTreeSet;

use super::candidate::{Builder, Candidate, Mode};
use super::cause::Fault;
use super::graph::Label;
use super::readiness::{Scope, echo};
use super::timeline::{Likelihood, Rhythm, Timeline};

impl Builder<'_> {
    pub(super) fn offer_flickers(&mut self, targets: &BTreeSet<usize>) {
        let topology = self.scene.topology;
        for &node in targets {
            let info = &topology.nodes[node];
            let mut dependencies = info.dependencies.iter();
            let can = dependencies.any(|&edge| topology.edges[edge].label == Label::Hard);
            if info.is_service && can {
                self.offer_flicker(node);
            }
        }
    }

    fn offer_flicker(&mut self, node: usize) {
        if let Some(echo) =
            echo(self.scene, node, Scope::OutsideItsCircle).filter(|echo| echo.is_heard)
        {
            self.candidates.push(Candidate {
                fault: Fault::Flicker(node),
                mode: Mode::Hard,
                prior: self.model().echo,
                account: echo.account,
                passes: Vec::new(),
            });
        }
        let (scene, topology, model) = (self.scene, self.scene.topology, self.model());
        let moment = topology.interval * 3 / 2;
        // Runs of failures that are still going on, from first to last.
        let mut runs: Vec<(u64, u64, usize)> = topology
            .links_to(node)
            .filter(|&link| topology.edges[topology.link_edge[link]].readiness)
            .filter_map(|link| Some((scene.since(link), scene.failing_at(link)?, link)))
            .collect();
        runs.sort_unstable();
        let fits = |from: u64| {
            let within = move |run: &&(u64, u64, usize)| {
                run.0 >= from && run.1 <= from.saturating_add(moment)
            };
            runs.iter().filter(within)
        };
        let Some(from) = runs
            .iter()
            .map(|run| run.0)
            .rev()
            .max_by_key(|&from| fits(from).count())
        else {
            return;
        };
        let share = 1.0 / topology.nodes[node].instances.len().max(1) as f64;
        let mut terms = Vec::new();
        for &(_, _, link) in fits(from) {
            scene.link_terms(&mut terms, link, share, from);
        }
        let flicker = Likelihood {
            ping: None,
            readiness: model.cascade,
            rhythm: Rhythm::Steady,
            silent: None,
            classes: Some(&model.cascade_classes),
        };
        let fault = Fault::Flicker(node);
        let timeline = Timeline::new(terms);
        self.offer(fault, Mode::Hard, model.flicker, &timeline, &flicker);
    }
}
