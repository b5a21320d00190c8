//! Space and inodes of a file system, with a level for a warning and one for a failure.
//!
//! The question is put by statvfs, which waits for ever when a network file system is gone. So it is a check that
//! blocks a thread: cut off at its time limit, and not started again before it has returned.

use std::path::{Path, PathBuf};

use rootward::{Check, ErrorCategory, Failure, Outcome, Reason, Unlabelled};

use crate::levels::{amount, exhausted, percent, scarce};

/// How much of a disk must be free.
///
/// ```
/// use rootward_checks::Free;
///
/// let on_a_small_disk = Free::Percent(10);
/// let on_a_large_one = Free::Bytes(20 << 30); // 20 GiB
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    /// In percent of what ordinary users may use: 0 to 100.
    Percent(u8),
    /// In bytes.
    Bytes(u64),
}

/// Which file system, and how much of it must be free.
///
/// ```
/// use rootward_checks::{DiskSettings, Free};
///
/// let spool = DiskSettings::new("/var/spool/cart")
///     .warn_below(Free::Bytes(10 << 30))
///     .fail_below(Free::Bytes(1 << 30))
///     .warn_inodes_below(5)
///     .fail_inodes_below(1)
///     .writable();
/// ```
#[derive(Debug, Clone)]
pub struct DiskSettings {
    path: PathBuf,
    warn: Free,
    fail: Free,
    warn_inodes: u8,
    fail_inodes: u8,
    writable: bool,
}

impl DiskSettings {
    /// The file system on which this path is. A warning below 15 percent of space or inodes, a failure below 5.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            warn: Free::Percent(15),
            fail: Free::Percent(5),
            warn_inodes: 15,
            fail_inodes: 5,
            writable: false,
        }
    }

    /// Degraded when less space is free.
    #[must_use]
    pub fn warn_below(mut self, free: Free) -> Self {
        self.warn = free;
        self
    }

    /// Down when less space is free.
    #[must_use]
    pub fn fail_below(mut self, free: Free) -> Self {
        self.fail = free;
        self
    }

    /// Degraded when fewer inodes are free, in percent.
    #[must_use]
    pub fn warn_inodes_below(mut self, percent: u8) -> Self {
        self.warn_inodes = percent;
        self
    }

    /// Down when fewer inodes are free, in percent.
    #[must_use]
    pub fn fail_inodes_below(mut self, percent: u8) -> Self {
        self.fail_inodes = percent;
        self
    }

    /// Down also when it is mounted read-only, as a kernel does with a file system that it has found broken.
    ///
    /// Not for a sidecar that is given the application's volume read-only: it sees its own mount.
    #[must_use]
    pub fn writable(mut self) -> Self {
        self.writable = true;
        self
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        let too_much = |free| matches!(free, Free::Percent(percent) if percent > 100);
        if self.path.as_os_str().is_empty() {
            return Some("the disk's path is empty");
        }
        if too_much(self.warn) || too_much(self.fail) {
            return Some("a level of the disk is above 100 percent");
        }
        if self.warn_inodes > 100 || self.fail_inodes > 100 {
            return Some("a level of the disk's inodes is above 100 percent");
        }
        let crossed = match (self.warn, self.fail) {
            (Free::Percent(warn), Free::Percent(fail)) => warn < fail,
            (Free::Bytes(warn), Free::Bytes(fail)) => warn < fail,
            // Which is more depends on the size of the disk.
            (Free::Percent(_), Free::Bytes(_)) | (Free::Bytes(_), Free::Percent(_)) => false,
        };
        (crossed || self.warn_inodes < self.fail_inodes)
            .then_some("the disk is to fail with more free than it warns at")
    }
}

/// Free space and free inodes of the file system on which a path is.
///
/// | what it finds | result |
/// | --- | --- |
/// | enough of both | up |
/// | less than [`DiskSettings::warn_below`], [`DiskSettings::warn_inodes_below`] | degraded, `resource_exhausted`, with the numbers |
/// | less than [`DiskSettings::fail_below`], [`DiskSettings::fail_inodes_below`] | down, `resource_exhausted`, with the numbers |
/// | the path is not there | down, `not_found` |
/// | mounted read-only, with [`DiskSettings::writable`] | down, `resource_exhausted` |
/// | the server of a network file system is gone, or says that it waited too long | down, `connection_reset`, `timeout` |
/// | it does not answer at all | down, `timeout`, until it does: one thread is held, and never a second one |
/// | the disk reports an error | down, `unknown` |
/// | this user may not look, or the file system tells no size | degraded, `unknown`: it is not known whether it is full |
///
/// Free is what ordinary users may use, as `df` shows it: what is reserved for root does not count. A file system that
/// makes inodes as it needs them (btrfs, some network ones) says that it has none, and its inodes are not judged.
///
/// It costs one system call, and on a network file system one question. It does not prove that anything can be written:
/// quotas, and the file system that should be mounted there and is not, are not seen.
///
/// **For a fleet**: it is local, so a hard one takes the instance out of rotation while it is down, which is right where
/// each has a disk of its own. Where all write to one volume, or where the same log fills all disks at the same time, a
/// hard local check takes all instances out at once: say [`shared`](Check::shared), or make it soft.
///
/// ```
/// use rootward::Health;
/// use rootward_checks::{DiskSettings, disk};
///
/// let spool = disk("spool", DiskSettings::new("/var/spool/mailer"));
/// Health::builder("mailer").check(spool.hard());
/// ```
pub fn disk(name: impl Into<String>, settings: DiskSettings) -> Check<Unlabelled> {
    let problem = settings.problem();
    let check = Check::blocking(name, move || match space(&settings.path) {
        Ok(space) => judge(&settings, &space),
        Err(error) => of_system(error),
    });
    let check = check.local().kind("disk");
    match problem {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

/// What a file system says of itself.
#[derive(Debug, Clone, Copy)]
struct Space {
    /// What ordinary users may use, used or not.
    bytes: u64,
    free_bytes: u64,
    inodes: u64,
    free_inodes: u64,
    read_only: bool,
}

#[cfg(unix)]
fn space(path: &Path) -> std::io::Result<Space> {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let seen = statvfs(path)?;
    // Of old systems that know blocks of one size only.
    let block = if seen.f_frsize == 0 {
        seen.f_bsize
    } else {
        seen.f_frsize
    };
    let used = seen.f_blocks.saturating_sub(seen.f_bfree);
    let used_inodes = seen.f_files.saturating_sub(seen.f_ffree);
    Ok(Space {
        bytes: used.saturating_add(seen.f_bavail).saturating_mul(block),
        free_bytes: seen.f_bavail.saturating_mul(block),
        inodes: used_inodes.saturating_add(seen.f_favail),
        free_inodes: seen.f_favail,
        read_only: seen.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

#[cfg(not(unix))]
fn space(_: &Path) -> std::io::Result<Space> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn judge(settings: &DiskSettings, space: &Space) -> Result<Outcome, Failure> {
    if settings.writable && space.read_only {
        return Err(exhausted(Reason::new("the disk is mounted read-only")));
    }
    if space.bytes == 0 {
        return Ok(Outcome::degraded(
            ErrorCategory::Unknown,
            "the file system tells no size: it is not known whether it is full",
        ));
    }
    if let Some(reason) = too_little(space, settings.fail) {
        return Err(exhausted(reason));
    }
    if let Some(reason) = too_few(space, settings.fail_inodes) {
        return Err(exhausted(reason));
    }
    let scarcity =
        too_little(space, settings.warn).or_else(|| too_few(space, settings.warn_inodes));
    Ok(scarcity.map_or(Outcome::Up, scarce))
}

fn too_little(space: &Space, wanted: Free) -> Option<Reason> {
    let share = percent(space.free_bytes, space.bytes);
    let free = Reason::new("free are");
    match wanted {
        Free::Percent(wanted) if share < u64::from(wanted) => {
            let free = amount(
                free.number(share).text("percent of the space or"),
                space.free_bytes,
            );
            Some(free.text("and expected").number(wanted).text("percent"))
        }
        Free::Bytes(wanted) if space.free_bytes < wanted => {
            let free = amount(free, space.free_bytes).text("of the space and expected");
            Some(amount(free, wanted))
        }
        Free::Percent(_) | Free::Bytes(_) => None,
    }
}

fn too_few(space: &Space, wanted: u8) -> Option<Reason> {
    let share = percent(space.free_inodes, space.inodes);
    (space.inodes > 0 && share < u64::from(wanted)).then(|| {
        Reason::new("free are")
            .number(share)
            .text("percent of the inodes or")
            .number(space.free_inodes)
            .text("and expected")
            .number(wanted)
            .text("percent")
    })
}

/// ENOTCONN, ECONNABORTED and ESTALE of a mounted file system, as Linux numbers them: its server is gone.
const GONE: [i32; 3] = [107, 103, 116];

/// EIO, as all systems number it.
const BROKEN: i32 = 5;

fn of_system(error: std::io::Error) -> Result<Outcome, Failure> {
    use std::io::ErrorKind as Kind;
    let code = error.raw_os_error();
    let failure = match error.kind() {
        Kind::NotFound | Kind::NotADirectory => {
            Failure::new(ErrorCategory::NotFound).because("the path is not there")
        }
        Kind::TimedOut => Failure::new(ErrorCategory::Timeout)
            .because("the file system waited too long for its server"),
        _ if cfg!(target_os = "linux") && code.is_some_and(|code| GONE.contains(&code)) => {
            Failure::new(ErrorCategory::ConnectionReset)
                .because("the server of the file system is gone")
        }
        _ if code == Some(BROKEN) => {
            Failure::new(ErrorCategory::Unknown).because("the disk reports an error")
        }
        Kind::PermissionDenied => {
            return Ok(Outcome::Degraded(unknown(
                "this user may not look at the path",
                error,
            )));
        }
        Kind::Unsupported => {
            return Ok(Outcome::Degraded(unknown(
                "disks are not looked at on this system",
                error,
            )));
        }
        _ => {
            return Ok(Outcome::Degraded(unknown(
                "the path cannot be looked at",
                error,
            )));
        }
    };
    Err(failure.caused_by(error))
}

fn unknown(words: &'static str, error: std::io::Error) -> Failure {
    Failure::new(ErrorCategory::Unknown)
        .because(Reason::new(words).text("and it is not known whether the disk is full"))
        .caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn say(result: &Result<Outcome, Failure>) -> String {
        match result {
            Ok(Outcome::Up) => "up".to_owned(),
            Ok(Outcome::Degraded(failure)) => {
                format!("degraded, {}, {failure}", failure.category())
            }
            Err(failure) => format!("down, {}, {failure}", failure.category()),
        }
    }

    #[test]
    fn every_level_is_said_with_what_is_free_and_what_was_expected() {
        let roomy = Space {
            bytes: 1000 * MIB,
            free_bytes: 500 * MIB,
            inodes: 1000,
            free_inodes: 500,
            read_only: false,
        };
        let bytes = |warn, fail| {
            let settings = DiskSettings::new("/");
            settings
                .warn_below(Free::Bytes(warn))
                .fail_below(Free::Bytes(fail))
        };
        let standard = DiskSettings::new("/");
        let cases = [
            (standard.clone(), roomy, "up"),
            (
                standard.clone(),
                Space {
                    free_bytes: 150 * MIB,
                    ..roomy
                },
                "up",
            ),
            (
                standard.clone(),
                Space {
                    free_bytes: 149 * MIB,
                    ..roomy
                },
                "degraded, resource_exhausted, free are 14 percent of the space or 149 MiB and expected 15 percent",
            ),
            (
                standard.clone(),
                Space {
                    free_bytes: 49 * MIB,
                    ..roomy
                },
                "down, resource_exhausted, free are 4 percent of the space or 50176 KiB and expected 5 percent",
            ),
            (
                standard.clone(),
                Space {
                    free_inodes: 149,
                    ..roomy
                },
                "degraded, resource_exhausted, free are 14 percent of the inodes or 149 and expected 15 percent",
            ),
            (
                standard.clone(),
                Space {
                    free_bytes: 149 * MIB,
                    free_inodes: 1,
                    ..roomy
                },
                "down, resource_exhausted, free are 0 percent of the inodes or 1 and expected 5 percent",
            ),
            // Makes inodes as it needs them.
            (
                standard.clone(),
                Space {
                    inodes: 0,
                    free_inodes: 0,
                    ..roomy
                },
                "up",
            ),
            (
                standard.clone(),
                Space {
                    bytes: 0,
                    free_bytes: 0,
                    ..roomy
                },
                "degraded, unknown, the file system tells no size: it is not known whether it is full",
            ),
            (
                bytes(600 * MIB, 1),
                roomy,
                "degraded, resource_exhausted, free are 500 MiB of the space and expected 600 MiB",
            ),
            (
                bytes(600 * MIB, 501 * MIB),
                roomy,
                "down, resource_exhausted, free are 500 MiB of the space and expected 501 MiB",
            ),
            (
                standard.clone(),
                Space {
                    read_only: true,
                    ..roomy
                },
                "up",
            ),
            (
                standard.writable(),
                Space {
                    read_only: true,
                    ..roomy
                },
                "down, resource_exhausted, the disk is mounted read-only",
            ),
        ];
        for (settings, space, expected) in cases {
            assert_eq!(say(&judge(&settings, &space)), expected);
        }
    }

    #[test]
    fn every_error_of_the_system_has_its_words() {
        let unknown = |words| {
            format!("degraded, unknown, {words} and it is not known whether the disk is full")
        };
        let cases = [
            (2, "down, not_found, the path is not there".to_owned()),
            (20, "down, not_found, the path is not there".to_owned()),
            (5, "down, unknown, the disk reports an error".to_owned()),
            (
                110,
                "down, timeout, the file system waited too long for its server".to_owned(),
            ),
            (
                107,
                "down, connection_reset, the server of the file system is gone".to_owned(),
            ),
            (
                116,
                "down, connection_reset, the server of the file system is gone".to_owned(),
            ),
            (13, unknown("this user may not look at the path")),
            (12, unknown("the path cannot be looked at")),
        ];
        for (code, expected) in cases {
            let error = std::io::Error::from_raw_os_error(code);
            assert_eq!(say(&of_system(error)), expected, "{code}");
        }
    }

    #[test]
    fn levels_that_make_no_sense_are_named() {
        let settings = || DiskSettings::new("/");
        let crossed = Some("the disk is to fail with more free than it warns at");
        let cases = [
            (settings(), None),
            (settings().fail_below(Free::Percent(16)), crossed),
            (settings().fail_inodes_below(16), crossed),
            (settings().warn_below(Free::Bytes(1)), None),
            (
                settings().warn_below(Free::Percent(101)),
                Some("a level of the disk is above 100 percent"),
            ),
            (
                settings().warn_inodes_below(101),
                Some("a level of the disk's inodes is above 100 percent"),
            ),
            (DiskSettings::new(""), Some("the disk's path is empty")),
        ];
        for (settings, problem) in cases {
            assert_eq!(settings.problem(), problem, "{settings:?}");
        }
    }
}
