//! One look at the memory of a process: its cgroup's, and where that has no limit the machine's.

use std::io;

use super::cgroup::Cgroup;
use super::kernel::{self, Stalled};

/// Reads a small file of the kernel.
pub(super) type Read<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Cgroup,
    Machine,
}

/// How much of a limit is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) bytes: u64,
    pub(super) limit: u64,
    pub(super) of: Bound,
}

impl Used {
    pub(super) fn is_nearer_than(&self, other: &Self) -> bool {
        let (this, that) = (u128::from(self.bytes), u128::from(other.bytes));
        this * u128::from(other.limit) > that * u128::from(self.limit)
    }
}

/// What could not be seen: words for everybody, and the error for the log.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) words: &'static str,
    pub(super) error: Option<io::Error>,
}

impl Missing {
    pub(super) fn of(words: &'static str, error: io::Error) -> Self {
        Self {
            words,
            error: Some(error),
        }
    }

    pub(super) fn said(words: &'static str) -> Self {
        Self { words, error: None }
    }
}

/// What was seen, and what was not.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) used: Result<Used, Missing>,
    pub(super) pressure: Result<(Stalled, Bound), Missing>,
}

impl Reading {
    /// `process` is a directory in `/proc`.
    pub(super) fn take(read: Read<'_>, process: &str) -> Self {
        let machine = read("/proc/meminfo");
        let total = machine
            .as_ref()
            .ok()
            .and_then(|text| kernel::meminfo(text, "MemTotal"));
        let cgroup = Cgroup::of(read, process);
        let pressure = match &cgroup {
            Ok(Some(cgroup)) => cgroup
                .pressure(read)
                .map(|stalled| (stalled, Bound::Cgroup)),
            Ok(None) | Err(_) => None,
        };
        let used = match cgroup {
            Ok(Some(cgroup)) => cgroup.used(read, total),
            Ok(None) => Ok(None),
            Err(missing) => Err(missing),
        };
        Self {
            used: match used {
                Ok(Some(used)) => Ok(used),
                Ok(None) => of_the_machine(machine),
                Err(missing) => Err(missing),
            },
            pressure: pressure.map_or_else(|| pressure_of_the_machine(read), Ok),
        }
    }
}

fn of_the_machine(meminfo: io::Result<String>) -> Result<Used, Missing> {
    let words = "the memory of the machine cannot be read";
    let text = meminfo.map_err(|error| Missing::of(words, error))?;
    let (total, available) = (
        kernel::meminfo(&text, "MemTotal"),
        kernel::meminfo(&text, "MemAvailable"),
    );
    let (Some(total), Some(available)) = (total, available) else {
        return Err(Missing::said(words));
    };
    Ok(Used {
        bytes: total.saturating_sub(available),
        limit: total,
        of: Bound::Machine,
    })
}

fn pressure_of_the_machine(read: Read<'_>) -> Result<(Stalled, Bound), Missing> {
    let words = "memory pressure cannot be read here";
    let text = read("/proc/pressure/memory").map_err(|error| Missing::of(words, error))?;
    let stalled = kernel::pressure(&text).ok_or_else(|| Missing::said(words))?;
    Ok((stalled, Bound::Machine))
}
