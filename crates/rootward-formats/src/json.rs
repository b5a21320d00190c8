//! JSON as others write it, within bounds: what is too deep or too much is left out, and what was read before is kept.
//!
//! A tree of our own, because a map would hide that a key stood there twice: two statuses are two statements, and the
//! worse one counts. The parser is serde_json; what lies beyond a bound is parsed and not kept.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Levels of objects and lists that are kept.
const MAX_DEPTH: u8 = 24;

/// Values that are kept of one answer. The largest answer allowed could hold half a million.
const MAX_VALUES: u32 = 50_000;

/// Longer texts are cut to so many bytes, on a character boundary.
const MAX_TEXT_BYTES: usize = 2048;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Object),
}

/// An object as it was written: in its order, repeated keys included.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object(pub(crate) Vec<(String, Json)>);

impl Object {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first value under a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let mut entries = self.0.iter();
        let found = entries.find(|(name, _)| name == key)?;
        Some(&found.1)
    }

    /// Every value under a key.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Json> {
        let matching = move |(name, _): &&(String, Json)| name == key;
        self.0.iter().filter(matching).map(|(_, value)| value)
    }

    /// The first value under a key, whatever the case of its ASCII letters.
    pub(crate) fn get_any_case(&self, key: &str) -> Option<&Json> {
        let mut entries = self.0.iter();
        let found = entries.find(|(name, _)| name.eq_ignore_ascii_case(key))?;
        Some(&found.1)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn object(&self, key: &str) -> Option<&Self> {
        self.get(key)?.as_object()
    }

    pub(crate) fn list(&self, key: &str) -> Option<&[Json]> {
        self.get(key)?.as_list()
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    pub(crate) fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Json> {
        self.0.iter().map(|(_, value)| value)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Json {
    pub(crate) fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self {
            Some(object)
        } else {
            None
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self {
            Some(list)
        } else {
            None
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    pub(crate) const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// The number as the integer that it is, if it is a small one.
    pub(crate) fn as_small_integer(&self) -> Option<u16> {
        let Self::Number(number) = self else {
            return None;
        };
        (0..1000u16).find(|candidate| (f64::from(*candidate) - number).abs() < f64::EPSILON)
    }
}

/// What was read, and whether there was more than is kept.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) value: Json,
    pub(crate) left_out: bool,
}

/// Reads one value and nothing behind it. `None` if that is not what the text holds.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let bounds = Bounds {
        values: Cell::new(MAX_VALUES),
        left_out: Cell::new(false),
    };
    let attempt = |text: &str| {
        bounds.values.set(MAX_VALUES);
        let mut parser = serde_json::Deserializer::from_str(text);
        let seed = Seed {
            bounds: &bounds,
            depth: 0,
        };
        let value = seed.deserialize(&mut parser).ok()?;
        parser.end().ok()?;
        value
    };
    let value = attempt(text).or_else(|| attempt(&without_odd_numbers(text)?))?;
    Some(Parsed {
        value,
        left_out: bounds.left_out.get(),
    })
}

/// The text with `null` where a writer put a number that JSON does not have; `None` if there is none.
///
/// Ruby's and Python's writers print them (OkComputer's `time`), others more digits than a machine has numbers for; no
/// status is ever one.
fn without_odd_numbers(text: &str) -> Option<String> {
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    let (mut in_text, mut escaped) = (false, false);
    while let Some(letter) = rest.chars().next() {
        if !in_text {
            let token = ["-Infinity", "Infinity", "-NaN", "NaN"];
            if let Some(token) = token.into_iter().find(|token| rest.starts_with(token)) {
                fixed.push_str("null");
                found = true;
                rest = &rest[token.len()..];
                continue;
            }
            if letter.is_ascii_digit() || letter == '-' {
                let end = rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c));
                let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
                let infinite = number.parse().is_ok_and(f64::is_infinite);
                fixed.push_str(if infinite { "null" } else { number });
                found |= infinite;
                rest = after;
                continue;
            }
        }
        if in_text && escaped {
            escaped = false;
        } else if in_text && letter == '\\' {
            escaped = true;
        } else if letter == '"' {
            in_text = !in_text;
        }
        fixed.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    found.then_some(fixed)
}

/// A text that ends within a value, with everything closed that was open: the last complete member is kept.
///
/// Only for what we cut ourselves. What arrived broken stays broken.
pub(crate) fn closed(cut: &str) -> Option<String> {
    let mut open = Vec::new();
    // Where the text may end, and what was open there.
    let mut last: Option<(usize, Vec<char>)> = None;
    let (mut in_text, mut escaped) = (false, false);
    for (at, letter) in cut.char_indices() {
        if in_text {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match letter {
            '"' => in_text = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
                if usize::from(MAX_DEPTH) > open.len() {
                    last = Some((at + 1, open.clone()));
                }
            }
            ',' if usize::from(MAX_DEPTH) > open.len() => last = Some((at, open.clone())),
            _ => {}
        }
    }
    let (end, open) = last?;
    let mut text = cut.get(..end)?.to_owned();
    text.extend(open.iter().rev());
    Some(text)
}

struct Bounds {
    /// How many more values are kept.
    values: Cell<u32>,
    left_out: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    bounds: &'a Bounds,
    depth: u8,
}

impl Seed<'_> {
    /// Whether one more value is kept, and if so, whether what is in it is.
    fn takes(self) -> Option<bool> {
        let left = self.bounds.values.get().checked_sub(1);
        match left {
            Some(left) => self.bounds.values.set(left),
            None => self.bounds.left_out.set(true),
        }
        // What lies too deep is data of somebody's, and no component.
        left.map(|_| self.depth <= MAX_DEPTH)
    }

    const fn below(self) -> Self {
        Self {
            bounds: self.bounds,
            depth: self.depth + 1,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Option<Json>;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        let takes = self.takes();
        if takes == Some(true) {
            return parser.deserialize_any(self).map(Some);
        }
        // Without recursion, so that depth costs nothing.
        parser.deserialize_ignored_any(IgnoredAny)?;
        Ok(takes.map(|_| Json::Null))
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "only small numbers are looked at"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "only small numbers are looked at"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(cut(value, MAX_TEXT_BYTES).to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.below())? {
            list.extend(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            let value = entries.next_value_seed(self.below())?;
            object.extend(value.map(|value| (key, value)));
        }
        Ok(Json::Object(Object(object)))
    }
}

/// A key, cut like any text.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<String, D::Error> {
        parser.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(cut(value, MAX_TEXT_BYTES).to_owned())
    }
}

/// At most so many bytes of a text, on a character boundary.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        match parse(text).map(|parsed| parsed.value) {
            Some(Json::Object(object)) => object,
            other => panic!("{text} is no object: {other:?}"),
        }
    }

    #[test]
    fn a_key_that_stands_there_twice_is_read_twice() {
        let twice = object(r#"{"status":"UP","status":"DOWN"}"#);
        let said: Vec<_> = twice.all("status").filter_map(Json::as_text).collect();
        assert_eq!(said, ["UP", "DOWN"]);
    }

    #[test]
    fn depth_is_cut_and_what_stands_beside_it_is_kept() {
        let depth = 100_000;
        let deep = format!(
            r#"{{"a":1,"deep":{}{},"b":2}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        let parsed = parse(&deep).expect("it is JSON");
        assert!(!parsed.left_out);
        let kept = parsed.value.as_object().expect("an object");
        assert!(kept.has("a") && kept.has("b"));
    }

    #[test]
    fn numbers_that_json_does_not_have_are_no_numbers() {
        let odd = object(r#"{"time":NaN,"text":"NaN \" -Infinity","n":[-Infinity,1e400]}"#);
        assert_eq!(odd.get("time"), Some(&Json::Null));
        assert_eq!(odd.text("text"), Some("NaN \" -Infinity"));
    }

    #[test]
    fn only_one_value_is_one_value() {
        for broken in [
            "",
            "{",
            r#"{"a":1}{"a":1}"#,
            "{\"a\":1} trailing",
            "{'a':1}",
            "nul",
        ] {
            assert!(parse(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn what_we_cut_is_closed_again() {
        let whole = r#"{"status":"UP","checks":{"a":{"status":"UP"},"b":{"sta"#;
        assert_eq!(
            closed(whole).as_deref(),
            Some(r#"{"status":"UP","checks":{"a":{"status":"UP"}}}"#)
        );
        assert_eq!(closed("{\"a\":\"}}}"), None);
    }
}
