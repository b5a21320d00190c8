//! What an operator writes, compiled like a program: raw text to every problem at once, or to a checked configuration.
//!
//! What is absent: files, the environment, clocks, the network. Texts and variables are arguments; whoever calls reads
//! them. The same arguments give the same answer, down to the order of problems.
//!
//! The way of a file, in reading order: `syntax` has `yaml` or `toml` make a tree with positions (`tree`), the same from both;
//! `sections` reads the tree into typed values (`raw`) by the vocabulary in `keys`, with the readers in `read`, `values`,
//! `duration`, `url` and `expand`; `check` compares the values with each other and builds [`Checked`].
//!
//! ```
//! use rootward_config::{Source, compile};
//! use std::collections::BTreeMap;
//!
//! let file = |text: &str| [Source { file: "rootward.yaml".to_owned(), text: text.to_owned() }];
//!
//! let good = "services: [{name: cart, health: {url: http://cart:8790}}]";
//! let checked = compile(&file(good), &BTreeMap::new()).unwrap();
//! assert_eq!(checked.targets[0].url, "http://cart:8790/health");
//!
//! let bad = "services: [{name: cart, health: {url: http://cart:8790, timeout: 5}}]";
//! let problems = compile(&file(bad), &BTreeMap::new()).unwrap_err();
//! assert_eq!(problems.to_string(), "\
//! rootward.yaml: 1 problem
//!   1:66  services[0].health.timeout: \"5\" has no unit; write \"5s\" or \"500ms\"
//! ");
//! ```

use std::collections::BTreeMap;
use std::fmt;

pub mod agent;
mod check;
mod checked;
mod credential;
mod date;
mod document;
mod duration;
mod expand;
mod keys;
mod nearest;
mod place;
mod problem;
mod raw;
mod read;
mod rule;
pub mod schema;
mod sections;
mod shape;
mod syntax;
mod targets;
mod toml;
mod tree;
mod url;
mod values;
mod yaml;

pub use agent::Elsewhere;
pub use checked::{
    AggregatorSpec, Checked, DEFAULT_INTERVAL, DEFAULT_LISTEN_INTERNAL, DEFAULT_PAGE_UNKNOWN_AFTER,
    DEFAULT_PAGE_WITHIN, DEFAULT_TIMEOUT, DnsSpec, GroupSpec, LabelReview, MAX_SELF_CHECKS,
    PushSpec, TargetSpec,
};
pub use credential::{Credential, Secret};
pub use date::Date;
pub use nearest::nearest;
pub use problem::{MAX_PROBLEMS, Problem, Problems};
pub use rule::{Rule, Severity};
pub use syntax::{MAX_DEPTH, MAX_NODES, MAX_SCALAR_BYTES, MAX_TEXT_BYTES};

use place::Log;
use raw::RawFile;
use read::Reader;

/// The largest file of targets (`health.targets`): ten thousand URLs are about half of it.
pub const MAX_TARGETS_BYTES: usize = 1024 * 1024;

/// One file of a configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// What problems call it.
    pub file: String,
    /// What is in it.
    pub text: String,
}

impl fmt::Debug for Source {
    /// Without the text, which may hold what nobody should see in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("file", &self.file)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// Compiles a configuration from its files, which are joined in the order given; `env` is what `${NAME}` refers to.
///
/// # Errors
/// Everything that is wrong, by file and position: syntax, unknown keys, values out of range, and whatever does not fit
/// together. A file whose syntax is wrong counts for one problem, and the other files are still read.
pub fn compile(sources: &[Source], env: &BTreeMap<String, String>) -> Result<Checked, Problems> {
    let files = |_: &str| Err("no files are read here".to_owned());
    compile_with(sources, &Elsewhere { env, files: &files })
}

/// As [`compile`], with the files that `{file: PATH}` refers to.
///
/// # Errors
/// As with [`compile`], and values that cannot be had from where they should be.
pub fn compile_with(sources: &[Source], elsewhere: &Elsewhere<'_>) -> Result<Checked, Problems> {
    if sources.is_empty() {
        return Err(Problems::new(
            vec![Problem {
                file: "configuration".to_owned(),
                line: 1,
                column: 1,
                path: String::new(),
                message: "no file was given".to_owned(),
                help: Some("name at least one".to_owned()),
                rule: Rule::Missing,
                end: None,
                nearest: None,
            }],
            0,
        ));
    }
    let mut log = Log::new(sources.iter().map(|source| source.file.clone()).collect());
    let mut files = Vec::with_capacity(sources.len());
    for (file, source) in sources.iter().enumerate() {
        let Some(document) = syntax::parse(source, file, &mut log) else {
            files.push(RawFile::unreadable());
            continue;
        };
        let mut reader = Reader {
            file,
            env: elsewhere.env,
            files: elsewhere.files,
            log: &mut log,
        };
        files.push(sections::read(&document, &mut reader));
    }
    check::check(files, log)
}
