//! Bytes to text, and text to what it is: nothing, JSON, markup or plain text. The content type is asked for the
//! character set alone; services send JSON as text and pages as JSON.

use std::borrow::Cow;

use crate::json::{self, Json};

/// The largest body that is read whole, in bytes. Of a longer one the beginning is read, as far as it is complete.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// What a body is.
#[derive(Debug)]
pub(crate) enum Body {
    Empty,
    Json(Json),
    /// Begins like a page.
    Markup(String),
    Text(String),
    /// Begins like JSON and is none, or is no text at all.
    Broken,
}

/// A body, and whether all of it was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) body: Body,
    pub(crate) left_out: bool,
}

/// Reads a body.
pub(crate) fn read(bytes: &[u8], content_type: Option<&str>) -> Read {
    let whole = bytes.len() <= MAX_BODY_BYTES;
    let bytes = bytes.get(..MAX_BODY_BYTES).unwrap_or(bytes);
    let (text, clean) = decode(bytes, content_type);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    let done = |body| Read {
        body,
        left_out: !whole,
    };
    if text.is_empty() {
        return done(Body::Empty);
    }
    if is_like_json(text) {
        let parsed = if whole {
            json::parse(text)
        } else {
            json::closed(text).and_then(|text| json::parse(&text))
        };
        return parsed.map_or_else(
            || done(Body::Broken),
            |parsed| Read {
                body: Body::Json(parsed.value),
                left_out: parsed.left_out || !whole,
            },
        );
    }
    if text.starts_with('<') {
        return done(Body::Markup(text.to_owned()));
    }
    let control = |c: char| c.is_control() && !c.is_whitespace() && c != '\u{1b}';
    if !clean || text.chars().any(control) {
        return done(Body::Broken);
    }
    done(Body::Text(text.to_owned()))
}

/// Whether a text begins like JSON. `[+]` and `[-]` begin the lines of Kubernetes.
fn is_like_json(text: &str) -> bool {
    if text.starts_with("[+]") || text.starts_with("[-]") {
        return false;
    }
    text.starts_with(['{', '[', '"'])
        || ["true", "false", "null"].contains(&text)
        || text.parse::<f64>().is_ok()
}

/// The text, and whether every byte of it made sense.
fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, bool) {
    let charset = content_type.and_then(charset).unwrap_or_default();
    match bytes {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        // Without a mark: JSON begins with two ASCII characters (RFC 4627, 3).
        [0, 1..=255, 0, 1..=255, ..] => return utf16(bytes, u16::from_be_bytes),
        [1..=255, 0, 1..=255, 0, ..] => return utf16(bytes, u16::from_le_bytes),
        _ => {}
    }
    match charset.as_str() {
        "utf-16be" => return utf16(bytes, u16::from_be_bytes),
        "utf-16" | "utf-16le" => return utf16(bytes, u16::from_le_bytes),
        _ => {}
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), true),
        Err(_) if ["iso-8859-1", "latin1", "windows-1252", "us-ascii"].contains(&&*charset) => {
            // Each byte is the character of the same number.
            let text = bytes.iter().map(|byte| char::from(*byte)).collect();
            (Cow::Owned(text), true)
        }
        // A text that we cut may end within a character.
        Err(error) => {
            let at_the_end = error.error_len().is_none() && bytes.len() >= MAX_BODY_BYTES;
            (String::from_utf8_lossy(bytes), at_the_end)
        }
    }
}

fn utf16<'a>(bytes: &[u8], read: fn([u8; 2]) -> u16) -> (Cow<'a, str>, bool) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| read(*pair));
    let mut clean = rest.is_empty();
    let text = char::decode_utf16(units)
        .map(|letter| {
            letter.unwrap_or_else(|_| {
                clean = false;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    (Cow::Owned(text), clean)
}

/// The character set that a content type names, in lower case.
fn charset(content_type: &str) -> Option<String> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], content_type: Option<&str>) -> String {
        match read(bytes, content_type).body {
            Body::Empty => "empty".to_owned(),
            Body::Json(json) => format!("{json:?}"),
            Body::Markup(_) => "markup".to_owned(),
            Body::Text(text) => format!("text {text}"),
            Body::Broken => "broken".to_owned(),
        }
    }

    #[test]
    fn one_value_in_any_encoding_is_the_same_value() {
        let json = "{\"é\":true}";
        let expected = word(json.as_bytes(), None);
        assert!(expected.contains('é'), "{expected}");
        let little: Vec<u8> = json.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = json.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin: Vec<u8> = json
            .chars()
            .filter_map(|c| u8::try_from(u32::from(c)).ok())
            .collect();
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        assert_eq!(
            word(&marked(b"\xef\xbb\xbf", json.as_bytes()), None),
            expected
        );
        assert_eq!(word(&marked(b"\xff\xfe", &little), None), expected);
        assert_eq!(word(&marked(b"\xfe\xff", &big), None), expected);
        assert_eq!(
            word(&big, Some("application/json; charset=UTF-16BE")),
            expected
        );
        assert_eq!(
            word(&latin, Some("application/json;charset=\"ISO-8859-1\"")),
            expected
        );
    }

    #[test]
    fn a_body_is_what_it_is_and_not_what_it_is_sent_as() {
        assert_eq!(word(b" \r\n\0", Some("application/json")), "empty");
        assert_eq!(word(b"<p>no</p>", Some("application/json")), "markup");
        assert_eq!(word(b"[+]ping ok\n", None), "text [+]ping ok");
        assert_eq!(word(b"{\"status\":", None), "broken");
        assert_eq!(word(b"\x1f\x8b\x08\x00\x01", None), "broken");
        assert_eq!(word(b"true\n", Some("text/plain")), "Bool(true)");
        assert_eq!(word(b"truely", None), "text truely");
    }
}
