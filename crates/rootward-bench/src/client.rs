//! The load: keep-alive connections in a closed loop for throughput, paced requests for latency.
//!
//! It speaks just enough HTTP/1.1 to read an answer with a content length, so that its own cost is small and the same
//! for both servers.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// No answer takes longer, or the run is void.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);

/// One keep-alive connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr, path: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes();
        Ok(Self {
            stream,
            request,
            buffer: vec![0; MAX_ANSWER_BYTES],
        })
    }

    /// One request and its whole answer; the length of the body.
    pub(crate) async fn ask(&mut self) -> io::Result<usize> {
        timeout(ANSWER_DEADLINE, self.exchange())
            .await
            .unwrap_or_else(|_| Err(io::Error::other("no answer within 5 s")))
    }

    async fn exchange(&mut self) -> io::Result<usize> {
        self.stream.write_all(&self.request).await?;
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            if read == 0 {
                return Err(io::Error::other("the server closed the connection"));
            }
            filled += read;
            let Some(head) = end_of_head(&self.buffer[..filled]) else {
                continue;
            };
            let length = content_length(&self.buffer[..head])
                .ok_or_else(|| io::Error::other("the answer has no content length"))?;
            while filled < head + length {
                let read = self.stream.read(&mut self.buffer[filled..]).await?;
                if read == 0 {
                    return Err(io::Error::other("the answer is cut short"));
                }
                filled += read;
            }
            return Ok(length);
        }
    }

    /// The body of one answer.
    pub(crate) async fn body(&mut self) -> io::Result<Vec<u8>> {
        let length = self.ask().await?;
        let text = &self.buffer;
        let head = end_of_head(text).ok_or_else(|| io::Error::other("the answer has no head"))?;
        Ok(text[head..head + length].to_vec())
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|at| at + 4)
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    })
}

/// What a closed loop brought.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) answers: f64,
    pub(crate) took: Duration,
}

/// Lets `connections` ask again as soon as each was answered.
pub(crate) async fn throughput(
    address: SocketAddr,
    path: &'static str,
    connections: usize,
    length: Duration,
) -> io::Result<Loop> {
    let mut tasks = tokio::task::JoinSet::new();
    let begin = Instant::now();
    for _ in 0..connections {
        tasks.spawn(async move {
            let mut connection = Connection::open(address, path).await?;
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
    Ok(Loop {
        answers,
        took: begin.elapsed(),
    })
}

/// How long each of `count` answers took, asked at a steady pace over one connection.
pub(crate) async fn latencies(
    address: SocketAddr,
    path: &str,
    count: usize,
    pace: Duration,
) -> io::Result<Vec<Duration>> {
    let mut connection = Connection::open(address, path).await?;
    connection.ask().await?;
    let mut clock = tokio::time::interval(pace);
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        clock.tick().await;
        let begin = Instant::now();
        connection.ask().await?;
        taken.push(begin.elapsed());
    }
    Ok(taken)
}
