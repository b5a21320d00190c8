//! PostgreSQL.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "postgresql",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like postgresql://cart@carts-db:5432/carts, or {env: DATABASE_URL}")
            .secret(),
        Key::new("user", Shape::Text).secret(),
        Key::new("password", Shape::Text).secret(),
    ],
    example: "{url: {env: DATABASE_URL}}",
    build: built!("postgresql", build),
};

#[cfg(feature = "postgresql")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, PostgresqlSettings};

    let settings = PostgresqlSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        ..PostgresqlSettings::new(settings.text("url"))
    };
    Ok(open::postgresql(name, settings)?)
}
