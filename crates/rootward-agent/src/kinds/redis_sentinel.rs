//! Redis behind Sentinel.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "redis_sentinel",
    keys: &[
        Key::new("urls", Shape::Texts)
            .required(
                "list the sentinels, such as [redis://sentinel-0:26379, redis://sentinel-1:26379]",
            )
            .secret(),
        Key::new("master", Shape::Text).required("write the name under which they know it"),
        USER,
        PASSWORD,
        Key::new("sentinel_user", Shape::Text).secret(),
        Key::new("sentinel_password", Shape::Text).secret(),
        ROOTS,
    ],
    example: "{urls: [redis://sentinel-0:26379, redis://sentinel-1:26379], master: mymaster}",
    build: built!("redis", build),
};

#[cfg(feature = "redis")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, RedisSentinelSettings};

    let secret = |key| settings.optional_text(key).map(Into::into);
    let urls = settings.texts("urls").iter().map(String::as_str);
    let settings = RedisSentinelSettings {
        user: secret("user"),
        password: secret("password"),
        sentinel_user: secret("sentinel_user"),
        sentinel_password: secret("sentinel_password"),
        roots: super::http::roots(settings),
        ..RedisSentinelSettings::new(urls, settings.text("master"))
    };
    Ok(open::redis_sentinel(name, settings)?)
}
