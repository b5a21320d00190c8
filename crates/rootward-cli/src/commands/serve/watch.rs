//! Looks whether the files of a running aggregator say something else, and gives it what they say.
//!
//! They are looked at each second, and at once on SIGHUP, by what is in them and not by their dates: a file of the same
//! length and age, or a link that points elsewhere, is seen. Reading and compiling is on a thread for blocking work, so
//! a file system that hangs delays nothing but this.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rootward_agent::file::Stamp;
use rootward_server::{Refused, Reloader};
use tokio::signal::unix::Signal;
use tokio::time::sleep;

use crate::configuration::{self, Reading, Wrong};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How long files must say the same before it counts: whoever writes a file in two steps is not read between them.
const SETTLED: Duration = Duration::from_millis(200);

/// How often files that go on changing are looked at before what they say then counts.
const MAX_LOOKS: usize = 25;

/// The files of a running aggregator.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) paths: Arc<[PathBuf]>,
    pub(super) env: Arc<BTreeMap<String, String>>,
    /// What was in them when they were read last.
    pub(super) stamp: Stamp,
}

impl Files {
    /// Looks until it is dropped.
    pub(super) async fn watch(mut self, mut hangup: Signal, reloader: Reloader) -> Infallible {
        loop {
            let told = tokio::select! {
                () = sleep(LOOK) => false,
                Some(()) = hangup.recv() => true,
            };
            if !told && self.hold(&self.stamp).await {
                continue;
            }
            let Some(reading) = self.settled().await else {
                continue;
            };
            self.stamp = reading.stamp;
            match reading.compiled {
                Ok(checked) => {
                    // What came of it is in the log, the metrics and the API.
                    let _ = reloader.apply(checked).await;
                }
                Err(wrong) => {
                    reloader.refuse(refused(&wrong));
                }
            }
        }
    }

    async fn hold(&self, stamp: &Stamp) -> bool {
        let stamp = stamp.clone();
        let holds = tokio::task::spawn_blocking(move || stamp.holds()).await;
        holds.unwrap_or(true)
    }

    /// What the files say once they have stopped changing.
    async fn settled(&self) -> Option<Reading> {
        let mut reading = self.read().await?;
        for _ in 0..MAX_LOOKS {
            sleep(SETTLED).await;
            if self.hold(&reading.stamp).await {
                break;
            }
            reading = self.read().await?;
        }
        Some(reading)
    }

    async fn read(&self) -> Option<Reading> {
        let (paths, env) = (Arc::clone(&self.paths), Arc::clone(&self.env));
        let read = tokio::task::spawn_blocking(move || configuration::load(&paths, &env));
        read.await.ok()
    }
}

fn refused(wrong: &Wrong) -> Refused {
    match wrong {
        Wrong::Unread(files) => Refused::new(files.iter().map(ToString::to_string)),
        Wrong::Problems(problems) => {
            let list = problems.as_slice().iter().map(ToString::to_string);
            let mut refused = Refused::new(list);
            refused.left_out += problems.left_out();
            refused
        }
    }
}
