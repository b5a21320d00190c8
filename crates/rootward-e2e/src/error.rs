//! Why a test could not go on.
//!
//! A test that returns an error, or unwraps one, shows its `Debug` form; so that form is the text for people.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Why a test could not go on. Its `Debug` form reads like its `Display` form, with the causes below.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Kind);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error(
        "{variable} is not set: run ./test, which starts the private servers and says where they are; \
         or ./test --only-servers, and set what it prints"
    )]
    NoVariable { variable: &'static str },
    #[error("{} is missing: run ./test, which builds it", path.display())]
    NoBinary { path: PathBuf },
    #[error("{program} is not installed: run ./test, which installs it")]
    NoTool { program: &'static str },
    #[error("failed to {action} {}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("failed to start {name}")]
    Spawn { name: String, source: io::Error },
    #[error("failed to send {signal} to {name} (process {process})")]
    Signal {
        signal: &'static str,
        name: String,
        process: u32,
        source: io::Error,
    },
    #[error("failed to learn how {name} ended")]
    Wait { name: String, source: io::Error },
    #[error("{name} did not end within {limit:?}; the end of its log:\n{log}")]
    StillRunning {
        name: String,
        limit: Duration,
        log: String,
    },
    #[error("{name} ended with {status}; the end of its log:\n{log}")]
    Ended {
        name: String,
        status: ExitStatus,
        log: String,
    },
    #[error("{name} is not running: it was killed and not started again")]
    NotRunning { name: &'static str },
    #[error("{name} is running already")]
    Running { name: &'static str },
    #[error("waited {limit:?} for this in vain: {what}; last seen: {last}")]
    InVain {
        what: String,
        limit: Duration,
        last: String,
    },
    #[error("no free port of 127.0.0.1 between {first} and {last}")]
    NoPort { first: u16, last: u16 },
    #[error("this machine has no user {name}, as whom PostgreSQL could run instead of root")]
    NoUser { name: &'static str },
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(kind)
    }
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self(Kind::File {
            action,
            path: path.to_owned(),
            source,
        })
    }

    /// Whether a wait ran out of time.
    pub fn is_in_vain(&self) -> bool {
        matches!(self.0, Kind::InVain { .. } | Kind::StillRunning { .. })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            write!(f, "\n  because: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
