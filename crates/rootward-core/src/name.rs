//! Names: of the nodes on the map and of the instances of a service.
//!
//! A name is parsed once, at the edge; from then on it is known to be short, printable and safe to show.

use std::fmt;
use std::sync::Arc;

/// The longest name accepted, in bytes.
pub const MAX_NAME_BYTES: usize = 128;

/// The name of a service or a resource on the map, or of a component in a report.
///
/// One to [`MAX_NAME_BYTES`] bytes of letters, digits, `-`, `_`, `.`, `/`, `:`, `@` and `+`, beginning with a letter or a
/// digit. Cheap to clone.
///
/// ```
/// use rootward_core::Name;
/// assert_eq!(Name::parse("orders-db").unwrap().as_str(), "orders-db");
/// let refused = Name::parse("orders db").unwrap_err();
/// assert_eq!(refused.to_string(), "a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Reads a name, or says what is wrong with it.
    ///
    /// # Errors
    /// When the text is empty, too long, or holds a character that names may not contain.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong { bytes: text.len() });
        }
        // Byte by byte: every report brings a dozen names.
        if !text.bytes().all(is_allowed) {
            let bad = text
                .chars()
                .find(|c| u8::try_from(*c).map_or(true, |byte| !is_allowed(byte)));
            return Err(NameError::Character(bad.unwrap_or_default()));
        }
        match text.chars().next() {
            Some(first) if first.is_ascii_alphanumeric() => Ok(Self(Arc::from(text))),
            Some(first) => Err(NameError::FirstCharacter(first)),
            None => Err(NameError::Empty),
        }
    }

    /// The text of the name, to be kept beside it without a copy.
    #[must_use]
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b'+')
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// What is wrong with a text that should be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing was given.
    #[error("a name may not be empty")]
    Empty,
    /// More than [`MAX_NAME_BYTES`].
    #[error("a name may have at most 128 bytes, this one has {bytes}")]
    TooLong {
        /// Length of what was given.
        bytes: usize,
    },
    /// A character outside the allowed set.
    #[error("a name may not contain {0:?} (letters, digits and - _ . / : @ + are allowed)")]
    Character(char),
    /// A first character that is not a letter or a digit.
    #[error("a name begins with a letter or a digit, not with {0:?}")]
    FirstCharacter(char),
}

/// One instance of a service, written `service#instance`.
///
/// ```
/// use rootward_core::{InstanceId, Name};
/// let id = InstanceId { service: Name::parse("cart").unwrap(), instance: Name::parse("0").unwrap() };
/// assert_eq!(id.to_string(), "cart#0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId {
    /// The service it belongs to.
    pub service: Name,
    /// Which of the service's instances; unique within the service.
    pub instance: Name,
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.service, self.instance)
    }
}
