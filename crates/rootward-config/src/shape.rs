//! What may stand behind each key, for those who read it and for the schema that editors are given.

use crate::agent;
use crate::duration::Range;
use crate::keys::Section;

/// A key that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeySpec {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// Whether it has to be there in each file. What other files or keys can bring is not required of a mapping.
    pub(crate) required: bool,
}

impl KeySpec {
    pub(crate) const fn new(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            required: false,
        }
    }

    pub(crate) const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}

/// What may stand behind a key. Whatever is one value may also hold `${NAME}`, or stand elsewhere (`{file: PATH}`,
/// `{env: NAME}`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Keys and values.
    Section(&'static Section<'static>),
    /// A list of mappings.
    List(&'static Section<'static>),
    /// A list of URLs, or of mappings with one.
    Urls(&'static Section<'static>),
    /// The word `none`, or a mapping.
    NoneOr(&'static Section<'static>),
    /// A text, or a mapping.
    TextOr(&'static Section<'static>),
    /// `{file: PATH}` and nothing else.
    File,
    /// The checks of an agent.
    Checks,
    /// A list of names, of at least so many.
    Names(u8),
    /// A list of texts.
    Texts,
    /// A name by the rules of the map.
    Name,
    /// Any text that is not blank.
    Text,
    /// Text without spaces.
    Target,
    /// A URL that can be polled.
    Url,
    /// An address and a port.
    Address,
    /// A calendar day.
    Date,
    /// A duration with its unit.
    Duration(Range),
    /// A whole number, from the first to the second.
    Number(u64, u64),
    /// `true` or `false`.
    Flag,
    /// What a dependency means to its caller.
    Criticality,
    /// Whom the result of a check concerns.
    Scope,
    /// How answers are read.
    Format,
    /// A setting of a kind of checks.
    Setting(agent::Shape),
}
