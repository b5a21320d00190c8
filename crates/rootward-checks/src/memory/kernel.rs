//! The kernel's own files about memory: of the machine, of a cgroup, and of pressure. Text to numbers.

/// A value of `/proc/meminfo`, in bytes: `MemAvailable:   23904300 kB`.
pub(super) fn meminfo(text: &str, key: &str) -> Option<u64> {
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A value of `memory.stat`: `inactive_file 54681600`.
pub(super) fn stat(text: &str, key: &str) -> Option<u64> {
    let values = text.lines().filter_map(|line| line.split_once(' '));
    let mut values = values.filter(|(name, _)| *name == key);
    values.next()?.1.trim().parse().ok()
}

/// A limit: none where the file says `max` (version 2), or the largest number of pages that there can be (version 1).
pub(super) fn limit(text: &str) -> Option<Option<u64>> {
    /// No machine has as much.
    const NO_LIMIT: u64 = 1 << 60;
    match text.trim() {
        "max" => Some(None),
        number => number
            .parse()
            .ok()
            .map(|limit| (limit < NO_LIMIT).then_some(limit)),
    }
}

/// For how much of the last 10 s tasks waited, in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stalled {
    pub(super) some: u64,
    pub(super) full: u64,
}

/// A pressure file: `some avg10=0.00 avg60=0.08 avg300=0.12 total=774042`, and the same of `full`.
pub(super) fn pressure(text: &str) -> Option<Stalled> {
    let of = |line: &str| {
        let mut lines = text.lines();
        let rest = lines.find_map(|text| text.strip_prefix(line))?;
        let share = rest
            .split_whitespace()
            .find_map(|value| value.strip_prefix("avg10="))?;
        let (whole, hundredths) = share.split_once('.')?;
        if hundredths.len() != 2 {
            return None;
        }
        Some(whole.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok()?)
    };
    Some(Stalled {
        some: of("some ")?,
        full: of("full ")?,
    })
}
