//! Reads a configuration from files and the environment, and compiles it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rootward_agent::file::{self, Stamp, Unread, Values};
use rootward_config::{Checked, Elsewhere, Problems, Source, compile_with};

use crate::commands::not_started;
use crate::exit::Exit;
use crate::trouble::Trouble;

/// What the files say at one moment.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What was in each file that was read.
    pub(crate) stamp: Stamp,
    /// What that comes to.
    pub(crate) compiled: Result<Checked, Wrong>,
}

/// Why files are no configuration.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// They could not be read.
    Unread(Vec<Unread>),
    /// What stands in them.
    Problems(Problems),
}

impl From<Wrong> for Trouble {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Unread(files) => unread(&files),
            Wrong::Problems(problems) => not_started(&problems),
        }
    }
}

/// Reads the files and compiles them as one configuration. A directory stands for its `*.yaml`, `*.yml` and `*.toml`
/// files, by name.
pub(crate) fn load(paths: &[PathBuf], env: &BTreeMap<String, String>) -> Reading {
    let values = Values::default();
    let compiled = file::sources(paths, &values)
        .map_err(Wrong::Unread)
        .and_then(|sources| compile(&sources, env, &values).map_err(Wrong::Problems));
    if let Ok(checked) = &compiled {
        // Each is read where its certificates are needed; here only so that a change is seen.
        for roots in roots(checked) {
            values.watch(roots);
        }
    }
    Reading {
        stamp: values.stamp(),
        compiled,
    }
}

/// Every file of certificates that is named, once.
fn roots(checked: &Checked) -> BTreeSet<&Path> {
    let written = checked.targets.iter().map(|target| &target.roots);
    let named = checked.dns.iter().map(|named| &named.roots);
    written
        .chain(named)
        .flatten()
        .map(PathBuf::as_path)
        .collect()
}

/// Compiles what was read; `values` gives what stands in files of its own.
pub(crate) fn compile(
    sources: &[Source],
    env: &BTreeMap<String, String>,
    values: &Values,
) -> Result<Checked, Problems> {
    let files = |path: &str| values.value(path);
    compile_with(sources, &Elsewhere { env, files: &files })
}

/// Reads the files.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Vec<Unread>> {
    file::sources(paths, &Values::default())
}

/// Files that could not be read, for a person.
pub(crate) fn unread(files: &[Unread]) -> Trouble {
    let sentences: Vec<String> = files.iter().map(ToString::to_string).collect();
    Trouble::new(Exit::WrongInput, sentences.join("; "))
}

/// What `${NAME}` refers to. A variable that is not text cannot be referred to.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
