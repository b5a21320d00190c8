//! memcached.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, USER};

pub(super) static KIND: Kind = Kind {
    name: "memcached",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like memcached://cache:11211")
            .secret(),
        USER,
        PASSWORD,
    ],
    example: "{url: memcached://cache:11211}",
    build: built!("memcached", build),
};

#[cfg(feature = "memcached")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, MemcachedSettings};

    let settings = MemcachedSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        ..MemcachedSettings::new(settings.text("url"))
    };
    Ok(open::memcached(name, settings)?)
}
