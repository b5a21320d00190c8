//! The words of a cause: its summary, its reasons, its facts.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnosis::{CauseId, CauseState, Check, Fact, LocalCheck};
use crate::map::Map;
use crate::name::InstanceId;
use crate::status::{CheckStatus, ErrorCategory};

/// At most this many names are written out in a sentence.
const NAMES_IN_A_SENTENCE: usize = 5;

impl Check {
    /// Whether it speaks of trouble.
    #[must_use]
    pub const fn is_bad(&self) -> bool {
        is_bad(self.status)
    }

    /// Whether its newest result is a failure, whatever the damped status.
    #[must_use]
    pub const fn is_failing(&self) -> bool {
        is_bad(self.raw_status)
    }

    /// Whether it is good and nothing is about to change that.
    #[must_use]
    pub const fn is_settled_good(&self) -> bool {
        !self.is_bad() && !self.is_undecided()
    }

    /// Whether the newest result disagrees with the damped status: it may flip soon.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        is_bad(self.raw_status) != is_bad(self.status)
    }

    /// As a fact.
    #[must_use]
    pub fn fact(&self, map: &Map) -> Fact {
        Fact {
            observer: self.observer.to_string(),
            target: map.name(map.edge(self.edge).callee).clone(),
            status: self.status,
            decided: true,
            category: self.category,
            error: self.error.clone(),
            at: self.checked_at,
            since: self.since,
        }
    }
}

impl LocalCheck {
    /// Whether it speaks of trouble.
    #[must_use]
    pub const fn is_bad(&self) -> bool {
        is_bad(self.status)
    }

    /// Whether it is down, not only degraded.
    #[must_use]
    pub const fn is_down(&self) -> bool {
        match self.status {
            CheckStatus::Down => true,
            CheckStatus::Up | CheckStatus::Degraded | CheckStatus::Unknown => false,
        }
    }

    /// As a fact.
    #[must_use]
    pub fn fact(&self) -> Fact {
        Fact {
            observer: self.instance.to_string(),
            target: self.component.clone(),
            status: self.status,
            decided: true,
            category: self.category,
            error: self.error.clone(),
            at: self.checked_at,
            since: self.since,
        }
    }
}

const fn is_bad(status: CheckStatus) -> bool {
    match status {
        CheckStatus::Degraded | CheckStatus::Down => true,
        CheckStatus::Up | CheckStatus::Unknown => false,
    }
}

/// Down if at least half of the facts say so.
pub(super) fn state_of(evidence: &[Fact]) -> CauseState {
    let down = evidence
        .iter()
        .filter(|fact| fact.status == CheckStatus::Down)
        .count();
    if down * 2 >= evidence.len() {
        CauseState::Down
    } else {
        CauseState::Degraded
    }
}

/// The category that most failing checks have; the first by order of declaration on a tie.
pub(super) fn dominant(
    categories: impl IntoIterator<Item = Option<ErrorCategory>>,
) -> ErrorCategory {
    let mut counts: BTreeMap<ErrorCategory, usize> = BTreeMap::new();
    for category in categories {
        *counts
            .entry(category.unwrap_or(ErrorCategory::Unknown))
            .or_default() += 1;
    }
    let mut best = (ErrorCategory::Unknown, 0);
    for (category, count) in counts {
        if count > best.1 {
            best = (category, count);
        }
    }
    best.0
}

/// One sentence: what is wrong, by what others see. That others can use what one cannot is said only where somebody does.
pub(super) fn summary(
    id: &CauseId,
    state: CauseState,
    category: ErrorCategory,
    silent: &[InstanceId],
    others_can: bool,
) -> String {
    let others = if others_can { ", others can" } else { "" };
    let why = why(category);
    let sometimes = match state {
        CauseState::Intermittent => " now and then",
        CauseState::Degraded | CauseState::Down | CauseState::Cut => "",
    };
    match id {
        CauseId::Node(name) => format!("{name} {}{sometimes}", predicate(state, category)),
        CauseId::Instance(id) if silent.is_empty() => {
            format!("{id} reaches nothing{sometimes}{why}")
        }
        CauseId::Instance(id) => format!("{id} does not answer"),
        CauseId::Edge { from, to } => {
            format!("{from} cannot use {to}{sometimes}{others}{why}")
        }
        CauseId::InstanceEdge { from, to } => {
            format!("{from} cannot use {to}{sometimes}{others}{why}")
        }
        CauseId::Host(name) => format!("host {name} has failed{why}"),
        CauseId::Zone(name) => format!("zone {name} is cut off{why}"),
        CauseId::Poller(name) => format!("the aggregator cannot see zone {name}"),
        CauseId::Version { service, version } => {
            format!("release {version} of {service} fails{sometimes}{why}")
        }
    }
}

/// The same by the own word of instances.
pub(super) fn summary_of_own(id: &CauseId, state: CauseState, category: ErrorCategory) -> String {
    match (id, state) {
        (CauseId::Instance(id), CauseState::Degraded) => {
            format!("{id} is degraded{}", why(category))
        }
        (CauseId::Instance(id), CauseState::Down | CauseState::Intermittent | CauseState::Cut) => {
            format!("{id} has failed{}", why(category))
        }
        (
            CauseId::Node(_)
            | CauseId::Edge { .. }
            | CauseId::InstanceEdge { .. }
            | CauseId::Host(_)
            | CauseId::Zone(_)
            | CauseId::Poller(_)
            | CauseId::Version { .. },
            _,
        ) => summary(id, state, category, &[], false),
    }
}

/// How it fails, as the end of a sentence; nothing where that is not known.
fn why(category: ErrorCategory) -> String {
    if category == ErrorCategory::Unknown {
        String::new()
    } else {
        format!(": {}", category.phrase())
    }
}

/// What a node with this trouble does.
const fn predicate(state: CauseState, category: ErrorCategory) -> &'static str {
    match category {
        ErrorCategory::Timeout => "does not answer in time",
        ErrorCategory::ConnectionRefused => "refuses connections",
        ErrorCategory::ConnectionReset => "drops connections",
        ErrorCategory::Dns => "has a name that does not resolve",
        ErrorCategory::Tls => "fails the TLS handshake",
        ErrorCategory::Auth => "refuses the credentials",
        ErrorCategory::RateLimited => "limits requests",
        ErrorCategory::ResourceExhausted => "has no capacity left",
        ErrorCategory::Starting => "is still starting",
        ErrorCategory::ShuttingDown => "is shutting down",
        ErrorCategory::NotReady => "is not ready",
        ErrorCategory::NotServing => "is ready but cannot serve",
        ErrorCategory::HttpStatus => "answers with HTTP errors",
        ErrorCategory::Protocol => "does not give valid answers",
        ErrorCategory::Redirect => "answers with redirects",
        ErrorCategory::NotFound => "does not have what is asked for",
        ErrorCategory::Stale | ErrorCategory::Panic | ErrorCategory::Unknown => match state {
            CauseState::Down => "is down",
            CauseState::Intermittent => "fails",
            CauseState::Cut => "cannot be seen",
            CauseState::Degraded => "is degraded",
        },
    }
}

/// `a, b and c`, or `a, b, c, d, e and 7 more`.
pub(super) fn list<T: ToString>(names: &BTreeSet<T>) -> String {
    let first = names.iter().take(NAMES_IN_A_SENTENCE + 1);
    let mut written: Vec<String> = first.map(ToString::to_string).collect();
    let more = names.len().saturating_sub(NAMES_IN_A_SENTENCE);
    let tail = if more > 0 {
        written.truncate(NAMES_IN_A_SENTENCE);
        format!("{more} more")
    } else {
        match written.pop() {
            Some(last) => last,
            None => return String::new(),
        }
    };
    if written.is_empty() {
        tail
    } else {
        format!("{} and {tail}", written.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn every_summary_of_a_node_reads_as_a_sentence() {
        let id = CauseId::Node(Name::parse("orders-db").unwrap());
        let lines: Vec<String> = ErrorCategory::ALL
            .iter()
            .map(|category| summary(&id, CauseState::Down, *category, &[], false))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        orders-db does not answer in time
        orders-db refuses connections
        orders-db drops connections
        orders-db has a name that does not resolve
        orders-db fails the TLS handshake
        orders-db refuses the credentials
        orders-db limits requests
        orders-db has no capacity left
        orders-db is still starting
        orders-db is shutting down
        orders-db is not ready
        orders-db is ready but cannot serve
        orders-db is down
        orders-db answers with HTTP errors
        orders-db does not give valid answers
        orders-db answers with redirects
        orders-db does not have what is asked for
        orders-db is down
        orders-db is down
        ");
    }

    #[test]
    fn a_long_list_of_names_is_cut_and_says_so() {
        let names = |n: usize| -> BTreeSet<Name> {
            (0..n)
                .map(|i| Name::parse(&format!("s{i}")).unwrap())
                .collect()
        };
        assert_eq!(list(&names(0)), "");
        assert_eq!(list(&names(1)), "s0");
        assert_eq!(list(&names(3)), "s0, s1 and s2");
        assert_eq!(list(&names(7)), "s0, s1, s2, s3, s4 and 2 more");
    }
}
