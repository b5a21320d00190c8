//! The choice to be made, as uncapacitated facility location.
//!
//! Facilities are candidate faults with an opening cost; clients are observations, each served by the one open facility
//! that explains it best, or by noise for nothing. The value of a choice is what its clients gain less what it costs to
//! open: the logarithm of the posterior probability against "all of it is noise", so the best choice is the maximum a
//! posteriori explanation. (Cornuejols, Nemhauser, Wolsey, "The uncapacitated facility location problem", 1990.)
//!
//! One thing is added to the textbook: a *passing* service has a fee of its own that is paid once however many of its
//! observers are explained through it, by whichever open facility reaches it most cheaply.

use super::candidate::Candidate;
use super::cascade::Passing;
use super::cause::Fault;

/// A facility.
#[derive(Debug)]
pub(super) struct Facility {
    pub(super) fault: Fault,
    pub(super) cost: f64,
    /// Observation and gain, ascending.
    pub(super) serves: Vec<(usize, f64)>,
    /// Passing service and fee, ascending.
    pub(super) passes: Vec<(usize, f64)>,
}

/// All facilities and clients.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) facilities: Vec<Facility>,
    /// For each observation, who can serve it.
    pub(super) served_by: Vec<Vec<(usize, f64)>>,
    /// For each observation, the passing service it can be explained through, and the gain.
    pub(super) through: Vec<Option<(usize, f64)>>,
    /// For each passing service, its observations and gains.
    pub(super) passing: Vec<Vec<(usize, f64)>>,
    /// For each passing service, who reaches it and the fee.
    pub(super) reached_by: Vec<Vec<(usize, f64)>>,
}

impl Problem {
    pub(super) fn new(candidates: &[Candidate], passing: &[Passing], observations: usize) -> Self {
        let mut served_by = vec![Vec::new(); observations];
        let mut through = vec![None; observations];
        let mut reached_by = vec![Vec::new(); passing.len()];
        for (number, passing) in passing.iter().enumerate() {
            for &(observation, gain) in &passing.gains {
                through[observation] = Some((number, gain));
            }
        }
        let mut facilities = Vec::with_capacity(candidates.len());
        for (number, candidate) in candidates.iter().enumerate() {
            for &(observation, gain) in &candidate.account.gains {
                served_by[observation].push((number, gain));
            }
            for &(place, fee) in &candidate.passes {
                reached_by[place].push((number, fee));
            }
            facilities.push(Facility {
                fault: candidate.fault,
                cost: candidate.cost(),
                serves: candidate.account.gains.clone(),
                passes: candidate.passes.clone(),
            });
        }
        Self {
            facilities,
            served_by,
            through,
            passing: passing
                .iter()
                .map(|passing| passing.gains.clone())
                .collect(),
            reached_by,
        }
    }
}

/// Nobody.
pub(super) const NONE: usize = usize::MAX;

/// A set of open facilities with every client at its best server, kept up to date one change at a time.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) problem: &'a Problem,
    open: Vec<bool>,
    /// Best server of each observation, and its gain.
    best: Vec<(usize, f64)>,
    /// For each passing service: what explaining through it would add, and the cheapest fee with who reaches it.
    excess: Vec<f64>,
    fee: Vec<(usize, f64)>,
    value: f64,
}

/// What a change overwrote.
#[derive(Debug, Default)]
pub(super) struct Undo {
    best: Vec<(usize, (usize, f64))>,
    passing: Vec<(usize, f64, (usize, f64))>,
    value: f64,
}

impl<'a> Choice<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        let excess = problem
            .passing
            .iter()
            .map(|gains| gains.iter().map(|(_, gain)| gain).sum());
        Self {
            open: vec![false; problem.facilities.len()],
            best: vec![(NONE, 0.0); problem.served_by.len()],
            excess: excess.collect(),
            fee: vec![(NONE, f64::INFINITY); problem.passing.len()],
            value: 0.0,
            problem,
        }
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn is_open(&self, facility: usize) -> bool {
        self.open[facility]
    }

    fn passed_on(&self, place: usize) -> f64 {
        (self.excess[place] - self.fee[place].1).max(0.0)
    }

    /// Opens a facility; returns what is needed to take it back.
    pub(super) fn open(&mut self, facility: usize) -> Undo {
        let problem = self.problem;
        let mut undo = Undo {
            value: self.value,
            ..Undo::default()
        };
        self.open[facility] = true;
        self.value -= problem.facilities[facility].cost;
        for &(observation, gain) in &problem.facilities[facility].serves {
            if gain > self.best[observation].1 {
                undo.best.push((observation, self.best[observation]));
                self.serve(observation, (facility, gain), &mut undo);
            }
        }
        for &(place, fee) in &problem.facilities[facility].passes {
            if fee < self.fee[place].1 {
                undo.passing
                    .push((place, self.excess[place], self.fee[place]));
                self.value -= self.passed_on(place);
                self.fee[place] = (facility, fee);
                self.value += self.passed_on(place);
            }
        }
        undo
    }

    fn serve(&mut self, observation: usize, by: (usize, f64), undo: &mut Undo) {
        let before = self.best[observation].1;
        self.best[observation] = by;
        self.value += by.1 - before;
        if let Some((place, gain)) = self.problem.through[observation] {
            undo.passing
                .push((place, self.excess[place], self.fee[place]));
            self.value -= self.passed_on(place);
            self.excess[place] += (gain - by.1).max(0.0) - (gain - before).max(0.0);
            self.value += self.passed_on(place);
        }
    }

    /// Takes back the last opening that was not taken back yet.
    pub(super) fn undo(&mut self, facility: usize, undo: &Undo) {
        self.open[facility] = false;
        for &(observation, best) in undo.best.iter().rev() {
            self.best[observation] = best;
        }
        for &(place, excess, fee) in undo.passing.iter().rev() {
            self.excess[place] = excess;
            self.fee[place] = fee;
        }
        self.value = undo.value;
    }

    /// What opening the facility would add.
    pub(super) fn gain(&mut self, facility: usize) -> f64 {
        let undo = self.open(facility);
        let gain = self.value - undo.value;
        self.undo(facility, &undo);
        gain
    }

    /// Closes a facility; its clients go to the next best.
    pub(super) fn close(&mut self, facility: usize) {
        let problem = self.problem;
        self.open[facility] = false;
        self.value += problem.facilities[facility].cost;
        let mut ignored = Undo::default();
        for &(observation, _) in &problem.facilities[facility].serves {
            if self.best[observation].0 == facility {
                let mut next = (NONE, 0.0);
                for &(other, gain) in &problem.served_by[observation] {
                    if self.open[other] && gain > next.1 {
                        next = (other, gain);
                    }
                }
                self.serve(observation, next, &mut ignored);
            }
        }
        for &(place, _) in &problem.facilities[facility].passes {
            if self.fee[place].0 == facility {
                self.value -= self.passed_on(place);
                self.fee[place] = (NONE, f64::INFINITY);
                for &(other, fee) in &problem.reached_by[place] {
                    if self.open[other] && fee < self.fee[place].1 {
                        self.fee[place] = (other, fee);
                    }
                }
                self.value += self.passed_on(place);
            }
        }
    }

    /// Who explains an observation, how well, and through which passing service.
    pub(super) fn explained_by(&self, observation: usize) -> Option<(usize, f64, Option<usize>)> {
        let (server, gain) = self.best[observation];
        if let Some((place, through)) = self.problem.through[observation]
            && through > gain
            && self.excess[place] > self.fee[place].1
        {
            return Some((self.fee[place].0, through, Some(place)));
        }
        (server != NONE).then_some((server, gain, None))
    }

    /// The fee paid for a passing service.
    pub(super) fn fee(&self, place: usize) -> f64 {
        self.fee[place].1
    }
}
