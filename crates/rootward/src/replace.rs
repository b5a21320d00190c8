//! Other checks while the service runs: judges what is to come, and gives it to the runner.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rootward_core::Name;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

use crate::builder::{Defaults, ProblemList};
use crate::check::{Check, Labelled};
use crate::error::{Error, Kind};
use crate::runner::{Next, Order, Plan};
use crate::shared::{Entry, Shared};

/// One check of those that are to be run from now on: see [`Health::replace_checks`](crate::Health::replace_checks).
///
/// ```
/// use rootward::{Check, NextCheck};
///
/// let next = [
///     NextCheck::keep("orders-db"), // as it is, with all that is known about it
///     NextCheck::begin(Check::new("rates", || async { Ok(()) }).soft()),
/// ];
/// ```
pub struct NextCheck(Said);

enum Said {
    Keep(String),
    Begin(Box<Check<Labelled>>),
}

impl NextCheck {
    /// The check that has this name goes on.
    pub fn keep(name: impl Into<String>) -> Self {
        Self(Said::Keep(name.into()))
    }

    /// This one begins.
    #[must_use]
    pub fn begin(check: Check<Labelled>) -> Self {
        Self(Said::Begin(Box::new(check)))
    }

    fn name(&self) -> &str {
        match &self.0 {
            Said::Keep(name) => name,
            Said::Begin(check) => &check.parts.name,
        }
    }
}

impl fmt::Debug for NextCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match &self.0 {
            Said::Keep(_) => "Keep",
            Said::Begin(_) => "Begin",
        };
        f.debug_tuple(word).field(&self.name()).finish()
    }
}

/// The way to the runner.
pub(crate) struct Orders {
    /// Held until an order was carried out, so that the next is judged by what it made.
    runner: Mutex<mpsc::Sender<Order>>,
    defaults: Defaults,
}

impl Orders {
    pub(crate) fn new(runner: mpsc::Sender<Order>, defaults: Defaults) -> Self {
        Self {
            runner: Mutex::new(runner),
            defaults,
        }
    }

    pub(crate) async fn replace(
        &self,
        shared: &Arc<Shared>,
        next: Vec<NextCheck>,
    ) -> Result<(), Error> {
        let runner = self.runner.lock().await;
        let next = self.judged(shared, next)?;
        let not_run = || Kind::NotRun {
            service: shared.identity.service.to_string(),
        };
        let (done, is_done) = oneshot::channel();
        let order = Order { next, done };
        runner.send(order).await.map_err(|_| not_run())?;
        is_done.await.map_err(|_| not_run())?;
        Ok(())
    }

    fn judged(&self, shared: &Arc<Shared>, next: Vec<NextCheck>) -> Result<Vec<Next>, Error> {
        let running = shared.checks();
        let mut problems = ProblemList::default();
        problems.checks(next.len());
        let mut names = BTreeSet::new();
        let mut begin = Vec::new();
        let mut longest = shared.longest_timeout();
        for next in &next {
            match &next.0 {
                Said::Keep(name) => {
                    let subject = format!("check {name:?}");
                    if !names.insert(name.as_str()) {
                        problems.add(&subject, "another check has this name".to_owned());
                    }
                    let is_there = running
                        .iter()
                        .any(|check| check.facts.name.as_str() == name);
                    if !is_there {
                        let text = "it cannot be kept: no check has this name".to_owned();
                        problems.add(&subject, text);
                    }
                }
                Said::Begin(check) => {
                    let facts = self.defaults.facts(check, &mut names, &mut problems);
                    longest = facts
                        .as_ref()
                        .map_or(longest, |facts| longest.max(facts.timeout));
                    begin.extend(facts.map(|facts| {
                        let plan = Plan::new(check, &facts, &shared.identity);
                        (Arc::new(facts), plan)
                    }));
                }
            }
        }
        if !problems.0.is_empty() {
            return Err(Kind::Problems {
                service: shared.identity.service.to_string(),
                problems: problems.0,
            }
            .into());
        }
        let now = Instant::now();
        let mut begin = begin.into_iter();
        let judged = next.into_iter().filter_map(|next| match next.0 {
            // It is the name of a check that runs.
            Said::Keep(name) => Name::parse(&name).ok().map(Next::Keep),
            Said::Begin(_) => begin.next().map(|(facts, plan)| {
                let stats = shared.telemetry.stats(&facts, longest);
                Next::Begin(Box::new((Entry::new(facts, stats, now), plan)))
            }),
        });
        Ok(judged.collect())
    }
}
