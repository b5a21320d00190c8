//! What the stand-in says: messages of the PostgreSQL protocol, version 3, as bytes.

use bytes::{BufMut, BytesMut};

/// The type `int4` in PostgreSQL's own catalogue.
const INT4: u32 = 23;

/// How the one column is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
}

/// What an error is about: its SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sqlstate {
    DuplicatePreparedStatement,
    FeatureNotSupported,
    InvalidCursorName,
    InvalidStatementName,
    ProgramLimitExceeded,
    ProtocolViolation,
}

impl Sqlstate {
    fn code(self) -> &'static str {
        match self {
            Self::DuplicatePreparedStatement => "42P05",
            Self::FeatureNotSupported => "0A000",
            Self::InvalidCursorName => "34000",
            Self::InvalidStatementName => "26000",
            Self::ProgramLimitExceeded => "54000",
            Self::ProtocolViolation => "08P01",
        }
    }
}

/// Whether the connection survives an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    Fatal,
}

/// The start-up phase is over: the client is let in.
pub(super) fn welcome(out: &mut BytesMut, connection: u64) {
    message(out, b'R', |out| out.put_u32(0));
    for (name, value) in [
        ("server_version", "16.0 (stand-in, not a database)"),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    ] {
        message(out, b'S', |out| {
            text(out, name);
            text(out, value);
        });
    }
    message(out, b'K', |out| out.put_u64(connection));
    ready(out);
}

/// Encryption is not available.
pub(super) fn no_encryption(out: &mut BytesMut) {
    out.put_u8(b'N');
}

/// The next query may come; there is never a transaction.
pub(super) fn ready(out: &mut BytesMut) {
    message(out, b'Z', |out| out.put_u8(b'I'));
}

pub(super) fn parse_complete(out: &mut BytesMut) {
    message(out, b'1', |_| {});
}

pub(super) fn bind_complete(out: &mut BytesMut) {
    message(out, b'2', |_| {});
}

pub(super) fn close_complete(out: &mut BytesMut) {
    message(out, b'3', |_| {});
}

pub(super) fn no_parameters(out: &mut BytesMut) {
    message(out, b't', |out| out.put_u16(0));
}

/// The statement returns no rows.
pub(super) fn no_data(out: &mut BytesMut) {
    message(out, b'n', |_| {});
}

pub(super) fn empty_query(out: &mut BytesMut) {
    message(out, b'I', |_| {});
}

/// The one column of `SELECT 1`.
pub(super) fn one_column(out: &mut BytesMut, format: Format) {
    message(out, b'T', |out| {
        out.put_u16(1);
        text(out, "?column?");
        out.put_u32(0); // no table
        out.put_u16(0); // no column of one
        out.put_u32(INT4);
        out.put_i16(4); // bytes
        out.put_i32(-1); // no modifier
        out.put_u16(match format {
            Format::Text => 0,
            Format::Binary => 1,
        });
    });
}

/// The one row of `SELECT 1`, and that it was all.
pub(super) fn one_row(out: &mut BytesMut, format: Format) {
    message(out, b'D', |out| {
        out.put_u16(1);
        match format {
            Format::Text => {
                out.put_i32(1);
                out.put_u8(b'1');
            }
            Format::Binary => {
                out.put_i32(4);
                out.put_i32(1);
            }
        }
    });
    message(out, b'C', |out| text(out, "SELECT 1"));
}

pub(super) fn error(out: &mut BytesMut, severity: Severity, state: Sqlstate, what: &str) {
    let severity = match severity {
        Severity::Error => "ERROR",
        Severity::Fatal => "FATAL",
    };
    message(out, b'E', |out| {
        for (field, value) in [
            (b'S', severity),
            (b'V', severity),
            (b'C', state.code()),
            (b'M', what),
        ] {
            out.put_u8(field);
            text(out, value);
        }
        out.put_u8(0);
    });
}

fn text(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

fn message(out: &mut BytesMut, kind: u8, body: impl FnOnce(&mut BytesMut)) {
    out.put_u8(kind);
    let start = out.len();
    out.put_u32(0);
    body(out);
    let length = u32::try_from(out.len() - start).expect("a reply is a few hundred bytes");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}
