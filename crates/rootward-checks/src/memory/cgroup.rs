//! The cgroup of a process: which one it is, where its files are, and which of its limits is the tightest.

use std::io;

use super::kernel;
use super::reading::{Bound, Missing, Read, Used};

/// A cgroup that has memory files, from where this process looks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cgroup {
    version: Version,
    /// Where its hierarchy is mounted.
    mounted_at: String,
    /// From there; empty for the one at the top.
    path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Cgroup {
    /// None where the kernel has no such thing. `process` is a directory in `/proc`.
    pub(super) fn of(read: Read<'_>, process: &str) -> Result<Option<Self>, Missing> {
        let cgroups = match read(&format!("{process}/cgroup")) {
            Ok(cgroups) => cgroups,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Missing::of(
                    "the cgroup of the process cannot be read",
                    error,
                ));
            }
        };
        let Some((version, path)) = named(&cgroups) else {
            return Ok(None);
        };
        let mounts = read("/proc/self/mountinfo")
            .map_err(|error| Missing::of("what is mounted cannot be read", error))?;
        let Some((root, mounted_at)) = mount(&mounts, version) else {
            return Err(Missing::said("the files of cgroups are not mounted here"));
        };
        let hidden = || Missing::said("the cgroup of the process is not visible from here");
        let path = below(root, path).ok_or_else(hidden)?;
        let cgroup = Self {
            version,
            mounted_at: mounted_at.to_owned(),
            path: path.to_owned(),
        };
        match read(&cgroup.file(&cgroup.path, "cgroup.procs")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(hidden()),
            Ok(_) | Err(_) => Ok(Some(cgroup)),
        }
    }

    /// What is in use of the limit that is nearest to being reached: its own, or of one above it. None without a limit,
    /// and a limit above what the machine has is none.
    pub(super) fn used(
        &self,
        read: Read<'_>,
        machine: Option<u64>,
    ) -> Result<Option<Used>, Missing> {
        let mut nearest: Option<Used> = None;
        let mut path = self.path.as_str();
        loop {
            if let Some(used) = self.used_at(read, path)?
                && machine.is_none_or(|machine| used.limit < machine)
                && nearest
                    .as_ref()
                    .is_none_or(|nearest| used.is_nearer_than(nearest))
            {
                nearest = Some(used);
            }
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None => return Ok(nearest),
            }
        }
    }

    fn used_at(&self, read: Read<'_>, path: &str) -> Result<Option<Used>, Missing> {
        let (limit, usage, inactive) = match self.version {
            Version::One => (
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            Version::Two => ("memory.max", "memory.current", "inactive_file"),
        };
        let missing = |error| Missing::of("the memory of the cgroup cannot be read", error);
        let limit = match read(&self.file(path, limit)) {
            Ok(text) => {
                kernel::limit(&text).ok_or_else(|| missing(io::ErrorKind::InvalidData.into()))?
            }
            // The one at the top has none, and one for which memory is not accounted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(missing(error)),
        };
        let Some(limit) = limit else { return Ok(None) };
        let parse = |text: String| text.trim().parse::<u64>().ok();
        let usage = read(&self.file(path, usage)).map(parse).map_err(missing)?;
        let stat = read(&self.file(path, "memory.stat")).map_err(missing)?;
        match (usage, kernel::stat(&stat, inactive)) {
            (Some(usage), Some(inactive)) => Ok(Some(Used {
                bytes: usage.saturating_sub(inactive),
                limit,
                of: Bound::Cgroup,
            })),
            (None, _) | (_, None) => Err(missing(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Its own pressure; none where the kernel keeps none of it.
    pub(super) fn pressure(&self, read: Read<'_>) -> Option<kernel::Stalled> {
        match self.version {
            Version::One => None,
            Version::Two => read(&self.file(&self.path, "memory.pressure"))
                .ok()
                .and_then(|text| kernel::pressure(&text)),
        }
    }

    fn file(&self, path: &str, name: &str) -> String {
        format!("{}{path}/{name}", self.mounted_at)
    }
}

/// The memory cgroup in `/proc/PID/cgroup`: `4:memory:/app` of version 1 if there is such a line, else `0::/app`.
fn named(cgroups: &str) -> Option<(Version, &str)> {
    let parts = || {
        cgroups.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            Some((parts.next()?, parts.next()?, parts.next()?))
        })
    };
    let of_one =
        parts().find(|(_, controllers, _)| controllers.split(',').any(|name| name == "memory"));
    let of_two = parts().find(|(id, controllers, _)| *id == "0" && controllers.is_empty());
    of_one
        .map(|(_, _, path)| (Version::One, path))
        .or(of_two.map(|(_, _, path)| (Version::Two, path)))
}

/// The root and the place of the hierarchy in `/proc/self/mountinfo`:
/// `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory`.
fn mount(mounts: &str, version: Version) -> Option<(&str, &str)> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let is_it = match version {
            Version::One => kind == "cgroup" && options.split(',').any(|option| option == "memory"),
            Version::Two => kind == "cgroup2",
        };
        let mut before = before.split(' ').skip(3);
        is_it.then_some((before.next()?, before.next()?))
    })
}

/// A path from the root of a mount; none if it is not below it.
fn below<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    // From within a namespace, what is outside of it begins so.
    if path.starts_with("/..") {
        return None;
    }
    let rest = match root {
        "/" => path,
        root => path.strip_prefix(root)?,
    };
    match rest {
        "" | "/" => Some(""),
        rest => rest.starts_with('/').then_some(rest),
    }
}
