//! Connections to the probe listener: HTTP/1.1, bounded in number and in time.
//!
//! Whoever comes last is served: with as many connections as may be, the one that was silent for longest is closed.
//! So connections that are held open by somebody, on purpose or not, never keep a liveness probe out.
//!
//! A connection in plain has no timer of its own; the accept loop looks at all of them once a second. That costs an answer
//! nothing.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::access::Caller;
use crate::runner::stopped;

use super::Answers;
#[cfg(feature = "tls")]
use super::tls;

/// The most connections at a time.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// How long a new connection may take to send its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(5);

/// How long an idle connection stays open, and how long a later request may take to arrive. Longer than the usual
/// polling intervals, so that a poller keeps its connection.
const NEXT_REQUEST: Duration = Duration::from_secs(75);

/// How often connections are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The largest head of a request, in bytes. How many header fields it may have is bounded by hyper: 100.
const MAX_HEAD_BYTES: usize = 8 * 1024;

/// How long to wait when no connection could be accepted, for want of file descriptors usually.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Until stop is heard; then without a connection left.
pub(super) async fn serve(
    listener: TcpListener,
    answers: &Arc<Answers>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = Connections::default();
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            Some(ended) = connections.tasks.join_next_with_id(), if !connections.tasks.is_empty() => {
                let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                connections.open.remove(&id);
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => connections.open(stream, peer, answers),
                // The other side gave up already, or we are out of descriptors. Neither is worth more than a pause.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
            _ = look.tick(), if !connections.open.is_empty() => {
                connections.close_overdue(Instant::now());
            }
        }
    }
    drop(listener);
    // An answer is written in the same step in which its question was read; only one to /health/deep may be under way,
    // and the checks that it waits for have been stopped.
    connections.tasks.shutdown().await;
}

#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<task::Id, Connection>,
}

struct Connection {
    task: AbortHandle,
    heard: Arc<Heard>,
}

impl Connection {
    fn is_overdue(&self, now: Instant) -> bool {
        let limit = match self.heard.last_millis.load(Ordering::Relaxed) {
            Heard::NEVER => FIRST_REQUEST,
            _ => NEXT_REQUEST,
        };
        now.saturating_duration_since(self.heard.last()) > limit
    }
}

/// When a connection was last heard: milliseconds since it was opened.
struct Heard {
    opened: Instant,
    last_millis: AtomicU64,
}

impl Heard {
    const NEVER: u64 = u64::MAX;

    fn now(&self, now: Instant) {
        let millis = now.saturating_duration_since(self.opened).as_millis();
        let millis = u64::try_from(millis).unwrap_or(Self::NEVER - 1);
        self.last_millis.store(millis, Ordering::Relaxed);
    }

    fn last(&self) -> Instant {
        match self.last_millis.load(Ordering::Relaxed) {
            Self::NEVER => self.opened,
            millis => self.opened + Duration::from_millis(millis),
        }
    }
}

impl Connections {
    fn open(&mut self, stream: TcpStream, peer: SocketAddr, answers: &Arc<Answers>) {
        if self.open.len() >= MAX_CONNECTIONS {
            self.close_most_silent();
        }
        let heard = Arc::new(Heard {
            opened: Instant::now(),
            last_millis: AtomicU64::new(Heard::NEVER),
        });
        let answers = Arc::clone(answers);
        let task = self
            .tasks
            .spawn(converse(stream, peer, answers, Arc::clone(&heard)));
        self.open.insert(task.id(), Connection { task, heard });
    }

    fn close_most_silent(&mut self) {
        let most_silent = self
            .open
            .iter()
            .min_by_key(|(_, connection)| connection.heard.last())
            .map(|(id, _)| *id);
        if let Some(connection) = most_silent.and_then(|id| self.open.remove(&id)) {
            connection.task.abort();
        }
    }

    fn close_overdue(&mut self, now: Instant) {
        self.open.retain(|_, connection| {
            let overdue = connection.is_overdue(now);
            if overdue {
                connection.task.abort();
            }
            !overdue
        });
    }
}

/// One connection, until the other side ends it or the accept loop does.
async fn converse(stream: TcpStream, peer: SocketAddr, answers: Arc<Answers>, heard: Arc<Heard>) {
    // Answers are written at once; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let caller = Caller::from(Some(peer));
    #[cfg(feature = "tls")]
    if let Some(tls) = answers.tls()
        && tls::begins(&stream).await
    {
        // Why a handshake failed is said to the other side by an alert, and is its business.
        if let Ok((stream, certificate)) = tls.accept(stream).await {
            let caller = Caller {
                certificate,
                ..caller
            };
            let longest = Some(tls::LONGEST_CONNECTION);
            talk(stream, &caller, &answers, &heard, longest).await;
        }
        return;
    }
    talk(stream, &caller, &answers, &heard, None).await;
}

/// Request after request, over whatever carries them; after the longest time the one that is under way is the last.
async fn talk<S>(
    stream: S,
    caller: &Caller,
    answers: &Arc<Answers>,
    heard: &Heard,
    longest: Option<Duration>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = service_fn(|request| {
        let now = Instant::now();
        heard.now(now);
        let answering = answers.answer(&request, caller, now);
        async move { Ok::<_, Infallible>(answering.await) }
    });
    let connection = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        // Whoever has asked may close that direction and wait for the answer, as simple probers do.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // Whatever broke the connection is the caller's business.
    if let Some(longest) = longest {
        tokio::select! {
            _ = &mut connection => return,
            () = sleep(longest) => connection.as_mut().graceful_shutdown(),
        }
    }
    let _ = connection.await;
}
