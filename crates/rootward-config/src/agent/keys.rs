//! The vocabulary of the agent's file, but for the kinds of checks, which whoever runs them describes.

use crate::keys::Section;

/// The document.
pub(super) static ROOT: Section<'static> = Section {
    keys: &["service", "listen", "application", "defaults", "checks"],
    later: &["include"],
    inner: &[
        ("service", &SERVICE),
        ("listen", &LISTEN),
        ("application", &APPLICATION),
        ("defaults", &DEFAULTS),
    ],
    example: "service: {name: cart}",
};

/// `service`.
pub(super) static SERVICE: Section<'static> = Section {
    keys: &[
        "name",
        "version",
        "instance",
        "environment",
        "namespace",
        "zone",
        "host",
    ],
    later: &[],
    inner: &[],
    example: "{name: cart, version: \"1.4.2\"}",
};

/// `listen`.
pub(super) static LISTEN: Section<'static> = Section {
    keys: &["bind", "detail"],
    later: &["tls", "grpc"],
    inner: &[("detail", &DETAIL)],
    example: "{bind: 0.0.0.0:8790}",
};

/// `listen.detail`: who may read the detailed routes.
pub(super) static DETAIL: Section<'static> = Section {
    keys: &["auth", "loopback", "open_metrics"],
    later: &[],
    inner: &[("auth", &AUTH)],
    example: "{auth: {tokens: [{id: rootward, digest: \"rw1_…:sha256:…\"}]}}",
};

/// `listen.detail.auth`.
pub(super) static AUTH: Section<'static> = Section {
    keys: &["tokens", "tokens_file"],
    later: &[],
    inner: &[],
    example: "{tokens: [{id: rootward, digest: \"rw1_…:sha256:…\"}]}",
};

/// One of `listen.detail.auth.tokens`.
pub(super) static TOKEN: Section<'static> = Section {
    keys: &["id", "digest"],
    later: &[],
    inner: &[],
    example: "{id: rootward, digest: \"rw1_…:sha256:…\"}",
};

/// `application`.
pub(super) static APPLICATION: Section<'static> = Section {
    keys: &["liveness", "drain", "interval", "timeout", "fall", "rise"],
    later: &[],
    inner: &[],
    example: "{liveness: http://127.0.0.1:8080/ping}",
};

/// `application.liveness`, in its long form.
pub(super) static LIVENESS: Section<'static> = Section {
    keys: &["heartbeat"],
    later: &[],
    inner: &[("heartbeat", &HEARTBEAT)],
    example: "{heartbeat: {file: /run/cart/alive, within: 30s}}",
};

/// `application.liveness.heartbeat`.
pub(super) static HEARTBEAT: Section<'static> = Section {
    keys: &["file", "within"],
    later: &[],
    inner: &[],
    example: "{file: /run/cart/alive, within: 30s}",
};

/// `defaults`.
pub(super) static DEFAULTS: Section<'static> = Section {
    keys: &["interval", "timeout", "fall", "rise", "owner"],
    later: &[],
    inner: &[],
    example: "{interval: 10s, timeout: 500ms}",
};

/// What one of `checks` may say beside its kind.
pub(super) const CHECK: [&str; 11] = [
    "name",
    "criticality",
    "scope",
    "interval",
    "timeout",
    "fall",
    "rise",
    "slow_above",
    "gates_readiness",
    "owner",
    "target",
];

/// What one of `checks` looks like.
pub(super) const CHECK_EXAMPLE: &str =
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
            for key in section.keys {
                assert!(has_row(&rows, key), "{path}: `{key}` has no row");
            }
        }
        let rows = rows("## A check\n");
        for key in CHECK {
            assert!(has_row(&rows, key), "a check: `{key}` has no row");
        }
    }
}
