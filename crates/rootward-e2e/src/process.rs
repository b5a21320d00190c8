//! A process of a test: registered with the run, with a log of its own, killed with its descendants when dropped.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use crate::error::{Error, Kind};
use crate::run::Run;
use crate::tree;
use crate::wait;

/// How much of the end of a log an error shows, in bytes.
const LOG_TAIL: usize = 4 * 1024;

/// How long a process may take to disappear after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// Numbers the logs, so that two processes of one name have two.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A running process. Dropped, it is killed with all its descendants.
#[derive(Debug)]
pub struct Process {
    child: Child,
    name: String,
    log: PathBuf,
    registration: PathBuf,
}

impl Process {
    /// Starts a command, with no input and with output and errors in one log file of the run.
    ///
    /// The process is entered into the run's list, so that `./test` ends it even when this test is killed.
    ///
    /// # Errors
    ///
    /// When the program cannot be started, or the log or the entry cannot be written.
    pub fn spawn(run: &Run, name: &str, mut command: Command) -> Result<Self, Error> {
        let logs = run.directory().join("logs");
        fs::create_dir_all(&logs).map_err(|source| Error::file("create", &logs, source))?;
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = logs.join(format!("{name}-{}-{number}.log", std::process::id()));
        let create = || {
            let file = File::create(&log)?;
            Ok((file.try_clone()?, file))
        };
        let (output, errors) = create().map_err(|source| Error::file("create", &log, source))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|source| Kind::Spawn {
                name: name.to_owned(),
                source,
            })?;
        match register(run, child.id(), name) {
            Ok(registration) => Ok(Self {
                child,
                name: name.to_owned(),
                log,
                registration,
            }),
            Err(error) => {
                end(&mut child);
                Err(error)
            }
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it runs or is frozen.
    pub fn is_alive(&self) -> bool {
        tree::is_alive(self.id())
    }

    /// Where its output and errors go.
    pub fn log_path(&self) -> &Path {
        &self.log
    }

    /// What it has written so far.
    pub fn log(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Sends SIGTERM to it alone.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn terminate(&self) -> Result<(), Error> {
        let sent = tree::send(self.id(), Signal::TERM);
        sent.map_err(|source| self.signal_error("SIGTERM", source))
    }

    /// Sends SIGINT to it alone, as Ctrl-C would.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn interrupt(&self) -> Result<(), Error> {
        let sent = tree::send(self.id(), Signal::INT);
        sent.map_err(|source| self.signal_error("SIGINT", source))
    }

    /// Stops it and its descendants where they are (SIGSTOP): the kernel still accepts connections for them, and
    /// nobody answers.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn freeze(&self) -> Result<(), Error> {
        tree::freeze(self.id()).map_err(|source| self.signal_error("SIGSTOP", source))
    }

    /// Lets it and its descendants go on (SIGCONT).
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn thaw(&self) -> Result<(), Error> {
        tree::thaw(self.id()).map_err(|source| self.signal_error("SIGCONT", source))
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    ///
    /// When it still runs at the limit; the error shows the end of its log.
    pub async fn wait(&mut self, limit: Duration) -> Result<ExitStatus, Error> {
        let (child, name) = (&mut self.child, &self.name);
        let look = async || child.try_wait();
        let ended = wait::until(name, limit, look, |seen| !matches!(seen, Ok(None))).await;
        match ended {
            Ok(Ok(Some(status))) => Ok(status),
            Ok(Err(source)) => Err(Kind::Wait {
                name: self.name.clone(),
                source,
            }
            .into()),
            Ok(Ok(None)) | Err(_) => {
                let (name, log) = (self.name.clone(), self.log_tail());
                Err(Kind::StillRunning { name, limit, log }.into())
            }
        }
    }

    /// Waits until it ends by itself, with exit code 0.
    ///
    /// # Errors
    ///
    /// When it ends in another way, or still runs at the limit; the error shows the end of its log.
    pub async fn succeed(&mut self, limit: Duration) -> Result<(), Error> {
        let status = self.wait(limit).await?;
        if status.success() {
            return Ok(());
        }
        Err(Kind::Ended {
            name: self.name.clone(),
            status,
            log: self.log_tail(),
        }
        .into())
    }

    /// Kills it and its descendants (SIGKILL), and waits until they are gone.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, or one of them is still there after ten seconds.
    pub async fn kill(mut self) -> Result<(), Error> {
        let family = tree::of(self.id());
        tree::kill(self.id()).map_err(|source| self.signal_error("SIGKILL", source))?;
        self.wait(KILL_LIMIT).await?;
        let what = format!("all processes of {} to be gone after SIGKILL", self.name);
        let left = async || {
            family
                .iter()
                .copied()
                .filter(|&id| tree::is_alive(id))
                .collect()
        };
        wait::until(&what, KILL_LIMIT, left, Vec::<u32>::is_empty).await?;
        Ok(())
    }

    /// The error that says how it ended, if it did.
    pub(crate) fn ended(&mut self) -> Result<(), Error> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(Kind::Ended {
                name: self.name.clone(),
                status,
                log: self.log_tail(),
            }
            .into()),
            Err(source) => Err(Kind::Wait {
                name: self.name.clone(),
                source,
            }
            .into()),
        }
    }

    fn log_tail(&self) -> String {
        let log = self.log();
        let start = log.len().saturating_sub(LOG_TAIL);
        let start = (start..=log.len())
            .find(|&at| log.is_char_boundary(at))
            .unwrap_or(start);
        log[start..].to_owned()
    }

    fn signal_error(&self, signal: &'static str, source: io::Error) -> Error {
        Kind::Signal {
            signal,
            name: self.name.clone(),
            process: self.id(),
            source,
        }
        .into()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
        // Left behind, the entry names a process that is gone, which `./test` notices.
        let _ = fs::remove_file(&self.registration);
    }
}

/// Kills a child and its descendants, and collects it.
fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        // Nobody to tell in a drop; the process is on the list of `./test` for exactly this.
        let _ = tree::kill(child.id());
        let _ = child.wait();
    }
}

/// Enters a process into the run's list: a file named by its id, with its start time and its name.
fn register(run: &Run, process: u32, name: &str) -> Result<PathBuf, Error> {
    let path = run.directory().join("pids").join(process.to_string());
    let started = tree::Seen::read(process).map_or(0, |seen| seen.started);
    // In two moves, so that `./test` never reads half a file.
    let unfinished = run.directory().join(format!("pids/.{process}"));
    fs::write(&unfinished, format!("{started} {name}\n"))
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(|source| Error::file("write", &path, source))?;
    Ok(path)
}
