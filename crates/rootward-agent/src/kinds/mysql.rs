//! MySQL and MariaDB.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "mysql",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like mysql://cart@carts-db:3306/carts, or {env: DATABASE_URL}")
            .secret(),
        Key::new("user", Shape::Text).secret(),
        Key::new("password", Shape::Text).secret(),
        ROOTS,
    ],
    example: "{url: {env: DATABASE_URL}}",
    build: built!("mysql", build),
};

#[cfg(feature = "mysql")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, MysqlSettings};

    let settings = MysqlSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        roots: super::http::roots(settings),
        ..MysqlSettings::new(settings.text("url"))
    };
    Ok(open::mysql(name, settings)?)
}
