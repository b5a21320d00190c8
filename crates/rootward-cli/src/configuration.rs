//! Reads a configuration from files and the environment, and compiles it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rootward_agent::file::{self, Values};
use rootward_config::{Checked, Problems, Source, compile};

use crate::exit::Exit;
use crate::trouble::Trouble;

/// What a configuration is: right, or full of problems.
pub(crate) type Compiled = Result<Checked, Problems>;

/// Reads the files and compiles them as one configuration. A directory stands for its `*.yaml`, `*.yml` and `*.toml`
/// files, by name.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Compiled, Trouble> {
    Ok(compile(&sources(paths)?, &environment()))
}

/// Reads the files.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Trouble> {
    file::sources(paths, &Values::default())
        .map_err(|unread| Trouble::new(Exit::WrongInput, unread.join("; ")))
}

/// What `${NAME}` refers to. A variable that is not text cannot be referred to.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
