//! NATS.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "nats",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like nats://queue:4222")
            .secret(),
        USER,
        PASSWORD,
        Key::new("token", Shape::Text).secret(),
        ROOTS,
    ],
    example: "{url: nats://queue:4222}",
    build: built!("nats", build),
};

#[cfg(feature = "nats")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, NatsSettings};

    let settings = NatsSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        token: settings.optional_text("token").map(Into::into),
        roots: super::http::roots(settings),
        ..NatsSettings::new(settings.text("url"))
    };
    Ok(open::nats(name, settings)?)
}
