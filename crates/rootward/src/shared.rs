//! What the runner writes and the probe thread reads: what each check is, and its newest state.
//!
//! The state is immutable and replaced as a whole. Nobody waits for anybody: the probe thread answers while the
//! application's runtime is blocked, and a burst of probes costs the runner nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderMap;
use rootward_core::{CheckStatus, Criticality, Depth, ErrorCategory, Name, Scope, Thresholds};
use rootward_wire::text::shown;
use tokio::time::Instant;

use crate::access::{Caller, Gate, Principal, Refusal};
use crate::builder::Wall;
use crate::deep::Deep;
use crate::drain::Drain;
use crate::failure::MAX_REASON_BYTES;
use crate::identity::Identity;
use crate::latch::Startup;
use crate::probe::Endpoint;
use crate::telemetry::{CheckStats, Telemetry};
use crate::vitals::Vitals;

/// What a check is; never changes while it runs.
#[derive(Debug)]
pub(crate) struct CheckFacts {
    pub(crate) name: Name,
    pub(crate) criticality: Criticality,
    pub(crate) scope: Scope,
    pub(crate) depth: Option<Depth>,
    pub(crate) kind: Option<Name>,
    pub(crate) target: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    pub(crate) stale_after: Duration,
    pub(crate) slow_above: Option<Duration>,
    pub(crate) thresholds: Thresholds,
    pub(crate) gates_readiness: bool,
}

/// What is known about a check; replaced with every result.
#[derive(Debug, Clone)]
pub(crate) struct CheckState {
    /// Damped; unknown before the first result.
    pub(crate) status: CheckStatus,
    pub(crate) raw_status: CheckStatus,
    pub(crate) pending: Option<u8>,
    /// How many results there were.
    pub(crate) seq: u64,
    pub(crate) last: Option<LastRun>,
    pub(crate) since: Option<At>,
    /// Why it is not up, or why the last result was not although the status still is.
    pub(crate) trouble: Option<Trouble>,
}

impl CheckState {
    pub(crate) const UNKNOWN: Self = Self {
        status: CheckStatus::Unknown,
        raw_status: CheckStatus::Unknown,
        pending: None,
        seq: 0,
        last: None,
        since: None,
        trouble: None,
    };
}

/// The last run that gave a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastRun {
    pub(crate) ended: At,
    pub(crate) took: Duration,
}

/// One moment on both clocks: one computes, the other is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) instant: Instant,
    pub(crate) wall: SystemTime,
}

/// Why a check is not up.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    /// None if it is slow: it answered.
    pub(crate) category: Option<ErrorCategory>,
    pub(crate) text: String,
    /// The run that timed out has not ended yet.
    pub(crate) still_running: bool,
    /// Finds the event in the log; none if there was no event about it.
    pub(crate) reference: Option<Arc<str>>,
}

/// One check: what it is and what is known about it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) facts: Arc<CheckFacts>,
    pub(crate) stats: Arc<CheckStats>,
    pub(crate) state: Arc<CheckState>,
    /// Since when it is checked.
    pub(crate) born: Instant,
}

impl Entry {
    /// Of a check that has not run.
    pub(crate) fn new(facts: Arc<CheckFacts>, stats: Arc<CheckStats>, born: Instant) -> Self {
        Self {
            facts,
            stats,
            state: Arc::new(CheckState::UNKNOWN),
            born,
        }
    }
}

/// What the runner, the handle and the probe thread share.
pub(crate) struct Shared {
    pub(crate) identity: Identity,
    pub(crate) startup: Arc<Startup>,
    pub(crate) drain: Drain,
    pub(crate) vitals: Vitals,
    pub(crate) deep: Deep,
    pub(crate) born: Instant,
    pub(crate) gate: Gate,
    pub(crate) telemetry: Telemetry,
    wall: Wall,
    checks: ArcSwap<Checks>,
    /// What the application found: by its kind, and a sentence.
    findings: ArcSwap<Findings>,
    /// The application's own switch: why it does not want traffic.
    not_ready: ArcSwapOption<String>,
    /// Nobody checks any more: the handle was stopped or dropped.
    ended: AtomicBool,
    /// Grows with every change of what is answered from here.
    version: AtomicU64,
    /// For gRPC watches.
    #[cfg(feature = "grpc")]
    pub(crate) board: crate::mount::grpc::Board,
}

/// All checks. They are replaced as a whole, so that whoever reads them sees one moment.
pub(crate) type Checks = Vec<Entry>;

/// At most [`MAX_FINDINGS`], by their kinds.
pub(crate) type Findings = BTreeMap<String, String>;

/// The most kinds of findings that an application may have at a time: 16.
///
/// ```
/// // A finding for each licence that ends soon: the word is the licence's.
/// let licences = ["licence_of_search", "licence_of_maps"];
/// assert!(licences.len() <= rootward::MAX_FINDINGS);
/// ```
pub const MAX_FINDINGS: usize = 16;

/// The longest sentence of a finding, in bytes.
const MAX_FINDING_BYTES: usize = 512;

impl Shared {
    pub(crate) fn new(
        identity: Identity,
        facts: Vec<CheckFacts>,
        startup: Arc<Startup>,
        drain: Drain,
        vitals: Vitals,
        wall: Wall,
        gate: Gate,
    ) -> Self {
        let born = Instant::now();
        let telemetry = Telemetry::new(drain.journal().clone());
        let longest = facts.iter().map(|facts| facts.timeout).max();
        let longest = longest.unwrap_or_default();
        let entry = |facts| {
            let facts = Arc::new(facts);
            let stats = telemetry.stats(&facts, longest);
            Entry::new(facts, stats, born)
        };
        let checks = facts.into_iter().map(entry).collect();
        Self {
            checks: ArcSwap::from_pointee(checks),
            findings: ArcSwap::default(),
            telemetry,
            identity,
            startup,
            drain,
            vitals,
            deep: Deep::new(),
            born,
            gate,
            wall,
            not_ready: ArcSwapOption::empty(),
            ended: AtomicBool::new(false),
            version: AtomicU64::new(0),
            #[cfg(feature = "grpc")]
            board: crate::mount::grpc::Board::new(),
        }
    }

    pub(crate) fn publish(&self, checks: Checks) {
        self.checks.store(Arc::new(checks));
        self.touch();
    }

    pub(crate) fn checks(&self) -> Arc<Checks> {
        self.checks.load_full()
    }

    /// What the application found, or that it is over. False if there are too many.
    pub(crate) fn set_finding(&self, kind: &str, text: Option<&str>) -> bool {
        let kind = shown(kind, MAX_FINDING_BYTES).into_owned();
        let text = text.map(|text| shown(text, MAX_FINDING_BYTES).into_owned());
        let mut room = true;
        self.findings.rcu(|before| {
            let mut findings = Findings::clone(before);
            room = text.is_none() || findings.len() < MAX_FINDINGS || findings.contains_key(&kind);
            match &text {
                Some(text) if room => drop(findings.insert(kind.clone(), text.clone())),
                Some(_) => {}
                None => drop(findings.remove(&kind)),
            }
            findings
        });
        self.touch();
        room
    }

    pub(crate) fn findings(&self) -> Arc<Findings> {
        self.findings.load_full()
    }

    pub(crate) fn set_not_ready(&self, reason: Option<String>) {
        let reason = reason.map(|reason| Arc::new(shown(&reason, MAX_REASON_BYTES).into_owned()));
        self.not_ready.store(reason);
        self.touch();
    }

    /// From here on nobody renews the evidence. Whoever still answers, on a server of the application's, says so.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.touch();
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn not_ready(&self) -> Option<Arc<String>> {
        self.not_ready.load_full()
    }

    /// Something that answers are made from has changed.
    pub(crate) fn touch(&self) {
        self.version.fetch_add(1, Ordering::Release);
        #[cfg(feature = "grpc")]
        self.board.stir();
    }

    /// Two equal versions mean: nothing was changed in between.
    pub(crate) fn version(&self) -> (u64, u64) {
        // Both only grow, so that their sum does.
        let drains = u64::from(self.drain.is_draining());
        let version = self.version.load(Ordering::Acquire) + drains;
        (version, self.startup.changes())
    }

    /// The longest time that one run of any check may take.
    pub(crate) fn longest_timeout(&self) -> Duration {
        let checks = self.checks.load();
        let timeouts = checks.iter().map(|check| check.facts.timeout);
        timeouts.max().unwrap_or_default()
    }

    /// Whether whoever asks is let in; a misuse is noted, whatever comes of it.
    pub(crate) fn admit(
        &self,
        endpoint: Endpoint,
        caller: &Caller,
        headers: &HeaderMap,
        now: Instant,
    ) -> Result<Principal, Refusal> {
        let level = endpoint.level();
        if level.is_for_diagnosis() && self.gate.misuse.note(endpoint, headers, now) {
            self.version.fetch_add(1, Ordering::Release);
        }
        self.gate
            .admit(level, caller, headers, now, || (self.wall)())
    }

    /// Whether whoever asks may read the detailed report; for what everybody is told, and some are told more.
    pub(crate) fn knows(&self, caller: &Caller, headers: &HeaderMap, now: Instant) -> bool {
        self.gate
            .identify(caller, headers, now, || (self.wall)())
            .is_ok()
    }

    /// The wall clock, for what expires.
    pub(crate) fn wall(&self) -> SystemTime {
        (self.wall)()
    }

    /// A moment of the recent past on both clocks.
    pub(crate) fn at(&self, instant: Instant) -> At {
        let wall = (self.wall)();
        At {
            instant,
            wall: wall.checked_sub(instant.elapsed()).unwrap_or(wall),
        }
    }
}
