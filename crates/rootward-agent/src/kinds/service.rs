//! Another service, by its readiness.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "service",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write the URL of its readiness, such as http://rates:8790/readyz"),
        ROOTS,
    ],
    example: "{url: http://rates:8790/readyz}",
    build: built!("service", build),
};

#[cfg(feature = "service")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, ServiceSettings};

    let url = settings.text("url");
    let is_secured = url
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
    if !is_secured {
        rootward_fetch::Target::parse(url)
            .map_err(|error| super::Unfit::at("url", error.to_string()))?;
    }
    let settings = ServiceSettings {
        roots: super::http::roots(settings),
        ..ServiceSettings::new(url)
    };
    Ok(open::service(name, settings)?)
}
