//! The age of a file: a backup, an index, what a worker touches.

use std::time::Duration;

use rootward_config::agent::{Key, Shape};

use super::Kind;

/// From a second to a year.
const AGES: Shape = Shape::Duration(
    Duration::from_secs(1),
    Duration::from_secs(366 * 24 * 60 * 60),
);

pub(super) static KIND: Kind = Kind {
    name: "freshness",
    keys: &[
        Key::new("path", Shape::Text).required("write the file, such as /backup/orders.dump"),
        Key::new("warn_older", AGES),
        Key::new("fail_older", AGES).required("write how old the file may be, such as 26h"),
    ],
    example: "{path: /backup/orders.dump, warn_older: 25h, fail_older: 26h}",
    build: built!("freshness", build),
};

#[cfg(feature = "freshness")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::{FreshnessSettings, open};

    let older = settings.duration("fail_older").unwrap_or_default();
    let mut file = FreshnessSettings::new(settings.text("path"), older);
    if let Some(age) = settings.duration("warn_older") {
        file = file.warn_older(age);
    }
    Ok(open::freshness(name, file)?)
}
