//! The load: keep-alive connections in a closed loop for throughput, paced requests for latency.
//!
//! It speaks just enough HTTP/1.1 to read an answer with a content length, so that its own cost is small and the same
//! for all servers.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, timeout};

use crate::statistics::Latencies;

/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// What is made room for at first.
const FIRST_BYTES: usize = 256 * 1024;

/// No answer takes longer, or the run is void.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);

/// How a chunked answer ends (RFC 9112, 7.1).
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// One keep-alive connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    code: u16,
    /// Whether 429 counts as well.
    refusable: bool,
    buffer: Vec<u8>,
}

/// What a caller is told who asks too often (RFC 6585).
const TOO_MANY_REQUESTS: u16 = 429;

/// How large an answer is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) head: usize,
    pub(crate) body: usize,
}

impl Connection {
    /// Only answers with this status code count; any other ends the run.
    pub(crate) async fn open(address: SocketAddr, path: &str, code: u16) -> io::Result<Self> {
        let stream = timeout(ANSWER_DEADLINE, TcpStream::connect(address))
            .await
            .unwrap_or_else(|_| Err(io::Error::other("no connection within 5 s")))?;
        stream.set_nodelay(true)?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes();
        Ok(Self {
            stream,
            request,
            code,
            refusable: false,
            buffer: vec![0; FIRST_BYTES],
        })
    }

    /// One request and its whole answer.
    pub(crate) async fn ask(&mut self) -> io::Result<Size> {
        timeout(ANSWER_DEADLINE, self.exchange())
            .await
            .unwrap_or_else(|_| Err(io::Error::other("no answer within 5 s")))
    }

    async fn exchange(&mut self) -> io::Result<Size> {
        self.stream.write_all(&self.request).await?;
        let mut filled = 0;
        loop {
            filled += self.read(filled).await?;
            let Some(head) = end_of_head(&self.buffer[..filled]) else {
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[..head]).map_err(io::Error::other)?;
            let code = code(text).ok_or_else(|| io::Error::other("the answer has no code"))?;
            let length = content_length(text);
            if length.is_none() && !is_chunked(text) {
                return Err(io::Error::other("the answer says nothing of its length"));
            }
            if code != self.code && !(self.refusable && code == TOO_MANY_REQUESTS) {
                let text = format!("answered {code} where {} was expected", self.code);
                return Err(io::Error::other(text));
            }
            // A chunked answer ends with an empty chunk; nothing follows it, since nothing was asked yet.
            while match length {
                Some(body) => filled < head + body,
                None => !self.buffer[head..filled].ends_with(LAST_CHUNK),
            } {
                filled += self.read(filled).await?;
            }
            let body = length.unwrap_or(filled - head);
            return Ok(Size { head, body });
        }
    }

    async fn read(&mut self, filled: usize) -> io::Result<usize> {
        if filled == self.buffer.len() {
            if filled >= MAX_ANSWER_BYTES {
                return Err(io::Error::other("the answer is longer than 8 MiB"));
            }
            self.buffer.resize(filled * 2, 0);
        }
        match self.stream.read(&mut self.buffer[filled..]).await? {
            0 => Err(io::Error::other("the server closed the connection")),
            read => Ok(read),
        }
    }

    /// The body of one answer.
    pub(crate) async fn body(&mut self) -> io::Result<Vec<u8>> {
        let Size { head, body } = self.ask().await?;
        Ok(self.buffer[head..head + body].to_vec())
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|at| at + 4)
}

fn code(head: &str) -> Option<u16> {
    head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

fn content_length(head: &str) -> Option<usize> {
    header(head, "content-length")?.parse().ok()
}

fn is_chunked(head: &str) -> bool {
    header(head, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
}

fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

/// Connections that are open and were answered once: what a closed loop measures holds no connecting.
#[derive(Debug)]
pub(crate) struct Crowd(Vec<Connection>);

impl Crowd {
    pub(crate) async fn open(
        address: SocketAddr,
        path: &str,
        code: u16,
        count: usize,
    ) -> io::Result<Self> {
        Self::of(address, path, code, count, false).await
    }

    /// The same, where a refusal of too many questions is an answer, too: for what answers cost in memory.
    pub(crate) async fn open_refusable(
        address: SocketAddr,
        path: &str,
        count: usize,
    ) -> io::Result<Self> {
        Self::of(address, path, 200, count, true).await
    }

    async fn of(
        address: SocketAddr,
        path: &str,
        code: u16,
        count: usize,
        refusable: bool,
    ) -> io::Result<Self> {
        let mut connections = Vec::with_capacity(count);
        for _ in 0..count {
            let mut connection = Connection::open(address, path, code).await?;
            connection.refusable = refusable;
            connection.ask().await?;
            connections.push(connection);
        }
        Ok(Self(connections))
    }

    /// Lets each ask again as soon as it was answered; how many answers that brought.
    pub(crate) async fn ask_for(self, length: Duration) -> io::Result<f64> {
        // Aborts what is left of them when it is dropped.
        let mut tasks = tokio::task::JoinSet::new();
        let begin = Instant::now();
        for mut connection in self.0 {
            tasks.spawn(async move {
                let mut answers = 0_u32;
                while begin.elapsed() < length {
                    connection.ask().await?;
                    answers += 1;
                }
                Ok::<u32, io::Error>(answers)
            });
        }
        let mut answers = 0.0;
        while let Some(joined) = tasks.join_next().await {
            answers += f64::from(joined.map_err(io::Error::other)??);
        }
        Ok(answers)
    }
}

/// How long each of `count` answers took, asked at a steady pace over one connection.
pub(crate) async fn latencies(
    address: SocketAddr,
    path: &str,
    code: u16,
    count: usize,
    pace: Duration,
) -> io::Result<Latencies> {
    let mut connection = Connection::open(address, path, code).await?;
    connection.ask().await?;
    let mut clock = tokio::time::interval(pace);
    // After a late answer the next one is asked at its own time, not at once.
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        clock.tick().await;
        let begin = Instant::now();
        connection.ask().await?;
        taken.push(begin.elapsed());
    }
    Ok(Latencies::new(taken))
}
