//! The vocabulary: which keys a mapping may have, and which the design has but nothing reads yet.
//!
//! A key of the second sort is refused with a sentence of its own. Ignoring it would let an operator believe that, say,
//! somebody is notified.

use crate::nearest::nearest;
use crate::problem::{Fault, harmless};
use crate::rule::Rule;

/// What a mapping may hold.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// Keys that are read.
    pub(crate) keys: &'a [&'static str],
    /// Keys of the design that are not built yet.
    pub(crate) later: &'static [&'static str],
    /// Mappings inside, for pointing at where a misplaced key belongs. Lists are left out: they have no one place.
    pub(crate) inner: &'static [(&'static str, &'static Section<'static>)],
    /// What one looks like.
    pub(crate) example: &'a str,
}

/// The document.
pub(crate) static ROOT: Section<'static> = Section {
    keys: &[
        "aggregator",
        "defaults",
        "listen",
        "services",
        "resources",
        "groups",
    ],
    later: &["notify", "maintenance", "include"],
    inner: &[
        ("aggregator", &AGGREGATOR),
        ("defaults", &DEFAULTS),
        ("listen", &LISTEN),
    ],
    example: "services: [{name: cart, health: {url: http://cart:8790/health}}]",
};

/// `aggregator`.
pub(crate) static AGGREGATOR: Section<'static> = Section {
    keys: &[
        "environment",
        "zone",
        "page_within",
        "page_unknown_after",
        "self_checks",
    ],
    later: &["store", "heartbeat", "page_on_impact", "retention"],
    inner: &[],
    example: "{environment: production, zone: eu-1a}",
};

/// `defaults`.
pub(crate) static DEFAULTS: Section<'static> = Section {
    keys: &["health"],
    later: &[],
    inner: &[("health", &DEFAULT_HEALTH)],
    example: "{health: {interval: 10s, timeout: 2s}}",
};

/// `defaults.health`.
pub(crate) static DEFAULT_HEALTH: Section<'static> = Section {
    keys: &[
        "interval",
        "timeout",
        "stale_after",
        "fall",
        "rise",
        "roots",
        "format",
        "auth",
    ],
    later: &["role", "presence"],
    inner: &[],
    example: "{interval: 10s, timeout: 2s}",
};

/// `listen`.
pub(crate) static LISTEN: Section<'static> = Section {
    keys: &["internal"],
    later: &["public"],
    inner: &[("internal", &INTERNAL)],
    example: "{internal: {bind: 127.0.0.1:8791}}",
};

/// `listen.internal`.
pub(crate) static INTERNAL: Section<'static> = Section {
    keys: &["bind"],
    later: &["auth", "tls"],
    inner: &[],
    example: "{bind: 127.0.0.1:8791}",
};

/// One of `services`.
pub(crate) static SERVICE: Section<'static> = Section {
    keys: &[
        "name",
        "owner",
        "namespace",
        "zone",
        "health",
        "instances",
        "dependencies",
    ],
    later: &[],
    inner: &[("health", &HEALTH), ("instances", &INSTANCES)],
    example: "{name: cart, health: {url: http://cart:8790/health}}",
};

/// `health` of a service.
pub(crate) static HEALTH: Section<'static> = Section {
    keys: &[
        "url",
        "urls",
        "dns",
        "interval",
        "timeout",
        "stale_after",
        "fall",
        "rise",
        "roots",
        "format",
        "auth",
    ],
    later: &["kubernetes", "consul", "push", "role", "presence"],
    inner: &[],
    example: "{url: http://cart:8790/health}",
};

/// `auth` of `health`: what is shown with each poll.
pub(crate) static AUTH: Section<'static> = Section {
    keys: &["bearer", "basic"],
    later: &[],
    inner: &[],
    example: "{bearer: {file: /run/secrets/poll-token}}",
};

/// `auth.basic` of `health`.
pub(crate) static BASIC: Section<'static> = Section {
    keys: &["user", "password"],
    later: &[],
    inner: &[],
    example: "{user: rootward, password: {file: /run/secrets/poll-password}}",
};

/// One of `urls`, in its long form.
pub(crate) static URL: Section<'static> = Section {
    keys: &["url", "instance"],
    later: &["auth", "zone"],
    inner: &[],
    example: "{url: http://cart-0:8790/health, instance: cart-0}",
};

/// `instances` of a service.
pub(crate) static INSTANCES: Section<'static> = Section {
    keys: &["at_least"],
    later: &["desired"],
    inner: &[],
    example: "{at_least: 2}",
};

/// One of `dependencies`.
pub(crate) static DEPENDENCY: Section<'static> = Section {
    keys: &[
        "name",
        "criticality",
        "owner",
        "reason",
        "override",
        "reviewed",
        "review_every",
    ],
    later: &["any_of", "at_least"],
    inner: &[],
    example: "{name: carts-db, criticality: hard}",
};

/// One of `resources`.
pub(crate) static RESOURCE: Section<'static> = Section {
    keys: &["name", "kind", "target", "aliases", "owner", "zone"],
    later: &[],
    inner: &[],
    example: "{name: carts-db, kind: postgresql}",
};

/// One of `groups`.
pub(crate) static GROUP: Section<'static> = Section {
    keys: &["name", "members", "public_name"],
    later: &[],
    inner: &[],
    example: "{name: checkout, members: [front, cart]}",
};

/// Keys of the sidecar's file, which people know from beside this one.
const OF_THE_AGENT: [&str; 2] = ["application", "checks"];

/// Every mapping, with the path that documents and messages use for it.
pub(crate) static ALL: [(&str, &Section<'static>); 15] = [
    ("", &ROOT),
    ("aggregator", &AGGREGATOR),
    ("defaults", &DEFAULTS),
    ("defaults.health", &DEFAULT_HEALTH),
    ("listen", &LISTEN),
    ("listen.internal", &INTERNAL),
    ("services[]", &SERVICE),
    ("services[].health", &HEALTH),
    ("services[].health.auth", &AUTH),
    ("services[].health.auth.basic", &BASIC),
    ("services[].health.urls[]", &URL),
    ("services[].instances", &INSTANCES),
    ("services[].dependencies[]", &DEPENDENCY),
    ("resources[]", &RESOURCE),
    ("groups[]", &GROUP),
];

/// Why a key may not stand where it does.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) fault: Fault,
    /// The key that was probably meant.
    pub(crate) meant: Option<&'static str>,
}

impl Section<'_> {
    /// Why a key may not stand here; `None` if it may.
    pub(crate) fn refuse(&self, key: &str) -> Option<Refusal> {
        if self.keys.contains(&key) {
            return None;
        }
        let shown = harmless(key);
        let unknown =
            |help: String| Fault::new(format!("unknown key `{shown}`"), help).of(Rule::UnknownKey);
        let not_built =
            || Fault::new(format!("`{shown}` is not built yet"), "remove it").of(Rule::NotBuilt);
        let somewhere_later = || ALL.iter().any(|(_, section)| section.later.contains(&key));
        let mut meant = None;
        let fault = if self.keys.contains(&"services") && OF_THE_AGENT.contains(&key) {
            Fault::new(
                format!("`{shown}` belongs in the file of an agent"),
                "put it into a file of its own and run that with `rootward agent`",
            )
            .of(Rule::UnknownKey)
        } else if self.later.contains(&key) {
            not_built()
        } else if let Some(path) = self.home_of(key) {
            unknown(format!("it belongs in `{path}`"))
        } else if somewhere_later() {
            not_built()
        } else {
            meant = nearest(key, self.keys.iter().copied());
            unknown(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", self.keys.join(", ")),
            })
            .meant(meant)
        };
        Some(Refusal { fault, meant })
    }

    /// The path from here to a mapping inside that reads the key.
    fn home_of(&self, key: &str) -> Option<String> {
        self.inner.iter().find_map(|(name, section)| {
            if section.keys.contains(&key) {
                Some((*name).to_owned())
            } else {
                section.home_of(key).map(|rest| format!("{name}.{rest}"))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/configuration.md");

    /// The part of the document under one heading.
    fn chapter(heading: &str) -> &'static str {
        let start = DOCUMENT
            .find(heading)
            .unwrap_or_else(|| panic!("no heading {heading:?}"));
        let body = &DOCUMENT[start + heading.len()..];
        &body[..body.find("\n## ").unwrap_or(body.len())]
    }

    #[test]
    fn the_document_describes_every_key() {
        for (path, section) in ALL {
            let heading = match path {
                "" => "## The file\n".to_owned(),
                path => format!("## `{path}`\n"),
            };
            let chapter = chapter(&heading);
            for key in section.keys {
                assert!(
                    chapter.contains(&format!("| `{key}` |")),
                    "{path}: `{key}` has no row"
                );
            }
        }
    }

    #[test]
    fn the_document_lists_every_key_that_is_not_built() {
        let chapter = chapter("## Not built yet\n");
        for (path, section) in ALL {
            for key in section.later {
                let full = [path, key].map(str::to_owned).join(".");
                let full = full.trim_start_matches('.');
                assert!(
                    chapter.contains(&format!("`{full}`")),
                    "`{full}` is not listed"
                );
            }
        }
    }

    #[test]
    fn a_key_in_the_wrong_place_is_sent_home() {
        let help =
            |section: &Section<'_>, key| section.refuse(key).and_then(|refusal| refusal.fault.help);
        assert_eq!(
            help(&SERVICE, "timeout").as_deref(),
            Some("it belongs in `health`")
        );
        assert_eq!(
            help(&ROOT, "bind").as_deref(),
            Some("it belongs in `listen.internal`")
        );
        assert_eq!(
            help(&ROOT, "rise").as_deref(),
            Some("it belongs in `defaults.health`")
        );
        assert_eq!(help(&ROOT, "store").as_deref(), Some("remove it"));
        assert_eq!(
            help(&SERVICE, "helth").as_deref(),
            Some("did you mean `health`?")
        );
    }
}
