//! How a kind of check describes its settings: keys, and what may stand behind each.

use std::time::Duration;

use crate::duration::show;
use crate::shape::KeySpec;

/// A kind of check: what it is called in the file, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct KindSpec {
    /// The key under which a check of it stands: `postgresql`.
    pub name: &'static str,
    /// Its settings.
    pub keys: &'static [Key],
    /// What its settings look like, in one line.
    pub example: &'static str,
    /// Whether this build has it. One that it has not is known by name, so that the file gets a sentence that helps.
    pub built: bool,
}

/// One setting of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) required: Option<&'static str>,
    pub(super) secret: bool,
}

/// What may stand behind a key. Whatever it is, it may hold `${NAME}`, or stand in the environment (`{env: NAME}`) or in
/// a file (`{file: PATH}`).
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Any text that is not blank.
    Text,
    /// A duration with its unit, from the first to the second.
    Duration(Duration, Duration),
    /// A whole number, from the first to the second.
    Number(u64, u64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A share such as `85%`, from 0 to 100.
    Percent,
    /// A number of bytes such as `500MiB`; the units are B, KiB, MiB, GiB and TiB.
    Size,
    /// A list of texts, none of them blank, and at least one.
    Texts,
    /// Keys and values of which only the service that is asked knows the names, such as the headers of a request.
    Pairs,
}

impl Key {
    /// A setting that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            required: None,
            secret: false,
        }
    }

    /// It must be there; the help says what to write.
    #[must_use]
    pub const fn required(mut self, help: &'static str) -> Self {
        self.required = Some(help);
        self
    }

    /// No message may repeat what stands there: a password, a URL that may hold one.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// As the readers of all files have it.
    pub(crate) const fn spec(&self) -> KeySpec {
        KeySpec {
            name: self.name,
            shape: crate::shape::Shape::Setting(self.shape),
            required: self.required.is_some(),
        }
    }

    /// What may stand there, in words.
    pub(crate) fn about(&self) -> String {
        let mut text = match self.shape {
            Shape::Text => "text".to_owned(),
            Shape::Duration(least, most) => {
                format!("a duration from {} to {}", show(least), show(most))
            }
            Shape::Number(least, u64::MAX) => format!("a whole number from {least}"),
            Shape::Number(least, most) => format!("a whole number from {least} to {most}"),
            Shape::Flag => "true or false".to_owned(),
            Shape::Word(words) => format!("one of {}", words.join(", ")),
            Shape::Percent => "a share from 0% to 100%".to_owned(),
            Shape::Size => "a number of bytes, such as 500MiB".to_owned(),
            Shape::Texts => "a list of texts".to_owned(),
            Shape::Pairs => "names and their values".to_owned(),
        };
        if let Some(help) = self.required {
            text.push_str(&format!("; required: {help}"));
        }
        if self.secret {
            text.push_str(
                "; may hold a secret: {file: PATH} or {env: NAME} keeps it out of this file",
            );
        }
        text
    }

    /// Whether it must be there.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        self.required.is_some()
    }
}
