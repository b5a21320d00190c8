//! One client's session: which command gets which reply. No I/O.

use bytes::{Bytes, BytesMut};

use super::resp::{Reply, Version, Words, take_command};
use super::shelf::{Full, Shelf};
use crate::conversation::{Dialect, Malformed, Next, Pace};

/// Databases that `SELECT` knows, as in Redis.
const DATABASES: u8 = 16;

/// Characters of an unknown command that its error repeats.
const MAX_ECHOED_CHARS: usize = 32;

/// The version the stand-in reports, with a number that clients can parse.
const VERSION: &str = "7.2.0-stand-in";

/// The state of one session.
#[derive(Debug)]
pub(super) struct Session {
    connection: u64,
    shelf: Shelf,
    version: Version,
    database: u8,
}

/// A command, with its name understood.
#[derive(Debug)]
pub(super) struct Command {
    verb: Verb,
    words: Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Hello,
    Auth,
    Client,
    Select,
    Ping,
    Echo,
    Info,
    Get,
    Set,
    Quit,
    Nothing,
    Unknown,
}

impl Session {
    pub(super) fn new(connection: u64, shelf: Shelf) -> Self {
        Self {
            connection,
            shelf,
            version: Version::Resp2,
            database: 0,
        }
    }

    fn reply(&mut self, command: &Command) -> Reply {
        match (command.verb, &*command.words) {
            (Verb::Hello, [_, options @ ..]) => self.hello(options),
            (Verb::Auth, [_, _, ..]) => Reply::error(
                "ERR AUTH called without any password configured: this is a stand-in for Redis",
            ),
            (Verb::Client, [_, what, ..]) => client(what),
            (Verb::Select, [_, number]) => self.select(number),
            (Verb::Ping, [_]) => Reply::Simple("PONG"),
            (Verb::Ping | Verb::Echo, [_, text]) => Reply::Bytes(text.clone()),
            (Verb::Info, _) => Reply::Text(info()),
            (Verb::Get, [_, key]) => match self.shelf.get(self.database, key) {
                Some(value) => Reply::Bytes(value),
                None => Reply::Null,
            },
            (Verb::Set, [_, key, value]) => match self.shelf.set(self.database, key, value) {
                Ok(()) => Reply::Simple("OK"),
                Err(Full) => Reply::error("OOM this stand-in for Redis keeps no more keys"),
            },
            (Verb::Set, [_, _, _, _, ..]) => {
                Reply::error("ERR this is a stand-in for Redis: its SET takes a key and a value")
            }
            (Verb::Quit, _) => Reply::Simple("OK"),
            (Verb::Unknown, words) => unknown(words),
            (
                Verb::Hello
                | Verb::Auth
                | Verb::Client
                | Verb::Select
                | Verb::Ping
                | Verb::Echo
                | Verb::Get
                | Verb::Set
                | Verb::Nothing,
                _,
            ) => Reply::error("ERR wrong number of arguments"),
        }
    }

    fn hello(&mut self, options: &[Bytes]) -> Reply {
        let version = match options.first().map(AsRef::as_ref) {
            None => self.version,
            Some(b"2") => Version::Resp2,
            Some(b"3") => Version::Resp3,
            Some(_) => return Reply::error("NOPROTO unsupported protocol version"),
        };
        if options
            .iter()
            .skip(1)
            .any(|option| option.eq_ignore_ascii_case(b"AUTH"))
        {
            return Reply::error(
                "WRONGPASS this is a stand-in for Redis: it has no users and no passwords",
            );
        }
        self.version = version;
        Reply::Map(vec![
            (
                "server",
                Reply::Bytes(Bytes::from_static(b"rootward-stand-in")),
            ),
            (
                "version",
                Reply::Bytes(Bytes::from_static(VERSION.as_bytes())),
            ),
            (
                "proto",
                Reply::Integer(match version {
                    Version::Resp2 => 2,
                    Version::Resp3 => 3,
                }),
            ),
            ("id", Reply::Integer(self.connection)),
            ("mode", Reply::Bytes(Bytes::from_static(b"standalone"))),
            ("role", Reply::Bytes(Bytes::from_static(b"master"))),
            ("modules", Reply::EmptyList),
        ])
    }

    fn select(&mut self, number: &Bytes) -> Reply {
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse().ok());
        match number.filter(|number| *number < DATABASES) {
            Some(number) => {
                self.database = number;
                Reply::Simple("OK")
            }
            None => Reply::error("ERR DB index is out of range"),
        }
    }
}

impl Dialect for Session {
    type Request = Command;

    fn decode(&mut self, inbox: &mut BytesMut) -> Result<Option<Command>, Malformed> {
        Ok(take_command(inbox)?.map(|words| Command {
            verb: Verb::of(&words),
            words,
        }))
    }

    fn pace(command: &Command) -> Pace {
        match command.verb {
            Verb::Hello | Verb::Auth | Verb::Client | Verb::Select | Verb::Quit | Verb::Nothing => {
                Pace::Prompt
            }
            Verb::Ping | Verb::Echo | Verb::Info | Verb::Get | Verb::Set | Verb::Unknown => {
                Pace::Query
            }
        }
    }

    fn answer(&mut self, command: Command, out: &mut BytesMut) -> Next {
        if command.verb == Verb::Nothing {
            return Next::Send;
        }
        self.reply(&command).write(self.version, out);
        if command.verb == Verb::Quit {
            Next::Close
        } else {
            Next::Send
        }
    }

    fn answer_malformed(&mut self, malformed: Malformed, out: &mut BytesMut) {
        Reply::Error(format!("ERR {}", malformed.0)).write(self.version, out);
    }
}

impl Verb {
    fn of(words: &Words) -> Self {
        let Some(name) = words.first() else {
            return Self::Nothing;
        };
        match &*name.to_ascii_uppercase() {
            b"HELLO" => Self::Hello,
            b"AUTH" => Self::Auth,
            b"CLIENT" => Self::Client,
            b"SELECT" => Self::Select,
            b"PING" => Self::Ping,
            b"ECHO" => Self::Echo,
            b"INFO" => Self::Info,
            b"GET" => Self::Get,
            b"SET" => Self::Set,
            b"QUIT" => Self::Quit,
            _ => Self::Unknown,
        }
    }
}

fn client(what: &Bytes) -> Reply {
    match &*what.to_ascii_uppercase() {
        b"SETINFO" | b"SETNAME" => Reply::Simple("OK"),
        _ => Reply::error("ERR this is a stand-in for Redis: its CLIENT knows SETINFO and SETNAME"),
    }
}

fn info() -> String {
    format!(
        "# Server\r\n\
         redis_version:{VERSION}\r\n\
         redis_mode:standalone\r\n\
         stand_in:yes, this is not a Redis server\r\n\
         \r\n\
         # Persistence\r\n\
         loading:0\r\n\
         \r\n\
         # Replication\r\n\
         role:master\r\n\
         connected_slaves:0\r\n"
    )
}

fn unknown(words: &[Bytes]) -> Reply {
    let name = words
        .first()
        .map(|name| name.escape_ascii().to_string())
        .unwrap_or_default();
    let name: String = name.chars().take(MAX_ECHOED_CHARS).collect();
    Reply::Error(format!(
        "ERR unknown command '{name}': this is a stand-in for Redis"
    ))
}
