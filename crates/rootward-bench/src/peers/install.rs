//! Where the other libraries come from: installed in pinned versions into a temporary directory, by the ordinary client
//! of each ecosystem. Our small programs for them are in `crates/rootward-bench/peers`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child::Child;
use crate::temporary::Directory;

/// How long one step of an installation may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// Where Debian's packages of Go libraries put their source.
const DEBIAN_GO: &str = "/usr/share/gocode";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ecosystem {
    Node,
    Python,
    Go,
}

/// A file of ours: its name and its text.
type File = (&'static str, &'static str);

const NODE: [File; 4] = [
    (
        "package.json",
        include_str!("../../peers/node/package.json"),
    ),
    (
        "terminus.cjs",
        include_str!("../../peers/node/terminus.cjs"),
    ),
    (
        "lightship.mjs",
        include_str!("../../peers/node/lightship.mjs"),
    ),
    ("nestjs.cjs", include_str!("../../peers/node/nestjs.cjs")),
];

const PYTHON: [File; 3] = [
    (
        "requirements.txt",
        include_str!("../../peers/python/requirements.txt"),
    ),
    (
        "fastapi_app.py",
        include_str!("../../peers/python/fastapi_app.py"),
    ),
    (
        "flask_app.py",
        include_str!("../../peers/python/flask_app.py"),
    ),
];

const GO: [File; 1] = [("main.go", include_str!("../../peers/go/main.go"))];

impl Ecosystem {
    pub(super) const ALL: [Self; 3] = [Self::Node, Self::Python, Self::Go];

    /// What is being done, for whoever waits.
    pub(super) const fn progress(self) -> &'static str {
        match self {
            Self::Node => "installing libraries from npm",
            Self::Python => "installing libraries from PyPI",
            Self::Go => "building with Debian's package of the Go library",
        }
    }

    /// Into a directory of its own, which is returned. The error is a sentence for the table.
    pub(super) async fn install(self, directory: &Directory) -> Result<PathBuf, String> {
        let (name, files): (_, &[File]) = match self {
            Self::Node => ("node", &NODE),
            Self::Python => ("python", &PYTHON),
            Self::Go => ("go", &GO),
        };
        let home = directory.path().join(name);
        let written = fs::create_dir(&home).and_then(|()| {
            files
                .iter()
                .try_for_each(|(file, text)| fs::write(home.join(file), text))
        });
        written.map_err(|error| error.to_string())?;
        match self {
            Self::Node => {
                let mut npm = Command::new("npm");
                npm.args(["install", "--ignore-scripts", "--no-package-lock"]);
                npm.args(["--no-audit", "--no-fund", "--loglevel=error"]);
                step("npm", "npm", &mut npm, &home, directory).await?;
            }
            Self::Python => {
                let mut python = Command::new("python3");
                python.args(["-m", "venv", "venv"]);
                step("venv", "python3-venv", &mut python, &home, directory).await?;
                let mut pip = Command::new(home.join("venv/bin/pip"));
                pip.args(["install", "--quiet", "-r", "requirements.txt"]);
                step("pip", "python3-venv", &mut pip, &home, directory).await?;
            }
            Self::Go => {
                let library = "src/github.com/alexliesenfeld/health";
                if !Path::new(DEBIAN_GO).join(library).exists() {
                    return Err(
                        "the Debian package golang-github-alexliesenfeld-health-dev is not installed"
                            .to_owned(),
                    );
                }
                let mut go = Command::new("go");
                go.args(["build", "-o", "peer", "main.go"]);
                go.env("GO111MODULE", "off").env("GOPATH", DEBIAN_GO);
                go.env("GOCACHE", home.join("cache"));
                step("go-build", "golang-go", &mut go, &home, directory).await?;
            }
        }
        Ok(home)
    }
}

async fn step(
    name: &'static str,
    package: &str,
    command: &mut Command,
    home: &Path,
    directory: &Directory,
) -> Result<(), String> {
    let started = Child::start(name, command.current_dir(home), directory);
    let child = started.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{name} is not installed (Debian package {package})")
        }
        _ => error.to_string(),
    })?;
    child
        .finished(INSTALL_LIMIT)
        .await
        .map_err(|error| format!("its packages could not be installed: {error}"))
}
