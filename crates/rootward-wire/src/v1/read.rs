//! Bytes to a report, or a sentence that says why not.
//!
//! The ordinary path parses once. Only a refused body is looked at again, to name the field.

use std::borrow::Cow;

use rootward_core::{Moment, Report};
use serde::Deserialize;
use serde_json::error::Category;

use crate::ReadError;
use crate::error::Kind;
use crate::limits::{MAX_REPORT_BYTES, MAX_WORD_BYTES};
use crate::text;
use crate::v1::convert::{Reading, to_core, to_core_noting};
use crate::v1::report::{CONTRACT, ReportBody};

/// Reads a report that arrived at `received_at`.
///
/// # Errors
/// When the bytes are not a report of this contract; the error is the sentence to show.
pub fn read(bytes: &[u8], received_at: Moment) -> Result<Report, ReadError> {
    to_core(&parse(bytes)?, received_at)
}

/// Reads a report, with remarks about what was tolerated.
///
/// # Errors
/// As [`read`].
pub fn read_noting(bytes: &[u8], received_at: Moment) -> Result<Reading, ReadError> {
    to_core_noting(&parse(bytes)?, received_at)
}

/// Reads the body of a report without judging what it says.
///
/// # Errors
/// When the bytes are too many, not JSON, or not of the report's shape.
pub fn parse(bytes: &[u8]) -> Result<ReportBody<'_>, ReadError> {
    let text = json_text(bytes, MAX_REPORT_BYTES)?;
    serde_json::from_str(text).map_err(|error| refusal(text, error).into())
}

/// The text of a JSON body within the bound.
pub(crate) fn json_text(bytes: &[u8], max: usize) -> Result<&str, ReadError> {
    if bytes.len() > max {
        let bytes = bytes.len();
        return Err(Kind::TooLarge { bytes, max }.into());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| Kind::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    if text.trim_ascii().is_empty() {
        return Err(Kind::Empty.into());
    }
    Ok(text)
}

/// Why `text` is not a report. What it says about its contract comes first: other fields are not ours to judge then.
fn refusal(text: &str, error: serde_json::Error) -> Kind {
    #[derive(Deserialize)]
    struct Claim<'a> {
        #[serde(borrow, default)]
        contract: Option<Cow<'a, str>>,
    }
    match serde_json::from_str::<Claim<'_>>(text) {
        Ok(Claim { contract: None }) => return Kind::NoContract,
        Ok(Claim {
            contract: Some(contract),
        }) if contract != CONTRACT => return other_contract(&contract),
        Ok(_) | Err(_) => {}
    }
    if error.classify() != Category::Data {
        return syntax(error);
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, ReportBody<'_>>(&mut parser) {
        Ok(_) => syntax(error),
        Err(located) => {
            let path = located.path().to_string();
            shape(&path, located.into_inner())
        }
    }
}

pub(crate) fn other_contract(found: &str) -> Kind {
    Kind::Contract {
        found: text::shown(found, MAX_WORD_BYTES).into_owned(),
        known: CONTRACT,
    }
}

pub(crate) fn syntax(source: serde_json::Error) -> Kind {
    Kind::Syntax {
        line: source.line(),
        column: source.column(),
        source,
    }
}

/// A sentence about JSON of another shape. Of the parser's text only the parts that our own types wrote are used:
/// the name of a field, or what was expected (after the last ", expected ", whatever the sender wrote before).
fn shape(path: &str, source: serde_json::Error) -> Kind {
    let place = match path {
        "." => "the report".to_owned(),
        path => path.to_owned(),
    };
    let message = source.to_string();
    let named = |prefix: &str| {
        let (field, _) = message.strip_prefix(prefix)?.split_once('`')?;
        Some(field.to_owned())
    };
    if let Some(field) = named("missing field `") {
        return Kind::Missing { place, field };
    }
    if let Some(field) = named("duplicate field `") {
        return Kind::Twice { place, field };
    }
    let expected = message
        .rsplit_once(", expected ")
        .map_or("what the contract says", |(_, rest)| {
            rest.rsplit_once(" at line ").map_or(rest, |(ours, _)| ours)
        });
    Kind::Shape {
        expected: expected.to_owned(),
        place,
        line: source.line(),
        column: source.column(),
        source,
    }
}
