//! Meilisearch.

use super::Kind;
use super::http::{HEADERS, ROOTS, URL, WARN_DAYS};

pub(super) static KIND: Kind = Kind {
    name: "meilisearch",
    keys: &[URL, HEADERS, ROOTS, WARN_DAYS],
    example: "{url: http://search:7700}",
    build: built!("meilisearch", build),
};

#[cfg(feature = "meilisearch")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    let http = super::http::asked(settings);
    Ok(rootward_checks::open::meilisearch(name, http)?)
}
