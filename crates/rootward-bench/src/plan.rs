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
    /// Targets that are polled as fast as can be.
    pub(crate) saturated: u32,
    /// How long that is measured.
    pub(crate) saturated_window: Duration,
    /// Targets that are polled at the usual pace.
    pub(crate) paced_targets: u32,
    /// How long that is measured, a round.
    pub(crate) paced_window: Duration,
    /// The usual time from one poll of a target to the next.
    pub(crate) interval: Duration,
    /// Sizes of fleets: what one more target costs is taken between the first and the last.
    pub(crate) fleets: [u32; 3],
    /// A shorter time from one poll to the next, for the largest of them.
    pub(crate) short_interval: Duration,
    /// How long a fleet is measured.
    pub(crate) large_window: Duration,
    /// How often a report is read in a slice.
    pub(crate) parses: u32,
    /// Services of the overview.
    pub(crate) overview_services: u32,
    /// How often one reader asks for it.
    pub(crate) overviews: usize,
    /// The time between two of those.
    pub(crate) overview_pace: Duration,
    /// How long polls are counted while nobody reads.
    pub(crate) overview_window: Duration,
    /// Readers on a connection each.
    pub(crate) viewers: u32,
    /// How many of them at the same time.
    pub(crate) viewers_at_once: u32,
    /// No more of them begin after this time.
    pub(crate) viewers_within: Duration,
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
        saturated: 2_000,
        saturated_window: Duration::from_secs(3),
        paced_targets: 2_000,
        paced_window: Duration::from_secs(10),
        interval: Duration::from_secs(10),
        // A process may have 20,000 descriptors on many machines, and the fleet has one, too, for each connection.
        fleets: [2_000, 10_000, 18_000],
        short_interval: Duration::from_millis(3_600),
        large_window: Duration::from_secs(20),
        parses: 200,
        overview_services: 10_000,
        overviews: 200,
        overview_pace: Duration::from_millis(100),
        overview_window: Duration::from_secs(20),
        viewers: 10_000,
        viewers_at_once: 50,
        viewers_within: Duration::from_secs(240),
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
        saturated: 20,
        saturated_window: Duration::from_millis(200),
        paced_targets: 20,
        paced_window: Duration::from_millis(400),
        interval: Duration::from_millis(300),
        fleets: [20, 40, 60],
        short_interval: Duration::from_millis(200),
        large_window: Duration::from_millis(400),
        parses: 2,
        overview_services: 40,
        overviews: 5,
        overview_pace: Duration::from_millis(20),
        overview_window: Duration::from_millis(600),
        viewers: 20,
        viewers_at_once: 5,
        viewers_within: Duration::from_secs(5),
    };
}
