//! The written document as a tree with positions: what every syntax is read into, and all that the rest knows of it.
//!
//! Scalars stay text. What `5`, `no` or `1.10` mean is decided by the key that they are given to, so a release named
//! `1.10` is not a number and a country named `no` is not false.

/// A point in a text: line and column in characters, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    /// The first character of a text.
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) at: Position,
    /// The first character behind it, if it is written in one piece.
    pub(crate) end: Option<Position>,
    pub(crate) value: Value,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing after the key, or an unquoted `~` or `null`.
    Null,
    /// Text, quoted or not.
    Scalar(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in the order of the text; a key may occur twice, which its reader reports.
    Mapping(Vec<Entry>),
    /// Something that no configuration may hold; reported where it was read.
    Refused,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Position,
    /// The first character behind the key.
    pub(crate) end: Option<Position>,
    pub(crate) value: Node,
}
