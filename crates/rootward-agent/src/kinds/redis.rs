//! Redis and Valkey.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "redis",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like redis://cache:6379, or {env: REDIS_URL}")
            .secret(),
        Key::new("user", Shape::Text).secret(),
        Key::new("password", Shape::Text).secret(),
        ROOTS,
    ],
    example: "{url: redis://cache:6379}",
    build: built!("redis", build),
};

#[cfg(feature = "redis")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, RedisSettings};

    let settings = RedisSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        roots: super::http::roots(settings),
        ..RedisSettings::new(settings.text("url"))
    };
    Ok(open::redis(name, settings)?)
}
