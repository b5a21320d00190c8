//! Everything that was seen in the scope of one candidate, in the order of time, and since when a fault explains it best.
//!
//! A fault that began at time T makes checks after T fail with its own probability and leaves earlier ones alone. The
//! likelihood of each T is a sum over the checks after it, so the best T is the best prefix of the checks read
//! backwards: the classic change-point estimate for two known distributions (Page, "Continuous inspection schemes",
//! Biometrika 41, 1954). Good checks before the onset therefore speak against nothing, which is what makes a fault
//! nameable half an interval after it began, while half of its observers still hold a good check from before.
//!
//! Bad checks couple causes, good checks only price them (Heckerman, "A tractable inference algorithm for diagnosing
//! multiple diseases", 1989, known as Quickscore): a good check enters the cost of each candidate on its own.

use super::event::ErrorClass;
use super::model::{ClassTable, Model};

/// Something seen, by the observation it can belong to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// When, in milliseconds.
    pub(super) at: u64,
    /// How much it counts.
    pub(super) weight: f64,
    /// What share of the target the candidate affects.
    pub(super) share: f64,
    pub(super) what: What,
}

/// What was seen.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// A check that was good.
    Good { readiness: bool },
    /// A check that failed.
    Bad {
        readiness: bool,
        class: ErrorClass,
        /// The observation it is part of.
        observation: usize,
        /// Part of the unbroken run of failures at the end.
        unbroken: bool,
        /// Logarithm of the rate of false failures of this edge.
        log_noise: f64,
    },
    /// A poll that was answered.
    Answered,
    /// A poll without an answer.
    Silent { observation: usize },
}

/// How a kind of fault shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likelihood<'a> {
    /// Probability that a ping fails; `None` if pings are not touched.
    pub(super) ping: Option<f64>,
    /// Probability that a readiness check fails.
    pub(super) readiness: f64,
    /// Failures count wherever they are; otherwise only in the unbroken run at the end.
    pub(super) scattered: bool,
    /// Probability that a poll gets no answer; `None` if polls are not touched.
    pub(super) silent: Option<f64>,
    /// What its failures look like; `None` if it has none.
    pub(super) classes: Option<&'a ClassTable>,
}

/// The best account of a timeline by one kind of fault.
#[derive(Debug, Clone)]
pub(super) struct Account {
    /// Gain over noise for each observation, by number.
    pub(super) gains: Vec<(usize, f64)>,
    /// Cost of the good checks and answered polls since the onset.
    pub(super) good_cost: f64,
    /// The error class and its cost.
    pub(super) class: Option<(ErrorClass, f64)>,
    /// Since when.
    pub(super) onset: u64,
    /// Gains less all costs.
    pub(super) worth: f64,
}

/// Terms in the scope of a candidate.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    terms: Vec<Term>,
}

impl Timeline {
    /// From terms in any stable order.
    pub(super) fn new(mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| std::cmp::Reverse(term.at));
        Self { terms }
    }

    /// The classes seen.
    fn classes(&self) -> [bool; 8] {
        let mut seen = [false; 8];
        for term in &self.terms {
            if let What::Bad { class, .. } = term.what {
                seen[class.index()] = true;
            }
        }
        seen
    }

    /// The best account over all classes and all onsets, or `None` if there is nothing to gain.
    pub(super) fn account(&self, model: &Model, likelihood: &Likelihood<'_>) -> Option<Account> {
        let Some(classes) = likelihood.classes else {
            return self.account_as(model, likelihood, None);
        };
        let seen = self.classes();
        let mut best: Option<Account> = None;
        for class in ErrorClass::ALL {
            if !seen[class.index()] {
                continue;
            }
            let cost = -classes[class.index()].ln();
            let account = self.account_as(model, likelihood, Some((class, cost)));
            if let Some(account) = account
                && best.as_ref().is_none_or(|best| account.worth > best.worth)
            {
                best = Some(account);
            }
        }
        best
    }

    fn account_as(
        &self,
        model: &Model,
        likelihood: &Likelihood<'_>,
        class: Option<(ErrorClass, f64)>,
    ) -> Option<Account> {
        let usual = class.map(|(class, _)| class);
        let mut sum = 0.0;
        let mut best = 0.0;
        let mut end = 0;
        for (place, term) in self.terms.iter().enumerate() {
            let value = value(model, likelihood, usual, term);
            sum += value;
            if value > 0.0 && sum > best {
                best = sum;
                end = place + 1;
            }
        }
        let since = self.terms.get(..end)?;
        let onset = since.last()?.at;
        let mut gains = Vec::new();
        let mut good_cost = 0.0;
        for term in since {
            let value = value(model, likelihood, usual, term);
            match term.what {
                What::Bad { observation, .. } | What::Silent { observation } if value > 0.0 => {
                    gains.push((observation, value));
                }
                What::Bad { .. } | What::Silent { .. } => {}
                What::Good { .. } | What::Answered => good_cost -= value,
            }
        }
        gains.sort_by_key(|gain| gain.0);
        gains.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Some(Account {
            gains,
            good_cost,
            class,
            onset,
            worth: best - class.map_or(0.0, |(_, cost)| cost),
        })
    }
}

/// What one term adds when the fault is there, against noise alone.
fn value(
    model: &Model,
    likelihood: &Likelihood<'_>,
    usual: Option<ErrorClass>,
    term: &Term,
) -> f64 {
    let failing = |readiness: bool| {
        let full = if readiness {
            Some(likelihood.readiness)
        } else {
            likelihood.ping
        };
        full.map(|full| full * term.share)
    };
    match term.what {
        What::Good { readiness } => {
            failing(readiness).map_or(0.0, |chance| term.weight * (1.0 - chance).ln())
        }
        What::Bad {
            readiness,
            class,
            unbroken,
            log_noise,
            ..
        } => {
            let (Some(chance), Some(usual)) = (failing(readiness), usual) else {
                return 0.0;
            };
            if !unbroken && !likelihood.scattered {
                return 0.0;
            }
            let explained = chance * model.matching(usual, class);
            let noise = log_noise + model.noise_classes[class.index()].ln();
            (term.weight * (explained.ln() - noise)).max(0.0)
        }
        What::Answered => likelihood.silent.map_or(0.0, |silent| {
            term.weight * ((1.0 - silent) / (1.0 - model.lost_poll)).ln()
        }),
        What::Silent { .. } => likelihood
            .silent
            .map_or(0.0, |silent| term.weight * (silent / model.lost_poll).ln()),
    }
}
