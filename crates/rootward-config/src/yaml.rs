//! YAML text to [`Node`]s. The only file that knows the YAML parser.
//!
//! It drives `granit-parser`, the event parser under serde-saphyr, itself. Through serde the first type error ends the
//! reading and plain scalars lose their text (`1.10` becomes `1.1`), while operators are promised every problem at once.
//! The events carry a position for every key and value, and an alias arrives as an event rather than as a copy, so a
//! bomb of aliases is as large as its text.
//!
//! What YAML has and a configuration does not need is refused where it stands: anchors, aliases, tags, directives, keys
//! that are not text, a second document. The budgets below bound memory and time whatever the text is.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span};

use crate::place::{Log, Place};
use crate::problem::{Fault, harmless};
use crate::rule::Rule;
use crate::syntax::{
    MAX_DEPTH, MAX_NODES, MAX_SCALAR_BYTES, empty, too_deep, too_long, too_many, top,
};
use crate::tree::{Entry, Node, Position, Value};

/// Reads one document. `None` if there is nothing to go on with; then the log says why.
pub(crate) fn parse(text: &str, file: usize, log: &mut Log) -> Option<Node> {
    let mut builder = Builder {
        file,
        log,
        open: Vec::new(),
        root: None,
        nodes: 0,
    };
    let options = granit_parser::options! {
        disallow_directives: true,
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        let step = match next {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => Err(Stop {
                at: position_of(*error.marker()),
                fault: syntax_fault(&error),
            }),
        };
        if let Err(Stop { at, fault }) = step {
            builder.log.problem(&top(file, at), fault.or(Rule::Syntax));
            return None;
        }
    }
    match builder.root {
        Some(node) if node.value != Value::Null => Some(node),
        Some(_) | None => {
            let fault = empty("`services:` with one service");
            log.problem(&top(file, Position::START), fault);
            None
        }
    }
}

/// Why nothing after this point can be read.
struct Stop {
    at: Position,
    fault: Fault,
}

/// A list or mapping whose end has not come yet.
enum Open {
    Sequence {
        at: Position,
        items: Vec<Node>,
    },
    Mapping {
        at: Position,
        entries: Vec<Entry>,
        key: Option<Key>,
    },
}

/// The key whose value comes next.
enum Key {
    Text(String, Position, Option<Position>),
    /// Already reported; the value that follows is read and dropped.
    Refused,
}

/// Puts the events together. It holds what is open on a stack of its own, so that no depth of the text can use up the
/// thread's.
struct Builder<'a> {
    file: usize,
    log: &'a mut Log,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        let at = position_of(span.start);
        if event.is_node() {
            self.nodes += 1;
            if self.nodes > MAX_NODES {
                let fault = too_many();
                return Err(Stop { at, fault });
            }
        }
        // The parser has the same limit, and does not count the mappings that `[: : : :` opens.
        let opens = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
        if opens && self.open.len() >= MAX_DEPTH {
            let fault = too_deep();
            return Err(Stop { at, fault });
        }
        if event.tag().is_some() {
            let tag = span
                .tag_span()
                .map_or(at, |tag_span| position_of(tag_span.start));
            let fault = Fault::new(
                "YAML tags are not supported",
                "remove the word that begins with `!`",
            );
            self.refuse(tag, fault);
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let fault = Fault::new(
                    "a second document begins here",
                    "keep one document in a file; remove the `---`",
                );
                return Err(Stop { at, fault });
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let fault = Fault::new(
                    "YAML aliases are not supported",
                    "write the value out; what services share goes into `defaults`",
                );
                self.refuse(at, fault);
                self.complete(at, Some(position_of(span.end)), Value::Refused);
            }
            Event::Anchor(..) => {
                let fault = Fault::new(
                    "YAML anchors are not supported",
                    "remove the word that begins with `&`",
                );
                self.refuse(at, fault);
            }
            Event::Scalar(text, style, ..) => {
                let value = self.scalar(at, &text, style);
                self.complete(at, Some(position_of(span.end)), value);
            }
            Event::SequenceStart(..) => self.open.push(Open::Sequence {
                at,
                items: Vec::new(),
            }),
            Event::MappingStart(..) => self.open.push(Open::Mapping {
                at,
                entries: Vec::new(),
                key: None,
            }),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::Sequence { at, items }) => {
                    self.complete(at, None, Value::Sequence(items));
                }
                Some(Open::Mapping { at, entries, .. }) => {
                    self.complete(at, None, Value::Mapping(entries));
                }
                None => {}
            },
            // The rest carries no value. Comments may be compiled in by another user of the parser, which is why this
            // arm cannot name what is left.
            _ => {}
        }
        Ok(())
    }

    fn scalar(&mut self, at: Position, text: &str, style: ScalarStyle) -> Value {
        if style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            return Value::Null;
        }
        if text.len() > MAX_SCALAR_BYTES {
            self.refuse(at, too_long(text.len()));
            return Value::Refused;
        }
        Value::Scalar(text.to_owned())
    }

    /// A node is finished: it is the root, an item, a key, or the value of the key before it.
    fn complete(&mut self, at: Position, end: Option<Position>, value: Value) {
        let node = Node { at, end, value };
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => match key.take() {
                Some(Key::Text(key, at, end)) => entries.push(Entry {
                    key,
                    at,
                    end,
                    value: node,
                }),
                Some(Key::Refused) => {}
                None => {
                    let Node { at, end, value } = node;
                    let (next, fault) = match value {
                        Value::Scalar(text) => (Key::Text(text, at, end), None),
                        Value::Refused => (Key::Refused, None),
                        Value::Null | Value::Sequence(_) | Value::Mapping(_) => {
                            let help = "write `key: value`, with a word as the key; text with { } or [ ] needs quotes";
                            let fault = Fault::new("a key that is not text", help);
                            (Key::Refused, Some(fault))
                        }
                    };
                    *key = Some(next);
                    if let Some(fault) = fault {
                        self.refuse(at, fault);
                    }
                }
            },
        }
    }

    fn refuse(&mut self, at: Position, fault: Fault) {
        let place = Place {
            file: self.file,
            at,
            end: None,
            path: self.path(),
        };
        self.log.problem(&place, fault);
    }

    /// The keys that lead to what is read now.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match open {
                Open::Sequence { items, .. } => path.push_str(&format!("[{}]", items.len())),
                Open::Mapping {
                    key: Some(Key::Text(key, ..)),
                    ..
                } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&harmless(key));
                }
                Open::Mapping { .. } => {}
            }
        }
        path
    }
}

/// The parser counts lines from 1 and columns from 0.
fn position_of(marker: granit_parser::Marker) -> Position {
    Position {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

/// What the parser could not read, with the usual way out where there is one.
fn syntax_fault(error: &ScanError) -> Fault {
    let invalid = |what: &str| format!("not valid YAML: {what}");
    let (message, help) = match error.kind() {
        ErrorKind::RecursionLimitExceeded => return too_deep(),
        ErrorKind::DirectiveDisallowed => (
            "YAML directives are not supported".to_owned(),
            "remove the line that begins with `%`",
        ),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => (
            invalid("a tab where only spaces may stand"),
            "replace it by spaces",
        ),
        ErrorKind::UnclosedQuotedScalar => (
            invalid("a quote that begins here is never closed"),
            "close it",
        ),
        ErrorKind::UnclosedFlowCollection { open } => (
            invalid(&format!("`{open}` is never closed")),
            "close it, or put quotes around text that contains brackets",
        ),
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => (
            invalid("a comma or a closing bracket is missing before this"),
            "separate entries by commas; inside { } and [ ] write \"${NAME}\" in quotes",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            invalid("unexpected `:`"),
            "check the indentation, and put quotes around text that contains `: `",
        ),
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey => (
            invalid(&error.kind().to_string()),
            "check the indentation, and that every key is followed by `: `",
        ),
        ErrorKind::UnexpectedCharacter { character } => (
            invalid(&format!(
                "a value may not begin with `{}`",
                character.escape_debug()
            )),
            "put it in quotes",
        ),
        other => {
            return Fault::plain(Rule::Syntax, invalid(&other.to_string()));
        }
    };
    Fault::new(message, help).of(Rule::Syntax)
}
