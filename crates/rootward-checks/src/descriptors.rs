//! Open file descriptors of a process, against its soft limit.

use std::io;
use std::path::Path;

use rootward::{Check, Failure, Outcome, Reason, Unlabelled};

use crate::levels::{exhausted, percent, scarce};
use crate::whose::{Untold, Whose};

/// Of which process, and how many of its descriptors may be open.
///
/// ```
/// use rootward_checks::{DescriptorsSettings, Whose};
///
/// let own = DescriptorsSettings::new();
/// let of_the_application = DescriptorsSettings::new()
///     .of(Whose::PidFile("/run/cart/cart.pid".into()))
///     .warn_at(70)
///     .fail_at(98);
/// ```
#[derive(Debug, Clone)]
pub struct DescriptorsSettings {
    whose: Whose,
    warn: u8,
    fail: u8,
}

impl Default for DescriptorsSettings {
    fn default() -> Self {
        Self {
            whose: Whose::Own,
            warn: 80,
            fail: 95,
        }
    }
}

impl DescriptorsSettings {
    /// Of this process; a warning at 80 percent of its soft limit, a failure at 95.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of another process.
    #[must_use]
    pub fn of(mut self, whose: Whose) -> Self {
        self.whose = whose;
        self
    }

    /// Degraded from this share of the soft limit on, in percent: 1 to 100.
    #[must_use]
    pub fn warn_at(mut self, percent: u8) -> Self {
        self.warn = percent;
        self
    }

    /// Down from this share of the soft limit on, in percent: 1 to 100.
    #[must_use]
    pub fn fail_at(mut self, percent: u8) -> Self {
        self.fail = percent;
        self
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        let range = 1..=100;
        if !range.contains(&self.warn) || !range.contains(&self.fail) {
            return Some("a level of the descriptors is not from 1 to 100 percent");
        }
        if self.warn > self.fail {
            return Some("the descriptors are to fail with fewer open than they warn at");
        }
        self.whose.problem()
    }
}

/// How many file descriptors a process has open, of those that its soft limit (`RLIMIT_NOFILE`) allows.
///
/// | what it finds | result |
/// | --- | --- |
/// | few, or a process without a limit | up |
/// | [`DescriptorsSettings::warn_at`] of the limit | degraded, `resource_exhausted`, with the numbers |
/// | [`DescriptorsSettings::fail_at`] of the limit, or none is left to count the others with | down, `resource_exhausted`, with the numbers |
/// | the process, or the file that should name it, is not there | down, `not_found` |
/// | they cannot be counted: another user's process, a system without `/proc` | degraded, `unknown` |
///
/// One file of `/proc` is asked for its size, which is their number from Linux 6.2 on, also when none is left; before,
/// its entries are counted, which takes about a millisecond for ten thousand. Linux only.
///
/// It says nothing about what they are; a steady rise is a leak, and a lower limit finds it sooner. The machine's own
/// limit (`ENFILE`) is another one.
///
/// **For a fleet**: it is local, so a hard one takes the instance out of rotation while it is down, which is right for a
/// leak that one instance has first. Where clients hold connections that they do not use, all instances fill at the
/// same time, and a hard one takes them all out: make it soft there, and limit the connections.
///
/// ```
/// use rootward::Health;
/// use rootward_checks::{DescriptorsSettings, descriptors};
///
/// Health::builder("cart").check(descriptors("descriptors", DescriptorsSettings::new()).hard());
/// ```
pub fn descriptors(name: impl Into<String>, settings: DescriptorsSettings) -> Check<Unlabelled> {
    let problem = settings.problem();
    let check = Check::blocking(name, move || match Open::of(&settings.whose) {
        Ok(open) => judge(&settings, &open),
        Err(untold) => untold.outcome(),
    });
    let check = check.local().kind("descriptors");
    match problem {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

/// What a process has open.
#[derive(Debug, Clone, Copy)]
enum Open {
    Some {
        open: u64,
        limit: Option<u64>,
    },
    /// So many that the others cannot be counted.
    All,
}

impl Open {
    fn of(whose: &Whose) -> Result<Self, Untold> {
        let directory = whose.directory()?;
        let counted = count(&directory.join("fd"));
        let limit = match whose {
            Whose::Own => own_limit(),
            Whose::Pid(_) | Whose::PidFile(_) => std::fs::read_to_string(directory.join("limits"))
                .and_then(|limits| {
                    limit_in(&limits).ok_or_else(|| io::ErrorKind::InvalidData.into())
                }),
        };
        match (counted, limit) {
            (Ok(open), Ok(limit)) => Ok(Self::Some { open, limit }),
            (Err(error), _) if *whose == Whose::Own && none_is_left(&error) => Ok(Self::All),
            (Err(error), _) | (_, Err(error)) => Err(Untold::unknown(
                "the descriptors cannot be counted from here",
                error,
            )),
        }
    }
}

/// How many there are in `/proc/PID/fd`.
fn count(directory: &Path) -> io::Result<u64> {
    // Linux 6.2 and later tell their number so, and no descriptor is needed to learn it.
    let told = std::fs::metadata(directory)?.len();
    if told > 0 {
        return Ok(told);
    }
    let entries = std::fs::read_dir(directory)?.count();
    // The one that reads its own directory is among them, and gone when this returns.
    let own = usize::from(directory.starts_with("/proc/self"));
    Ok(u64::try_from(entries.saturating_sub(own)).unwrap_or(u64::MAX))
}

/// EMFILE, as all systems number it.
fn none_is_left(error: &io::Error) -> bool {
    cfg!(unix) && error.raw_os_error() == Some(24)
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have no such limit to ask for"
)]
fn own_limit() -> io::Result<Option<u64>> {
    use rustix::process::{Resource, getrlimit};
    Ok(getrlimit(Resource::Nofile).current)
}

#[cfg(not(unix))]
fn own_limit() -> io::Result<Option<u64>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The soft limit in `/proc/PID/limits`: `Max open files            1024                 524288               files`.
fn limit_in(limits: &str) -> Option<Option<u64>> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    }
}

fn judge(settings: &DescriptorsSettings, open: &Open) -> Result<Outcome, Failure> {
    let (open, limit) = match open {
        Open::All => return Err(exhausted(Reason::new("no file descriptor is left"))),
        Open::Some { limit: None, .. } => return Ok(Outcome::Up),
        Open::Some {
            open,
            limit: Some(limit),
        } => (*open, *limit),
    };
    let share = percent(open, limit);
    let words = |level: u8| {
        Reason::new("open are")
            .number(open)
            .text("of")
            .number(limit)
            .text("descriptors and expected less than")
            .number(level)
            .text("percent")
    };
    if share >= u64::from(settings.fail) {
        return Err(exhausted(words(settings.fail)));
    }
    if share >= u64::from(settings.warn) {
        return Ok(scarce(words(settings.warn)));
    }
    Ok(Outcome::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_the_soft_one_and_there_may_be_none() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             96365                96365                processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(limit_in(limits), Some(Some(1024)));
        let unlimited = limits.replace("1024 ", "unlimited ");
        assert_eq!(limit_in(&unlimited), Some(None));
        assert_eq!(limit_in("Max processes 1 1 processes"), None);
        assert_eq!(limit_in("Max open files many"), None);
    }

    #[test]
    fn the_levels_are_shares_of_the_limit() {
        let say = |open, limit| {
            let open = Open::Some { open, limit };
            match judge(&DescriptorsSettings::new(), &open) {
                Ok(Outcome::Up) => "up".to_owned(),
                Ok(Outcome::Degraded(failure)) => format!("degraded, {failure}"),
                Err(failure) => format!("down, {failure}"),
            }
        };
        assert_eq!(say(799, Some(1000)), "up");
        assert_eq!(
            say(800, Some(1000)),
            "degraded, open are 800 of 1000 descriptors and expected less than 80 percent"
        );
        assert_eq!(
            say(950, Some(1000)),
            "down, open are 950 of 1000 descriptors and expected less than 95 percent"
        );
        assert_eq!(say(950, None), "up");
        assert_eq!(
            say(0, Some(0)),
            "up",
            "nothing open and nothing allowed is no share of anything"
        );
    }

    #[test]
    fn levels_that_make_no_sense_are_named() {
        let of = |warn, fail| DescriptorsSettings::new().warn_at(warn).fail_at(fail);
        let range = Some("a level of the descriptors is not from 1 to 100 percent");
        assert_eq!(of(1, 100).problem(), None);
        assert_eq!(of(0, 100).problem(), range);
        assert_eq!(of(1, 101).problem(), range);
        assert_eq!(
            of(96, 95).problem(),
            Some("the descriptors are to fail with fewer open than they warn at")
        );
    }
}
