//! What the file says while the agent runs: whether it says something else, and what of it can be taken up.
//!
//! A file is read again when it or a file that it takes a value from has changed, and on SIGHUP. Reading is on a thread
//! for blocking work, so a file system that hangs delays nothing but this.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rootward::NextCheck;
use rootward_config::Problems;
use rootward_config::agent::AgentSpec;

use crate::file::{self, Stamp, Values};
use crate::plan::{Plan, Planned};

/// How often the files are looked at.
pub(crate) const LOOK: Duration = Duration::from_secs(2);

/// How long files must say the same before it counts: whoever writes a file in two steps is not read between them.
const SETTLED: Duration = Duration::from_millis(200);

/// How often files that go on changing are looked at before what they say then counts.
const MAX_LOOKS: usize = 25;

/// How many problems go to the log.
const MAX_LOGGED: usize = 20;

/// What the files say at one moment.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What was in each file that was read.
    pub(crate) stamp: Stamp,
    /// A plan, or why there is none.
    pub(crate) plan: Result<Plan, Refusal>,
}

/// Why what the file says is not taken up: each in a sentence, and none with a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) sentences: Vec<String>,
    more: usize,
}

impl Refusal {
    pub(crate) fn one(sentence: impl Into<String>) -> Self {
        Self {
            sentences: vec![sentence.into()],
            more: 0,
        }
    }

    /// For the report: the first, and how many there are besides.
    pub(crate) fn finding(&self, file: &Path) -> String {
        let first = self.sentences.first().map_or("", String::as_str);
        let besides = self.sentences.len().saturating_sub(1) + self.more;
        let besides = match besides {
            0 => String::new(),
            1 => ", and 1 problem more".to_owned(),
            more => format!(", and {more} problems more"),
        };
        let file = file.display();
        format!(
            "{file} has changed and is refused; what it said before still holds: {first}{besides}"
        )
    }

    pub(crate) fn log(&self, file: &Path) {
        let file = file.display();
        for problem in self.sentences.iter().take(MAX_LOGGED) {
            tracing::warn!(
                target: "rootward",
                %file,
                problem,
                "the file is refused: what it said before still holds"
            );
        }
    }
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        let list = problems.as_slice();
        let logged = list.iter().take(MAX_LOGGED).map(ToString::to_string);
        Self {
            sentences: logged.collect(),
            more: list.len().saturating_sub(MAX_LOGGED) + problems.left_out(),
        }
    }
}

/// Reads the files now.
pub(crate) fn read(path: &Path, env: &BTreeMap<String, String>) -> Reading {
    let values = Values::default();
    let plan = match file::source(path, &values) {
        Ok(source) => Plan::compile_with(&source, env, &values).map_err(Refusal::from),
        Err(unread) => Err(Refusal::one(unread.to_string())),
    };
    Reading {
        stamp: values.stamp(),
        plan,
    }
}

/// The file of a running agent.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    env: Arc<BTreeMap<String, String>>,
    /// What was in the files when they were read last, whether it was taken up or not.
    stamp: Stamp,
}

impl Watched {
    pub(crate) fn new(path: PathBuf, env: BTreeMap<String, String>, stamp: Stamp) -> Self {
        Self {
            path,
            env: Arc::new(env),
            stamp,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the files say now; `None` if they say what they said, or cannot be read now.
    pub(crate) async fn look(&mut self) -> Option<Reading> {
        let stamp = self.stamp.clone();
        let changed = tokio::task::spawn_blocking(move || !stamp.holds()).await;
        if !matches!(changed, Ok(true)) {
            return None;
        }
        let mut reading = self.read().await?;
        for _ in 0..MAX_LOOKS {
            tokio::time::sleep(SETTLED).await;
            let again = self.read().await?;
            let settled = again.stamp == reading.stamp;
            reading = again;
            if settled {
                break;
            }
        }
        self.stamp = reading.stamp.clone();
        Some(reading)
    }

    /// What the files say now, whether it is something else or not.
    pub(crate) async fn read_now(&mut self) -> Option<Reading> {
        let reading = self.read().await?;
        self.stamp = reading.stamp.clone();
        Some(reading)
    }

    async fn read(&self) -> Option<Reading> {
        let (path, env) = (self.path.clone(), Arc::clone(&self.env));
        let reading = tokio::task::spawn_blocking(move || read(&path, &env)).await;
        reading
            .map_err(|error| tracing::error!(target: "rootward", %error, "the file was not read"))
            .ok()
    }
}

/// Why a plan cannot be taken up by an agent that runs another: what can only be said at the start.
pub(crate) fn needs_restart(before: &AgentSpec, now: &AgentSpec) -> Option<Refusal> {
    let (was, is) = (&before.listen.detail, &now.listen.detail);
    let parts = [
        ("service", before.service != now.service),
        ("listen.bind", before.listen.bind != now.listen.bind),
        ("listen.detail.loopback", was.loopback != is.loopback),
        (
            "listen.detail.open_metrics",
            was.open_metrics != is.open_metrics,
        ),
        (
            "listen.detail.auth.tokens_file",
            was.tokens_file != is.tokens_file,
        ),
        (
            // Other tokens are taken up; whether there are any is not.
            "listen.detail.auth.tokens",
            was.tokens.is_some() != is.tokens.is_some(),
        ),
        (
            "application.drain",
            before.application.drain != now.application.drain,
        ),
    ];
    let changed: Vec<_> = parts
        .into_iter()
        .filter_map(|(part, changed)| changed.then_some(part))
        .collect();
    let verb = match changed.as_slice() {
        [] => return None,
        [_] => "has",
        _ => "have",
    };
    let changed = changed.join(", ");
    Some(Refusal::one(format!(
        "{changed} {verb} changed, and that needs a restart of the agent"
    )))
}

/// What the new checks are to those that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) kept: usize,
    pub(crate) begun: usize,
    pub(crate) ended: usize,
}

/// Which checks go on and which begin. What was made from the same goes on.
pub(crate) fn next(running: &[Planned], planned: &mut [Planned]) -> (Vec<NextCheck>, Difference) {
    let mut next = Vec::with_capacity(planned.len());
    let mut kept = 0;
    for planned in planned.iter_mut() {
        let same = running
            .iter()
            .any(|running| running.name == planned.name && running.made_from == planned.made_from);
        match planned.check.take() {
            Some(check) if !same => next.push(NextCheck::begin(check)),
            Some(_) | None => {
                kept += 1;
                next.push(NextCheck::keep(planned.name.clone()));
            }
        }
    }
    let difference = Difference {
        kept,
        begun: next.len() - kept,
        ended: running.len() - kept,
    };
    (next, difference)
}
