//! Open descriptors of the application's process.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "descriptors",
    keys: &[
        Key::new("pid_file", Shape::Text),
        Key::new("pid", Shape::Number(1, u32::MAX as u64)),
        Key::new("warn_at", Shape::Percent),
        Key::new("fail_at", Shape::Percent),
    ],
    example: "{pid_file: /run/cart/pid, warn_at: 80%, fail_at: 95%}",
    build: built!("descriptors", build),
};

#[cfg(feature = "descriptors")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::{DescriptorsSettings, open};

    let mut descriptors = DescriptorsSettings::new().of(super::whose(settings)?);
    if let Some(percent) = super::percent(settings, "warn_at") {
        descriptors = descriptors.warn_at(percent);
    }
    if let Some(percent) = super::percent(settings, "fail_at") {
        descriptors = descriptors.fail_at(percent);
    }
    Ok(open::descriptors(name, descriptors)?)
}
