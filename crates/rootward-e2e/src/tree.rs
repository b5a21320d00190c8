//! A process and all its descendants: found in /proc, frozen, thawed and killed together.
//!
//! PostgreSQL puts each of its processes into a session of its own, so a signal to a process group does not reach
//! them; only the parent's number leads to them.

use std::fs;
use std::io;

use rustix::process::{Pid, Signal, kill_process};

/// How often freezing looks for children that were born meanwhile. A stopped process has none, so the second look
/// finds nothing new unless children have children.
const FREEZE_LOOKS: usize = 10;

/// What /proc says of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: u32,
    pub(crate) state: char,
    pub(crate) parent: u32,
    /// Clock ticks since boot: with the id, it names one process for good.
    pub(crate) started: u64,
}

impl Seen {
    /// Reads one process; none when it is gone.
    pub(crate) fn read(id: u32) -> Option<Self> {
        Self::parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    fn parse(id: u32, stat: &str) -> Option<Self> {
        // The name stands in parentheses and may hold spaces and parentheses itself.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self {
            id,
            state,
            parent,
            started,
        })
    }

    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// Whether the process runs or is frozen: one that ended and was not yet collected by its parent is not alive.
pub fn is_alive(process: u32) -> bool {
    Seen::read(process).is_some_and(|seen| seen.is_alive())
}

/// The process and its descendants, parents first.
pub(crate) fn of(root: u32) -> Vec<u32> {
    let all: Vec<Seen> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Seen::read)
        .filter(Seen::is_alive)
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            all.iter()
                .filter(|seen| seen.parent == parent)
                .map(|seen| seen.id),
        );
        next += 1;
    }
    found
}

/// Stops the process and its descendants where they are (SIGSTOP), parents first, so that none is born meanwhile.
pub(crate) fn freeze(root: u32) -> io::Result<()> {
    send(root, Signal::STOP)?;
    let mut frozen = vec![root];
    for _ in 0..FREEZE_LOOKS {
        let new: Vec<u32> = of(root)
            .into_iter()
            .filter(|id| !frozen.contains(id))
            .collect();
        if new.is_empty() {
            break;
        }
        for id in new {
            send(id, Signal::STOP)?;
            frozen.push(id);
        }
    }
    Ok(())
}

/// Lets the process and its descendants go on (SIGCONT).
pub(crate) fn thaw(root: u32) -> io::Result<()> {
    of(root)
        .into_iter()
        .try_for_each(|id| send(id, Signal::CONT))
}

/// Kills the process and its descendants (SIGKILL).
pub(crate) fn kill(root: u32) -> io::Result<()> {
    freeze(root)?;
    of(root)
        .into_iter()
        .try_for_each(|id| send(id, Signal::KILL))
}

/// Sends a signal; that the process is gone already is no error.
pub(crate) fn send(id: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(id)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(io::ErrorKind::InvalidInput)?;
    match kill_process(pid, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_is_read_past() {
        let stat = "42 (a) S (b) T 7 42 42 0 -1 4194560 163 0 0 0 0 0 0 0 20 0 1 0 98765 2400256 0";
        let expected = Seen {
            id: 42,
            state: 'T',
            parent: 7,
            started: 98765,
        };
        assert_eq!(Seen::parse(42, stat), Some(expected));
    }

    #[test]
    fn half_a_line_is_no_process() {
        assert_eq!(Seen::parse(42, "42 (sleep) S 7"), None);
        assert_eq!(Seen::parse(42, ""), None);
    }
}
