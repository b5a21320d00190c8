//! Another service, by its readiness.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "service",
    keys: &[Key::new("url", Shape::Text)
        .required("write the URL of its readiness, such as http://rates:8790/readyz")],
    example: "{url: http://rates:8790/readyz}",
    build: built!("service", build),
};

#[cfg(feature = "service")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    let url = settings.text("url");
    rootward_fetch::Target::parse(url)
        .map_err(|error| super::Unfit::at("url", error.to_string()))?;
    Ok(rootward_checks::service(name, url))
}
