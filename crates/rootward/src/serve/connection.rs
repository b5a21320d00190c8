//! One connection, from its first byte until its socket is gone.

use std::error::Error as StdError;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

use super::announce::Announcing;
use super::socket::{Handle, Socket};
use super::streams::{Spawn, Streams};
use crate::drain::Drain;

/// The largest head of a request, in bytes: 32 KiB. A larger one is answered 431 (RFC 6585, section 5).
///
/// ```
/// use rootward::serve::MAX_HEAD_BYTES;
///
/// // nginx in front takes lines of a head of 8 KiB, four of them (large_client_header_buffers).
/// assert!(MAX_HEAD_BYTES >= 4 * 8 * 1024);
/// ```
pub const MAX_HEAD_BYTES: u32 = 32 * 1024;

/// How long a new connection may take to send its first bytes: 10 s.
///
/// ```
/// use std::time::Duration;
/// use rootward::serve::FIRST_BYTES;
///
/// // Whoever opens connections in advance must use them within that time.
/// assert_eq!(FIRST_BYTES, Duration::from_secs(10));
/// ```
pub const FIRST_BYTES: Duration = Duration::from_secs(10);

/// How long an HTTP/1.1 connection may be idle, and how long the head of a request may take to arrive: 75 s. Longer
/// than the 60 s for which load balancers keep idle connections ([AWS]'s by default): whoever closes first must not be
/// us.
///
/// [AWS]: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html
///
/// ```
/// use std::time::Duration;
/// use rootward::serve::NEXT_REQUEST;
///
/// let idle_timeout_of_the_load_balancer = Duration::from_secs(60);
/// assert!(NEXT_REQUEST > idle_timeout_of_the_load_balancer);
/// ```
pub const NEXT_REQUEST: Duration = Duration::from_secs(75);

/// The most requests at a time on one HTTP/2 connection: 200. More are refused, to be sent again (RFC 9113, section
/// 5.1.2); a client that reads the setting waits by itself.
///
/// ```
/// use rootward::serve::MAX_STREAMS;
///
/// // What one proxy with four connections can have under way here.
/// assert_eq!(4 * MAX_STREAMS, 800);
/// ```
pub const MAX_STREAMS: u32 = 200;

/// How often an HTTP/2 client is asked whether it is still there: every 30 s.
///
/// ```
/// use std::time::Duration;
/// use rootward::serve::{PING_INTERVAL, PING_TIMEOUT};
///
/// // A client that vanished without a word is noticed within a minute.
/// assert!(PING_INTERVAL + PING_TIMEOUT < Duration::from_secs(60));
/// ```
pub const PING_INTERVAL: Duration = Duration::from_secs(30);

/// How long an HTTP/2 client may take to answer that it is still there: 20 s. Then the connection is closed.
pub const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// What an HTTP/2 client sends first (RFC 9113, 3.4). Whoever has sent as much speaks one of the two protocols, which
/// have their own limits from there on.
const PREFACE_BYTES: u64 = 24;

/// How far the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Open,
    Finish,
    CutOff,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    ByItself,
    CutOff,
}

/// A connection that was accepted.
pub(super) struct Connection {
    socket: Socket,
    handle: Handle,
    drain: Drain,
    phase: watch::Receiver<Phase>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, drain: Drain, phase: watch::Receiver<Phase>) -> Self {
        let (socket, handle) = Socket::new(stream);
        Self {
            socket,
            handle,
            drain,
            phase,
        }
    }

    pub(super) async fn converse<S, B>(self, service: S) -> End
    where
        S: Service<Request<Incoming>, Response = Response<B>>,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn StdError + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let Self {
            socket,
            mut handle,
            drain,
            mut phase,
        } = self;
        let streams = Streams::new();
        let heard = Arc::new(AtomicBool::new(false));
        let service = Announcing {
            service,
            drain,
            heard: Arc::clone(&heard),
        };
        let protocols = protocols(streams.spawn());
        let end = {
            let serving = protocols.serve_connection_with_upgrades(TokioIo::new(socket), service);
            let mut serving = pin!(serving);
            let mut first_bytes = pin!(sleep(FIRST_BYTES));
            let mut is_new = true;
            let mut next = Phase::Finish;
            loop {
                tokio::select! {
                    biased;
                    // Whatever broke the connection is the caller's business.
                    _ = serving.as_mut() => break End::ByItself,
                    () = at_least(&mut phase, next) => match next {
                        Phase::Open | Phase::Finish => {
                            next = Phase::CutOff;
                            serving.as_mut().graceful_shutdown();
                            handle.goes();
                        }
                        Phase::CutOff => break End::CutOff,
                    },
                    () = first_bytes.as_mut(), if is_new => {
                        is_new = false;
                        if !heard.load(Ordering::Relaxed) && handle.received() < PREFACE_BYTES {
                            break End::ByItself;
                        }
                    }
                }
            }
        };
        streams.end().await;
        if end == End::CutOff {
            return end;
        }
        // An upgraded connection goes on without the protocol.
        tokio::select! {
            biased;
            () = handle.closed() => End::ByItself,
            () = at_least(&mut phase, Phase::CutOff) => End::CutOff,
        }
    }
}

fn protocols(spawn: Spawn) -> auto::Builder<Spawn> {
    let mut protocols = auto::Builder::new(spawn);
    protocols
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST)
        .max_buf_size(MAX_HEAD_BYTES as usize);
    protocols
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD_BYTES)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    protocols
}

/// Until the server is that far.
async fn at_least(phase: &mut watch::Receiver<Phase>, wanted: Phase) {
    // A server that is gone wants nothing any more.
    let _ = phase.wait_for(|phase| *phase >= wanted).await;
}
