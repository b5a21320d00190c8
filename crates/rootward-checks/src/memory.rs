//! Memory in use against the limit of the cgroup, or of the machine where there is none; and memory pressure.

mod cgroup;
mod kernel;
mod reading;

use rootward::{Check, ErrorCategory, Failure, Outcome, Reason, Unlabelled};

use crate::levels::{amount, exhausted, percent, scarce};
use crate::whose::Whose;
use kernel::Stalled;
use reading::{Bound, Missing, Reading, Used};

/// A share of time in which tasks waited for memory, as the kernel tells it (PSI): an average over 10 s, in percent.
///
/// ```
/// use rootward_checks::Pressure;
///
/// let slowed_down = Pressure::Some(20); // at least one task waited, a fifth of the time
/// let at_a_standstill = Pressure::Full(10); // all tasks waited, a tenth of the time
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressure {
    /// At least one task waited.
    Some(u8),
    /// All tasks that had something to do waited: nothing was done.
    Full(u8),
}

impl Pressure {
    const fn percent(self) -> u8 {
        match self {
            Self::Some(percent) | Self::Full(percent) => percent,
        }
    }
}

/// Whose memory, how much of it may be in use, and how much pressure there may be.
///
/// ```
/// use rootward_checks::{MemorySettings, Pressure, Whose};
///
/// let settings = MemorySettings::new()
///     .of(Whose::PidFile("/run/cart/cart.pid".into())) // in a sidecar
///     .warn_at(80)
///     .fail_at(95)
///     .warn_pressure(Pressure::Some(20))
///     .fail_pressure(Pressure::Full(10));
/// ```
#[derive(Debug, Clone)]
pub struct MemorySettings {
    whose: Whose,
    warn: u8,
    fail: u8,
    warn_pressure: Option<Pressure>,
    fail_pressure: Option<Pressure>,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            whose: Whose::Own,
            warn: 85,
            fail: 95,
            warn_pressure: None,
            fail_pressure: None,
        }
    }
}

impl MemorySettings {
    /// Of this process's cgroup: a warning at 85 percent of its limit, a failure at 95. Pressure is not judged unless
    /// it is given a level: not every kernel tells it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of the cgroup of another process.
    #[must_use]
    pub fn of(mut self, whose: Whose) -> Self {
        self.whose = whose;
        self
    }

    /// Degraded from this share of the limit on, in percent: 1 to 100.
    #[must_use]
    pub fn warn_at(mut self, percent: u8) -> Self {
        self.warn = percent;
        self
    }

    /// Down from this share of the limit on, in percent: 1 to 100.
    #[must_use]
    pub fn fail_at(mut self, percent: u8) -> Self {
        self.fail = percent;
        self
    }

    /// Degraded from this pressure on.
    #[must_use]
    pub fn warn_pressure(mut self, pressure: Pressure) -> Self {
        self.warn_pressure = Some(pressure);
        self
    }

    /// Down from this pressure on.
    #[must_use]
    pub fn fail_pressure(mut self, pressure: Pressure) -> Self {
        self.fail_pressure = Some(pressure);
        self
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        let range = 1..=100;
        if !range.contains(&self.warn) || !range.contains(&self.fail) {
            return Some("a level of the memory is not from 1 to 100 percent");
        }
        if self.warn > self.fail {
            return Some("the memory is to fail with less in use than it warns at");
        }
        let mut pressures = self.warn_pressure.iter().chain(&self.fail_pressure);
        if pressures.any(|pressure| !range.contains(&pressure.percent())) {
            return Some("a level of the memory pressure is not from 1 to 100 percent");
        }
        self.whose.problem()
    }
}

/// How much memory the cgroup of a process uses, of what its limit allows; and how long tasks wait for memory.
///
/// | what it finds | result |
/// | --- | --- |
/// | enough | up |
/// | [`MemorySettings::warn_at`] of the limit in use, [`MemorySettings::warn_pressure`] | degraded, `resource_exhausted`, with the numbers |
/// | [`MemorySettings::fail_at`] of the limit in use, [`MemorySettings::fail_pressure`] | down, `resource_exhausted`, with the numbers |
/// | the process, or the file that should name it, is not there | down, `not_found` |
/// | the use cannot be read, or the pressure that has a level: another system, a kernel without it, a cgroup that is not visible from here | degraded, `unknown`, with what is missing |
///
/// The limit is the tightest of the cgroup's and of those above it, of version 2 (`memory.max`) or version 1
/// (`memory.limit_in_bytes`). Where none has one, the machine's memory is judged, by `MemAvailable`, and the text says
/// so. In use is what the cgroup uses without the file pages that nobody has used lately (`inactive_file`): the kernel
/// drops those before it kills. [Kubernetes evicts by the same number][workingset].
///
/// Pressure is that of the cgroup (`memory.pressure`, version 2), else the machine's (`/proc/pressure/memory`), and the
/// text says which. [What it means][psi].
///
/// A few small files of `/proc` and `/sys/fs/cgroup` are read; Linux only. It does not say who uses the memory, and a
/// single allocation can pass the limit between two runs.
///
/// **For a fleet**: it is local, so a hard one takes the instance out of rotation while it is down; that is right for a
/// leak, which one instance has first. Under load that all instances share, all of them fill at the same time, and a
/// hard one takes all of them out at once: make it soft there. An instance that leaves does not shrink by that.
///
/// For a sidecar, the own cgroup is the sidecar's: it has to be told [`Whose`].
///
/// [workingset]: https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/
/// [psi]: https://docs.kernel.org/accounting/psi.html
///
/// ```
/// use rootward::Health;
/// use rootward_checks::{MemorySettings, memory};
///
/// Health::builder("cart").check(memory("memory", MemorySettings::new()).soft());
/// ```
pub fn memory(name: impl Into<String>, settings: MemorySettings) -> Check<Unlabelled> {
    let problem = settings.problem();
    let check = Check::blocking(name, move || match settings.whose.directory() {
        Ok(directory) => {
            let read = |path: &str| std::fs::read_to_string(path);
            judge(
                &settings,
                Reading::take(&read, &directory.to_string_lossy()),
            )
        }
        Err(untold) => untold.outcome(),
    });
    let check = check.local().kind("memory");
    match problem {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

fn judge(settings: &MemorySettings, reading: Reading) -> Result<Outcome, Failure> {
    let use_at = |level: u8| {
        let used = reading.used.as_ref().ok()?;
        (percent(used.bytes, used.limit) >= u64::from(level)).then(|| in_use(used, level))
    };
    let pressed_at = |level: Option<Pressure>| {
        let (stalled, bound) = reading.pressure.as_ref().ok()?;
        under_pressure(stalled, *bound, level?)
    };
    if let Some(reason) = use_at(settings.fail).or_else(|| pressed_at(settings.fail_pressure)) {
        return Err(exhausted(reason));
    }
    if let Some(reason) = use_at(settings.warn).or_else(|| pressed_at(settings.warn_pressure)) {
        return Ok(scarce(reason));
    }
    let has_level = settings.warn_pressure.or(settings.fail_pressure).is_some();
    match (reading.used, reading.pressure) {
        (Err(missing), _) => Ok(unknown(missing)),
        (Ok(_), Err(missing)) if has_level => Ok(unknown(missing)),
        (Ok(_), Ok(_) | Err(_)) => Ok(Outcome::Up),
    }
}

fn unknown(missing: Missing) -> Outcome {
    let failure = Failure::new(ErrorCategory::Unknown).because(missing.words);
    Outcome::Degraded(match missing.error {
        Some(error) => failure.caused_by(error),
        None => failure,
    })
}

fn in_use(used: &Used, level: u8) -> Reason {
    let share = percent(used.bytes, used.limit);
    let reason = amount(
        Reason::new("in use are")
            .number(share)
            .text("percent of the memory or"),
        used.bytes,
    );
    let reason = reason.text(match used.of {
        Bound::Cgroup => "of the cgroup's",
        Bound::Machine => "of the machine's",
    });
    let reason = amount(reason, used.limit).text("and expected less than");
    reason.number(level).text("percent")
}

fn under_pressure(stalled: &Stalled, bound: Bound, level: Pressure) -> Option<Reason> {
    let (hundredths, words) = match (level, bound) {
        (Pressure::Some(_), Bound::Cgroup) => (stalled.some, "tasks of the cgroup"),
        (Pressure::Some(_), Bound::Machine) => (stalled.some, "tasks of the machine"),
        (Pressure::Full(_), Bound::Cgroup) => (stalled.full, "all tasks of the cgroup"),
        (Pressure::Full(_), Bound::Machine) => (stalled.full, "all tasks of the machine"),
    };
    (hundredths >= u64::from(level.percent()) * 100).then(|| {
        Reason::new(words)
            .text("waited for memory")
            .number(hundredths / 100)
            .text("percent of the last 10 s and expected less than")
            .number(level.percent())
            .text("percent")
    })
}

#[cfg(test)]
mod tests;
