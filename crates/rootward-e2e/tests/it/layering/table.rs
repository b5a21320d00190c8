//! The import table of ARCHITECTURE.md: the first table whose header begins with `crate` and ends with `may import`.

use std::collections::{BTreeMap, BTreeSet};

use super::metadata::{Kind, Metadata};

/// For each crate, which crates of the workspace it may import.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table(BTreeMap<String, Imports>);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Imports {
    Everything,
    Only(BTreeSet<String>),
}

impl Table {
    pub(super) fn parse(document: &str) -> Result<Self, String> {
        let mut rows = document
            .lines()
            .map(cells)
            .skip_while(|cells| cells.first() != Some(&"crate"));
        let header = rows
            .next()
            .ok_or("no table with the first column `crate`")?;
        let column = header.iter().position(|cell| *cell == "may import");
        let column = column.ok_or_else(|| format!("no column `may import` among {header:?}"))?;
        let mut table = BTreeMap::new();
        // The next line only draws the table; the first line that is no row ends it.
        for row in rows.skip(1).take_while(|row| !row.is_empty()) {
            let name = *quoted(row[0])
                .first()
                .ok_or_else(|| format!("no crate in backticks: {row:?}"))?;
            let cell = *row
                .get(column)
                .ok_or_else(|| format!("too few columns: {row:?}"))?;
            let imports = if cell.contains("everything") {
                Imports::Everything
            } else {
                Imports::Only(quoted(cell).into_iter().map(str::to_owned).collect())
            };
            if table.insert(name.to_owned(), imports).is_some() {
                return Err(format!("two rows for {name}"));
            }
        }
        let table = Self(table);
        table.check_names()?;
        Ok(table)
    }

    /// A misspelt name would allow nothing, and would stay in the document.
    fn check_names(&self) -> Result<(), String> {
        for (name, imports) in &self.0 {
            let Imports::Only(imports) = imports else {
                continue;
            };
            if let Some(unknown) = imports.iter().find(|import| !self.0.contains_key(*import)) {
                return Err(format!("{name} may import {unknown}, which has no row"));
            }
        }
        Ok(())
    }

    pub(super) fn crates(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The imports among crates of the workspace that the table does not allow. What only tests use is exempt.
    pub(super) fn violations(&self, metadata: &Metadata) -> Vec<String> {
        let members: BTreeSet<&str> = metadata
            .packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        let mut problems = Vec::new();
        for package in &metadata.packages {
            let imports = package.dependencies.iter().filter(|dependency| {
                dependency.kind != Kind::Dev && members.contains(dependency.name.as_str())
            });
            for dependency in imports {
                let is_allowed = match self.0.get(&package.name) {
                    None => false,
                    Some(Imports::Everything) => true,
                    Some(Imports::Only(names)) => names.contains(&dependency.name),
                };
                if !is_allowed {
                    problems.push(format!("{} imports {}", package.name, dependency.name));
                }
            }
        }
        problems
    }
}

/// The cells of a row; none when the line is no row.
fn cells(line: &str) -> Vec<&str> {
    let row = line
        .trim()
        .strip_prefix('|')
        .map(|row| row.strip_suffix('|').unwrap_or(row));
    row.into_iter()
        .flat_map(|row| row.split('|'))
        .map(str::trim)
        .collect()
}

/// What stands in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

mod tests {
    use super::*;
    use crate::layering::metadata::{Dependency, Package};

    const DOCUMENT: &str = "
# The house

| word | meaning |
| --- | --- |
| `crate` | not the table |

| crate | purpose | may import |
| --- | --- | --- |
| `core` | decides | std, an error derive |
| `wire` | what crosses a socket (`v1`) | `core` |
| `cli` | the program | everything |

| `late` | another table | `core` |
";

    fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        let dependencies = dependencies.iter().map(|&(name, kind)| Dependency {
            name: name.to_owned(),
            kind,
        });
        Package {
            name: name.to_owned(),
            manifest_path: "Cargo.toml".into(),
            dependencies: dependencies.collect(),
        }
    }

    #[test]
    fn the_table_is_found_and_ends_where_it_ends() {
        let table = Table::parse(DOCUMENT).unwrap();
        assert_eq!(table.crates().collect::<Vec<_>>(), ["cli", "core", "wire"]);
        assert_eq!(table.0["core"], Imports::Only(BTreeSet::new()));
        assert_eq!(
            table.0["wire"],
            Imports::Only(BTreeSet::from(["core".to_owned()]))
        );
        assert_eq!(table.0["cli"], Imports::Everything);
    }

    #[test]
    fn a_forbidden_import_is_named_and_one_of_a_test_is_not() {
        let table = Table::parse(DOCUMENT).unwrap();
        let metadata = Metadata {
            packages: vec![
                package(
                    "core",
                    &[
                        ("thiserror", Kind::Normal),
                        ("wire", Kind::Build),
                        ("cli", Kind::Dev),
                    ],
                ),
                package("wire", &[("core", Kind::Normal), ("cli", Kind::Normal)]),
                package("cli", &[("core", Kind::Normal), ("wire", Kind::Normal)]),
                package("new", &[("core", Kind::Normal)]),
            ],
        };
        let expected = ["core imports wire", "wire imports cli", "new imports core"];
        assert_eq!(table.violations(&metadata), expected);
    }

    #[test]
    fn a_misspelt_name_is_found() {
        let document = DOCUMENT.replace("| `core` |\n", "| `croe` |\n");
        assert_eq!(
            Table::parse(&document).unwrap_err(),
            "wire may import croe, which has no row"
        );
    }

    #[test]
    fn a_document_without_the_table_is_refused() {
        assert_eq!(
            Table::parse("# The house\n").unwrap_err(),
            "no table with the first column `crate`"
        );
    }
}
