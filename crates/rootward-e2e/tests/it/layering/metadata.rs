//! What cargo says of the workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

#[derive(Debug)]
pub(super) struct Metadata {
    /// The workspace's own, or with [`Metadata::resolved`] all that it is built from on this machine.
    pub(super) packages: Vec<Package>,
}

#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest_path: PathBuf,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Metadata {
    /// The crates of the workspace and what their manifests name.
    pub(super) fn of_workspace(root: &Path) -> Self {
        Self::from_declared(&cargo(root, &["--no-deps", "--offline"]))
    }

    /// All crates of the lock file that are used on this machine with all features on, and what each really uses.
    pub(super) fn resolved(root: &Path) -> Self {
        // Other platforms' crates are not downloaded, and cargo would ask for them.
        let compiler = output(Command::new("rustc").arg("-vV"));
        let host = compiler
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .expect("rustc names its host");
        Self::from_resolved(&cargo(
            root,
            &["--all-features", "--locked", "--filter-platform", host],
        ))
    }

    fn from_declared(metadata: &Value) -> Self {
        let packages = list(&metadata["packages"]).map(|package| {
            let dependencies = list(&package["dependencies"]);
            Package::new(
                package,
                dependencies.map(|dependency| Dependency::new(&dependency["name"], dependency)),
            )
        });
        Self {
            packages: packages.collect(),
        }
    }

    fn from_resolved(metadata: &Value) -> Self {
        let by_id: BTreeMap<&str, &Value> = list(&metadata["packages"])
            .map(|package| (text(&package["id"]), package))
            .collect();
        let packages = list(&metadata["resolve"]["nodes"]).map(|node| {
            let dependencies = list(&node["deps"]).flat_map(|dependency| {
                let name = &by_id[text(&dependency["pkg"])]["name"];
                list(&dependency["dep_kinds"]).map(move |kind| Dependency::new(name, kind))
            });
            Package::new(by_id[text(&node["id"])], dependencies)
        });
        Self {
            packages: packages.collect(),
        }
    }
}

impl Package {
    fn new(package: &Value, dependencies: impl Iterator<Item = Dependency>) -> Self {
        Self {
            name: text(&package["name"]).to_owned(),
            manifest_path: text(&package["manifest_path"]).into(),
            dependencies: dependencies.collect(),
        }
    }
}

impl Dependency {
    fn new(name: &Value, with_kind: &Value) -> Self {
        let kind = match with_kind["kind"].as_str() {
            None => Kind::Normal,
            Some("build") => Kind::Build,
            Some("dev") => Kind::Dev,
            Some(other) => {
                panic!("cargo metadata names a kind of dependency that is not known here: {other}")
            }
        };
        Self {
            name: text(name).to_owned(),
            kind,
        }
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root)
        .args(["metadata", "--format-version", "1"])
        .args(arguments);
    serde_json::from_str(&output(&mut command)).expect("cargo metadata is JSON")
}

fn output(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value
        .as_array()
        .expect("cargo metadata has a list here")
        .iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata has a string here")
}
