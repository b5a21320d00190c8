//! What a machine or a process runs out of, and the age of a file: the kinds that connect to nothing. Their functions
//! for settings differ from those for a service in one thing: levels that make no sense are told to the caller, and not
//! by a check that is down.

use rootward::{Check, Unlabelled};

use super::Unusable;
#[cfg(feature = "descriptors")]
use crate::descriptors::DescriptorsSettings;
#[cfg(feature = "disk")]
use crate::disk::DiskSettings;
#[cfg(feature = "freshness")]
use crate::freshness::FreshnessSettings;
#[cfg(feature = "memory")]
use crate::memory::MemorySettings;

/// As [`crate::disk()`].
///
/// # Errors
///
/// When the path is empty, a level is above 100 percent, or it is to fail with more free than it warns at.
///
/// ```
/// use rootward_checks::{DiskSettings, Free, open};
///
/// let crossed = DiskSettings::new("/var/lib/cart").fail_below(Free::Percent(20));
/// assert_eq!(
///     open::disk("disk", crossed).unwrap_err().to_string(),
///     "the disk is to fail with more free than it warns at"
/// );
/// ```
#[cfg(feature = "disk")]
pub fn disk(
    name: impl Into<String>,
    settings: DiskSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    usable(settings.problem())?;
    Ok(crate::disk(name, settings))
}

/// As [`crate::memory()`]. Beside an application in a container of its own, the settings say of which process: else it
/// is the memory of who runs the check.
///
/// # Errors
///
/// When a level is not from 1 to 100 percent, it is to fail with less in use than it warns at, or the process cannot be.
///
/// ```
/// use rootward_checks::{MemorySettings, Whose, open};
///
/// let application = Whose::PidFile("/run/cart/cart.pid".into());
/// let check = open::memory("memory", MemorySettings::new().of(application))?.soft();
/// # Ok::<(), rootward_checks::open::Unusable>(())
/// ```
#[cfg(feature = "memory")]
pub fn memory(
    name: impl Into<String>,
    settings: MemorySettings,
) -> Result<Check<Unlabelled>, Unusable> {
    usable(settings.problem())?;
    Ok(crate::memory(name, settings))
}

/// As [`crate::descriptors()`]. Beside an application, the settings say of which process: else it is those of who runs
/// the check.
///
/// # Errors
///
/// When a level is not from 1 to 100 percent, it is to fail with fewer open than it warns at, or the process cannot be.
///
/// ```
/// use rootward_checks::{DescriptorsSettings, Whose, open};
///
/// let nobody = DescriptorsSettings::new().of(Whose::Pid(0));
/// assert!(open::descriptors("descriptors", nobody).is_err());
/// ```
#[cfg(feature = "descriptors")]
pub fn descriptors(
    name: impl Into<String>,
    settings: DescriptorsSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    usable(settings.problem())?;
    Ok(crate::descriptors(name, settings))
}

/// As [`crate::freshness()`].
///
/// # Errors
///
/// When the path is empty, the age is zero, or that of the warning is not below the other.
///
/// ```
/// use std::time::Duration;
/// use rootward_checks::{FreshnessSettings, open};
///
/// // A heartbeat that the application writes every second.
/// let heartbeat = FreshnessSettings::new("/run/cart/heartbeat", Duration::from_secs(30));
/// let check = open::freshness("worker", heartbeat)?.hard();
/// # Ok::<(), rootward_checks::open::Unusable>(())
/// ```
#[cfg(feature = "freshness")]
pub fn freshness(
    name: impl Into<String>,
    settings: FreshnessSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    usable(settings.problem())?;
    Ok(crate::freshness(name, settings))
}

fn usable(problem: Option<&'static str>) -> Result<(), Unusable> {
    problem.map_or(Ok(()), |problem| Err(Unusable::because(&[problem])))
}
