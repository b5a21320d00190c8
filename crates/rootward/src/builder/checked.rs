//! Everything that was said, judged before anything is bound or runs: all problems at once.

use std::collections::BTreeSet;
use std::time::Duration;

use rootward_core::{Criticality, Name, Scope, Thresholds, stale_after};
use rootward_wire::limits::MAX_TEXT_BYTES;
use tokio::time::Instant;

use crate::access::Gate;
use crate::check::{Check, CheckParts, Labelled};
use crate::drain::MAX_DRAIN;
use crate::duration;
use crate::error::{Error, Kind, Problem};
use crate::identity::{Identity, instance_from_environment};
use crate::runner::Plan;
use crate::shared::CheckFacts;
use crate::spread;
use crate::telemetry::{Journal, MAX_HOOKS};
use crate::vitals::Limits;

use super::{Builder, MAX_CHECKS, MAX_INTERVAL, MAX_TIMEOUT};

impl Builder {
    pub(super) fn checked(&self, journal: &Journal) -> Result<Checked, Error> {
        let mut problems = ProblemList::default();
        let service = problems.name("service", &self.service);
        let instance = match &self.instance {
            Some(instance) => problems.name("instance", instance),
            None => Some(instance_from_environment()),
        };
        let mut optional = |what, text: &Option<String>| {
            text.as_deref().and_then(|text| problems.name(what, text))
        };
        let version = optional("version", &self.version);
        let environment = optional("environment", &self.environment);
        let namespace = optional("namespace", &self.namespace);
        let zone = optional("zone", &self.zone);
        let host = optional("host", &self.host);
        self.limits.check(&mut problems);
        problems.checks(self.checks.len());
        if self.listeners.hooks.len() > MAX_HOOKS {
            problems.add(
                "on_change",
                format!(
                    "{} hooks are too many, at most {MAX_HOOKS}",
                    self.listeners.hooks.len()
                ),
            );
        }
        for (what, value) in [("delay", self.drain.delay), ("grace", self.drain.grace)] {
            if value > MAX_DRAIN {
                problems.longer("drain", what, value, MAX_DRAIN);
            }
        }
        let mut names = BTreeSet::new();
        let facts: Vec<_> = self
            .checks
            .iter()
            .map(|check| self.defaults.facts(check, &mut names, &mut problems))
            .collect();
        let gate = Gate::new(&self.access, journal.clone(), Instant::now(), (self.wall)());
        let gate = gate
            .map_err(|found| {
                for (subject, text) in found {
                    problems.add(subject, text);
                }
            })
            .ok();
        match (
            service,
            instance,
            gate,
            facts.into_iter().collect::<Option<Vec<_>>>(),
        ) {
            (Some(service), Some(instance), Some(gate), Some(facts)) if problems.0.is_empty() => {
                let identity = Identity {
                    service,
                    instance,
                    version,
                    environment,
                    namespace,
                    zone,
                    host,
                };
                let plans = facts
                    .iter()
                    .zip(&self.checks)
                    .map(|(facts, check)| Plan::new(check, facts, &identity))
                    .collect();
                Ok(Checked {
                    identity,
                    plans,
                    facts,
                    gate,
                })
            }
            _ => Err(Kind::Problems {
                service: self.service.clone(),
                problems: problems.0,
            }
            .into()),
        }
    }
}

/// What a check has that says nothing else itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

impl Defaults {
    /// What a check is. `None` only together with a problem.
    pub(crate) fn facts<'c>(
        &self,
        check: &'c Check<Labelled>,
        names: &mut BTreeSet<&'c str>,
        problems: &mut ProblemList,
    ) -> Option<CheckFacts> {
        let subject = format!("check {:?}", check.parts.name);
        if !names.insert(&check.parts.name) {
            problems.add(&subject, "another check has this name".to_owned());
        }
        self.of_parts(problems, &subject, &check.parts, check.criticality())
    }

    fn of_parts(
        &self,
        problems: &mut ProblemList,
        subject: &str,
        parts: &CheckParts,
        criticality: Criticality,
    ) -> Option<CheckFacts> {
        let interval = parts.interval.unwrap_or(self.interval);
        let timeout = parts.timeout.unwrap_or(self.timeout);
        problems.duration(subject, "interval", interval, MAX_INTERVAL);
        problems.duration(subject, "timeout", timeout, MAX_TIMEOUT);
        if timeout >= interval {
            let text = format!(
                "the timeout ({}) must be shorter than the interval ({})",
                duration::text(timeout),
                duration::text(interval)
            );
            problems.add(subject, text);
        }
        if let Some(slow) = parts.slow_above.filter(|slow| *slow >= timeout) {
            let text = format!(
                "slow_above ({}) must be shorter than the timeout ({})",
                duration::text(slow),
                duration::text(timeout)
            );
            problems.add(subject, text);
        }
        let thresholds = Thresholds::new(
            parts.fall.unwrap_or(Thresholds::DEFAULT.fall()),
            parts.rise.unwrap_or(Thresholds::DEFAULT.rise()),
        );
        if thresholds.is_none() {
            problems.add(subject, "fall and rise must be at least 1".to_owned());
        }
        let mut own_name = |what: &str, text: &str| problems.name_of(subject, what, text);
        let name = own_name("name", &parts.name);
        let kind = parts
            .kind
            .as_deref()
            .and_then(|kind| own_name("kind", kind));
        if let Some(target) = &parts.target {
            problems.target(subject, target);
        }
        if let Some(owner) = &parts.owner {
            problems.text(subject, "owner", owner);
        }
        Some(CheckFacts {
            name: name?,
            criticality,
            scope: parts.scope,
            depth: parts.depth,
            kind,
            target: parts.target.clone(),
            owner: parts.owner.clone(),
            interval,
            timeout,
            stale_after: stale_after(interval, timeout),
            slow_above: parts.slow_above,
            thresholds: thresholds?,
            gates_readiness: parts
                .gates_readiness
                .unwrap_or(parts.scope == Scope::Local && criticality == Criticality::Hard),
        })
    }
}

impl Limits {
    fn check(&self, problems: &mut ProblemList) {
        let all = [
            ("lag budget", self.lag_budget),
            ("wedge limit", self.wedge_limit),
            ("time after which lag fails open", self.fail_open_after),
        ];
        for (what, value) in all {
            problems.duration("runtime", what, value, MAX_INTERVAL);
        }
        if self.wedge_limit <= self.lag_budget {
            let text = format!(
                "the wedge limit ({}) must be longer than the lag budget ({})",
                duration::text(self.wedge_limit),
                duration::text(self.lag_budget)
            );
            problems.add("runtime", text);
        }
    }

    /// A quarter more or less: a fleet that is overloaded together must not come back together.
    pub(super) fn jittered(mut self, identity: &Identity) -> Self {
        let share = spread::hash([&identity.service, &identity.instance]) % 501;
        let share = u32::try_from(share).unwrap_or(0);
        self.fail_open_after = self.fail_open_after * (750 + share) / 1000;
        self
    }
}

/// What was said, without problems.
pub(super) struct Checked {
    pub(super) identity: Identity,
    pub(super) plans: Vec<Plan>,
    pub(super) facts: Vec<CheckFacts>,
    pub(super) gate: Gate,
}

/// What is wrong, all of it.
#[derive(Default)]
pub(crate) struct ProblemList(pub(crate) Vec<Problem>);

impl ProblemList {
    /// Whether there are more checks than may be.
    pub(crate) fn checks(&mut self, count: usize) {
        if count > MAX_CHECKS {
            self.add(
                "checks",
                format!("{count} are too many, at most {MAX_CHECKS}"),
            );
        }
    }

    pub(crate) fn add(&mut self, subject: &str, text: String) {
        self.0.push(Problem {
            subject: subject.to_owned(),
            text,
        });
    }

    fn name(&mut self, subject: &str, text: &str) -> Option<Name> {
        Name::parse(text)
            .map_err(|problem| self.add(subject, problem.to_string()))
            .ok()
    }

    fn name_of(&mut self, subject: &str, what: &str, text: &str) -> Option<Name> {
        Name::parse(text)
            .map_err(|problem| self.add(subject, format!("{what}: {problem}")))
            .ok()
    }

    fn duration(&mut self, subject: &str, what: &str, value: Duration, max: Duration) {
        if value < Duration::from_millis(1) {
            self.add(subject, format!("the {what} must be at least 1 ms"));
        } else if value > max {
            self.longer(subject, what, value, max);
        }
    }

    fn longer(&mut self, subject: &str, what: &str, value: Duration, max: Duration) {
        let text = format!(
            "the {what} ({}) may be at most {}",
            duration::text(value),
            duration::text(max)
        );
        self.add(subject, text);
    }

    fn text(&mut self, subject: &str, what: &str, text: &str) {
        if text.is_empty() || text.len() > MAX_TEXT_BYTES || text.contains(char::is_control) {
            let text = format!(
                "the {what} must have 1 to {MAX_TEXT_BYTES} bytes without control characters"
            );
            self.add(subject, text);
        }
    }

    /// The text of a bad target is not repeated: what is wrong with it may be that it holds a password.
    fn target(&mut self, subject: &str, target: &str) {
        self.text(subject, "target", target);
        if target.contains(['@', '?', '#']) {
            let text = "the target must not have a user, a password or a query: \
                        it is shown to everybody who may read the report";
            self.add(subject, text.to_owned());
        }
    }
}
