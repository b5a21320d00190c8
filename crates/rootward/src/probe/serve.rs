//! Connections to the probe listener: HTTP/1.1, bounded in number and in time.
//!
//! Whoever comes last is served: with as many connections as may be, the one that was silent for longest is closed.
//! So connections that are held open by somebody, on purpose or not, never keep a liveness probe out.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::ready;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::runner::stopped;

use super::Answers;

/// The most connections at a time.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// How long a new connection may take to send its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(5);

/// How long an idle connection stays open, and how long a later request may take to arrive. Longer than the usual
/// polling intervals, so that a poller keeps its connection.
const NEXT_REQUEST: Duration = Duration::from_secs(75);

/// The largest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 8 * 1024;

/// The most header fields of a request.
const MAX_HEADERS: usize = 64;

/// How long an answer that is under way may take to be sent when the listener stops.
const STOP_GRACE: Duration = Duration::from_millis(250);

/// How long to wait when no connection could be accepted, for want of file descriptors usually.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Until stop is heard; then without a connection left.
pub(super) async fn serve(
    listener: TcpListener,
    answers: &Arc<Answers>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = Connections::default();
    let heard = stop.clone();
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            Some(ended) = connections.tasks.join_next_with_id(), if !connections.tasks.is_empty() => {
                let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                connections.open.remove(&id);
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => connections.open(stream, peer, answers, heard.clone()),
                // The other side gave up already, or we are out of descriptors. Neither is worth more than a pause.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    let ended = async { while connections.tasks.join_next().await.is_some() {} };
    if timeout(STOP_GRACE, ended).await.is_err() {
        connections.tasks.shutdown().await;
    }
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

/// When a connection was last heard, on an axis of its own.
struct Heard {
    opened: Instant,
    requests: AtomicU64,
    last_millis: AtomicU64,
}

impl Heard {
    fn now(&self) {
        let millis = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_millis.store(millis, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last_millis.load(Ordering::Relaxed))
    }
}

impl Connections {
    fn open(
        &mut self,
        stream: TcpStream,
        peer: SocketAddr,
        answers: &Arc<Answers>,
        stop: watch::Receiver<bool>,
    ) {
        if self.open.len() >= MAX_CONNECTIONS {
            self.close_most_silent();
        }
        let heard = Arc::new(Heard {
            opened: Instant::now(),
            requests: AtomicU64::new(0),
            last_millis: AtomicU64::new(0),
        });
        let answers = Arc::clone(answers);
        let task = self
            .tasks
            .spawn(converse(stream, peer, answers, Arc::clone(&heard), stop));
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
}

/// One connection, until it ends, stays silent for too long, or stop is heard.
async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    answers: Arc<Answers>,
    heard: Arc<Heard>,
    mut stop: watch::Receiver<bool>,
) {
    // Answers are written at once; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        heard.now();
        ready(Ok::<_, Infallible>(answers.answer(&request, peer)))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever broke the connection is the caller's business.
        _ = connection.as_mut() => return,
        () = without_a_request(&heard) => return,
        () = stopped(&mut stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Ends when the first request is overdue, and never once it was there.
async fn without_a_request(heard: &Heard) {
    sleep(FIRST_REQUEST).await;
    if heard.requests.load(Ordering::Relaxed) > 0 {
        std::future::pending::<()>().await;
    }
}
