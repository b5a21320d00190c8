//! Memory of the application's cgroup.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "memory",
    keys: &[
        Key::new("pid_file", Shape::Text),
        Key::new("pid", Shape::Number(1, u32::MAX as u64)),
        Key::new("warn_at", Shape::Percent),
        Key::new("fail_at", Shape::Percent),
        Key::new("warn_some", Shape::Percent),
        Key::new("fail_full", Shape::Percent),
    ],
    example: "{pid_file: /run/cart/pid, warn_at: 85%, fail_at: 95%}",
    build: built!("memory", build),
};

#[cfg(feature = "memory")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::{MemorySettings, Pressure, open};

    let mut memory = MemorySettings::new().of(super::whose(settings)?);
    if let Some(percent) = super::percent(settings, "warn_at") {
        memory = memory.warn_at(percent);
    }
    if let Some(percent) = super::percent(settings, "fail_at") {
        memory = memory.fail_at(percent);
    }
    if let Some(percent) = super::percent(settings, "warn_some") {
        memory = memory.warn_pressure(Pressure::Some(percent));
    }
    if let Some(percent) = super::percent(settings, "fail_full") {
        memory = memory.fail_pressure(Pressure::Full(percent));
    }
    Ok(open::memory(name, memory)?)
}
