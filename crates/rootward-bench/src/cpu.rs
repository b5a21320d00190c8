//! Processor time of a thread of this process: what a busy neighbour cannot take away, unlike requests a second.

use std::fs;
use std::io;
use std::time::Duration;

/// What the kernel keeps of a thread's name.
const KERNEL_NAME_BYTES: usize = 15;

/// The time that the thread with this name has spent on a processor (`/proc/self/task/*/schedstat`, first field,
/// nanoseconds; Documentation/scheduler/sched-stats.rst of the Linux kernel).
pub(crate) fn of_thread(name: &str) -> io::Result<Duration> {
    let wanted = &name[..name.len().min(KERNEL_NAME_BYTES)];
    for entry in fs::read_dir("/proc/self/task")? {
        let task = entry?.path();
        if fs::read_to_string(task.join("comm"))?.trim_end() != wanted {
            continue;
        }
        let line = fs::read_to_string(task.join("schedstat"))?;
        let nanos = line
            .split_whitespace()
            .next()
            .and_then(|text| text.parse().ok());
        return nanos
            .map(Duration::from_nanos)
            .ok_or_else(|| io::Error::other("no time in schedstat"));
    }
    Err(io::Error::other(format!(
        "no thread of this process is named {name}"
    )))
}
