//! Words of closed vocabularies as they cross a socket: written exactly, read tolerantly.

use std::fmt;
use std::marker::PhantomData;

use rootward_core::{
    CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope, ServiceStatus,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::limits::MAX_WORD_BYTES;
use crate::text;

/// A closed vocabulary.
pub trait WordSet: Copy + fmt::Debug + 'static {
    /// What the vocabulary is called in the schema.
    const NAME: &'static str;
    /// Every value.
    const ALL: &'static [Self];
    /// The word of a value.
    fn word(self) -> &'static str;
    /// The value of a word, if it is one of ours.
    fn parse_word(word: &str) -> Option<Self>;
}

/// A word of the vocabulary `T`, or one that a newer writer knows and we do not.
///
/// ```
/// use rootward_core::CheckStatus;
/// use rootward_wire::Word;
/// let word: Word<CheckStatus> = serde_json::from_str(r#""up""#)?;
/// assert_eq!(word, CheckStatus::Up.into());
/// let word: Word<CheckStatus> = serde_json::from_str(r#""paused""#)?;
/// assert_eq!((word.known(), word.as_str()), (None, "paused"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word<T> {
    /// One of ours.
    Known(T),
    /// Somebody else's, cut to [`MAX_WORD_BYTES`] and without control characters.
    Other(Box<str>),
}

impl<T: WordSet> Word<T> {
    /// The word as somebody wrote it, cut and without control characters if it is not one of ours.
    #[must_use]
    pub fn read(word: &str) -> Self {
        T::parse_word(word).map_or_else(
            || Self::Other(text::shown(word, MAX_WORD_BYTES).into()),
            Self::Known,
        )
    }

    /// The value, if the word is one of ours.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Other(_) => None,
        }
    }

    /// The word as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(value) => value.word(),
            Self::Other(word) => word,
        }
    }
}

impl<T: WordSet> From<T> for Word<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: WordSet> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: WordSet> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: WordSet> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyWord<T>(PhantomData<T>);
        impl<T: WordSet> Visitor<'_> for AnyWord<T> {
            type Value = Word<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Word<T>, E> {
                Ok(Word::read(word))
            }
        }
        deserializer.deserialize_str(AnyWord(PhantomData))
    }
}

impl<T: WordSet> JsonSchema for Word<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::NAME.into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        format!("rootward_wire::Word<{}>", T::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::ALL.iter().map(|value| value.word()).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

macro_rules! core_words {
    ($($name:ident)+) => {$(
        impl WordSet for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = $name::ALL;
            fn word(self) -> &'static str { self.as_str() }
            fn parse_word(word: &str) -> Option<Self> { Self::parse(word) }
        }
    )+};
}

core_words! { CheckStatus InstanceStatus ServiceStatus Criticality Scope Depth ErrorCategory }

/// Declares a vocabulary that only the wire has.
macro_rules! wire_words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $crate::WordSet for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            fn word(self) -> &'static str { match self { $(Self::$variant => $word,)+ } }
            fn parse_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use wire_words;
