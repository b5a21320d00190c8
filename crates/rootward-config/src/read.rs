//! Readers of single values: each takes a node of the tree and gives a typed value or reports what is wrong with it.
//!
//! They never stop: a value that cannot be read is reported and becomes [`Field::Refused`], and reading goes on.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::expand::{Text, expand};
use crate::keys::{Refusal, Section};
use crate::place::{Field, Located, Log, Place};
use crate::problem::{Fault, harmless};
use crate::rule::Rule;
use crate::syntax::MAX_SCALAR_BYTES;
use crate::tree::{Entry, Node, Position, Value};

/// Gives what stands in a file, or why it cannot be read.
pub(crate) type Files<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// What reading needs besides the tree.
pub(crate) struct Reader<'a> {
    pub(crate) file: usize,
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Gives what stands in the file of a `{file: PATH}`.
    pub(crate) files: &'a Files<'a>,
    pub(crate) log: &'a mut Log,
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// A mapping whose keys have been looked through: unknown and repeated ones are reported.
#[derive(Debug)]
pub(crate) struct Fields<'t> {
    pub(crate) place: Place,
    /// Keys that unknown keys here were probably meant to be.
    meant: BTreeSet<&'static str>,
    /// Whether there is a key that is unknown here, which was reported.
    unknown: bool,
    entries: BTreeMap<&'t str, &'t Entry>,
}

impl Fields<'_> {
    /// Whether a key is there under a wrong spelling, which was reported: then it is not missing as well.
    pub(crate) fn has_misspelt(&self, key: &str) -> bool {
        self.meant.contains(key)
    }

    /// Whether there is a key that is unknown here, which was reported.
    pub(crate) const fn has_unknown(&self) -> bool {
        self.unknown
    }

    /// The place of what a key of this mapping holds.
    fn place_of(&self, key: &str, at: Position, end: Option<Position>) -> Place {
        Place {
            file: self.place.file,
            at,
            end,
            path: join(&self.place.path, key),
        }
    }
}

/// One value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Item<'t> {
    node: &'t Node,
    pub(crate) place: Place,
}

impl<'t> Item<'t> {
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.node.value, Value::Scalar(_))
    }

    /// Whether it is one value, written there or taken from elsewhere.
    pub(crate) fn is_value(&self) -> bool {
        self.is_text() || self.elsewhere().is_some()
    }

    /// The path in `{file: PATH}`.
    pub(crate) fn file(&self) -> Option<&'t str> {
        match self.elsewhere() {
            Some(("file", node)) => match &node.value {
                Value::Scalar(path) => Some(path),
                Value::Null | Value::Refused | Value::Sequence(_) | Value::Mapping(_) => None,
            },
            Some(_) | None => None,
        }
    }

    /// Whether it is a mapping with this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        match &self.node.value {
            Value::Mapping(entries) => entries.iter().any(|entry| entry.key == key),
            Value::Null | Value::Refused | Value::Scalar(_) | Value::Sequence(_) => false,
        }
    }

    /// What it says about where the value is to be taken from, in `{env: NAME}` or `{file: PATH}`.
    fn elsewhere(&self) -> Option<(&'t str, &'t Node)> {
        let Value::Mapping(entries) = &self.node.value else {
            return None;
        };
        match entries.as_slice() {
            [one] if matches!(one.key.as_str(), "file" | "env") => Some((&one.key, &one.value)),
            _ => None,
        }
    }
}

impl Reader<'_> {
    /// The root of a document.
    pub(crate) fn root<'t>(&mut self, node: &'t Node, section: &Section<'_>) -> Field<Fields<'t>> {
        let document = self.document(node);
        self.mapping(&document, section)
    }

    /// A document as an item.
    pub(crate) fn document<'t>(&self, node: &'t Node) -> Item<'t> {
        let place = Place {
            file: self.file,
            at: node.at,
            end: node.end,
            path: String::new(),
        };
        Item { node, place }
    }

    /// The value of a key; `Absent` if the key is not there, reported if nothing follows it.
    pub(crate) fn item<'t>(&mut self, fields: &Fields<'t>, key: &'static str) -> Field<Item<'t>> {
        let Some(entry) = fields.entries.get(key) else {
            return Field::Absent;
        };
        match entry.value.value {
            Value::Null => {
                let place = fields.place_of(key, entry.at, entry.end);
                let fault =
                    Fault::new("no value", "give it one or remove the key").of(Rule::Missing);
                self.log.problem(&place, fault);
                Field::Refused
            }
            Value::Refused => Field::Refused,
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => {
                let place = fields.place_of(key, entry.value.at, entry.value.end);
                let value = Item {
                    node: &entry.value,
                    place: place.clone(),
                };
                Field::Given(Located { value, place })
            }
        }
    }

    /// Reports a key that has to be there. `Absent` becomes `Refused`.
    pub(crate) fn required<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        field: Field<T>,
        help: &str,
    ) -> Field<T> {
        if field.is_absent() {
            if !fields.has_misspelt(key) {
                let fault = Fault::new(format!("`{key}` is missing"), help).of(Rule::Missing);
                self.log.problem(&fields.place, fault);
            }
            return Field::Refused;
        }
        field
    }

    /// A mapping under a key.
    pub(crate) fn section<'t>(
        &mut self,
        fields: &Fields<'t>,
        key: &'static str,
        section: &Section<'_>,
    ) -> Field<Fields<'t>> {
        match self.item(fields, key) {
            Field::Given(item) => self.mapping(&item.value, section),
            Field::Refused => Field::Refused,
            Field::Absent => Field::Absent,
        }
    }

    /// An item as a mapping.
    pub(crate) fn mapping<'t>(
        &mut self,
        item: &Item<'t>,
        section: &Section<'_>,
    ) -> Field<Fields<'t>> {
        self.mapping_of(item, section.example, |entry| section.refuse(&entry.key))
    }

    /// An item as a mapping, of which `refuse` says which entries may not stand in it.
    pub(crate) fn mapping_of<'t>(
        &mut self,
        item: &Item<'t>,
        example: &str,
        refuse: impl Fn(&Entry) -> Option<Refusal>,
    ) -> Field<Fields<'t>> {
        let Value::Mapping(written) = &item.node.value else {
            self.wrong_kind(item, "keys and values", &format!("write it like {example}"));
            return Field::Refused;
        };
        let mut entries: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut meant = BTreeSet::new();
        let mut unknown = false;
        let place = item.place.clone();
        for entry in written {
            let at = Place {
                at: entry.at,
                end: entry.end,
                ..place.clone()
            };
            match entries.entry(&entry.key) {
                Slot::Occupied(first) => {
                    let Position { line, column } = first.get().at;
                    let message = format!(
                        "`{}` is given twice; first at {line}:{column}",
                        harmless(&entry.key)
                    );
                    self.log.problem(
                        &at,
                        Fault::new(message, "keep one of them").of(Rule::Duplicate),
                    );
                }
                Slot::Vacant(slot) => {
                    slot.insert(entry);
                    // The alias behind a merge key was reported already.
                    let merge = entry.key == "<<" && entry.value.value == Value::Refused;
                    if let Some(refusal) = refuse(entry).filter(|_| !merge) {
                        meant.extend(refusal.meant);
                        unknown = true;
                        self.log.problem(&at, refusal.fault);
                    }
                }
            }
        }
        let value = Fields {
            place: place.clone(),
            meant,
            unknown,
            entries,
        };
        Field::Given(Located { value, place })
    }

    /// A list under a key, item by item. Items without a value are reported and left out.
    pub(crate) fn list<'t>(
        &mut self,
        fields: &Fields<'t>,
        key: &'static str,
        example: &str,
    ) -> Field<Vec<Item<'t>>> {
        let item = match self.item(fields, key) {
            Field::Given(item) => item.value,
            Field::Refused => return Field::Refused,
            Field::Absent => return Field::Absent,
        };
        let like = format!("{key}: [{example}]");
        self.items(&item, &like)
    }

    /// An item as a list, item by item.
    pub(crate) fn items<'t>(&mut self, item: &Item<'t>, like: &str) -> Field<Vec<Item<'t>>> {
        let Value::Sequence(nodes) = &item.node.value else {
            self.wrong_kind(item, "a list", &format!("write it like {like}"));
            return Field::Refused;
        };
        let mut items = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let place = Place {
                at: node.at,
                end: node.end,
                path: format!("{}[{index}]", item.place.path),
                ..item.place.clone()
            };
            if node.value == Value::Null {
                self.log.problem(
                    &place,
                    Fault::new("no value", "give it one or remove the entry").of(Rule::Missing),
                );
            }
            items.push(Item { node, place });
        }
        Field::Given(Located {
            value: items,
            place: item.place.clone(),
        })
    }

    /// An item as a scalar, expanded, not blank, and then as whatever `parse` makes of it.
    pub(crate) fn scalar<T>(
        &mut self,
        item: &Item<'_>,
        parse: impl FnOnce(&Text) -> Result<T, Fault>,
    ) -> Field<T> {
        let Some(text) = self.text(item) else {
            return Field::Refused;
        };
        let result = match text.value().trim().is_empty() {
            true => Err(Fault::new(
                format!("{} is blank", text.shown()),
                "give it a value or remove the key",
            )
            .of(Rule::Missing)),
            false => parse(&text),
        };
        match result {
            Ok(value) => Field::Given(Located {
                value,
                place: item.place.clone(),
            }),
            Err(fault) => {
                self.log.problem(&item.place, fault);
                Field::Refused
            }
        }
    }

    /// The text of an item: written there and expanded, or taken from where it says.
    fn text(&mut self, item: &Item<'_>) -> Option<Text> {
        if let Some((from, name)) = item.elsewhere() {
            return self.text_from(item, from, name);
        }
        let Value::Scalar(written) = &item.node.value else {
            self.wrong_kind(item, "one value", "write plain text after the key");
            return None;
        };
        match expand(written, self.env) {
            Ok(text) => Some(text),
            Err(faults) => {
                for fault in faults {
                    self.log
                        .problem(&item.place, fault.or(Rule::UnresolvedReference));
                }
                None
            }
        }
    }

    fn text_from(&mut self, item: &Item<'_>, from: &str, name: &Node) -> Option<Text> {
        let Value::Scalar(name) = &name.value else {
            let help = "write {env: NAME} or {file: /run/secrets/NAME}";
            let fault = Fault::new(format!("`{from}` needs a name"), help).of(Rule::WrongType);
            self.log.problem(&item.place, fault);
            return None;
        };
        let shown = format!("{{{from}: {}}}", harmless(name));
        let value = match from {
            "env" => self.env.get(name).cloned().ok_or_else(|| {
                let message = format!("the environment variable {} is not set", harmless(name));
                Fault::new(message, "set it where this is started")
            }),
            _ => (self.files)(name).map_err(|why| {
                let message = format!("cannot read {}: {why}", harmless(name));
                Fault::new(message, "the file must be there before this is started")
            }),
        };
        let value = value.and_then(|value| match value.len() > MAX_SCALAR_BYTES {
            false => Ok(value),
            true => {
                let message = format!("{shown} has more than {MAX_SCALAR_BYTES} bytes");
                Err(Fault::new(message, "shorten it").of(Rule::TooLarge))
            }
        });
        match value {
            Ok(value) => Some(Text::from_elsewhere(value, shown)),
            Err(fault) => {
                self.log
                    .problem(&item.place, fault.or(Rule::UnresolvedReference));
                None
            }
        }
    }

    /// Every entry of a mapping whose keys are not known beforehand.
    pub(crate) fn entries<'t>(
        &mut self,
        item: &Item<'t>,
        example: &str,
    ) -> Vec<(&'t str, Item<'t>)> {
        let Field::Given(fields) = self.mapping_of(item, example, |_| None) else {
            return Vec::new();
        };
        let fields = fields.value;
        let entries = fields.entries.iter();
        entries
            .map(|(key, entry)| {
                let place = fields.place_of(key, entry.value.at, entry.value.end);
                let node = &entry.value;
                (*key, Item { node, place })
            })
            .collect()
    }

    /// The scalar under a key.
    pub(crate) fn value<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        parse: impl FnOnce(&Text) -> Result<T, Fault>,
    ) -> Field<T> {
        match self.item(fields, key) {
            Field::Given(item) => self.scalar(&item.value, parse),
            Field::Refused => Field::Refused,
            Field::Absent => Field::Absent,
        }
    }

    fn wrong_kind(&mut self, item: &Item<'_>, expected: &str, help: &str) {
        let (found, help) = match &item.node.value {
            // Reported where they were read.
            Value::Null | Value::Refused => return,
            Value::Scalar(_) => ("text", help),
            Value::Sequence(_) => ("a list", help),
            Value::Mapping(_) => ("keys and values", help),
        };
        let message = format!("{expected} expected here, not {found}");
        let fault = Fault::new(message, help).of(Rule::WrongType);
        self.log.problem(&item.place, fault);
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
