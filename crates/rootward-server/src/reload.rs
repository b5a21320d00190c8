//! Another configuration for an aggregator that runs: prepared beside the loop that decides, then taken over by it in
//! one step, or refused; and what readers are told of either.
//!
//! Whoever holds a [`Reloader`] watches the files. What is refused changes nothing, and stays visible until a
//! configuration is taken up.

use std::fmt;
use std::sync::Arc;

use rootward_config::{Checked, GroupSpec};
use rootward_core::engine::Replaced;
use rootward_core::{Map, Moment, Name, Settings};
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::Clock;
use crate::events;
use crate::metrics::Metrics;
use crate::roster::Roster;
use crate::setup;

/// How many sentences about what is wrong are shown to readers.
pub const MAX_REFUSAL_SENTENCES: usize = 20;

/// Why a configuration is not taken up: each in a sentence, and none with a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The first of them, at most [`MAX_REFUSAL_SENTENCES`].
    pub sentences: Vec<String>,
    /// How many more there are.
    pub left_out: usize,
}

impl Refused {
    /// Of all that is wrong, what readers are shown.
    #[must_use]
    pub fn new(sentences: impl IntoIterator<Item = String>) -> Self {
        let mut sentences = sentences.into_iter();
        let shown = sentences.by_ref().take(MAX_REFUSAL_SENTENCES).collect();
        Self {
            sentences: shown,
            left_out: sentences.count(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentences.join("; "))?;
        match self.left_out {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// What readers are told that does not come from polls: names and groups, and how the configuration stands.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) environment: Option<Name>,
    pub(crate) groups: Vec<GroupSpec>,
    /// When the configuration in force was taken up.
    pub(crate) loaded_at: Moment,
    /// How often another one was taken up.
    pub(crate) reloads: u64,
    /// The newest one that was refused, and when, if none was taken up since.
    pub(crate) refused: Option<(Moment, Refused)>,
}

/// A configuration that can be run, with everything read that it names.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) map: Arc<Map>,
    pub(crate) roster: Roster,
    pub(crate) settings: Settings,
    /// Whom the self checks ask.
    pub(crate) references: Vec<rootward_fetch::Target>,
}

impl Prepared {
    pub(crate) fn new(config: Checked) -> Result<Self, crate::Error> {
        Ok(Self {
            roster: setup::roster(&config)?,
            settings: setup::settings(&config),
            references: setup::references(&config)?,
            map: Arc::new(config.map),
        })
    }
}

/// A configuration on its way to the loop, and where the answer goes.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) prepared: Box<Prepared>,
    pub(crate) done: oneshot::Sender<Replaced>,
}

/// Gives a running aggregator another configuration. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reloader {
    requests: mpsc::Sender<Request>,
    described: watch::Sender<Arc<Described>>,
    /// What only a start can change.
    bind: std::net::SocketAddr,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
}

impl Reloader {
    pub(crate) fn new(
        requests: mpsc::Sender<Request>,
        described: watch::Sender<Arc<Described>>,
        bind: std::net::SocketAddr,
        clock: Arc<Clock>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            requests,
            described,
            bind,
            clock,
            metrics,
        }
    }

    /// Takes this configuration up: targets that stay keep their state, their incidents and their slots. Returns what
    /// it meant to them; `None` if the aggregator has ended meanwhile.
    ///
    /// # Errors
    /// When it asks for what only a restart can change, or names a file that cannot be used. Then nothing is changed,
    /// and readers are told.
    pub async fn apply(&self, config: Checked) -> Result<Option<Replaced>, Refused> {
        if config.listen_internal != self.bind {
            let sentence = "listen.internal.bind has changed, and that needs a restart";
            return Err(self.refuse(Refused::new([sentence.to_owned()])));
        }
        let (environment, groups) = (config.aggregator.environment.clone(), config.groups.clone());
        // It reads files of certificates, and compiles what it has: beside the loops that have to be on time.
        let prepared = tokio::task::spawn_blocking(|| Prepared::new(config)).await;
        let prepared = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) => return Err(self.refuse(Refused::new([events::chain(&error)]))),
            Err(_) => {
                let sentence = "it could not be prepared, which is a fault of ours".to_owned();
                return Err(self.refuse(Refused::new([sentence])));
            }
        };
        let (done, applied) = oneshot::channel();
        let prepared = Box::new(prepared);
        if self
            .requests
            .send(Request { prepared, done })
            .await
            .is_err()
        {
            return Ok(None);
        }
        let Ok(replaced) = applied.await else {
            return Ok(None);
        };
        let now = self.clock.now();
        self.described.send_modify(|described| {
            let before = Arc::clone(described);
            *described = Arc::new(Described {
                environment,
                groups,
                loaded_at: now,
                reloads: before.reloads + 1,
                refused: None,
            });
        });
        self.metrics.reloads.inc();
        events::configuration_applied(&replaced);
        Ok(Some(replaced))
    }

    /// Says that what the files say now is not taken up.
    pub fn refuse(&self, refused: Refused) -> Refused {
        let now = self.clock.now();
        self.described.send_modify(|described| {
            let before = Described::clone(described);
            *described = Arc::new(Described {
                refused: Some((now, refused.clone())),
                ..before
            });
        });
        self.metrics.reloads_refused.inc();
        events::configuration_refused(&refused);
        refused
    }
}
