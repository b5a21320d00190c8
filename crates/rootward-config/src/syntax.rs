//! Which syntax a file is in, and what holds for each of them: the budgets, and the sentences about them.
//!
//! A file whose name ends in `.toml` is TOML; every other one is YAML. Both give the same tree, so the keys, their
//! meaning and what is said about them are the same.

use crate::Source;
use crate::place::{Log, Place};
use crate::problem::Fault;
use crate::rule::Rule;
use crate::tree::{Node, Position};
use crate::{toml, yaml};

/// The largest file accepted. 10,000 services with five dependencies each are about half of it.
pub const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;
/// The longest key or value accepted.
pub const MAX_SCALAR_BYTES: usize = 16 * 1024;
/// How deep lists and mappings may be nested. A configuration needs seven levels.
pub const MAX_DEPTH: usize = 32;
/// The most keys, values, lists and mappings in one file.
pub const MAX_NODES: usize = 1_000_000;

/// Reads one file. `None` if there is nothing to go on with; then the log says why.
pub(crate) fn parse(source: &Source, file: usize, log: &mut Log) -> Option<Node> {
    let text = source.text.as_str();
    if text.len() > MAX_TEXT_BYTES {
        // Whoever read it may have stopped at the first byte too many, so its length is not known.
        let message =
            format!("the file has more than {MAX_TEXT_BYTES} bytes, and no more are read");
        let help = "split it, or look whether it is the right file";
        let fault = Fault::new(message, help).of(Rule::TooLarge);
        log.problem(&top(file, Position::START), fault);
        return None;
    }
    let extension = source.file.rsplit_once('.').map(|(_, extension)| extension);
    let is_toml = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    match is_toml {
        true => toml::parse(text, file, log),
        false => yaml::parse(text, file, log),
    }
}

/// A place outside of any key.
pub(crate) fn top(file: usize, at: Position) -> Place {
    Place {
        file,
        at,
        end: None,
        path: String::new(),
    }
}

pub(crate) fn empty(example: &str) -> Fault {
    Fault::new("the file is empty", format!("write at least {example}")).of(Rule::Missing)
}

pub(crate) fn too_deep() -> Fault {
    Fault::new(
        format!("nested too deep; at most {MAX_DEPTH} levels are read"),
        "look for brackets that are never closed",
    )
    .of(Rule::TooLarge)
}

pub(crate) fn too_many() -> Fault {
    let message = format!("the file has more than {MAX_NODES} keys and values");
    Fault::new(message, "split it, or look whether it is the right file").of(Rule::TooLarge)
}

pub(crate) fn too_long(bytes: usize) -> Fault {
    let message = format!("a text of {bytes} bytes; at most {MAX_SCALAR_BYTES} are allowed");
    Fault::new(message, "shorten it").of(Rule::TooLarge)
}
