//! Redis Cluster.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "redis_cluster",
    keys: &[
        Key::new("urls", Shape::Texts)
            .required(
                "list some of its nodes, such as [redis://cache-0:6379, redis://cache-1:6379]",
            )
            .secret(),
        USER,
        PASSWORD,
        ROOTS,
    ],
    example: "{urls: [redis://cache-0:6379, redis://cache-1:6379]}",
    build: built!("redis", build),
};

#[cfg(feature = "redis")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, RedisClusterSettings};

    let urls = settings.texts("urls").iter().map(String::as_str);
    let settings = RedisClusterSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        roots: super::http::roots(settings),
        ..RedisClusterSettings::new(urls)
    };
    Ok(open::redis_cluster(name, settings)?)
}
