//! Threads in the scheduler's real-time class, which is chrt's (Debian package util-linux) to give.

use std::process::{Command, Stdio};

use crate::cpu;

/// Any real-time priority comes before every ordinary thread.
const PRIORITY: &str = "10";

/// Puts the thread of this process with this name into `SCHED_RR` (sched(7)). The error is a sentence for the table.
pub(crate) fn promote(thread: &str) -> Result<(), String> {
    let id = cpu::thread(thread).map_err(|error| error.to_string())?;
    let status = Command::new("chrt")
        .args(["--rr", "--pid", PRIORITY, &id])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("this process may not use the class SCHED_RR (CAP_SYS_NICE)".to_owned()),
        Err(_) => Err("chrt is not installed (Debian package util-linux)".to_owned()),
    }
}
