//! Elasticsearch and OpenSearch.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{HEADERS, PASSWORD, ROOTS, URL, USER, WARN_DAYS};

pub(super) static KIND: Kind = Kind {
    name: "elasticsearch",
    keys: &[
        URL,
        HEADERS,
        USER,
        PASSWORD,
        ROOTS,
        WARN_DAYS,
        Key::new("yellow", Shape::Word(&["degraded", "up"])),
    ],
    example: "{url: https://search:9200}",
    build: built!("elasticsearch", build),
};

#[cfg(feature = "elasticsearch")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, ElasticsearchSettings, Yellow};

    let mut cluster = ElasticsearchSettings::new(super::http::asked(settings));
    if settings.optional_text("yellow") == Some("up") {
        cluster.yellow = Yellow::Up;
    }
    Ok(open::elasticsearch(name, cluster)?)
}
