//! A fleet of replicas, as the orchestrator and the load see it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rootward_e2e::{Error, free_port};

/// How many replicas a fleet has.
pub(super) const REPLICAS: usize = 20;

/// How replicas answer probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probes {
    /// `SELECT 1` on the pool, in the request.
    Naive,
    /// The crate, with its ready-made check.
    Rootward,
}

impl Probes {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Rootward => "rootward",
        }
    }
}

#[derive(Debug)]
pub(super) struct Fleet {
    pub(super) probes: Probes,
    pub(super) database: String,
    pub(super) replicas: Vec<Replica>,
}

#[derive(Debug)]
pub(super) struct Replica {
    pub(super) port: u16,
    pub(super) probe_port: u16,
    /// Whether it gets traffic.
    pub(super) ready: AtomicBool,
    pub(super) restarts: AtomicUsize,
    /// Probes that did not answer 200 within their time limit, after the first that did.
    pub(super) failed_probes: AtomicUsize,
    pub(super) in_flight: AtomicUsize,
}

impl Fleet {
    pub(super) fn new(probes: Probes, database: String) -> Result<Self, Error> {
        let replica = |_| {
            Ok(Replica {
                port: free_port()?,
                probe_port: free_port()?,
                ready: AtomicBool::new(false),
                restarts: AtomicUsize::new(0),
                failed_probes: AtomicUsize::new(0),
                in_flight: AtomicUsize::new(0),
            })
        };
        Ok(Self {
            probes,
            database,
            replicas: (0..REPLICAS).map(replica).collect::<Result<_, Error>>()?,
        })
    }

    /// How many get traffic.
    pub(super) fn ready(&self) -> usize {
        let ready = |replica: &&Replica| replica.ready.load(Ordering::Relaxed);
        self.replicas.iter().filter(ready).count()
    }

    pub(super) fn restarts(&self) -> usize {
        self.sum(|replica| &replica.restarts)
    }

    pub(super) fn failed_probes(&self) -> usize {
        self.sum(|replica| &replica.failed_probes)
    }

    fn sum(&self, counter: impl Fn(&Replica) -> &AtomicUsize) -> usize {
        let counts = self.replicas.iter();
        counts
            .map(|replica| counter(replica).load(Ordering::Relaxed))
            .sum()
    }

    /// The ready replica with the fewest requests in flight, as a balancer chooses.
    pub(super) fn choose(&self) -> Option<Chosen<'_>> {
        let ready = self
            .replicas
            .iter()
            .filter(|replica| replica.ready.load(Ordering::Relaxed));
        let replica = ready.min_by_key(|replica| replica.in_flight.load(Ordering::Relaxed))?;
        replica.in_flight.fetch_add(1, Ordering::Relaxed);
        Some(Chosen(replica))
    }
}

/// A request in flight to a replica, until dropped.
pub(super) struct Chosen<'f>(&'f Replica);

impl Chosen<'_> {
    pub(super) const fn port(&self) -> u16 {
        self.0.port
    }
}

impl Drop for Chosen<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
