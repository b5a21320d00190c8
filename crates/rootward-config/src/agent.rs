//! The file of the sidecar: text to every problem at once, or to what the agent of one service runs.
//!
//! Which kinds of checks there are is an argument: this crate reads their settings by a description ([`KindSpec`]) and
//! knows no check. So reading ends in a [`Draft`]: whoever makes the checks adds what is wrong with them, each in its
//! place, and [`Draft::finish`] gives all problems together.
//!
//! ```
//! use std::collections::BTreeMap;
//! use rootward_config::Source;
//! use rootward_config::agent::{Elsewhere, Key, KindSpec, Shape, read};
//!
//! const TCP: KindSpec = KindSpec {
//!     name: "tcp",
//!     keys: &[Key::new("address", Shape::Text).required("write it like carts-db:5432")],
//!     example: "{address: carts-db:5432}",
//!     built: true,
//! };
//! let text = "
//! service: {name: cart}
//! checks: [{name: carts-db, tcp: {adress: db:5432}, criticality: hard}]
//! ";
//! let source = Source { file: "agent.yaml".to_owned(), text: text.to_owned() };
//! let elsewhere = Elsewhere { env: &BTreeMap::new(), files: &|_| Err("there is no such file".to_owned()) };
//! let problems = read(&source, &elsewhere, &[TCP]).finish().unwrap_err();
//! assert_eq!(
//!     problems.as_slice()[0].to_string(),
//!     "agent.yaml:3:33: checks[0].tcp: unknown key `adress`; did you mean `address`?"
//! );
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::Source;
use crate::place::{Log, Place};
use crate::problem::{Fault, Problems};
use crate::read::Reader;
use crate::syntax::parse;
use crate::tree::Value;

mod checks;
pub(crate) mod keys;
mod sections;
mod settings;
mod shape;
mod spec;

pub(crate) use settings::MAX_ENTRIES;
pub use settings::{Setting, Settings};
pub use shape::{Key, KindSpec, Shape};
pub use spec::{
    AgentSpec, ApplicationSpec, DEFAULT_BIND, DEFAULT_TIMEOUT, Definition, DetailSpec, ListenSpec,
    Liveness, ServiceSpec, TokenSpec,
};

/// Where values are taken from that do not stand in the file.
#[derive(Clone, Copy)]
pub struct Elsewhere<'a> {
    /// What `${NAME}` and `{env: NAME}` refer to.
    pub env: &'a BTreeMap<String, String>,
    /// Gives what stands in the file of a `{file: PATH}`, or says why not, in words that are safe to show.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
}

impl fmt::Debug for Elsewhere<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elsewhere").finish_non_exhaustive()
    }
}

/// A place in the file, for whoever finds something wrong with what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot(Place);

/// What was read, and what is wrong with it so far.
#[derive(Debug)]
pub struct Draft {
    read: Option<Parts>,
    log: Log,
}

/// What could be read of each part.
#[derive(Debug)]
struct Parts {
    service: Option<ServiceSpec>,
    listen: ListenSpec,
    application: ApplicationSpec,
    checks: Vec<DraftCheck>,
}

/// One of `checks` as far as it could be read: its kind and its settings, and all of it if nothing else is wrong with
/// it.
#[derive(Debug)]
pub struct DraftCheck {
    /// The name of its kind.
    pub kind: &'static str,
    /// What its kind takes.
    pub settings: Settings,
    /// All of it.
    pub definition: Option<Definition>,
    place: Place,
}

impl DraftCheck {
    /// Where it stands.
    #[must_use]
    pub fn spot(&self) -> Spot {
        Spot(self.place.clone())
    }
}

/// Reads the file of an agent. What is wrong is in the draft.
#[must_use]
pub fn read(source: &Source, elsewhere: &Elsewhere<'_>, kinds: &[KindSpec]) -> Draft {
    let mut log = Log::new(vec![source.file.clone()]);
    let Some(document) = parse(source, 0, &mut log) else {
        return Draft { read: None, log };
    };
    let mut reader = Reader {
        file: 0,
        env: elsewhere.env,
        files: elsewhere.files,
        log: &mut log,
    };
    let read = sections::read(&document, kinds, &mut reader);
    Draft { read, log }
}

/// Whether this is the file of an agent and not one of the aggregator: it has `checks`, `service` or `application`, and
/// no `services`.
#[must_use]
pub fn is_agent_file(source: &Source) -> bool {
    let mut log = Log::new(vec![source.file.clone()]);
    let Some(document) = parse(source, 0, &mut log) else {
        return false;
    };
    let Value::Mapping(entries) = &document.value else {
        return false;
    };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    !has("services") && (has("checks") || has("service") || has("application"))
}

impl Draft {
    /// `listen`, as far as it could be read.
    #[must_use]
    pub fn listen(&self) -> Option<&ListenSpec> {
        self.read.as_ref().map(|read| &read.listen)
    }

    /// `application`, as far as it could be read.
    #[must_use]
    pub fn application(&self) -> Option<&ApplicationSpec> {
        self.read.as_ref().map(|read| &read.application)
    }

    /// The checks whose kind and settings could be read.
    #[must_use]
    pub fn checks(&self) -> &[DraftCheck] {
        self.read.as_ref().map_or(&[], |read| &read.checks)
    }

    /// Adds a problem: what is wrong there, and what would be right. Neither may hold a secret.
    pub fn refuse(&mut self, spot: &Spot, message: impl Into<String>, help: impl Into<String>) {
        self.log.problem(&spot.0, Fault::new(message, help));
    }

    /// What the agent runs.
    ///
    /// # Errors
    /// Everything that is wrong, by position.
    pub fn finish(self) -> Result<AgentSpec, Problems> {
        let warnings = self.log.finish()?;
        let reported = "whatever could not be read was reported";
        let read = self.read.expect(reported);
        Ok(AgentSpec {
            service: read.service.expect(reported),
            listen: read.listen,
            application: read.application,
            warnings,
        })
    }
}
