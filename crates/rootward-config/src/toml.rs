//! TOML text to [`Node`]s. The only file that knows the TOML parser.
//!
//! Numbers, booleans and dates stay text, as in YAML: the key decides what they mean. The parser itself bounds how deep
//! brackets, and keys such as `a.a.a.a`, may nest (at 80 levels each); fewer are allowed here.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::place::{Log, Place};
use crate::problem::{Fault, harmless};
use crate::rule::Rule;
use crate::syntax::{
    MAX_DEPTH, MAX_NODES, MAX_SCALAR_BYTES, empty, too_deep, too_long, too_many, top,
};
use crate::tree::{Entry, Node, Position, Value};

/// Reads one document. `None` if there is nothing to go on with; then the log says why.
pub(crate) fn parse(text: &str, file: usize, log: &mut Log) -> Option<Node> {
    let positions = Positions::new(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    let document = DeValue::Table(document.into_inner());
    let node = if errors.is_empty() {
        let mut builder = Builder {
            text,
            file,
            log,
            positions: &positions,
            path: Vec::new(),
            nodes: 0,
        };
        match builder.node(&document, 0..0) {
            Ok(node) => Some(node),
            Err(Stop { at, fault }) => {
                log.problem(&top(file, at), fault.or(Rule::Syntax));
                None
            }
        }
    } else {
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            log.problem(
                &top(file, positions.of(at)),
                syntax_fault(error.message()).or(Rule::Syntax),
            );
        }
        None
    };
    let node = node?;
    match &node.value {
        Value::Mapping(entries) if entries.is_empty() => {
            let fault = empty("a `[[services]]` with one service");
            log.problem(&top(file, Position::START), fault);
            None
        }
        _ => Some(node),
    }
}

/// What the parser could not read, with the usual way out where there is one. Its words hold what it expected, and
/// nothing of the text.
fn syntax_fault(message: &str) -> Fault {
    // Its two guards against nesting have a sentence each.
    if message.contains("recurs") {
        return too_deep();
    }
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let harmless: String = words.chars().filter(|c| !c.is_control()).collect();
    let message = format!("not valid TOML: {harmless}");
    match harmless.as_str() {
        "duplicate key" => Fault::new(message, "keep one of them").of(Rule::Duplicate),
        _ => Fault::plain(Rule::Syntax, message),
    }
}

/// Why nothing after this point can be read.
struct Stop {
    at: Position,
    fault: Fault,
}

/// One step of the way to what is read now.
enum Step {
    Key(String),
    Item(usize),
}

struct Builder<'a> {
    text: &'a str,
    file: usize,
    log: &'a mut Log,
    positions: &'a Positions<'a>,
    path: Vec<Step>,
    nodes: usize,
}

impl Builder<'_> {
    fn node(&mut self, value: &DeValue<'_>, span: Range<usize>) -> Result<Node, Stop> {
        let at = self.positions.of(span.start);
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let fault = too_many();
            return Err(Stop { at, fault });
        }
        let nests = matches!(value, DeValue::Table(_) | DeValue::Array(_));
        if nests && self.path.len() >= MAX_DEPTH {
            let fault = too_deep();
            return Err(Stop { at, fault });
        }
        let end = (!nests).then(|| self.positions.of(span.end));
        let value = match value {
            DeValue::Table(table) => self.table(table)?,
            DeValue::Array(array) => {
                let mut items = Vec::with_capacity(array.len());
                for (number, item) in array.iter().enumerate() {
                    self.path.push(Step::Item(number));
                    items.push(self.node(item.get_ref(), item.span())?);
                    self.path.pop();
                }
                Value::Sequence(items)
            }
            DeValue::String(text) => self.scalar(at, text),
            DeValue::Integer(number) if number.radix() == 10 => self.scalar(at, number.as_str()),
            // As they were written: `1.10` is a release before it is a number.
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {
                let written = self.text.get(span).unwrap_or_default();
                self.scalar(at, written)
            }
        };
        Ok(Node { at, end, value })
    }

    fn table(&mut self, table: &DeTable<'_>) -> Result<Value, Stop> {
        // The parser sorts keys by name; everybody else reads them in the order of the text.
        let mut written: Vec<_> = table.iter().collect();
        written.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Vec::with_capacity(written.len());
        for (key, value) in written {
            let at = self.positions.of(key.span().start);
            let name: &str = key.get_ref();
            if name.len() > MAX_SCALAR_BYTES {
                self.refuse(at, too_long(name.len()));
                continue;
            }
            self.nodes += 1;
            self.path.push(Step::Key(name.to_owned()));
            let value = self.node(value.get_ref(), value.span())?;
            self.path.pop();
            entries.push(Entry {
                key: name.to_owned(),
                at,
                end: Some(self.positions.of(key.span().end)),
                value,
            });
        }
        Ok(Value::Mapping(entries))
    }

    fn scalar(&mut self, at: Position, text: &str) -> Value {
        if text.len() > MAX_SCALAR_BYTES {
            self.refuse(at, too_long(text.len()));
            return Value::Refused;
        }
        Value::Scalar(text.to_owned())
    }

    fn refuse(&mut self, at: Position, fault: Fault) {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Item(number) => path.push_str(&format!("[{number}]")),
                Step::Key(key) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&harmless(key));
                }
            }
        }
        let file = self.file;
        let end = None;
        let place = Place {
            file,
            at,
            end,
            path,
        };
        self.log.problem(&place, fault);
    }
}

/// How many bytes lie between two places whose number of characters is known.
const STRIDE: usize = 64;

/// Bytes to lines and columns, at a cost that does not depend on how long a line is.
struct Positions<'a> {
    bytes: &'a [u8],
    /// Where each line begins.
    lines: Vec<usize>,
    /// How many characters begin before every [`STRIDE`]th byte.
    characters: Vec<usize>,
}

impl<'a> Positions<'a> {
    fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        let lines = lines.collect();
        let mut characters = Vec::with_capacity(bytes.len() / STRIDE + 1);
        let mut sum = 0;
        for chunk in bytes.chunks(STRIDE) {
            characters.push(sum);
            sum += beginnings(chunk);
        }
        Self {
            bytes,
            lines,
            characters,
        }
    }

    fn of(&self, offset: usize) -> Position {
        let offset = offset.min(self.bytes.len());
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line - 1];
        Position {
            line,
            column: self.before(offset) - self.before(start) + 1,
        }
    }

    /// How many characters begin before this byte.
    fn before(&self, offset: usize) -> usize {
        let stride = (offset / STRIDE).min(self.characters.len().saturating_sub(1));
        let known = self.characters.get(stride).copied().unwrap_or(0);
        known + beginnings(&self.bytes[stride * STRIDE..offset])
    }
}

/// How many characters begin in these bytes: UTF-8 marks the bytes that go on with one.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests;
