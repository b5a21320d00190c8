//! What was written in one file, each value typed and in its range, but nothing compared with anything else yet.

use std::net::SocketAddr;
use std::time::Duration;

use rootward_core::{Criticality, Name};
use rootward_formats::Choice;

use crate::credential::Credential;
use crate::date::Date;
use crate::place::{Field, Located, Place};
use crate::url::TargetUrl;

/// One file.
#[derive(Debug, Default)]
pub(crate) struct RawFile {
    pub(crate) aggregator: Option<RawAggregator>,
    pub(crate) defaults: Option<RawDefaults>,
    pub(crate) listen: Option<RawListen>,
    pub(crate) services: Vec<RawService>,
    pub(crate) resources: Vec<RawResource>,
    pub(crate) groups: Vec<RawGroup>,
    /// Whether services may have been written that could not be read; what is wrong with them was reported.
    pub(crate) services_refused: bool,
}

impl RawFile {
    /// A file of which nothing is known.
    pub(crate) fn unreadable() -> Self {
        Self {
            services_refused: true,
            ..Self::default()
        }
    }
}

/// `aggregator`.
#[derive(Debug)]
pub(crate) struct RawAggregator {
    pub(crate) place: Place,
    pub(crate) environment: Field<Name>,
    pub(crate) zone: Field<Name>,
    pub(crate) page_within: Field<Duration>,
    pub(crate) page_unknown_after: Field<Duration>,
    pub(crate) self_checks: Vec<Located<String>>,
}

/// `defaults`.
#[derive(Debug)]
pub(crate) struct RawDefaults {
    pub(crate) place: Place,
    pub(crate) timing: RawTiming,
    pub(crate) roots: Field<String>,
    pub(crate) format: Field<Choice>,
    pub(crate) auth: Field<Option<Credential>>,
}

/// When and how often to poll, and how many outcomes to believe.
#[derive(Debug)]
pub(crate) struct RawTiming {
    pub(crate) interval: Field<Duration>,
    pub(crate) timeout: Field<Duration>,
    pub(crate) stale_after: Field<Duration>,
    pub(crate) fall: Field<u8>,
    pub(crate) rise: Field<u8>,
}

impl RawTiming {
    /// Nothing written.
    pub(crate) const ABSENT: Self = Self {
        interval: Field::Absent,
        timeout: Field::Absent,
        stale_after: Field::Absent,
        fall: Field::Absent,
        rise: Field::Absent,
    };
}

/// `listen`.
#[derive(Debug)]
pub(crate) struct RawListen {
    pub(crate) place: Place,
    pub(crate) internal: Field<SocketAddr>,
}

/// One of `services`.
#[derive(Debug)]
pub(crate) struct RawService {
    pub(crate) name: Field<Name>,
    pub(crate) owner: Field<String>,
    pub(crate) namespace: Field<Name>,
    pub(crate) zone: Field<Name>,
    pub(crate) urls: Vec<RawUrl>,
    /// The URL whose host stands for every address it resolves to.
    pub(crate) dns: Field<TargetUrl>,
    /// Whether it sends its reports by itself.
    pub(crate) push: Field<bool>,
    /// How many URLs were written, readable or not; `None` if there is no telling.
    pub(crate) urls_written: Option<usize>,
    pub(crate) timing: RawTiming,
    /// The file of those whose certificates are believed.
    pub(crate) roots: Field<String>,
    /// How answers are read.
    pub(crate) format: Field<Choice>,
    pub(crate) auth: Field<Option<Credential>>,
    pub(crate) at_least: Field<usize>,
    pub(crate) dependencies: Vec<RawDependency>,
}

/// One address to poll.
#[derive(Debug)]
pub(crate) struct RawUrl {
    pub(crate) url: Located<TargetUrl>,
    pub(crate) instance: Field<Name>,
}

/// One of `dependencies`.
#[derive(Debug)]
pub(crate) struct RawDependency {
    pub(crate) place: Place,
    pub(crate) name: Field<Name>,
    pub(crate) criticality: Field<Criticality>,
    pub(crate) owner: Field<String>,
    pub(crate) reason: Field<String>,
    pub(crate) overrides: Field<bool>,
    pub(crate) reviewed: Field<Date>,
    pub(crate) review_every: Field<Duration>,
}

/// One of `resources`.
#[derive(Debug)]
pub(crate) struct RawResource {
    pub(crate) name: Field<Name>,
    pub(crate) kind: Field<Name>,
    pub(crate) target: Field<String>,
    pub(crate) aliases: Vec<Located<Name>>,
    pub(crate) owner: Field<String>,
    pub(crate) zone: Field<Name>,
}

/// One of `groups`.
#[derive(Debug)]
pub(crate) struct RawGroup {
    pub(crate) name: Field<Name>,
    pub(crate) members: Vec<Located<Name>>,
    pub(crate) public_name: Field<String>,
}
