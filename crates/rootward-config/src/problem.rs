//! What is wrong with a configuration, where, and what would be right.
//!
//! Problems are for the person who wrote the file: position first, then the path of keys, then the fault and the way
//! out. Everything here may be printed: values that came from the environment and URLs are never quoted by those who
//! write the messages.

use std::fmt;

use crate::rule::Rule;

/// More problems than this are counted, not described; nobody reads further, and a hostile file could hold a million.
pub const MAX_PROBLEMS: usize = 1_000;

/// One fault in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The keys that lead there, such as `services[2].health.timeout`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What would be right, where that can be said.
    pub help: Option<String>,
    /// What kind of problem it is.
    pub rule: Rule,
    /// Where it ends: line, and column of the first character behind it. `None` for what has several parts, such as a
    /// list or a file.
    pub end: Option<(usize, usize)>,
    /// The word that was probably meant by one that nothing has.
    pub nearest: Option<String>,
}

impl Problem {
    /// A file that its reader could not read.
    #[must_use]
    pub fn of_unreadable_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 1,
            column: 1,
            path: String::new(),
            message: message.into(),
            help: None,
            rule: Rule::UnreadableFile,
            end: None,
            nearest: None,
        }
    }

    /// Path, message and help, without file and position.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = String::new();
        if !self.path.is_empty() {
            text.push_str(&self.path);
            text.push_str(": ");
        }
        text.push_str(&self.message);
        if let Some(help) = &self.help {
            text.push_str("; ");
            text.push_str(help);
        }
        text
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file, line, column, ..
        } = self;
        write!(f, "{file}:{line}:{column}: {}", self.sentence())
    }
}

/// Everything that is wrong with a configuration: at least one problem, by file and position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// Never empty: a `Problems` is only made where something was found.
    list: Vec<Problem>,
    left_out: usize,
}

impl Problems {
    pub(crate) fn new(list: Vec<Problem>, left_out: usize) -> Self {
        debug_assert!(!list.is_empty(), "problems without a problem");
        Self { list, left_out }
    }

    /// The problems, by file in the order given, then by line and column.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.list
    }

    /// The same, to keep.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.list
    }

    /// How many more there are beyond [`MAX_PROBLEMS`].
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render("problem", &self.list))?;
        match self.left_out {
            0 => Ok(()),
            more => writeln!(f, "and {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// One block for each file: a headline that counts, then a line for each problem. Ends with a line break.
pub(crate) fn render(noun: &str, problems: &[Problem]) -> String {
    let mut text = String::new();
    for of_file in problems.chunk_by(|a, b| a.file == b.file) {
        let count = of_file.len();
        let plural = if count == 1 { "" } else { "s" };
        text.push_str(&format!("{}: {count} {noun}{plural}\n", of_file[0].file));
        let position = |problem: &Problem| format!("{}:{}", problem.line, problem.column);
        let width = of_file.iter().map(|p| position(p).len()).max().unwrap_or(0);
        for problem in of_file {
            let line = format!("  {:width$}  {}\n", position(problem), problem.sentence());
            text.push_str(&line);
        }
    }
    text
}

/// What a reader of one value found wrong with it; the caller knows where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) rule: Rule,
    /// The word that was probably meant.
    pub(crate) nearest: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: Some(help.into()),
            rule: Rule::InvalidValue,
            nearest: None,
        }
    }

    /// One without a way out.
    pub(crate) fn plain(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            rule,
            nearest: None,
        }
    }

    /// The same, of another kind than a value that is not allowed.
    pub(crate) fn of(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// The same, of a kind that the one who found it may know better: only what is no more than a value that is not
    /// allowed becomes one of it.
    pub(crate) fn or(self, rule: Rule) -> Self {
        match self.rule == Rule::InvalidValue {
            true => self.of(rule),
            false => self,
        }
    }

    /// The same, with the word that was probably meant.
    pub(crate) fn meant(self, word: Option<impl Into<String>>) -> Self {
        Self {
            nearest: word.map(Into::into),
            ..self
        }
    }
}

/// The longest piece of foreign text that a message repeats, in characters.
const MAX_QUOTED: usize = 60;

/// Foreign text in double quotes: cut, and without anything that a terminal would obey.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", harmless(text).replace('"', "\\\""))
}

/// Foreign text, cut and without anything that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == MAX_QUOTED {
            out.push('…');
            break;
        }
        match character {
            '\'' | '"' | '\\' => out.push(character),
            other => out.extend(other.escape_debug()),
        }
    }
    out
}
