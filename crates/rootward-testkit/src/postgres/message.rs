//! What a client says: bytes of the PostgreSQL protocol, version 3, to requests. No I/O.

use bytes::{Buf, Bytes, BytesMut};

use crate::conversation::Malformed;

/// The longest start-up packet, as in PostgreSQL itself.
const MAX_STARTUP_BYTES: usize = 10_000;

/// The longest message after start-up, its length field included.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

const CANCEL: u32 = 80_877_102;
const ENCRYPTION_TLS: u32 = 80_877_103;
const ENCRYPTION_GSS: u32 = 80_877_104;

/// One message from a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Asks whether the connection can be encrypted.
    Encryption,
    Cancel,
    Startup {
        protocol: u32,
    },
    Query {
        sql: String,
    },
    Extended(Extended),
    Sync,
    Flush,
    Terminate,
}

/// A step of the extended protocol, of which the answer waits for Sync or Flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extended {
    Parse {
        statement: String,
        sql: String,
        parameters: usize,
    },
    Bind {
        portal: String,
        statement: String,
        parameters: usize,
        result_formats: Vec<u16>,
    },
    Describe(Name),
    Close(Name),
    Execute {
        portal: String,
    },
}

/// The name of a prepared statement or of a portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Statement(String),
    Portal(String),
}

/// Takes one packet of the start-up phase, which has no kind byte.
pub(super) fn take_startup(inbox: &mut BytesMut) -> Result<Option<Request>, Malformed> {
    let Some(mut body) = take_sized(inbox, 0, 8, MAX_STARTUP_BYTES)? else {
        return Ok(None);
    };
    Ok(Some(match body.get_u32() {
        ENCRYPTION_TLS | ENCRYPTION_GSS => Request::Encryption,
        CANCEL => Request::Cancel,
        protocol => Request::Startup { protocol },
    }))
}

/// Takes one message of the phase after start-up.
pub(super) fn take_message(inbox: &mut BytesMut) -> Result<Option<Request>, Malformed> {
    let Some(&kind) = inbox.first() else {
        return Ok(None);
    };
    let Some(body) = take_sized(inbox, 1, 4, MAX_MESSAGE_BYTES)? else {
        return Ok(None);
    };
    let mut body = Fields(body);
    Ok(Some(match kind {
        b'Q' => Request::Query { sql: body.text()? },
        b'P' => Request::Extended(Extended::Parse {
            statement: body.text()?,
            sql: body.text()?,
            parameters: body.count()?,
        }),
        b'B' => Request::Extended(body.bind()?),
        b'D' => Request::Extended(Extended::Describe(body.name()?)),
        b'C' => Request::Extended(Extended::Close(body.name()?)),
        b'E' => Request::Extended(Extended::Execute {
            portal: body.text()?,
        }),
        b'S' => Request::Sync,
        b'H' => Request::Flush,
        b'X' => Request::Terminate,
        _ => {
            return Err(Malformed(
                "a kind of message that this stand-in does not know",
            ));
        }
    }))
}

/// Takes a packet whose length stands after `skip` bytes and counts itself, and returns what
/// follows the length.
fn take_sized(
    inbox: &mut BytesMut,
    skip: usize,
    shortest: usize,
    longest: usize,
) -> Result<Option<Bytes>, Malformed> {
    let Some(mut length) = inbox.get(skip..skip + 4) else {
        return Ok(None);
    };
    let length = usize::try_from(length.get_u32()).unwrap_or(usize::MAX);
    if !(shortest..=longest).contains(&length) {
        return Err(Malformed("invalid message length"));
    }
    if inbox.len() < skip + length {
        return Ok(None);
    }
    let mut packet = inbox.split_to(skip + length).freeze();
    packet.advance(skip + 4);
    Ok(Some(packet))
}

/// The fields of one message, taken from its front.
struct Fields(Bytes);

impl Fields {
    fn text(&mut self) -> Result<String, Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or(Malformed("invalid string in message"))?;
        let text = self.0.split_to(end);
        self.0.advance(1);
        String::from_utf8(text.to_vec()).map_err(|_| Malformed("invalid UTF-8 in message"))
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        self.number().map(usize::from)
    }

    fn number(&mut self) -> Result<u16, Malformed> {
        self.0.try_get_u16().map_err(|_| TOO_SHORT)
    }

    fn numbers(&mut self) -> Result<Vec<u16>, Malformed> {
        let count = self.count()?;
        (0..count).map(|_| self.number()).collect()
    }

    fn name(&mut self) -> Result<Name, Malformed> {
        match self.0.try_get_u8() {
            Ok(b'S') => self.text().map(Name::Statement),
            Ok(b'P') => self.text().map(Name::Portal),
            Ok(_) | Err(_) => Err(Malformed("neither a statement nor a portal is named")),
        }
    }

    fn bind(&mut self) -> Result<Extended, Malformed> {
        let portal = self.text()?;
        let statement = self.text()?;
        let _parameter_formats = self.numbers()?;
        let parameters = self.count()?;
        for _ in 0..parameters {
            let length = self.0.try_get_i32().map_err(|_| TOO_SHORT)?;
            // A negative length is the null value, which has no bytes.
            let length = usize::try_from(length).unwrap_or(0);
            if self.0.len() < length {
                return Err(TOO_SHORT);
            }
            self.0.advance(length);
        }
        let result_formats = self.numbers()?;
        Ok(Extended::Bind {
            portal,
            statement,
            parameters,
            result_formats,
        })
    }
}

const TOO_SHORT: Malformed = Malformed("message is too short for its fields");
