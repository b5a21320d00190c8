//! Memory of this machine as it is, and of a process in a cgroup with a limit where one can be made.

use std::fs;
use std::path::{Path, PathBuf};

use rootward::{Check, Unlabelled};
use rootward_checks::{MemorySettings, Pressure, Whose, memory, open};

use crate::descriptors::Holder;
use crate::every::{LONG, alone, beside_others, leaves_nothing, run};

/// A cgroup with a limit, of whatever version this machine has. Dropped, it is removed; its processes must have ended.
struct Group(PathBuf);

impl Group {
    /// None where it cannot be made: not root, not allowed, or no such files.
    fn make(limit_mib: u64) -> Option<Self> {
        let limit = (limit_mib << 20).to_string();
        let name = format!("rootward-test-{}-{limit_mib}", std::process::id());
        let places = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        places.into_iter().find_map(|(parent, file)| {
            let directory = Path::new(parent).join(&name);
            if !Path::new(parent).join("cgroup.procs").is_file() {
                return None;
            }
            fs::create_dir(&directory).ok()?;
            let group = Self(directory);
            fs::write(group.0.join(file), &limit).ok()?;
            Some(group)
        })
    }

    /// Puts the process in, which has little memory yet.
    fn take(&self, pid: u32) -> std::io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), pid.to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just ended may still be counted.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

fn of(whose: Whose) -> Check<Unlabelled> {
    open::memory("memory", MemorySettings::new().of(whose)).expect("usable")
}

#[tokio::test]
async fn memory_of_this_machine_is_read_and_its_pressure_too() {
    let _turn = beside_others().await;
    // Whatever is in use here, it is more than nothing and less than all.
    let at = |warn, fail| memory("memory", MemorySettings::new().warn_at(warn).fail_at(fail));
    let seen = run(&at(1, 100), LONG).await;
    assert!(
        seen == "up" || seen.starts_with("degraded, resource_exhausted, in use are "),
        "{seen}"
    );
    let settings = MemorySettings::new()
        .warn_at(100)
        .fail_at(100)
        .warn_pressure(Pressure::Full(100));
    let seen = run(&memory("memory", settings), LONG).await;
    let is_told = Path::new("/proc/pressure/memory").exists();
    let wanted = if is_told {
        "up"
    } else {
        "degraded, unknown, memory pressure cannot be read here"
    };
    assert_eq!(seen, wanted);
}

#[tokio::test]
async fn a_process_that_fills_the_limit_of_its_cgroup_is_said_with_the_numbers() {
    let _turn = beside_others().await;
    let Some(group) = Group::make(100) else {
        eprintln!("NOT RUN: no cgroup with a limit of memory can be made here");
        return;
    };
    // In the cgroup before it has its memory: a shell puts itself in and becomes the holder.
    let start = |mib| {
        let mut command = std::process::Command::new("/bin/sh");
        let holder = Holder::command();
        command
            .arg("-c")
            .arg("echo $$ > \"$0\" && exec \"$@\"")
            .arg(group.0.join("cgroup.procs"))
            .arg(holder.get_program());
        Holder::start(command, 10, mib)
    };
    let mut small = start(10);
    assert_eq!(run(&of(Whose::Pid(small.pid())), LONG).await, "up");
    small.end(true);
    let mut large = start(90);
    let seen = run(&of(Whose::Pid(large.pid())), LONG).await;
    let said = "resource_exhausted, in use are 9";
    assert!(
        seen.starts_with(&format!("degraded, {said}"))
            || seen.starts_with(&format!("down, {said}")),
        "{seen}"
    );
    assert!(
        seen.contains("of the cgroup's 100 MiB and expected"),
        "{seen}"
    );
    large.end(true);
    let seen = run(&of(Whose::Pid(large.pid())), LONG).await;
    assert_eq!(seen, "down, not_found, the process is not there");
    // A process that is put in later counts from what it uses then.
    let outside = Holder::start(Holder::command(), 10, 1);
    group.take(outside.pid()).expect("it is put in");
    assert_eq!(run(&of(Whose::Pid(outside.pid())), LONG).await, "up");
    drop(outside);
}

#[tokio::test]
async fn a_thousand_looks_at_memory_leave_nothing() {
    let _turn = alone().await;
    let settings = MemorySettings::new().warn_at(100).fail_at(100);
    leaves_nothing(&memory("memory", settings), "up").await;
}
