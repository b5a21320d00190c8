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

/// In which rhythm a fault bites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rhythm {
    /// Always since it began: failures count in the unbroken run at the end of each check.
    Steady,
    /// Anywhere since it began, each check on its own.
    Scattered,
    /// On for a while, off for a while; every switch has this cost.
    Phases {
        /// Of going on or off.
        switch: f64,
    },
}

/// How a kind of fault shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likelihood<'a> {
    /// Probability that a ping fails; `None` if pings are not touched.
    pub(super) ping: Option<f64>,
    /// Probability that a readiness check fails.
    pub(super) readiness: f64,
    pub(super) rhythm: Rhythm,
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

    /// What is not older than an instant.
    pub(super) fn since(&self, at: u64) -> Self {
        let terms = self.terms.iter().filter(|term| term.at >= at);
        Self {
            terms: terms.copied().collect(),
        }
    }

    /// Whether anything good was seen: without it, a fault that bites now and then explains nothing better.
    pub(super) fn has_good(&self) -> bool {
        let good = |term: &Term| matches!(term.what, What::Good { .. } | What::Answered);
        self.terms.iter().any(good)
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
        let values = self.terms.iter();
        let values: Vec<f64> = values
            .map(|term| value(model, likelihood, usual, term))
            .collect();
        let (best, bites) = match likelihood.rhythm {
            Rhythm::Steady | Rhythm::Scattered => since_onset(&values),
            Rhythm::Phases { switch } => in_phases(&values, switch),
        }?;
        let mut onset = None;
        let mut gains = Vec::new();
        let mut good_cost = 0.0;
        for ((term, value), bites) in self.terms.iter().zip(values).zip(bites) {
            if !bites {
                continue;
            }
            onset = Some(term.at);
            match term.what {
                What::Bad { observation, .. } | What::Silent { observation } if value > 0.0 => {
                    gains.push((observation, value));
                }
                What::Bad { .. } | What::Silent { .. } => {}
                What::Good { .. } | What::Answered => good_cost -= value,
            }
        }
        // What switching on and off costs is part of what believing in the rhythm costs.
        good_cost += best.switches;
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
            onset: onset?,
            worth: best.value - class.map_or(0.0, |(_, cost)| cost),
        })
    }
}

/// The value of a rhythm, net of the switches in it.
struct Best {
    value: f64,
    switches: f64,
}

/// The onset that explains best: a prefix of the values, newest first, with the largest sum.
fn since_onset(values: &[f64]) -> Option<(Best, Vec<bool>)> {
    let (mut sum, mut best, mut end) = (0.0, 0.0, 0);
    for (place, value) in values.iter().enumerate() {
        sum += value;
        if *value > 0.0 && sum > best {
            best = sum;
            end = place + 1;
        }
    }
    let bites = (0..values.len()).map(|place| place < end).collect();
    let best = Best {
        value: best,
        switches: 0.0,
    };
    (end > 0).then_some((best, bites))
}

/// The phases that explain best, by the Viterbi algorithm over two states (Viterbi, IEEE Transactions on Information
/// Theory 13, 1967). At least two phases, else it is a steady fault or a recovered one.
fn in_phases(values: &[f64], switch: f64) -> Option<(Best, Vec<bool>)> {
    // Newest first: `on` and `off` are the best sums up to a place that end there in that state.
    let (mut on, mut off) = (0.0_f64, 0.0_f64);
    let mut came: Vec<(bool, bool)> = Vec::with_capacity(values.len());
    for value in values {
        let stays_on = on >= off - switch;
        let stays_off = off >= on - switch;
        came.push((stays_on, stays_off));
        let next_on = if stays_on { on } else { off - switch } + value;
        off = if stays_off { off } else { on - switch };
        on = next_on;
    }
    let mut is_on = on - switch > off;
    let value = if is_on { on - switch } else { off };
    let mut bites = vec![false; values.len()];
    let (mut phases, mut switches) = (0, 0.0);
    if is_on {
        switches += switch;
    }
    for (place, (stays_on, stays_off)) in came.into_iter().enumerate().rev() {
        bites[place] = is_on;
        let was_on = if is_on { stays_on } else { !stays_off };
        if is_on && (!was_on || place == 0) {
            phases += 1;
        }
        if is_on != was_on {
            switches += switch;
        }
        is_on = was_on;
    }
    (phases >= 2 && value > 0.0).then_some((Best { value, switches }, bites))
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
            if !unbroken && likelihood.rhythm == Rhythm::Steady {
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
