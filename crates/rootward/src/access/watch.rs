//! Files that are replaced while the service runs: tokens, and with the feature `tls` certificates.
//!
//! They are read as a whole every few seconds, on a thread for blocking work, and compared with what was read before: a
//! time stamp would miss a file that was replaced within its resolution. What has changed is read again after a moment
//! and used only if it stayed the same, because a file that is being written, or a pair of which one half was replaced,
//! looks like a new one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};
use zeroize::Zeroizing;

use super::file::read;
use crate::runner::stopped;
use crate::shared::Shared;
use crate::telemetry::Journal;

/// How often a file of tokens is looked at. With [`SETTLE`] a token that was taken out is refused within 5 s.
const TOKENS_EVERY: Duration = Duration::from_secs(4);

/// How long a changed file must stay the same.
const SETTLE: Duration = Duration::from_millis(250);

/// When a read that has not ended is written about. It is waited for, and no second one is begun beside it.
const SLOW_READ: Duration = Duration::from_secs(5);

/// The contents of some files, in the order of their paths.
pub(crate) type Contents = Vec<Zeroizing<Vec<u8>>>;

/// Reads files that belong together, or says which cannot be read, and why.
pub(crate) fn read_all(paths: &[PathBuf], most: usize) -> Result<Contents, String> {
    let read = |path: &PathBuf| {
        read(path, most).map_err(|error| format!("the file {} {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// Files that belong together, and what they are called in the log.
pub(crate) struct Files {
    pub(crate) what: &'static str,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) most: usize,
    pub(crate) every: Duration,
}

/// Until stop is heard.
pub(crate) async fn watch_files(shared: Arc<Shared>, stop: watch::Receiver<bool>) {
    let gate = &shared.gate;
    let journal = &shared.telemetry.journal;
    let tokens = async {
        if let Some(path) = gate.tokens_path() {
            let files = Files {
                what: "tokens",
                paths: vec![path.to_owned()],
                most: super::tokens::MAX_FILE_BYTES,
                every: TOKENS_EVERY,
            };
            let take = |contents: &Contents| gate.take_tokens_file(contents, shared.wall());
            follow(files, journal, stop.clone(), take, || {}).await;
        }
    };
    #[cfg(feature = "tls")]
    let certificates = async {
        if let Some(tls) = &gate.tls {
            let take = |contents: &Contents| tls.take(contents);
            let look = || tls.warn_of_expiry(journal, shared.wall());
            follow(tls.files(), journal, stop.clone(), take, look).await;
        }
    };
    #[cfg(not(feature = "tls"))]
    let certificates = std::future::ready(());
    tokio::join!(tokens, certificates);
}

/// Looks again and again; uses what changed, or warns once for each change that cannot be used.
async fn follow(
    files: Files,
    journal: &Journal,
    mut stop: watch::Receiver<bool>,
    mut take: impl FnMut(&Contents) -> Result<(), String>,
    mut each_look: impl FnMut(),
) {
    let files = Arc::new(files);
    // What was read at the start is read once more; it changes nothing and nothing is said about it.
    let mut known: Option<Generation> = None;
    let looking = async {
        loop {
            each_look();
            let first = look(&files, journal).await;
            if known.as_ref() != Some(&first.generation) {
                if known.is_some() {
                    sleep(SETTLE).await;
                }
                let second = look(&files, journal).await;
                if first.generation == second.generation {
                    let taken = second.contents.and_then(|contents| take(&contents));
                    if known.is_some() || taken.is_err() {
                        report(journal, files.what, taken);
                    }
                    known = Some(second.generation);
                }
            }
            sleep(files.every).await;
        }
    };
    tokio::select! {
        () = stopped(&mut stop) => {}
        () = looking => {}
    }
}

/// Equal for equal contents, and for equal reasons why there are none.
#[derive(PartialEq, Eq)]
struct Generation([u8; 32]);

struct Look {
    generation: Generation,
    contents: Result<Contents, String>,
}

async fn look(files: &Arc<Files>, journal: &Journal) -> Look {
    let reading = Arc::clone(files);
    let mut reading: JoinHandle<_> = spawn_blocking(move || read_all(&reading.paths, reading.most));
    let read = match timeout(SLOW_READ, &mut reading).await {
        Ok(read) => read,
        Err(_) => {
            let what = files.what;
            journal.say(move || {
                tracing::warn!(target: "rootward", what, "files are being read for more than 5 s");
            });
            reading.await
        }
    };
    let contents = read.unwrap_or_else(|_| Err("the files could not be read".to_owned()));
    let mut digest = Sha256::new();
    match &contents {
        Ok(contents) => {
            for part in contents {
                digest.update(Sha256::digest(part));
            }
        }
        Err(error) => digest.update(error),
    }
    Look {
        generation: Generation(digest.finalize().into()),
        contents,
    }
}

fn report(journal: &Journal, what: &'static str, taken: Result<(), String>) {
    journal.say(move || match taken {
        Ok(()) => tracing::info!(target: "rootward", what, "replaced from their files"),
        Err(error) => tracing::warn!(
            target: "rootward", what, error,
            "cannot be replaced from their files: what was in use stays in use"
        ),
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::access::captured::Captured;

    #[tokio::test(start_paused = true)]
    async fn kf_027_each_generation_that_cannot_be_used_is_warned_of_once() {
        let (log, _guard) = Captured::begin();
        let journal = Journal::default();
        let directory = tempfile::TempDir::new().expect("a directory");
        let path = directory.path().join("file");
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        write("good 1");
        let taken = Mutex::new(Vec::new());
        let take = |contents: &Contents| {
            let text = String::from_utf8_lossy(&contents[0]).into_owned();
            if text.starts_with("good") {
                taken.lock().expect("nobody panicked").push(text);
                Ok(())
            } else {
                Err("the file is no good".to_owned())
            }
        };
        let files = Files {
            what: "files",
            paths: vec![path.clone()],
            most: 20,
            every: Duration::from_secs(10),
        };
        let (stop, stopped) = watch::channel(false);
        let a_while = || async {
            sleep(Duration::from_secs(60)).await;
            journal.write();
        };
        let steps = async {
            a_while().await;
            assert_eq!(log.take(), [""; 0], "nothing has changed");
            write("bad 1");
            a_while().await;
            insta::assert_snapshot!(log.take().join("\n"), @r#"WARN rootward: cannot be replaced from their files: what was in use stays in use what="files" error="the file is no good""#);
            write("bad 2");
            a_while().await;
            assert_eq!(log.take().len(), 1, "another generation");
            write("longer than twenty bytes");
            a_while().await;
            let lines = log
                .take()
                .join("\n")
                .replace(&*path.to_string_lossy(), "FILE");
            insta::assert_snapshot!(lines, @r#"WARN rootward: cannot be replaced from their files: what was in use stays in use what="files" error="the file FILE is longer than 20 bytes""#);
            write("good 2");
            a_while().await;
            insta::assert_snapshot!(log.take().join("\n"), @r#"INFO rootward: replaced from their files what="files""#);
            std::fs::remove_file(&path).expect("it was there");
            a_while().await;
            assert_eq!(log.take().len(), 1, "it is gone");
            write("good 2");
            a_while().await;
            drop(stop);
        };
        tokio::join!(follow(files, &journal, stopped, take, || {}), steps);
        let taken = taken.into_inner().expect("nobody panicked");
        assert_eq!(taken, ["good 1", "good 2", "good 2"]);
    }
}
