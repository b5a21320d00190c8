//! Space and inodes of a file system that both the agent and the application have mounted.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "disk",
    keys: &[
        Key::new("path", Shape::Text).required("write a path on the disk, such as /var/lib/cart"),
        Key::new("warn_at", Shape::Percent),
        Key::new("fail_at", Shape::Percent),
        Key::new("warn_free", Shape::Size),
        Key::new("fail_free", Shape::Size),
        Key::new("warn_inodes_at", Shape::Percent),
        Key::new("fail_inodes_at", Shape::Percent),
        Key::new("writable", Shape::Flag),
    ],
    example: "{path: /var/lib/cart, warn_at: 85%, fail_at: 95%}",
    build: built!("disk", build),
};

#[cfg(feature = "disk")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::{DiskSettings, Free, open};

    use super::Unfit;

    // The file says how much may be used, as df shows it; the check how much must be free.
    let unused = |key| {
        let used = super::percent(settings, key)?;
        Some(100_u8.saturating_sub(used))
    };
    let free = |at, free| match (unused(at), settings.number(free)) {
        (Some(_), Some(_)) => Err(Unfit::at(free, "it is said as a share already; remove one")),
        (Some(percent), None) => Ok(Some(Free::Percent(percent))),
        (None, Some(bytes)) => Ok(Some(Free::Bytes(bytes))),
        (None, None) => Ok(None),
    };
    let mut disk = DiskSettings::new(settings.text("path"));
    if let Some(free) = free("warn_at", "warn_free")? {
        disk = disk.warn_below(free);
    }
    if let Some(free) = free("fail_at", "fail_free")? {
        disk = disk.fail_below(free);
    }
    if let Some(percent) = unused("warn_inodes_at") {
        disk = disk.warn_inodes_below(percent);
    }
    if let Some(percent) = unused("fail_inodes_at") {
        disk = disk.fail_inodes_below(percent);
    }
    if settings.flag("writable") {
        disk = disk.writable();
    }
    Ok(open::disk(name, disk)?)
}
