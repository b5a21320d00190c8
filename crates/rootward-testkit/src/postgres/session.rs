//! One client's session: which request gets which answer, and what was prepared. No I/O.

use std::collections::HashMap;

use bytes::BytesMut;

use super::message::{Extended, Name, Request, take_message, take_startup};
use super::reply::{self, Format, Severity, Sqlstate};
use crate::conversation::{Dialect, Malformed, Next, Pace};

/// Prepared statements and portals that one session may have, each.
const MAX_NAMES: usize = 256;

/// Version 3.0 of the protocol.
const PROTOCOL_3_0: u32 = 3 << 16;

/// The state of one session.
#[derive(Debug)]
pub(super) struct Session {
    connection: u64,
    /// Read by the decoder, which must know where messages begin to have a kind byte.
    started: bool,
    statements: HashMap<String, Statement>,
    portals: HashMap<String, Portal>,
    /// After an error in the extended protocol everything up to the next Sync is skipped.
    skipping: bool,
}

/// A statement the stand-in can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement {
    Empty,
    SelectOne,
}

#[derive(Clone, Copy, Debug)]
struct Portal {
    statement: Statement,
    format: Format,
}

/// Why a request is refused while the connection lives on.
struct Refusal {
    state: Sqlstate,
    what: String,
}

impl Session {
    pub(super) fn new(connection: u64) -> Self {
        Self {
            connection,
            started: false,
            statements: HashMap::new(),
            portals: HashMap::new(),
            skipping: false,
        }
    }

    fn startup(&self, protocol: u32, out: &mut BytesMut) -> Next {
        if protocol == PROTOCOL_3_0 {
            reply::welcome(out, self.connection);
            return Next::Send;
        }
        let what = format!(
            "unsupported protocol {}.{}: this stand-in speaks 3.0",
            protocol >> 16,
            protocol & 0xffff
        );
        reply::error(out, Severity::Fatal, Sqlstate::FeatureNotSupported, &what);
        Next::Close
    }

    fn query(sql: &str, out: &mut BytesMut) {
        match Statement::understand(sql) {
            Ok(Statement::Empty) => reply::empty_query(out),
            Ok(Statement::SelectOne) => {
                reply::one_column(out, Format::Text);
                reply::one_row(out, Format::Text);
            }
            Err(refusal) => refusal.write(out),
        }
        reply::ready(out);
    }

    fn extended(&mut self, step: Extended, out: &mut BytesMut) -> Result<(), Refusal> {
        match step {
            Extended::Parse {
                statement,
                sql,
                parameters,
            } => {
                refuse_parameters(parameters)?;
                let understood = Statement::understand(&sql)?;
                if !statement.is_empty() && self.statements.contains_key(&statement) {
                    let what = format!("prepared statement \"{statement}\" already exists");
                    return Err(Refusal {
                        state: Sqlstate::DuplicatePreparedStatement,
                        what,
                    });
                }
                refuse_too_many(self.statements.len())?;
                self.statements.insert(statement, understood);
                reply::parse_complete(out);
            }
            Extended::Bind {
                portal,
                statement,
                parameters,
                result_formats,
            } => {
                refuse_parameters(parameters)?;
                let statement = self.statement(&statement)?;
                let format = column_format(&result_formats)?;
                refuse_too_many(self.portals.len())?;
                self.portals.insert(portal, Portal { statement, format });
                reply::bind_complete(out);
            }
            Extended::Describe(Name::Statement(name)) => {
                let statement = self.statement(&name)?;
                reply::no_parameters(out);
                describe(statement, Format::Text, out);
            }
            Extended::Describe(Name::Portal(name)) => {
                let portal = self.portal(&name)?;
                describe(portal.statement, portal.format, out);
            }
            Extended::Execute { portal } => {
                let portal = self.portal(&portal)?;
                match portal.statement {
                    Statement::Empty => reply::empty_query(out),
                    Statement::SelectOne => reply::one_row(out, portal.format),
                }
            }
            Extended::Close(name) => {
                match name {
                    Name::Statement(name) => drop(self.statements.remove(&name)),
                    Name::Portal(name) => drop(self.portals.remove(&name)),
                }
                reply::close_complete(out);
            }
        }
        Ok(())
    }

    fn statement(&self, name: &str) -> Result<Statement, Refusal> {
        self.statements.get(name).copied().ok_or_else(|| Refusal {
            state: Sqlstate::InvalidStatementName,
            what: format!("prepared statement \"{name}\" does not exist"),
        })
    }

    fn portal(&self, name: &str) -> Result<Portal, Refusal> {
        self.portals.get(name).copied().ok_or_else(|| Refusal {
            state: Sqlstate::InvalidCursorName,
            what: format!("portal \"{name}\" does not exist"),
        })
    }
}

impl Dialect for Session {
    type Request = Request;

    fn decode(&mut self, inbox: &mut BytesMut) -> Result<Option<Request>, Malformed> {
        if self.started {
            return take_message(inbox);
        }
        let request = take_startup(inbox)?;
        self.started = matches!(request, Some(Request::Startup { .. }));
        Ok(request)
    }

    fn pace(request: &Request) -> Pace {
        match request {
            Request::Query { .. } | Request::Extended(Extended::Execute { .. }) => Pace::Query,
            Request::Encryption
            | Request::Cancel
            | Request::Startup { .. }
            | Request::Extended(
                Extended::Parse { .. }
                | Extended::Bind { .. }
                | Extended::Describe(_)
                | Extended::Close(_),
            )
            | Request::Sync
            | Request::Flush
            | Request::Terminate => Pace::Prompt,
        }
    }

    fn answer(&mut self, request: Request, out: &mut BytesMut) -> Next {
        match request {
            Request::Encryption => {
                reply::no_encryption(out);
                Next::Send
            }
            Request::Cancel | Request::Terminate => Next::Close,
            Request::Startup { protocol } => self.startup(protocol, out),
            Request::Sync => {
                self.skipping = false;
                // They live as long as a transaction, and each Sync ends one.
                self.portals.clear();
                reply::ready(out);
                Next::Send
            }
            Request::Query { .. } | Request::Flush | Request::Extended(_) if self.skipping => {
                Next::Keep
            }
            Request::Query { sql } => {
                self.portals.clear();
                Self::query(&sql, out);
                Next::Send
            }
            Request::Flush => Next::Send,
            Request::Extended(step) => match self.extended(step, out) {
                Ok(()) => Next::Keep,
                Err(refusal) => {
                    refusal.write(out);
                    self.skipping = true;
                    Next::Send
                }
            },
        }
    }

    fn answer_malformed(&mut self, malformed: Malformed, out: &mut BytesMut) {
        reply::error(
            out,
            Severity::Fatal,
            Sqlstate::ProtocolViolation,
            malformed.0,
        );
    }
}

impl Statement {
    fn understand(sql: &str) -> Result<Self, Refusal> {
        let bare = sql
            .trim()
            .trim_end_matches(|end: char| end == ';' || end.is_whitespace());
        let mut words = bare.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, _, _) => Ok(Self::Empty),
            (Some(verb), Some("1"), None) if verb.eq_ignore_ascii_case("select") => {
                Ok(Self::SelectOne)
            }
            _ => Err(Refusal::stand_in()),
        }
    }
}

impl Refusal {
    fn stand_in() -> Self {
        Self {
            state: Sqlstate::FeatureNotSupported,
            what: "this is a stand-in for PostgreSQL, not a database: it answers SELECT 1 and the \
                   empty statement"
                .to_owned(),
        }
    }

    fn write(&self, out: &mut BytesMut) {
        reply::error(out, Severity::Error, self.state, &self.what);
    }
}

fn describe(statement: Statement, format: Format, out: &mut BytesMut) {
    match statement {
        Statement::Empty => reply::no_data(out),
        Statement::SelectOne => reply::one_column(out, format),
    }
}

fn refuse_parameters(parameters: usize) -> Result<(), Refusal> {
    if parameters == 0 {
        Ok(())
    } else {
        Err(Refusal::stand_in())
    }
}

fn refuse_too_many(names: usize) -> Result<(), Refusal> {
    if names < MAX_NAMES {
        return Ok(());
    }
    let what = format!("more than {MAX_NAMES} prepared statements or portals in one session");
    Err(Refusal {
        state: Sqlstate::ProgramLimitExceeded,
        what,
    })
}

/// The format of the one column: none asked for is text, one is for all columns.
fn column_format(asked: &[u16]) -> Result<Format, Refusal> {
    match asked {
        [] | [0] => Ok(Format::Text),
        [1] => Ok(Format::Binary),
        _ => Err(Refusal {
            state: Sqlstate::ProtocolViolation,
            what: "result formats do not fit the one column".to_owned(),
        }),
    }
}
