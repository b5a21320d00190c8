//! Tests a running service, in any language, against the published contract, and says which promise it breaks.
//!
//! The promises are the [`Rule`]s of `docs/spec/conformance-v1.md`. Most need nothing but the address. Those about
//! dependencies need a dependency under control: for each [`Stub`] this process listens where the service expects its
//! database, cache or other service, lets it answer, hang, refuse and be slow, and looks at what the service says
//! meanwhile. What could not be put to the test is [`Verdict::NotTested`], with the reason, and never kept.
//!
//! | module | what it is |
//! | --- | --- |
//! | `rule`, `verdict`, `plan`, `json` | the promises; what became of them; what is tested; the outcome for programs |
//! | `ask`, `raw`, `leak` | one question; one in bytes; what no answer may hold |
//! | `detail`, `look`, `course` | one report; one look at everything; one component through a fault |
//! | `endpoints`, `access`, `load`, `deep` | the rules that need only the address |
//! | `query`, `grpc`, `limits` | those of queries, of grpc.health.v1, of limits of rate |
//! | `stage`, `faults` | the stubs; the faults, one after another |
//! | `launch`, `start`, `drain` | the service as a program; its start; its end |
//! | `run` | what comes after what |
//!
//! It reads and changes nothing: GET, HEAD, OPTIONS, one POST that must be refused. It asks a few hundred times, at most
//! twelve at once.

mod access;
mod ask;
mod course;
mod deep;
mod detail;
mod drain;
mod endpoints;
mod faults;
mod grpc;
mod json;
mod launch;
mod leak;
mod limits;
mod load;
mod look;
mod plan;
mod query;
mod raw;
mod rule;
mod run;
mod stage;
mod start;
mod verdict;

use std::fmt;
use std::io;
use std::time::Duration;

pub use launch::Launch;
pub use plan::{MAX_STUBS, Plan, Stub, StubError, StubKind};
pub use rule::{Need, Rule};
pub use run::run;
pub use start::NotStarted;
pub use verdict::{Ending, Evidence, Outcome, Verdict};

/// Is told what is done next, and how long that takes at most.
pub type Progress<'a> = &'a mut dyn FnMut(&str, Duration);

/// Nothing could be tested.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The service does not answer.
    #[error("no answer from {url}: {error}")]
    NotReached {
        /// What was asked.
        url: String,
        /// Why there is none.
        error: rootward_fetch::FetchError,
    },
    /// A stub has no port.
    #[error("cannot listen on 127.0.0.1:{port} in the place of {component}: {}", error.kind())]
    NoPort {
        /// The component that it is for.
        component: String,
        /// The port.
        port: u16,
        /// Why not.
        error: io::Error,
    },
    /// Something answers where the service is to be started.
    #[error("something that was not started for the test answers at {url} already")]
    Taken {
        /// Where.
        url: String,
    },
    /// The program cannot be started.
    #[error("{program} cannot be started: {}", not_started(error))]
    NoProgram {
        /// The program.
        program: String,
        /// Why not.
        error: io::Error,
    },
    /// The service that was started did not come up.
    #[error("{0}")]
    NotStarted(NotStarted),
}

/// What is known before the test begins.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// How many rules are put to the test.
    pub rules: usize,
    /// What it takes at most. Usually it takes a fraction of that.
    pub at_most: Duration,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rules, at most {} s",
            self.rules,
            self.at_most.as_secs()
        )
    }
}

fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        // An open set; the system's words are better than ours.
        _ => error.to_string(),
    }
}
