//! The clock of this machine.

use std::time::Duration;

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) static KIND: Kind = Kind {
    name: "clock",
    keys: &[
        Key::new("host", Shape::Text),
        Key::new("port", Shape::Number(1, 65_535)),
        Key::new("url", Shape::Text).secret(),
        ROOTS,
        Key::new("warn_above", Shape::Duration(Duration::from_millis(1), DAY)),
        Key::new("fail_above", Shape::Duration(Duration::from_millis(1), DAY)),
    ],
    example: "{host: time.internal, warn_above: 5s}",
    build: built!("clock", build),
};

#[cfg(feature = "clock")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, ClockSettings, ClockSource};

    let source = match (
        settings.optional_text("host"),
        settings.optional_text("url"),
    ) {
        (Some(host), None) => ClockSource::Sntp {
            host: host.to_owned(),
            port: super::tcp::port(settings).unwrap_or(123),
        },
        (None, Some(_)) => ClockSource::Http(Box::new(super::http::asked(settings))),
        (None, None) | (Some(_), Some(_)) => {
            return Err(super::Unfit::at(
                "host",
                "either the `host` of a time server or the `url` of a site is needed",
            ));
        }
    };
    let mut clock = ClockSettings::new(source);
    if let Some(warn) = settings.duration("warn_above") {
        clock.warn_above = warn;
    }
    clock.fail_above = settings.duration("fail_above");
    Ok(open::clock(name, clock)?)
}
