//! The kinds of checks: one file each, with a description of its settings and a function that makes the check.
//!
//! # How a kind is added
//!
//! 1. A file `kinds/KIND.rs` with a `static KIND: Kind`: its name, its keys ([`Key`](rootward_config::agent::Key), with
//!    what is required and what is secret), an example of one line, and `build: built!("KIND", build)`.
//! 2. In it, `fn build(name: &str, settings: &Settings) -> Result<Check<Unlabelled>, Unfit>` behind
//!    `#[cfg(feature = "KIND")]`. It reads the settings and calls `rootward_checks::open::KIND`; it connects to nothing.
//!    What is wrong with one setting names its key ([`Unfit::at`]), and `?` makes an [`Unfit`] of an `Unusable`.
//! 3. A line in [`ALL`] below, in the order of the alphabet.
//! 4. The feature `KIND = ["rootward-checks/KIND"]` in `Cargo.toml`, and its name in the list of `all`.
//! 5. A file `good/KIND.yaml` and one with each of its mistakes, `bad/KIND.yaml`, in `fixtures/agents`, and a row in the
//!    table of `docs/sidecar.md`; the tests of this crate hold both against the description.
//!
//! A check is shared unless its function says `.local()`, and has no criticality: the file says it.

use rootward::{Check, Unlabelled};
use rootward_config::agent::{Key, KindSpec, Settings};

/// The function, if this build has the feature.
macro_rules! built {
    ($feature:literal, $build:path) => {{
        #[cfg(feature = $feature)]
        {
            Some($build)
        }
        #[cfg(not(feature = $feature))]
        {
            None
        }
    }};
}

mod amqp;
mod clock;
mod descriptors;
mod disk;
mod dns;
mod elasticsearch;
mod etcd;
mod freshness;
mod grpc_health;
mod http;
mod kafka;
mod meilisearch;
mod memcached;
mod memory;
mod mongodb;
mod mysql;
mod nats;
mod postgresql;
mod redis;
mod redis_cluster;
mod redis_sentinel;
mod s3;
mod service;
mod smtp;
mod sqlite;
mod sqs;
mod tcp;
mod tls;

/// A kind of check.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The key under which it stands.
    name: &'static str,
    /// Its settings.
    keys: &'static [Key],
    /// What its settings look like.
    example: &'static str,
    /// What makes a check of them; `None` if this build has none of the kind.
    build: Option<Build>,
}

type Build = fn(&str, &Settings) -> Result<Check<Unlabelled>, Unfit>;

/// All of them, in the order of the alphabet.
static ALL: [&Kind; 28] = [
    &amqp::KIND,
    &clock::KIND,
    &descriptors::KIND,
    &disk::KIND,
    &dns::KIND,
    &elasticsearch::KIND,
    &etcd::KIND,
    &freshness::KIND,
    &grpc_health::KIND,
    &http::KIND,
    &kafka::KIND,
    &meilisearch::KIND,
    &memcached::KIND,
    &memory::KIND,
    &mongodb::KIND,
    &mysql::KIND,
    &nats::KIND,
    &postgresql::KIND,
    &redis::KIND,
    &redis_cluster::KIND,
    &redis_sentinel::KIND,
    &s3::KIND,
    &service::KIND,
    &smtp::KIND,
    &sqlite::KIND,
    &sqs::KIND,
    &tcp::KIND,
    &tls::KIND,
];

/// The names of all kinds, in the order of the alphabet, whether this build has them or not.
pub fn kind_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|kind| kind.name)
}

/// The names of the settings of a kind; none if there is no such kind.
pub fn keys_of(kind: &str) -> impl Iterator<Item = &'static str> {
    let known = ALL.iter().find(|known| known.name == kind);
    let keys = known.map_or(&[] as &[Key], |kind| kind.keys);
    keys.iter().map(Key::name)
}

/// What the reader of the file needs to know about each.
pub(crate) fn specs() -> Vec<KindSpec> {
    let spec = |kind: &&Kind| KindSpec {
        name: kind.name,
        keys: kind.keys,
        example: kind.example,
        built: kind.build.is_some(),
    };
    ALL.iter().map(spec).collect()
}

/// The schema of an agent's file for editors, with the kinds of checks that this build has.
#[must_use]
pub fn schema() -> serde_json::Value {
    rootward_config::schema::of_agent(&specs())
}

/// Makes the check of a kind, by the kind's name.
pub(crate) fn build(
    kind: &str,
    name: &str,
    settings: &Settings,
) -> Result<Check<Unlabelled>, Unfit> {
    let kind = ALL.iter().find(|known| known.name == kind);
    match kind.and_then(|kind| kind.build) {
        Some(build) => build(name, settings),
        // The reader of the file has said so already.
        None => Err(Unfit::at(None, "this build has no such kind")),
    }
}

/// What the settings of a kind look like.
pub(crate) fn example(kind: &str) -> &'static str {
    let known = ALL.iter().find(|known| known.name == kind);
    known.map_or("{…}", |kind| kind.example)
}

/// A share in percent.
#[cfg(any(feature = "descriptors", feature = "disk", feature = "memory"))]
fn percent(settings: &Settings, key: &str) -> Option<u8> {
    // Its shape lets nothing above 100 through.
    let percent = settings.number(key)?;
    Some(u8::try_from(percent).unwrap_or(100))
}

/// The application's process. Left out, it would be the agent's own: an answer to a question that nobody has asked.
#[cfg(any(feature = "descriptors", feature = "memory"))]
fn whose(settings: &Settings) -> Result<rootward_checks::Whose, Unfit> {
    use rootward_checks::Whose;
    match (settings.optional_text("pid_file"), settings.number("pid")) {
        (Some(_), Some(_)) => Err(Unfit::at("pid", "a pid file says it already; remove one")),
        (Some(path), None) => Ok(Whose::PidFile(path.into())),
        (None, Some(pid)) => match u32::try_from(pid) {
            Ok(pid) => Ok(Whose::Pid(pid)),
            Err(_) => Err(Unfit::at("pid", "no process has so large a number")),
        },
        (None, None) => Err(Unfit::at(
            None,
            "`pid_file` is missing; without the application's process it would be the agent's own",
        )),
    }
}

/// Settings of which no check can be made: what is wrong, and with which of them. No part of a setting is in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) key: Option<&'static str>,
    pub(crate) sentence: String,
}

impl Unfit {
    /// What is wrong with the value of one key, or with all together.
    pub(crate) fn at(key: impl Into<Option<&'static str>>, sentence: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            sentence: sentence.into(),
        }
    }
}

impl From<rootward_checks::open::Unusable> for Unfit {
    fn from(unusable: rootward_checks::open::Unusable) -> Self {
        Self::at(None, unusable.to_string())
    }
}
