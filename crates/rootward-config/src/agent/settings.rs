//! The settings of one check, read by the description of its kind.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::duration::{self, Range};
use crate::expand::Text;
use crate::keys::Section;
use crate::nearest::nearest;
use crate::place::{Field, Located};
use crate::problem::Fault;
use crate::read::{Fields, Item, Reader};
use crate::shape::KeySpec;
use crate::values;

use super::shape::{Key, KindSpec, Shape};
use super::{Place, Spot};

/// The most entries of one setting that holds several.
pub(crate) const MAX_ENTRIES: usize = 64;

/// One value, of the shape that its key asks for. Shown without the value, which may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Setting {
    /// [`Shape::Text`].
    Text(String),
    /// [`Shape::Duration`].
    Duration(Duration),
    /// [`Shape::Number`], [`Shape::Percent`] and [`Shape::Size`].
    Number(u64),
    /// [`Shape::Flag`].
    Flag(bool),
    /// [`Shape::Word`].
    Word(&'static str),
    /// [`Shape::Texts`].
    Texts(Vec<String>),
    /// [`Shape::Pairs`].
    Pairs(Vec<(String, String)>),
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::Duration(_) => "Duration(…)",
            Self::Number(_) => "Number(…)",
            Self::Flag(_) => "Flag(…)",
            Self::Word(_) => "Word(…)",
            Self::Texts(_) => "Texts(…)",
            Self::Pairs(_) => "Pairs(…)",
        })
    }
}

/// The settings of one check. Two are equal if they say the same, wherever they stand.
#[derive(Debug, Clone)]
pub struct Settings {
    values: BTreeMap<&'static str, Setting>,
    spots: BTreeMap<&'static str, Spot>,
    spot: Spot,
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Settings {
    fn get(&self, key: &str) -> Option<&Setting> {
        self.values.get(key)
    }

    /// The text under a key. Empty if it is not there: [`Key::required`] makes that a problem of the file.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.optional_text(key).unwrap_or_default()
    }

    /// The text under a key, if it is there.
    #[must_use]
    pub fn optional_text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Setting::Text(text) => Some(text),
            Setting::Word(word) => Some(word),
            Setting::Duration(_)
            | Setting::Number(_)
            | Setting::Flag(_)
            | Setting::Texts(_)
            | Setting::Pairs(_) => None,
        }
    }

    /// The duration under a key, if it is there.
    #[must_use]
    pub fn duration(&self, key: &str) -> Option<Duration> {
        match self.get(key)? {
            Setting::Duration(duration) => Some(*duration),
            Setting::Text(_)
            | Setting::Number(_)
            | Setting::Flag(_)
            | Setting::Word(_)
            | Setting::Texts(_)
            | Setting::Pairs(_) => None,
        }
    }

    /// The number under a key, if it is there; of a share the percent, of a size the bytes.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Setting::Number(number) => Some(*number),
            Setting::Text(_)
            | Setting::Duration(_)
            | Setting::Flag(_)
            | Setting::Word(_)
            | Setting::Texts(_)
            | Setting::Pairs(_) => None,
        }
    }

    /// Whether a flag is there and true.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Setting::Flag(true)))
    }

    /// The texts under a key; none if it is not there.
    #[must_use]
    pub fn texts(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(Setting::Texts(texts)) => texts,
            Some(_) | None => &[],
        }
    }

    /// The keys and values under a key; none if it is not there.
    #[must_use]
    pub fn pairs(&self, key: &str) -> &[(String, String)] {
        match self.get(key) {
            Some(Setting::Pairs(pairs)) => pairs,
            Some(_) | None => &[],
        }
    }

    /// Where the value of a key stands; the settings as a whole if it is not there, or for no key.
    #[must_use]
    pub fn spot(&self, key: Option<&str>) -> &Spot {
        key.and_then(|key| self.spots.get(key))
            .unwrap_or(&self.spot)
    }
}

/// Reads what stands under a kind. `None` if something is wrong with it, which was reported.
pub(super) fn read(item: &Item<'_>, kind: &KindSpec, reader: &mut Reader<'_>) -> Option<Settings> {
    let keys: Vec<KeySpec> = kind.keys.iter().map(Key::spec).collect();
    let section = Section {
        keys: &keys,
        later: &[],
        one_of: &[],
        example: kind.example,
    };
    let Field::Given(Located {
        value: fields,
        place,
    }) = reader.mapping(item, &section)
    else {
        return None;
    };
    let mut settings = Settings {
        values: BTreeMap::new(),
        spots: BTreeMap::new(),
        spot: Spot(place),
    };
    let mut complete = true;
    for key in kind.keys {
        let field = setting(&fields, key, reader);
        let field = match key.required {
            Some(help) => reader.required(&fields, key.name, field, help),
            None => field,
        };
        match field {
            Field::Given(Located { value, place }) => {
                settings.values.insert(key.name, value);
                settings.spots.insert(key.name, Spot(place));
            }
            Field::Refused => complete = false,
            Field::Absent => complete &= !fields.has_misspelt(key.name),
        }
    }
    complete.then_some(settings)
}

fn setting(fields: &Fields<'_>, key: &Key, reader: &mut Reader<'_>) -> Field<Setting> {
    let item = match reader.item(fields, key.name) {
        Field::Given(item) => item,
        Field::Refused => return Field::Refused,
        Field::Absent => return Field::Absent,
    };
    match key.shape {
        Shape::Texts => texts(fields, key, reader),
        Shape::Pairs => pairs(&item.value, key, reader),
        Shape::Text
        | Shape::Duration(..)
        | Shape::Number(..)
        | Shape::Flag
        | Shape::Word(_)
        | Shape::Percent
        | Shape::Size => reader.scalar(&item.value, |text| one(&shown(text, key), key.shape)),
    }
}

/// The text as messages may show it.
fn shown(text: &Text, key: &Key) -> Text {
    if key.secret {
        text.clone().hidden()
    } else {
        text.clone()
    }
}

fn one(text: &Text, shape: Shape) -> Result<Setting, Fault> {
    Ok(match shape {
        Shape::Text | Shape::Texts | Shape::Pairs => Setting::Text(text.value().to_owned()),
        Shape::Duration(least, most) => {
            Setting::Duration(duration::parse(text, Range { least, most })?)
        }
        Shape::Number(least, most) => {
            let bound = |number| usize::try_from(number).unwrap_or(usize::MAX);
            Setting::Number(values::number(text, bound(least), bound(most))? as u64)
        }
        Shape::Flag => Setting::Flag(values::flag(text)?),
        Shape::Word(words) => Setting::Word(word(text, words)?),
        Shape::Percent => Setting::Number(percent(text)?),
        Shape::Size => Setting::Number(size(text)?),
    })
}

fn word(text: &Text, words: &'static [&'static str]) -> Result<&'static str, Fault> {
    let known = words.iter().copied();
    known
        .clone()
        .find(|word| *word == text.value())
        .ok_or_else(|| {
            let meant = nearest(text.value(), known);
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("allowed are {}", words.join(", ")),
            };
            Fault::new(
                format!("{} is none of the words for it", text.shown()),
                help,
            )
            .meant(meant)
        })
}

fn percent(text: &Text) -> Result<u64, Fault> {
    let number = text.value().strip_suffix('%');
    let number = number.and_then(|digits| digits.parse::<u64>().ok());
    number.filter(|number| *number <= 100).ok_or_else(|| {
        let message = format!("{} is not a share", text.shown());
        Fault::new(
            message,
            "write a whole number from 0 to 100 and %, such as 85%",
        )
    })
}

/// The units of sizes, in bytes.
const UNITS: [(&str, u64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

fn size(text: &Text) -> Result<u64, Fault> {
    let written = text.value();
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = written.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let bytes = unit.and_then(|(_, size)| number.parse::<u64>().ok()?.checked_mul(*size));
    bytes.ok_or_else(|| {
        let message = format!("{} is not a size", text.shown());
        let help = "write a whole number and one of B, KiB, MiB, GiB and TiB, such as 500MiB";
        Fault::new(message, help)
    })
}

fn texts(fields: &Fields<'_>, key: &Key, reader: &mut Reader<'_>) -> Field<Setting> {
    let items = match reader.list(fields, key.name, "…") {
        Field::Given(items) => items,
        Field::Refused => return Field::Refused,
        Field::Absent => return Field::Absent,
    };
    let mut texts = Vec::with_capacity(items.value.len().min(MAX_ENTRIES));
    let mut complete = true;
    if items.value.is_empty() || items.value.len() > MAX_ENTRIES {
        let message = format!("{} entries", items.value.len());
        let fault = Fault::new(message, format!("allowed are 1 to {MAX_ENTRIES}"));
        reader.log.problem(&items.place, fault);
        return Field::Refused;
    }
    for item in &items.value {
        match reader.scalar(item, |text| Ok(text.value().to_owned())) {
            Field::Given(text) => texts.push(text.value),
            Field::Refused | Field::Absent => complete = false,
        }
    }
    finished(complete, Setting::Texts(texts), items.place)
}

fn pairs(item: &Item<'_>, key: &Key, reader: &mut Reader<'_>) -> Field<Setting> {
    let before = reader.log.count();
    let entries = reader.entries(item, &format!("{}: {{NAME: VALUE}}", key.name));
    let mut pairs = Vec::with_capacity(entries.len().min(MAX_ENTRIES));
    if entries.len() > MAX_ENTRIES {
        let message = format!("{} entries", entries.len());
        let fault = Fault::new(message, format!("at most {MAX_ENTRIES} are allowed"));
        reader.log.problem(&item.place, fault);
        return Field::Refused;
    }
    for (name, item) in entries {
        if let Field::Given(text) = reader.scalar(&item, |text| Ok(text.value().to_owned())) {
            pairs.push((name.to_owned(), text.value));
        }
    }
    let complete = reader.log.count() == before;
    finished(complete, Setting::Pairs(pairs), item.place.clone())
}

fn finished(complete: bool, value: Setting, place: Place) -> Field<Setting> {
    match complete {
        true => Field::Given(Located { value, place }),
        false => Field::Refused,
    }
}
