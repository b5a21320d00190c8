//! Bans as they stand in deny.toml and clippy.toml, each on a line of its own.

use std::collections::BTreeSet;

use super::metadata::Metadata;

/// A crate that only the named crates may depend on, directly and for whatever purpose; nobody when none is named.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ban {
    banned: String,
    wrappers: BTreeSet<String>,
}

impl Ban {
    /// The list `deny` of a deny.toml: lines such as `{ crate = "axum", wrappers = ["rootward-server"] },`.
    pub(super) fn parse_all(deny: &str) -> Vec<Self> {
        let lines = deny.lines().map(str::trim);
        let list = lines
            .skip_while(|line| *line != "deny = [")
            .take_while(|line| *line != "]");
        list.filter_map(Self::parse).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let entry = line.strip_prefix("{ crate = ")?;
        let wrappers = entry
            .split_once("wrappers = [")
            .map_or("", |(_, rest)| rest);
        let wrappers = wrappers.split_once(']').map_or("", |(names, _)| names);
        Some(Self {
            banned: quoted(entry).next()?.to_owned(),
            wrappers: quoted(wrappers).map(str::to_owned).collect(),
        })
    }
}

/// Who depends on a banned crate without being allowed to.
pub(super) fn violations(bans: &[Ban], metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for ban in bans {
        let parents: BTreeSet<&str> = metadata
            .packages
            .iter()
            .filter(|package| {
                package
                    .dependencies
                    .iter()
                    .any(|dependency| dependency.name == ban.banned)
            })
            .map(|package| package.name.as_str())
            .collect();
        let forbidden = parents
            .into_iter()
            .filter(|parent| !ban.wrappers.contains(*parent));
        problems.extend(forbidden.map(|parent| format!("{parent} depends on {}", ban.banned)));
    }
    problems
}

/// The paths that a clippy.toml bans: lines such as `{ path = "std::thread::sleep", reason = "..." },`.
pub(super) fn clippy_paths(clippy: &str) -> BTreeSet<String> {
    let entries = clippy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("{ path = "));
    entries
        .filter_map(|entry| quoted(entry).next())
        .map(str::to_owned)
        .collect()
}

/// What stands in quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

mod tests {
    use super::*;
    use crate::layering::metadata::{Dependency, Kind, Package};

    fn ban(banned: &str, wrappers: &[&str]) -> Ban {
        Ban {
            banned: banned.to_owned(),
            wrappers: wrappers.iter().copied().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn bans_are_read_with_and_without_wrappers() {
        let deny = r#"
            exceptions = [
                { crate = "xxhash-rust", allow = ["BSL-1.0"] },
            ]
            [bans]
            deny = [
                # why
                { crate = "axum", wrappers = ["rootward-server", "other"], reason = "the \"web\" [framework]" },
                { crate = "openssl", reason = "rustls" },
            ]
            skip = [
                { crate = "syn@2" },
            ]
        "#;
        assert_eq!(
            Ban::parse_all(deny),
            [
                ban("axum", &["rootward-server", "other"]),
                ban("openssl", &[])
            ]
        );
    }

    #[test]
    fn a_parent_that_is_not_allowed_is_named_also_when_only_its_tests_use_the_crate() {
        let package = |name: &str, kind| Package {
            name: name.to_owned(),
            manifest_path: "Cargo.toml".into(),
            dependencies: vec![Dependency {
                name: "axum".to_owned(),
                kind,
            }],
        };
        let packages = vec![package("server", Kind::Normal), package("wire", Kind::Dev)];
        let problems = violations(&[ban("axum", &["server"])], &Metadata { packages });
        assert_eq!(problems, ["wire depends on axum"]);
    }

    #[test]
    fn clippy_bans_are_read_from_all_lists() {
        let clippy = r#"
            disallowed-methods = [
                { path = "std::env::set_var", reason = "see { path = above" },
            ]
            disallowed-types = [
                { path = "std::time::SystemTime", reason = "no clock" },
            ]
        "#;
        let expected = ["std::env::set_var", "std::time::SystemTime"].map(str::to_owned);
        assert_eq!(clippy_paths(clippy), BTreeSet::from(expected));
    }
}
