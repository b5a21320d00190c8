//! etcd.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "etcd",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like http://etcd-0:2379")
            .secret(),
        ROOTS,
    ],
    example: "{url: http://etcd-0:2379}",
    build: built!("etcd", build),
};

#[cfg(feature = "etcd")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, EtcdSettings};

    let settings = EtcdSettings {
        roots: super::http::roots(settings),
        ..EtcdSettings::new(settings.text("url"))
    };
    Ok(open::etcd(name, settings)?)
}
