//! The public items of a crate and their docs, found in its formatted sources line by line. No parser of Rust: an
//! item begins on a line of its own with `pub`, and an `impl` block ends at a brace in the column where it began.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Type,
    Function,
    Method,
    Constant,
}

/// A public item that the crate exports.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// `Health`, or `Health::stop`.
    pub(super) name: String,
    /// Its docs without the slashes, line by line.
    pub(super) docs: String,
    signature: String,
    file: PathBuf,
    line: usize,
}

impl Item {
    pub(super) fn has_example(&self) -> bool {
        !self.examples().is_empty()
    }

    /// The blocks of code that `cargo test --doc` compiles and expects to be right.
    pub(super) fn examples(&self) -> Vec<String> {
        let mut examples = Vec::new();
        let mut block: Option<(bool, String)> = None;
        for line in self.docs.lines() {
            let fence = line.trim().strip_prefix("```");
            block = match (fence, block) {
                (Some(info), None) => {
                    let is_example = ["", "no_run", "rust", "should_panic"].contains(&info);
                    Some((is_example, String::new()))
                }
                (Some(_), Some((is_example, text))) => {
                    examples.extend(is_example.then_some(text));
                    None
                }
                (None, Some((is_example, text))) => Some((is_example, text + line + "\n")),
                (None, None) => None,
            };
        }
        examples
    }

    pub(super) fn can_fail(&self) -> bool {
        self.signature
            .rsplit_once(" -> ")
            .is_some_and(|(_, returned)| returned.starts_with("Result<"))
    }

    /// Of a method: the type that has it.
    pub(super) fn owner(&self) -> &str {
        self.name.split_once("::").map_or("", |(owner, _)| owner)
    }

    /// Of a method: its own name.
    pub(super) fn method(&self) -> &str {
        self.name.split_once("::").map_or("", |(_, method)| method)
    }

    pub(super) fn place(&self) -> String {
        format!("{}:{} {}", self.file.display(), self.line, self.name)
    }
}

/// All public items of the crate with these sources that it exports: from its root, or from a module that is public.
pub(super) fn items_of(sources: &Path) -> Vec<Item> {
    let root = fs::read_to_string(sources.join("lib.rs")).expect("a crate has a lib.rs");
    let mut exported = exported(&root);
    for module in root.split("\npub mod ").skip(1) {
        let (module, _) = module.split_once(';').expect("modules are files");
        let path = sources.join(module).with_extension("rs");
        let text = fs::read_to_string(&path).expect("a public module is a file beside lib.rs");
        exported.extend(self::exported(&text));
        let own = items_in(&text, &path).into_iter();
        exported.extend(
            own.filter(|item| item.kind != Kind::Method)
                .map(|item| item.name),
        );
    }
    let mut files = Vec::new();
    list(sources, &mut files);
    files.sort();
    let items = files.iter().flat_map(|file| {
        let text = fs::read_to_string(file).expect("it was listed a moment ago");
        items_in(&text, file)
    });
    items
        .filter(|item| {
            let name = match item.kind {
                Kind::Method => item.owner(),
                Kind::Type | Kind::Function | Kind::Constant => &item.name,
            };
            // Several names in one `pub use` of another crate: nobody can give each an example.
            name.is_empty() || exported.contains(name)
        })
        .collect()
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The names that `pub use` gives to the world.
fn exported(root: &str) -> BTreeSet<String> {
    let uses = root.split("\npub use ").skip(1);
    let statements = uses.filter_map(|rest| rest.split_once(';'));
    statements
        .flat_map(|(statement, _)| {
            let names = statement
                .rsplit_once("::")
                .map_or(statement, |(_, names)| names);
            names
                .split(['{', '}', ',', ' ', '\n'])
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn items_in(text: &str, file: &Path) -> Vec<Item> {
    let mut items = Vec::new();
    let mut docs = String::new();
    // The type whose own `impl` block this is, unless it is one of a trait.
    let mut owner: Option<String> = None;
    let mut in_attribute = false;
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if *line == "mod tests {" {
            break;
        }
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if let Some(doc) = code.strip_prefix("///") {
            docs.push_str(doc.strip_prefix(' ').unwrap_or(doc));
            docs.push('\n');
            continue;
        }
        if line.starts_with("impl") {
            owner = inherent(line);
        } else if *line == "}" {
            owner = None;
        }
        if let Some((kind, name)) = public(code) {
            let (kind, name) = match (indent, kind, &owner) {
                (0, kind, _) => (Some(kind), name),
                (4, Kind::Function, Some(owner)) => {
                    (Some(Kind::Method), format!("{owner}::{name}"))
                }
                _ => (None, name),
            };
            items.extend(kind.map(|kind| Item {
                kind,
                name,
                docs: docs.clone(),
                signature: signature(&lines[at..]),
                file: file.to_owned(),
                line: at + 1,
            }));
        }
        // Attributes stand between the docs and the item, over several lines at times.
        in_attribute |= code.starts_with("#[");
        if !in_attribute {
            docs.clear();
        }
        in_attribute &= !code.ends_with(']');
    }
    items
}

/// `Check` of `impl<L> Check<L> {`; none of an `impl` of a trait.
fn inherent(line: &str) -> Option<String> {
    if line.contains(" for ") {
        return None;
    }
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(_) => rest.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(rest[..end].to_owned())
}

fn public(code: &str) -> Option<(Kind, String)> {
    let rest = code.strip_prefix("pub ")?;
    let kinds = [
        ("async fn ", Kind::Function),
        ("const fn ", Kind::Function),
        ("fn ", Kind::Function),
        ("const ", Kind::Constant),
        ("static ", Kind::Constant),
        ("struct ", Kind::Type),
        ("enum ", Kind::Type),
        ("trait ", Kind::Type),
        ("type ", Kind::Type),
        // Of another crate of ours: who reads here must find an example here.
        ("use rootward_core::", Kind::Type),
        ("use rootward_wire::v1::", Kind::Type),
    ];
    let (rest, kind) = kinds
        .iter()
        .find_map(|(word, kind)| Some((rest.strip_prefix(word)?, *kind)))?;
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    Some((kind, rest[..end].to_owned()))
}

/// Up to the brace or semicolon with which it ends, on one line.
fn signature(lines: &[&str]) -> String {
    let mut signature = String::new();
    for line in lines {
        signature.push_str(line.trim());
        signature.push(' ');
        if line.ends_with('{') || line.ends_with(';') {
            break;
        }
    }
    let before_bounds = signature.split(" where ").next();
    before_bounds.unwrap_or_default().to_owned()
}

/// Whether an example calls this method.
pub(super) fn calls(example: &str, method: &str) -> bool {
    [".", "::"].iter().any(|before| {
        let call = format!("{before}{method}(");
        example.contains(&call)
    })
}

/// Whether an example has this name as a word in it.
pub(super) fn names(example: &str, name: &str) -> bool {
    example
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == name)
}

/// The features of a manifest, without `default`, and the dependencies that each turns on itself.
pub(super) fn features(manifest: &str) -> Vec<(String, Vec<String>)> {
    let section = manifest
        .split_once("\n[features]\n")
        .map_or("", |(_, rest)| rest);
    let section = section.split("\n[").next().unwrap_or_default();
    let without_comments: String = section
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let entries = without_comments.split(']');
    entries
        .filter_map(|entry| {
            let (feature, turned_on) = entry.split_once(" = [")?;
            let dependencies =
                strings(turned_on, "\"dep:").map(|dependency| dependency[4..].to_owned());
            (feature != "default").then(|| (feature.to_owned(), dependencies.collect()))
        })
        .collect()
}

/// What stands between two equal quotes, where the opening one and some text after it are `begin`.
pub(super) fn strings<'t>(text: &'t str, begin: &'t str) -> impl Iterator<Item = &'t str> {
    let quote = begin.find(['"', '`']).expect("begin holds a quote");
    let closing = begin[quote..].chars().next().expect("begin holds a quote");
    text.match_indices(begin).filter_map(move |(at, _)| {
        let rest = &text[at + quote + 1..];
        Some(&rest[..rest.find(closing)?])
    })
}

#[test]
fn an_example_counts_for_the_item_above_which_it_stands_and_only_if_it_is_compiled() {
    let text = r#"
/// Shown.
///
/// ```no_run
/// let shown = Shown::new();
/// ```
#[expect(
    missing_debug_implementations,
    reason = "as attributes may be"
)]
pub struct Shown(u8);

impl<T> Shown<T> {
    /// Not shown here.
    pub const fn new() -> Result<Self, Error> {
    }

    pub(crate) fn hidden() {}
}

/// ```text
/// no code
/// ```
/// ```compile_fail
/// wrong();
/// ```
pub const LIMIT: usize = 1;

mod tests {
pub fn not_public() {}
"#;
    let items = items_in(text, Path::new("lib.rs"));
    let found: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item.name.as_str(),
                item.kind,
                item.has_example(),
                item.can_fail(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("Shown", Kind::Type, true, false),
            ("Shown::new", Kind::Method, false, true),
            ("LIMIT", Kind::Constant, false, false),
        ]
    );
    assert!(calls(&items[0].examples()[0], "new"));
    assert!(!calls(&items[0].examples()[0], "ne"));
}
