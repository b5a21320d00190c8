//! What `./test` prepared for this run, read from the environment in one place.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind};

const HAPROXY: &str = "ROOTWARD_TEST_HAPROXY";

const PYTHON: &str = "ROOTWARD_TEST_PYTHON";

/// Where Debian puts servers, and where only root's PATH looks.
const SERVERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// What `./test` prepared: where the server programs are, the shared servers, and the directory of the run.
#[derive(Clone, Debug)]
pub struct Run {
    directory: PathBuf,
    postgres_bin: PathBuf,
    postgres_url: String,
    redis_server: PathBuf,
    redis_url: String,
    browser: PathBuf,
    /// Needed by one proof only, so that the others run without it.
    haproxy: Option<PathBuf>,
    python: Option<PathBuf>,
}

impl Run {
    /// Reads the environment that `./test` sets.
    ///
    /// # Errors
    ///
    /// When a variable is missing; the text says to run `./test`. Tests fail with it: left out in silence, they
    /// would look passed.
    pub fn from_environment() -> Result<Self, Error> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// As [`Run::from_environment`], from any source of variables.
    ///
    /// # Errors
    ///
    /// When a variable is missing.
    pub fn from_variables(read: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let need = |variable| {
            read(variable)
                .filter(|value| !value.is_empty())
                .ok_or(Error::from(Kind::NoVariable { variable }))
        };
        Ok(Self {
            directory: need("ROOTWARD_TEST_RUN")?.into(),
            postgres_bin: need("ROOTWARD_TEST_POSTGRES_BIN")?.into(),
            postgres_url: need("ROOTWARD_TEST_POSTGRES_URL")?,
            redis_server: need("ROOTWARD_TEST_REDIS_SERVER")?.into(),
            redis_url: need("ROOTWARD_TEST_REDIS_URL")?,
            browser: need("ROOTWARD_TEST_BROWSER")?.into(),
            haproxy: need(HAPROXY).ok().map(PathBuf::from),
            python: need(PYTHON).ok().map(PathBuf::from),
        })
    }

    /// The temporary directory of the run; `./test` removes it with all that is in it.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The PostgreSQL that all tests share: not to be frozen, killed or filled.
    pub fn postgres_url(&self) -> &str {
        &self.postgres_url
    }

    /// The Redis that all tests share, likewise.
    pub fn redis_url(&self) -> &str {
        &self.redis_url
    }

    /// A Chromium, for what only a browser shows.
    pub fn browser(&self) -> &Path {
        &self.browser
    }

    /// A HAProxy, for proofs of what a load balancer makes of an instance.
    ///
    /// # Errors
    ///
    /// When its variable is missing.
    pub fn haproxy(&self) -> Result<&Path, Error> {
        let missing = Kind::NoVariable { variable: HAPROXY };
        self.haproxy.as_deref().ok_or(missing.into())
    }

    /// The path of a program of this workspace, as built beside the test that asks.
    ///
    /// # Errors
    ///
    /// When it is not built. Cargo builds what a test of another package needs only when it builds the workspace,
    /// as `./test` does.
    pub fn program(&self, name: &str) -> Result<PathBuf, Error> {
        let test = env::current_exe().map_err(|source| {
            Error::file(
                "find the program of this test beside",
                Path::new(name),
                source,
            )
        })?;
        // target/debug/deps/e2e-0123456789abcdef
        let directory = test
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("/"));
        let path = directory.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Kind::NoBinary { path }.into())
        }
    }

    /// A program that Debian's packages bring, as `./test` installed it.
    ///
    /// # Errors
    ///
    /// When it is neither on the PATH nor where servers are put.
    pub fn tool(&self, program: &'static str) -> Result<PathBuf, Error> {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path)
            .chain(SERVERS.map(PathBuf::from))
            .map(|directory| directory.join(program))
            .find(|path| path.is_file())
            .ok_or(Kind::NoTool { program }.into())
    }

    /// The Python that has the packages of `requirements.txt`, which `./test` installed for itself.
    ///
    /// # Errors
    ///
    /// When its variable is missing.
    pub fn python(&self) -> Result<&Path, Error> {
        let missing = Kind::NoVariable { variable: PYTHON };
        self.python.as_deref().ok_or(missing.into())
    }

    pub(crate) fn postgres_program(&self, name: &str) -> PathBuf {
        self.postgres_bin.join(name)
    }

    pub(crate) fn redis_server(&self) -> &Path {
        &self.redis_server
    }
}
