//! MongoDB.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "mongodb",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like mongodb://cart@carts-db:27017/?authSource=admin, or {env: MONGODB_URL}")
            .secret(),
        Key::new("user", Shape::Text).secret(),
        Key::new("password", Shape::Text).secret(),
        ROOTS,
    ],
    example: "{url: {env: MONGODB_URL}}",
    build: built!("mongodb", build),
};

#[cfg(feature = "mongodb")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, MongodbSettings};

    let settings = MongodbSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        roots: super::http::roots(settings),
        ..MongodbSettings::new(settings.text("url"))
    };
    Ok(open::mongodb(name, settings)?)
}
