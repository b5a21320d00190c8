//! The vocabulary of the agent's file, but for the kinds of checks, which whoever runs them describes.

use crate::keys::{Section, THRESHOLD};
use crate::shape::{KeySpec, Shape};

use super::sections::{DRAIN, INTERVAL, TIMEOUT, WITHIN};

/// The document.
pub(crate) static ROOT: Section<'static> = Section {
    keys: &[
        KeySpec::new("service", Shape::Section(&SERVICE)).required(),
        KeySpec::new("listen", Shape::Section(&LISTEN)),
        KeySpec::new("application", Shape::Section(&APPLICATION)),
        KeySpec::new("defaults", Shape::Section(&DEFAULTS)),
        KeySpec::new("checks", Shape::Checks),
    ],
    later: &["include"],
    one_of: &[],
    example: "service: {name: cart}",
};

/// `service`.
pub(super) static SERVICE: Section<'static> = Section {
    keys: &[
        KeySpec::new("name", Shape::Name).required(),
        KeySpec::new("version", Shape::Name),
        KeySpec::new("instance", Shape::Name),
        KeySpec::new("environment", Shape::Name),
        KeySpec::new("namespace", Shape::Name),
        KeySpec::new("zone", Shape::Name),
        KeySpec::new("host", Shape::Name),
    ],
    later: &[],
    one_of: &[],
    example: "{name: cart, version: \"1.4.2\"}",
};

/// `listen`.
pub(super) static LISTEN: Section<'static> = Section {
    keys: &[
        KeySpec::new("bind", Shape::Address),
        KeySpec::new("detail", Shape::Section(&DETAIL)),
    ],
    later: &["tls", "grpc"],
    one_of: &[],
    example: "{bind: 0.0.0.0:8790}",
};

/// `listen.detail`: who may read the detailed routes.
pub(super) static DETAIL: Section<'static> = Section {
    keys: &[
        KeySpec::new("auth", Shape::Section(&AUTH)),
        KeySpec::new("loopback", Shape::Flag),
        KeySpec::new("open_metrics", Shape::Flag),
    ],
    later: &[],
    one_of: &[],
    example: "{auth: {tokens: [{id: rootward, digest: \"rw1_…:sha256:…\"}]}}",
};

/// `listen.detail.auth`.
pub(super) static AUTH: Section<'static> = Section {
    keys: &[
        KeySpec::new("tokens", Shape::List(&TOKEN)),
        KeySpec::new("tokens_file", Shape::Text),
    ],
    later: &[],
    one_of: &[],
    example: "{tokens: [{id: rootward, digest: \"rw1_…:sha256:…\"}]}",
};

/// One of `listen.detail.auth.tokens`.
pub(super) static TOKEN: Section<'static> = Section {
    keys: &[
        KeySpec::new("id", Shape::Name).required(),
        KeySpec::new("digest", Shape::Text).required(),
    ],
    later: &[],
    one_of: &[],
    example: "{id: rootward, digest: \"rw1_…:sha256:…\"}",
};

/// `application`.
pub(super) static APPLICATION: Section<'static> = Section {
    keys: &[
        KeySpec::new("liveness", Shape::TextOr(&LIVENESS)),
        KeySpec::new("drain", Shape::Duration(DRAIN)),
        KeySpec::new("interval", Shape::Duration(INTERVAL)),
        KeySpec::new("timeout", Shape::Duration(TIMEOUT)),
        KeySpec::new("fall", THRESHOLD),
        KeySpec::new("rise", THRESHOLD),
    ],
    later: &[],
    one_of: &[],
    example: "{liveness: http://127.0.0.1:8080/ping}",
};

/// `application.liveness`, in its long form.
pub(super) static LIVENESS: Section<'static> = Section {
    keys: &[KeySpec::new("heartbeat", Shape::Section(&HEARTBEAT)).required()],
    later: &[],
    one_of: &[],
    example: "{heartbeat: {file: /run/cart/alive, within: 30s}}",
};

/// `application.liveness.heartbeat`.
pub(super) static HEARTBEAT: Section<'static> = Section {
    keys: &[
        KeySpec::new("file", Shape::Text).required(),
        KeySpec::new("within", Shape::Duration(WITHIN)).required(),
    ],
    later: &[],
    one_of: &[],
    example: "{file: /run/cart/alive, within: 30s}",
};

/// `defaults`.
pub(super) static DEFAULTS: Section<'static> = Section {
    keys: &[
        KeySpec::new("interval", Shape::Duration(INTERVAL)),
        KeySpec::new("timeout", Shape::Duration(TIMEOUT)),
        KeySpec::new("fall", THRESHOLD),
        KeySpec::new("rise", THRESHOLD),
        KeySpec::new("owner", Shape::Text),
    ],
    later: &[],
    one_of: &[],
    example: "{interval: 10s, timeout: 500ms}",
};

/// What one of `checks` may say beside its kind.
pub(crate) const CHECK: [KeySpec; 11] = [
    KeySpec::new("name", Shape::Name).required(),
    KeySpec::new("criticality", Shape::Criticality).required(),
    KeySpec::new("scope", Shape::Scope),
    KeySpec::new("interval", Shape::Duration(INTERVAL)),
    KeySpec::new("timeout", Shape::Duration(TIMEOUT)),
    KeySpec::new("fall", THRESHOLD),
    KeySpec::new("rise", THRESHOLD),
    KeySpec::new("slow_above", Shape::Duration(TIMEOUT)),
    KeySpec::new("gates_readiness", Shape::Flag),
    KeySpec::new("owner", Shape::Text),
    KeySpec::new("target", Shape::Target),
];

/// The keys of [`CHECK`].
pub(super) fn of_check() -> impl Iterator<Item = &'static str> + Clone {
    CHECK.iter().map(|key| key.name)
}

/// The path of a check in documents.
pub(crate) const CHECK_PATH: &str = "checks[]";

/// What one of `checks` looks like.
pub(crate) const CHECK_EXAMPLE: &str =
    "{name: cache, redis: {url: redis://cache:6379}, criticality: soft}";

/// Every mapping but a check's, with the path that documents use for it.
#[cfg(test)]
pub(super) static ALL: [(&str, &Section<'static>); 10] = [
    ("", &ROOT),
    ("service", &SERVICE),
    ("listen", &LISTEN),
    ("listen.detail", &DETAIL),
    ("listen.detail.auth", &AUTH),
    ("listen.detail.auth.tokens[]", &TOKEN),
    ("application", &APPLICATION),
    ("application.liveness", &LIVENESS),
    ("application.liveness.heartbeat", &HEARTBEAT),
    ("defaults", &DEFAULTS),
];

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../docs/sidecar.md");

    /// The rows of the tables under one heading.
    fn rows(heading: &str) -> Vec<&'static str> {
        let start = DOCUMENT
            .find(heading)
            .unwrap_or_else(|| panic!("no heading {heading:?}"));
        let body = &DOCUMENT[start + heading.len()..];
        let chapter = &body[..body.find("\n## ").unwrap_or(body.len())];
        chapter
            .lines()
            .filter(|line| line.starts_with('|'))
            .collect()
    }

    fn has_row(rows: &[&str], key: &str) -> bool {
        let first = rows.iter().filter_map(|row| row.split('|').nth(1));
        first
            .into_iter()
            .any(|cell| cell.contains(&format!("`{key}`")))
    }

    #[test]
    fn the_document_describes_every_key() {
        for (path, section) in ALL {
            let heading = match path {
                "" => "## The file\n".to_owned(),
                path => format!("## `{path}`\n"),
            };
            let rows = rows(&heading);
            for key in section.names() {
                assert!(has_row(&rows, key), "{path}: `{key}` has no row");
            }
        }
        let rows = rows("## A check\n");
        for key in of_check() {
            assert!(has_row(&rows, key), "a check: `{key}` has no row");
        }
    }
}
