//! Processor time: what a busy neighbour cannot take away, unlike requests a second.
//!
//! The figures are the first field of `schedstat`: nanoseconds on a processor, user and system
//! (Documentation/scheduler/sched-stats.rst of the Linux kernel).

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What the kernel keeps of a thread's name.
const KERNEL_NAME_BYTES: usize = 15;

/// The processor time that the thread of this process with this name has spent so far.
pub(crate) fn of_thread(name: &str) -> io::Result<Duration> {
    let thread = thread(name)?;
    spent(&Path::new("/proc/self/task").join(thread))
}

/// The id of the one thread of this process with this name.
pub(crate) fn thread(name: &str) -> io::Result<String> {
    let wanted = &name[..name.len().min(KERNEL_NAME_BYTES)];
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
        let entry = entry?;
        // A thread may end while we look.
        let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if comm.trim_end() == wanted {
            found.extend(entry.file_name().into_string());
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        others => Err(io::Error::other(format!(
            "{} threads of this process are named {name}",
            others.len()
        ))),
    }
}

/// The processor time that all processes of the group that this one leads have spent so far.
pub(crate) fn of_group(leader: u32) -> io::Result<Duration> {
    let mut total = Duration::ZERO;
    let mut processes = 0_u32;
    for entry in fs::read_dir("/proc")? {
        let process = entry?.path();
        if group(&process) != Some(leader) {
            continue;
        }
        processes += 1;
        for task in fs::read_dir(process.join("task"))? {
            total += spent(&task?.path())?;
        }
    }
    if processes == 0 {
        return Err(io::Error::other("the server has ended"));
    }
    Ok(total)
}

/// The process group: the third field after the name, which stands in parentheses and may hold anything.
fn group(process: &Path) -> Option<u32> {
    let line = fs::read_to_string(process.join("stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    fields.split_whitespace().nth(2)?.parse().ok()
}

fn spent(task: &Path) -> io::Result<Duration> {
    let line = fs::read_to_string(task.join("schedstat"))?;
    line.split_whitespace()
        .next()
        .and_then(|text| text.parse().ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| io::Error::other("no time in schedstat"))
}
