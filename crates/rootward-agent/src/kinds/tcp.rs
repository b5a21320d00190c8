//! A port.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "tcp",
    keys: &[
        HOST,
        PORT.required("write the number of the port, such as 25"),
    ],
    example: "{host: mail.internal, port: 25}",
    build: built!("tcp", build),
};

pub(super) const HOST: Key =
    Key::new("host", Shape::Text).required("write a name or an address, such as mail.internal");
pub(super) const PORT: Key = Key::new("port", Shape::Number(1, 65_535));

#[cfg(feature = "tcp")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    let check = rootward_checks::tcp(name, settings.text("host"), port(settings).unwrap_or(0));
    check.map_err(|unusable| super::Unfit::at("host", unusable.to_string()))
}

/// From 1 to 65535, as the description says.
#[cfg(any(feature = "clock", feature = "tcp", feature = "tls"))]
pub(super) fn port(settings: &rootward_config::agent::Settings) -> Option<u16> {
    u16::try_from(settings.number("port")?).ok()
}
