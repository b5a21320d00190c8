//! How much of everything a run does: every loop, window and count of the benchmarks is bounded here.

use std::time::Duration;

/// Keep-alive connections of a closed loop.
pub(crate) const CONNECTIONS: usize = 32;

/// How much one run does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Each measures every side once.
    pub(crate) rounds: usize,
    /// How long a closed loop runs before anything is measured, so that compilers at run time have done their work.
    pub(crate) warm_up: Duration,
    /// How long a closed loop runs, in one slice.
    pub(crate) closed_loop: Duration,
    /// How many slices a round has: they alternate between the servers, so that each meets the same neighbours.
    pub(crate) slices: usize,
    /// Requests at a steady pace, a round, when several servers are compared.
    pub(crate) paced: usize,
    /// The time between two of them.
    pub(crate) pace: Duration,
    /// Requests at a steady pace, a round, in distress.
    pub(crate) in_distress: usize,
    /// The time between two of them.
    pub(crate) distress_pace: Duration,
    /// How many pairs of programs are started for their memory, in place of rounds.
    pub(crate) starts: usize,
    /// How long programs are left alone while their processor time is counted.
    pub(crate) window: Duration,
}

impl Plan {
    /// For figures. Five rounds of 2,000 are the 10,000 answers of goals P4 and P5.
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        warm_up: Duration::from_secs(3),
        closed_loop: Duration::from_millis(200),
        slices: 5,
        paced: 400,
        pace: Duration::from_micros(3_300),
        in_distress: 2_000,
        distress_pace: Duration::from_millis(2),
        starts: 7,
        window: Duration::from_secs(60),
    };

    /// To see that everything works.
    pub(crate) const QUICK: Self = Self {
        rounds: 1,
        warm_up: Duration::from_millis(20),
        closed_loop: Duration::from_millis(50),
        slices: 2,
        paced: 20,
        pace: Duration::from_millis(2),
        in_distress: 50,
        distress_pace: Duration::from_millis(2),
        starts: 1,
        window: Duration::from_millis(500),
    };
}
