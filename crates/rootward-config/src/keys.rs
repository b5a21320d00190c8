//! The vocabulary: which keys a mapping may have, and which the design has but nothing reads yet.
//!
//! A key of the second sort is refused with a sentence of its own. Ignoring it would let an operator believe that, say,
//! somebody is notified.

use crate::nearest::nearest;
use crate::problem::{Fault, harmless};
use crate::rule::Rule;
use crate::sections::{INTERVAL, MAX_THRESHOLD, PAGE, REVIEW, STALE_AFTER, TIMEOUT};
use crate::shape::{KeySpec, Shape};

/// What a mapping may hold.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// Keys that are read.
    pub(crate) keys: &'a [KeySpec],
    /// Keys of the design that are not built yet.
    pub(crate) later: &'static [&'static str],
    /// Keys of which one has to be there, and no second one.
    pub(crate) one_of: &'static [&'static str],
    /// What one looks like.
    pub(crate) example: &'a str,
}

/// How many agreeing outcomes change a status.
pub(crate) const THRESHOLD: Shape = Shape::Number(1, MAX_THRESHOLD as u64);

/// The document.
pub(crate) static ROOT: Section<'static> = Section {
    keys: &[
        KeySpec::new("aggregator", Shape::Section(&AGGREGATOR)),
        KeySpec::new("defaults", Shape::Section(&DEFAULTS)),
        KeySpec::new("listen", Shape::Section(&LISTEN)),
        KeySpec::new("services", Shape::List(&SERVICE)),
        KeySpec::new("resources", Shape::List(&RESOURCE)),
        KeySpec::new("groups", Shape::List(&GROUP)),
    ],
    later: &["notify", "maintenance", "include"],
    one_of: &[],
    example: "services: [{name: cart, health: {url: http://cart:8790/health}}]",
};

/// `aggregator`.
pub(crate) static AGGREGATOR: Section<'static> = Section {
    keys: &[
        KeySpec::new("environment", Shape::Name),
        KeySpec::new("zone", Shape::Name),
        KeySpec::new("page_within", Shape::Duration(PAGE)),
        KeySpec::new("page_unknown_after", Shape::Duration(PAGE)),
        KeySpec::new("self_checks", Shape::Texts),
    ],
    later: &["store", "heartbeat", "page_on_impact", "retention"],
    one_of: &[],
    example: "{environment: production, zone: eu-1a}",
};

/// `defaults`.
pub(crate) static DEFAULTS: Section<'static> = Section {
    keys: &[KeySpec::new("health", Shape::Section(&DEFAULT_HEALTH))],
    later: &[],
    one_of: &[],
    example: "{health: {interval: 10s, timeout: 2s}}",
};

/// `defaults.health`.
pub(crate) static DEFAULT_HEALTH: Section<'static> = Section {
    keys: &[
        KeySpec::new("interval", Shape::Duration(INTERVAL)),
        KeySpec::new("timeout", Shape::Duration(TIMEOUT)),
        KeySpec::new("stale_after", Shape::Duration(STALE_AFTER)),
        KeySpec::new("fall", THRESHOLD),
        KeySpec::new("rise", THRESHOLD),
        KeySpec::new("roots", Shape::Text),
        KeySpec::new("format", Shape::Format),
        KeySpec::new("auth", Shape::NoneOr(&AUTH)),
    ],
    later: &["role", "presence"],
    one_of: &[],
    example: "{interval: 10s, timeout: 2s}",
};

/// `listen`.
pub(crate) static LISTEN: Section<'static> = Section {
    keys: &[KeySpec::new("internal", Shape::Section(&INTERNAL))],
    later: &["public"],
    one_of: &[],
    example: "{internal: {bind: 127.0.0.1:8791}}",
};

/// `listen.internal`.
pub(crate) static INTERNAL: Section<'static> = Section {
    keys: &[KeySpec::new("bind", Shape::Address)],
    later: &["auth", "tls"],
    one_of: &[],
    example: "{bind: 127.0.0.1:8791}",
};

/// One of `services`.
pub(crate) static SERVICE: Section<'static> = Section {
    keys: &[
        KeySpec::new("name", Shape::Name).required(),
        KeySpec::new("owner", Shape::Text),
        KeySpec::new("namespace", Shape::Name),
        KeySpec::new("zone", Shape::Name),
        KeySpec::new("health", Shape::Section(&HEALTH)).required(),
        KeySpec::new("instances", Shape::Section(&INSTANCES)),
        KeySpec::new("dependencies", Shape::List(&DEPENDENCY)),
    ],
    later: &[],
    one_of: &[],
    example: "{name: cart, health: {url: http://cart:8790/health}}",
};

/// `health` of a service.
pub(crate) static HEALTH: Section<'static> = Section {
    keys: &[
        KeySpec::new("url", Shape::Url),
        KeySpec::new("urls", Shape::Urls(&URL)),
        KeySpec::new("dns", Shape::Url),
        KeySpec::new("targets", Shape::File),
        KeySpec::new("push", Shape::Flag),
        KeySpec::new("interval", Shape::Duration(INTERVAL)),
        KeySpec::new("timeout", Shape::Duration(TIMEOUT)),
        KeySpec::new("stale_after", Shape::Duration(STALE_AFTER)),
        KeySpec::new("fall", THRESHOLD),
        KeySpec::new("rise", THRESHOLD),
        KeySpec::new("roots", Shape::Text),
        KeySpec::new("format", Shape::Format),
        KeySpec::new("auth", Shape::NoneOr(&AUTH)),
    ],
    later: &["kubernetes", "consul", "role", "presence"],
    one_of: &["url", "urls", "dns", "targets", "push"],
    example: "{url: http://cart:8790/health}",
};

/// `auth` of `health`: what is shown with each poll.
pub(crate) static AUTH: Section<'static> = Section {
    keys: &[
        KeySpec::new("bearer", Shape::Text),
        KeySpec::new("basic", Shape::Section(&BASIC)),
    ],
    later: &[],
    one_of: &["bearer", "basic"],
    example: "{bearer: {file: /run/secrets/poll-token}}",
};

/// `auth.basic` of `health`.
pub(crate) static BASIC: Section<'static> = Section {
    keys: &[
        KeySpec::new("user", Shape::Text).required(),
        KeySpec::new("password", Shape::Text).required(),
    ],
    later: &[],
    one_of: &[],
    example: "{user: rootward, password: {file: /run/secrets/poll-password}}",
};

/// One of `urls`, in its long form.
pub(crate) static URL: Section<'static> = Section {
    keys: &[
        KeySpec::new("url", Shape::Url).required(),
        KeySpec::new("instance", Shape::Name),
    ],
    later: &["auth", "zone"],
    one_of: &[],
    example: "{url: http://cart-0:8790/health, instance: cart-0}",
};

/// One group in a file of targets, as Prometheus' file-based service discovery has it.
pub(crate) static TARGET_GROUP: Section<'static> = Section {
    keys: &[
        KeySpec::new("targets", Shape::Urls(&URL)).required(),
        KeySpec::new("labels", Shape::Text),
    ],
    later: &[],
    one_of: &[],
    example: "{targets: [10.0.0.7:8790]}",
};

/// `instances` of a service.
pub(crate) static INSTANCES: Section<'static> = Section {
    keys: &[KeySpec::new("at_least", Shape::Number(1, u64::MAX))],
    later: &["desired"],
    one_of: &[],
    example: "{at_least: 2}",
};

/// One of `dependencies`.
pub(crate) static DEPENDENCY: Section<'static> = Section {
    keys: &[
        KeySpec::new("name", Shape::Name).required(),
        KeySpec::new("criticality", Shape::Criticality),
        KeySpec::new("owner", Shape::Text),
        KeySpec::new("reason", Shape::Text),
        KeySpec::new("override", Shape::Flag),
        KeySpec::new("reviewed", Shape::Date),
        KeySpec::new("review_every", Shape::Duration(REVIEW)),
    ],
    later: &["any_of", "at_least"],
    one_of: &[],
    example: "{name: carts-db, criticality: hard}",
};

/// One of `resources`.
pub(crate) static RESOURCE: Section<'static> = Section {
    keys: &[
        KeySpec::new("name", Shape::Name).required(),
        KeySpec::new("kind", Shape::Name),
        KeySpec::new("target", Shape::Target),
        KeySpec::new("aliases", Shape::Names(0)),
        KeySpec::new("owner", Shape::Text),
        KeySpec::new("zone", Shape::Name),
    ],
    later: &[],
    one_of: &[],
    example: "{name: carts-db, kind: postgresql}",
};

/// One of `groups`.
pub(crate) static GROUP: Section<'static> = Section {
    keys: &[
        KeySpec::new("name", Shape::Name).required(),
        KeySpec::new("members", Shape::Names(1)).required(),
        KeySpec::new("public_name", Shape::Text),
    ],
    later: &[],
    one_of: &[],
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
    /// The keys that are read.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    fn reads(&self, key: &str) -> bool {
        self.names().any(|name| name == key)
    }

    /// Why a key may not stand here; `None` if it may.
    pub(crate) fn refuse(&self, key: &str) -> Option<Refusal> {
        if self.reads(key) {
            return None;
        }
        let shown = harmless(key);
        let unknown =
            |help: String| Fault::new(format!("unknown key `{shown}`"), help).of(Rule::UnknownKey);
        let not_built =
            || Fault::new(format!("`{shown}` is not built yet"), "remove it").of(Rule::NotBuilt);
        let somewhere_later = || ALL.iter().any(|(_, section)| section.later.contains(&key));
        let mut meant = None;
        let fault = if self.reads("services") && OF_THE_AGENT.contains(&key) {
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
            meant = nearest(key, self.names());
            unknown(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "known here: {}",
                    self.names().collect::<Vec<_>>().join(", ")
                ),
            })
            .meant(meant)
        };
        Some(Refusal { fault, meant })
    }

    /// The path from here to a mapping inside that reads the key.
    fn home_of(&self, key: &str) -> Option<String> {
        // Lists are left out: they have no one place.
        self.keys.iter().find_map(|outer| match outer.shape {
            Shape::Section(section) if section.reads(key) => Some(outer.name.to_owned()),
            Shape::Section(section) => {
                let rest = section.home_of(key)?;
                Some(format!("{}.{rest}", outer.name))
            }
            _ => None,
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
            for key in section.names() {
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
