//! The Redis protocol as bytes: commands in, replies out, in RESP2 and RESP3. No I/O.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use crate::conversation::Malformed;

/// Words in one command.
const MAX_WORDS: usize = 32;

/// Bytes in one word of a command.
const MAX_WORD_BYTES: usize = 64 * 1024;

/// Bytes in one line: a length, or a command typed by hand.
const MAX_LINE_BYTES: usize = 1024;

/// The words of one command, the first of them its name.
pub(super) type Words = Vec<Bytes>;

/// The version of the protocol that a client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Resp2,
    Resp3,
}

/// One reply.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// A short word that has no line break.
    Simple(&'static str),
    /// An error, on one line; the first word is its kind.
    Error(String),
    Integer(u64),
    Bytes(Bytes),
    /// Text for people.
    Text(String),
    /// No such value.
    Null,
    /// No elements.
    EmptyList,
    Map(Vec<(&'static str, Reply)>),
}

/// Takes one command off the front of `inbox`: an array of byte strings, or a line typed by hand.
/// An empty line or array is a command of no words.
pub(super) fn take_command(inbox: &mut BytesMut) -> Result<Option<Words>, Malformed> {
    let Some(Found { words, end }) = find_command(inbox)? else {
        return Ok(None);
    };
    let taken = inbox.split_to(end).freeze();
    Ok(Some(
        words.into_iter().map(|word| taken.slice(word)).collect(),
    ))
}

/// Where the words of one command are, and where it ends.
struct Found {
    words: Vec<Range<usize>>,
    end: usize,
}

fn find_command(bytes: &[u8]) -> Result<Option<Found>, Malformed> {
    let Some((first, mut at)) = find_line(bytes, 0)? else {
        return Ok(None);
    };
    if bytes.first() != Some(&b'*') {
        return Ok(Some(Found {
            words: find_words(bytes, first),
            end: at,
        }));
    }
    let count = length(&bytes[first], b'*', MAX_WORDS)?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let Some((header, start)) = find_line(bytes, at)? else {
            return Ok(None);
        };
        let end = start + length(&bytes[header], b'$', MAX_WORD_BYTES)?;
        match bytes.get(end..end + 2) {
            None => return Ok(None),
            Some(b"\r\n") => {}
            Some(_) => return Err(Malformed("Protocol error: bulk length and bytes differ")),
        }
        words.push(start..end);
        at = end + 2;
    }
    Ok(Some(Found { words, end: at }))
}

/// The line that starts at `start`, without its end, and where the next one starts.
fn find_line(bytes: &[u8], start: usize) -> Result<Option<(Range<usize>, usize)>, Malformed> {
    let line = &bytes[start..];
    match line
        .iter()
        .take(MAX_LINE_BYTES)
        .position(|byte| *byte == b'\n')
    {
        Some(end) => {
            let bare = line[..end].strip_suffix(b"\r").unwrap_or(&line[..end]);
            Ok(Some((start..start + bare.len(), start + end + 1)))
        }
        None if line.len() >= MAX_LINE_BYTES => Err(Malformed("Protocol error: too long a line")),
        None => Ok(None),
    }
}

fn find_words(bytes: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = line.start;
    for word in bytes[line].split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            words.push(at..at + word.len());
        }
        at += word.len() + 1;
    }
    words
}

/// The length in a line such as `*2` or `$4`.
fn length(line: &[u8], kind: u8, longest: usize) -> Result<usize, Malformed> {
    line.strip_prefix(&[kind])
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .filter(|length| *length <= longest)
        .ok_or(Malformed("Protocol error: invalid length"))
}

impl Reply {
    pub(super) fn error(text: &str) -> Self {
        Self::Error(text.to_owned())
    }

    pub(super) fn write(&self, version: Version, out: &mut BytesMut) {
        match (self, version) {
            (Self::Simple(word), _) => put_line(out, &format!("+{word}")),
            (Self::Error(text), _) => put_line(out, &format!("-{text}")),
            (Self::Integer(number), _) => put_line(out, &format!(":{number}")),
            (Self::Bytes(bytes), _) => put_bytes(out, bytes),
            (Self::Text(text), Version::Resp2) => put_bytes(out, text.as_bytes()),
            (Self::Text(text), Version::Resp3) => {
                put_line(out, &format!("={}", "txt:".len() + text.len()));
                put_line(out, &format!("txt:{text}"));
            }
            (Self::Null, Version::Resp2) => put_line(out, "$-1"),
            (Self::Null, Version::Resp3) => put_line(out, "_"),
            (Self::EmptyList, _) => put_line(out, "*0"),
            (Self::Map(pairs), version) => {
                match version {
                    Version::Resp2 => put_line(out, &format!("*{}", pairs.len() * 2)),
                    Version::Resp3 => put_line(out, &format!("%{}", pairs.len())),
                }
                for (key, value) in pairs {
                    put_bytes(out, key.as_bytes());
                    value.write(version, out);
                }
            }
        }
    }
}

fn put_line(out: &mut BytesMut, line: &str) {
    out.put_slice(line.as_bytes());
    out.put_slice(b"\r\n");
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_line(out, &format!("${}", bytes.len()));
    out.put_slice(bytes);
    out.put_slice(b"\r\n");
}
