//! A SQLite file.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "sqlite",
    keys: &[Key::new("path", Shape::Text)
        .required("write the path of the file, such as /var/lib/cart/sessions.db")],
    example: "{path: /var/lib/cart/sessions.db}",
    build: built!("sqlite", build),
};

#[cfg(feature = "sqlite")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, SqliteSettings};

    let settings = SqliteSettings::new(settings.text("path"));
    open::sqlite(name, settings).map_err(|unusable| super::Unfit::at("path", unusable.to_string()))
}
