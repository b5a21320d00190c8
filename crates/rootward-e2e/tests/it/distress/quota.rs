//! A tenth of a core: a control group of the kernel, version 1 or 2, where this machine lets us make one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How long a period is, in microseconds: the kernel's default, and that of container runtimes.
const PERIOD: u32 = 100_000;

/// A group without a process is removed when dropped; one that is still used stays until its last process ends.
pub(super) struct Quota {
    group: PathBuf,
}

impl Quota {
    /// Lets a process have this share of one core, in percent.
    ///
    /// # Errors
    ///
    /// Says why this machine makes no such group: usually that we are not root, or in a container without the right.
    pub(super) fn set(process: u32, percent: u32) -> Result<Self, String> {
        let name = format!("rootward-test-{process}");
        let quota = PERIOD / 100 * percent;
        let first = Self::version_1(&name, process, quota);
        first.or_else(|first| {
            Self::version_2(&name, process, quota)
                .map_err(|second| format!("version 1: {first}; version 2: {second}"))
        })
    }

    fn version_1(name: &str, process: u32, quota: u32) -> io::Result<Self> {
        let group = Self::make(Path::new("/sys/fs/cgroup/cpu"), name)?;
        fs::write(group.group.join("cpu.cfs_period_us"), PERIOD.to_string())?;
        fs::write(group.group.join("cpu.cfs_quota_us"), quota.to_string())?;
        group.take(process)
    }

    fn version_2(name: &str, process: u32, quota: u32) -> io::Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        if !root.join("cgroup.controllers").exists() {
            return Err(io::Error::other("it is not mounted at /sys/fs/cgroup"));
        }
        // Has no effect where it is so already.
        fs::write(root.join("cgroup.subtree_control"), "+cpu")?;
        let group = Self::make(root, name)?;
        fs::write(group.group.join("cpu.max"), format!("{quota} {PERIOD}"))?;
        group.take(process)
    }

    fn make(parent: &Path, name: &str) -> io::Result<Self> {
        let group = parent.join(name);
        fs::create_dir(&group)?;
        Ok(Self { group })
    }

    fn take(self, process: u32) -> io::Result<Self> {
        fs::write(self.group.join("cgroup.procs"), process.to_string())?;
        Ok(self)
    }

    /// In how many periods the process was stopped because it had used up its share.
    pub(super) fn throttled(&self) -> u64 {
        let stat = fs::read_to_string(self.group.join("cpu.stat")).unwrap_or_default();
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        line.and_then(|number| number.trim().parse().ok())
            .unwrap_or(0)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // With a process in it the kernel refuses; then it goes with the machine.
        let _ = fs::remove_dir(&self.group);
    }
}
