//! Whose memory or descriptors: of this process, or for a sidecar of another one.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rootward::{ErrorCategory, Failure, Outcome, Reason};

/// The longest pid file that is read, in bytes.
const MAX_PID_FILE: u64 = 64;

/// Of which process a check tells.
///
/// The directory `/proc` has to show the process: for a sidecar in a container of its own that takes a shared process
/// namespace (`shareProcessNamespace` of Kubernetes, `pid: "service:…"` of Compose).
///
/// ```
/// use rootward_checks::Whose;
///
/// // Written by the application when it starts; read again for every run, because it may start again.
/// let application = Whose::PidFile("/run/cart/cart.pid".into());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Whose {
    /// Of the process that runs the check.
    #[default]
    Own,
    /// Of the process with this number.
    Pid(u32),
    /// Of the process whose number stands in this file. It is read for every run.
    PidFile(PathBuf),
}

impl Whose {
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Pid(0) => Some("there is no process with the number 0"),
            Self::PidFile(path) if path.as_os_str().is_empty() => {
                Some("the path of the pid file is empty")
            }
            Self::Own | Self::Pid(_) | Self::PidFile(_) => None,
        }
    }

    /// The directory in `/proc` of a process that lives.
    pub(crate) fn directory(&self) -> Result<PathBuf, Untold> {
        let pid = match self {
            Self::Own => return Ok(PathBuf::from("/proc/self")),
            Self::Pid(pid) => *pid,
            Self::PidFile(path) => pid_in(path)?,
        };
        let directory = PathBuf::from(format!("/proc/{pid}"));
        match std::fs::read_to_string(directory.join("stat")) {
            Ok(stat) if has_ended(&stat) => Err(Untold::gone()),
            Ok(_) => Ok(directory),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && Path::new("/proc/self").exists() =>
            {
                Err(Untold::gone())
            }
            Err(error) => Err(Untold::unknown("the process cannot be looked at", error)),
        }
    }
}

fn pid_in(path: &Path) -> Result<u32, Untold> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_PID_FILE).read_to_string(&mut text));
    match read {
        Ok(_) => text
            .trim()
            .parse()
            .map_err(|error| Untold::unknown("there is no number in the pid file", error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let failure = Failure::new(ErrorCategory::NotFound);
            let failure = failure
                .because("the pid file is not there")
                .caused_by(error);
            Err(Untold::Gone(failure))
        }
        Err(error) => Err(Untold::unknown("the pid file cannot be read", error)),
    }
}

/// `1234 (name) Z …`: nobody has collected it yet. The name may hold anything.
fn has_ended(stat: &str) -> bool {
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

/// Why there is no number to judge.
#[derive(Debug)]
pub(crate) enum Untold {
    /// There is nobody to tell of: that is a failure.
    Gone(Failure),
    /// It cannot be seen from here. Whether anything is wrong is not known, which is no reason to leave the rotation,
    /// and none to call it good.
    Unknown(Failure),
}

impl Untold {
    fn gone() -> Self {
        Self::Gone(Failure::new(ErrorCategory::NotFound).because("the process is not there"))
    }

    pub(crate) fn unknown(
        words: impl Into<Reason>,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let failure = Failure::new(ErrorCategory::Unknown);
        Self::Unknown(failure.because(words).caused_by(error))
    }

    pub(crate) fn outcome(self) -> Result<Outcome, Failure> {
        match self {
            Self::Gone(failure) => Err(failure),
            Self::Unknown(failure) => Ok(Outcome::Degraded(failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_has_collected_is_gone() {
        assert!(has_ended("12 (a) b) Z 1 12 12"));
        assert!(!has_ended("12 (Z) S 1 12 12"));
        assert!(!has_ended(""));
    }

    #[test]
    fn a_process_that_cannot_be_is_a_problem() {
        assert_eq!(Whose::Own.problem(), None);
        assert_eq!(
            Whose::Pid(0).problem(),
            Some("there is no process with the number 0")
        );
        assert_eq!(
            Whose::PidFile(PathBuf::new()).problem(),
            Some("the path of the pid file is empty")
        );
    }
}
