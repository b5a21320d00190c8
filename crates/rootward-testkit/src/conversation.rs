//! The request and answer loop that the protocols share.
//!
//! Requests are read ahead, up to a bound, while earlier ones are being delayed, so that a delay is
//! the same for each of several pipelined requests; answers go out in the order of the requests.

use std::collections::VecDeque;
use std::io;

use bytes::BytesMut;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::counter::Counter;
use crate::gate::Gate;
use crate::mood::Mood;

/// Requests of one connection that are read and not yet answered.
const PIPELINE_LIMIT: usize = 64;

/// Room made for each read.
const READ_CHUNK: usize = 4 * 1024;

/// Bytes of answers that are kept back at most.
const KEPT_LIMIT: usize = 8 * 1024;

/// One side of a protocol: from bytes to requests, from requests to bytes. It does no I/O.
pub(crate) trait Dialect: Send {
    /// What a client asks.
    type Request: Send;

    /// Takes one request off the front of `inbox`, or `None` if more bytes are needed.
    fn decode(&mut self, inbox: &mut BytesMut) -> Result<Option<Self::Request>, Malformed>;

    /// Whether a request is counted and delayed.
    fn pace(request: &Self::Request) -> Pace;

    /// Appends the answer to `outbox`.
    fn answer(&mut self, request: Self::Request, outbox: &mut BytesMut) -> Next;

    /// Appends the last words to a client whose bytes make no sense.
    fn answer_malformed(&mut self, malformed: Malformed, outbox: &mut BytesMut);
}

/// Whether a request is counted and delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Part of setting a connection or a statement up: neither counted nor delayed.
    Prompt,
    /// Counted as a query, and delayed when the stand-in is slow.
    Query,
}

/// What comes after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The answer is sent, and the next request is read.
    Send,
    /// The answer is kept back until a later one is sent, or until enough has gathered.
    Keep,
    /// The answer is sent, and the connection is closed.
    Close,
}

/// Bytes that no request can start with, or that exceed a bound; the text says which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Talks to one client until it leaves or is told to.
pub(crate) async fn converse<D: Dialect>(
    stream: &mut TcpStream,
    mut dialect: D,
    gate: &Gate<Mood>,
    queries: &Counter,
) -> io::Result<()> {
    let (mut reader, mut writer) = stream.split();
    let mut inbox = BytesMut::new();
    let mut outbox = BytesMut::new();
    let mut waiting: VecDeque<(Instant, D::Request)> = VecDeque::new();
    let mut input = Input::Open;
    loop {
        while input.is_open() && waiting.len() < PIPELINE_LIMIT {
            match dialect.decode(&mut inbox) {
                Ok(Some(request)) => {
                    if D::pace(&request) == Pace::Query {
                        queries.add(1);
                    }
                    waiting.push_back((Instant::now(), request));
                }
                Ok(None) => break,
                Err(malformed) => input = Input::Malformed(malformed),
            }
        }
        inbox.reserve(READ_CHUNK);
        tokio::select! {
            read = gate.read(&mut reader, &mut inbox),
                if input.is_open() && waiting.len() < PIPELINE_LIMIT =>
            {
                if read? == 0 {
                    input = Input::Ended;
                }
            }
            () = front_is_due::<D>(&waiting, gate), if !waiting.is_empty() => {
                if let Some((_, request)) = waiting.pop_front() {
                    let next = dialect.answer(request, &mut outbox);
                    if next != Next::Keep || outbox.len() > KEPT_LIMIT {
                        send(&mut writer, &mut outbox, gate).await?;
                    }
                    if next == Next::Close {
                        return Ok(());
                    }
                }
            }
            else => break,
        }
    }
    if let Input::Malformed(malformed) = input {
        dialect.answer_malformed(malformed, &mut outbox);
        send(&mut writer, &mut outbox, gate).await?;
    }
    Ok(())
}

/// What is still to be read.
#[derive(Clone, Copy)]
enum Input {
    Open,
    Ended,
    Malformed(Malformed),
}

impl Input {
    fn is_open(self) -> bool {
        match self {
            Self::Open => true,
            Self::Ended | Self::Malformed(_) => false,
        }
    }
}

async fn front_is_due<D: Dialect>(waiting: &VecDeque<(Instant, D::Request)>, gate: &Gate<Mood>) {
    match waiting.front() {
        Some((arrival, request)) => match D::pace(request) {
            Pace::Prompt => gate.passable().await,
            Pace::Query => gate.due(*arrival).await,
        },
        None => std::future::pending().await,
    }
}

async fn send(
    writer: &mut tokio::net::tcp::WriteHalf<'_>,
    outbox: &mut BytesMut,
    gate: &Gate<Mood>,
) -> io::Result<()> {
    while !outbox.is_empty() {
        gate.write(writer, outbox).await?;
    }
    Ok(())
}
