//! The sidecar: the file of one service's agent to its problems, or to an agent that runs its checks and answers its
//! probes, for a service in any language.
//!
//! It is the crate `rootward` with its checks taken from a file: the same endpoints, the same semantics, the same rules
//! of access. `docs/sidecar.md` has what an operator writes and what to put into a manifest.
//!
//! The way of a file, in reading order: [`rootward_config::agent`] reads it; `kinds` makes a check of what stands under
//! the name of a kind, and `application` one of how the application says that it lives; `plan` puts them together and
//! collects what is wrong ([`Plan`]); `agent` runs the plan ([`Agent`]), and `reload` holds what the file says later
//! against what runs.
//!
//! ```
//! use std::collections::BTreeMap;
//! use rootward_agent::Plan;
//! use rootward_config::Source;
//!
//! let text = "service: {name: cart}\nchecks: [{name: cache, redis: {url: redis://cache:6379}}]\n";
//! let source = Source { file: "agent.yaml".to_owned(), text: text.to_owned() };
//! let problems = Plan::compile(&source, &BTreeMap::new()).unwrap_err();
//! assert!(problems.as_slice()[0].to_string().contains("`criticality` is missing"));
//! ```

mod access;
mod agent;
mod application;
mod error;
pub mod file;
mod identity;
mod kinds;
mod plan;
mod reload;

pub use agent::Agent;
pub use error::StartError;
pub use kinds::{keys_of, kind_names, schema};
pub use plan::Plan;
