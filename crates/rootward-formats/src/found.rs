//! What a reader takes from a body, before the code and the rules are applied.

use rootward_core::ErrorCategory;

use crate::category::Texts;
use crate::json::{Json, Object};
use crate::words::{self, Word};

/// What the code of HTTP is worth beside the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CodeRule {
    /// The worse of both counts.
    #[default]
    Worse,
    /// The format gives codes a meaning of its own, which the reader has applied.
    Own,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Entries without a name count and are not listed.
    pub(crate) name: Option<String>,
    pub(crate) status: Word,
    pub(crate) category: Option<ErrorCategory>,
}

impl Part {
    pub(crate) fn new(name: &str, status: Word) -> Self {
        Self {
            name: Some(name.to_owned()),
            status,
            category: None,
        }
    }

    /// With the category that its texts make clear, if it is not well.
    pub(crate) fn because(mut self, texts: &Texts) -> Self {
        if matches!(self.status, Word::Down | Word::Degraded) && self.category.is_none() {
            self.category = texts.category();
        }
        self
    }
}

/// What a reader found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// What the answer says of the whole, if anything.
    pub(crate) said: Option<Word>,
    pub(crate) parts: Vec<Part>,
    /// Why, by the meaning of the format or of the word itself.
    pub(crate) category: Option<ErrorCategory>,
    /// Why, by the texts about the whole; counts where no component has a category.
    pub(crate) hint: Option<ErrorCategory>,
    pub(crate) code: CodeRule,
}

impl Found {
    /// A word about the whole.
    pub(crate) fn said(word: Word) -> Self {
        Self {
            said: Some(word),
            ..Self::default()
        }
    }

    /// What an answer says of the whole, if it does.
    pub(crate) fn of(said: Option<Said>) -> Self {
        Self {
            said: said.map(|said| said.word),
            category: said.and_then(|said| said.category),
            ..Self::default()
        }
    }

    /// What an answer says of the whole, where the word itself tells nothing more.
    pub(crate) fn of_word(said: Option<Word>) -> Self {
        Self {
            said,
            ..Self::default()
        }
    }

    /// The code alone.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn because(mut self, category: ErrorCategory) -> Self {
        self.category = Some(category);
        self
    }

    /// With what the texts about the whole make clear.
    pub(crate) fn hinted(mut self, texts: &Texts) -> Self {
        self.hint = texts.category();
        self
    }

    pub(crate) fn with(mut self, parts: Vec<Part>) -> Self {
        self.parts = parts;
        self
    }

    pub(crate) const fn own_codes(mut self) -> Self {
        self.code = CodeRule::Own;
        self
    }

    /// `None` when neither the whole nor a part was found.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (self.said.is_some() || !self.parts.is_empty()).then_some(self)
    }
}

/// What one entry says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) word: Word,
    /// Where the word itself tells why.
    pub(crate) category: Option<ErrorCategory>,
}

impl Said {
    /// A text that stands where a status belongs.
    pub(crate) fn of(text: &str) -> Self {
        let category = match words::uniform(text).as_deref() {
            Some("shuttingdown" | "draining") => Some(ErrorCategory::ShuttingDown),
            Some("notready") => Some(ErrorCategory::NotReady),
            Some("timeoutduringhealthcheck") => Some(ErrorCategory::Timeout),
            Some("serviceunknown") => Some(ErrorCategory::NotFound),
            _ => None,
        };
        Self {
            word: words::read(text),
            category,
        }
    }

    const fn from_bool(well: bool) -> Self {
        Self {
            word: if well { Word::Up } else { Word::Down },
            category: None,
        }
    }
}

/// Keys that hold a status, as a word or as a truth value; the first that is there counts.
const STATUS_KEYS: [&str; 10] = [
    "status", "state", "outcome", "health", "result", "healthy", "success", "passed", "ok", "alive",
];

/// What an object says of itself. Of repeated keys the worst counts.
pub(crate) fn statement(object: &Object) -> Option<Said> {
    STATUS_KEYS.into_iter().find_map(|key| under(object, key))
}

/// What an object says under one key, whatever its case.
pub(crate) fn under(object: &Object, key: &str) -> Option<Said> {
    let matching = object
        .entries()
        .filter(|(name, _)| name.eq_ignore_ascii_case(key));
    matching
        .filter_map(|(_, value)| match value {
            Json::Text(text) => Some(Said::of(text)),
            Json::Bool(well) => Some(Said::from_bool(*well)),
            Json::Null | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
        })
        .max_by_key(|said| said.word)
}

/// What a value says that is an entry itself: an object, a word or a truth value.
pub(crate) fn statement_of(value: &Json) -> Option<Said> {
    match value {
        Json::Object(object) => statement(object),
        Json::Text(text) => Some(Said::of(text)),
        Json::Bool(well) => Some(Said::from_bool(*well)),
        Json::Null | Json::Number(_) | Json::List(_) => None,
    }
}

/// Keys of texts about the whole.
const TEXT_KEYS: [&str; 14] = [
    "message",
    "error",
    "errors",
    "reason",
    "output",
    "description",
    "detail",
    "cause",
    "causes",
    "exception",
    "notes",
    "reasons",
    "alarms",
    "msg",
];

/// The texts about the whole that an object holds beside its status.
pub(crate) fn own_texts(object: &Object) -> Texts {
    let mut texts = Texts::default();
    for (name, value) in object.entries() {
        if TEXT_KEYS.iter().any(|key| name.eq_ignore_ascii_case(key)) {
            texts.add_all(value);
        }
    }
    texts
}

/// Every text within an object but its names and status words.
pub(crate) fn all_texts(object: &Object) -> Texts {
    let mut texts = Texts::default();
    for (name, value) in object.entries() {
        let is_text = !STATUS_KEYS.contains(&name) && !NAME_KEYS.contains(&name);
        if is_text {
            texts.add_all(value);
        }
    }
    texts
}

/// Keys that hold the name of an entry; the first that is there counts.
pub(crate) const NAME_KEYS: [&str; 7] = [
    "name",
    "checker",
    "component",
    "check",
    "service",
    "id",
    "key",
];

/// The part that an entry of a map is.
pub(crate) fn part(name: &str, value: &Json) -> Part {
    let said = statement_of(value);
    let mut part = Part::new(name, said.map_or(Word::Unknown, |said| said.word));
    part.category = said.and_then(|said| said.category);
    match value {
        Json::Object(object) => part.because(&all_texts(object)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => part,
    }
}
