//! `asker`: what polls are compared with, each in a process of its own on one thread: a bare connection of hyper for each
//! target that only parses, and our own client where every target has a timer of its own.
//!
//! It ends when its standard input does, so with whoever started it.

use std::io::{self, Read as _};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rootward_core::Moment;
use rootward_fetch::{Connection, Limits, Target};
use rootward_wire::limits::MAX_REPORT_BYTES;
use rootward_wire::v1;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::{fleet, plain};

/// Questions of the closed loop that wait for an answer at the same time.
const IN_FLIGHT: u32 = 64;

/// How long one answer may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// How it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// hyper's connection, in a closed loop over all targets, and a parse.
    Bare,
    /// Our client, each target once in this time by a timer of its own, and our parse.
    Untimed(Duration),
}

/// Whom it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asker {
    pub(crate) way: Way,
    pub(crate) count: u32,
    pub(crate) port: u16,
}

/// Runs until standard input ends, or anything goes wrong.
pub(crate) fn run(asker: Asker) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (ended, end) = oneshot::channel();
    std::thread::Builder::new()
        .name("stdin".into())
        .spawn(move || {
            // Whatever ends it, it has ended.
            let _ = io::stdin().read_to_end(&mut Vec::new());
            let _ = ended.send(());
        })?;
    runtime.block_on(async {
        let mut asking = JoinSet::new();
        match asker.way {
            Way::Bare => {
                for first in 0..IN_FLIGHT.min(asker.count) {
                    asking.spawn(in_turn(asker, first));
                }
            }
            Way::Untimed(interval) => {
                for number in 0..asker.count {
                    asking.spawn(by_a_timer(asker, number, interval));
                }
            }
        }
        tokio::select! {
            _ = end => Ok(()),
            Some(done) = asking.join_next() => done.map_err(io::Error::other)?,
        }
    })
}

/// Every 64th target, one after the other, again and again.
async fn in_turn(asker: Asker, first: u32) -> io::Result<()> {
    let mut connections = Vec::new();
    for number in (first..asker.count).step_by(IN_FLIGHT as usize) {
        connections.push(bare(asker, number).await?);
    }
    loop {
        for (host, sender) in &mut connections {
            sender.ready().await.map_err(io::Error::other)?;
            let question = http::Request::get("/health")
                .header("host", host.as_str())
                .body(Empty::new())
                .map_err(io::Error::other)?;
            let answer = sender
                .send_request(question)
                .await
                .map_err(io::Error::other)?;
            let body = answer.into_body().collect().await;
            let body = body.map_err(io::Error::other)?.to_bytes();
            plain::read(&body).map_err(io::Error::other)?;
        }
    }
}

async fn bare(asker: Asker, number: u32) -> io::Result<(String, SendRequest<Empty<Bytes>>)> {
    let address = fleet::address(number, asker.port);
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // It ends with the process; whoever asks hears of a failure.
    drop(tokio::spawn(connection));
    Ok((address.to_string(), sender))
}

async fn by_a_timer(asker: Asker, number: u32, interval: Duration) -> io::Result<()> {
    let address = fleet::address(number, asker.port);
    let target = Target::parse(&format!("http://{address}/health")).map_err(io::Error::other)?;
    let mut connection = Connection::new(target);
    let limits = Limits {
        deadline: DEADLINE,
        max_body_bytes: MAX_REPORT_BYTES,
    };
    let phase = interval * number / asker.count;
    let mut timer = interval_at(Instant::now() + phase, interval);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        let answer = connection
            .get(&[], &limits)
            .await
            .map_err(io::Error::other)?;
        v1::read(&answer.body, Moment::ZERO).map_err(io::Error::other)?;
    }
}
