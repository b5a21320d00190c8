//! grpc.health.v1 on a port of its own: HTTP/2 on the probe thread, bounded in number and in time.
//!
//! As on the probe port, whoever comes last is served: with as many connections as may be, the one that asked nothing
//! for longest is closed. A watch that is closed so is begun again by its client.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service;

use crate::runner::stopped;

use super::GrpcService;

/// The most connections at a time: one for each watch.
const MAX_CONNECTIONS: usize = super::MAX_WATCHES;

/// The most calls of one connection at a time.
const MAX_CALLS: u32 = 32;

/// How long a new connection may take to ask something.
const FIRST_CALL: Duration = Duration::from_secs(5);

/// How long a connection may be silent before it is asked whether anybody is there.
const PING: Duration = Duration::from_secs(20);

/// How long the answer to that may take.
const PING_ANSWER: Duration = Duration::from_secs(10);

/// The largest head of a call, in bytes.
const MAX_HEAD_BYTES: u32 = 8 * 1024;

/// How long a stop waits for connections that do not take what they are sent.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// How long to wait when no connection could be accepted, for want of file descriptors usually.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Until stop is heard; then without a connection left.
pub(crate) async fn serve(
    listener: TcpListener,
    service: GrpcService,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = Connections::default();
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            Some(ended) = connections.tasks.join_next_with_id(), if !connections.tasks.is_empty() => {
                let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                connections.open.remove(&id);
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => connections.open(stream, &service, &stop),
                // The other side gave up already, or we are out of descriptors. Neither is worth more than a pause.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    // Each hears the stop itself and ends within its grace.
    while connections.tasks.join_next().await.is_some() {}
}

#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<task::Id, (AbortHandle, Arc<Heard>)>,
}

impl Connections {
    fn open(&mut self, stream: TcpStream, service: &GrpcService, stop: &watch::Receiver<bool>) {
        if self.open.len() >= MAX_CONNECTIONS {
            self.close_most_silent();
        }
        let heard = Arc::new(Heard::new());
        let conversation = converse(stream, service.clone(), Arc::clone(&heard), stop.clone());
        let task = self.tasks.spawn(conversation);
        self.open.insert(task.id(), (task, heard));
    }

    fn close_most_silent(&mut self) {
        let most_silent = self
            .open
            .iter()
            .min_by_key(|(_, (_, heard))| heard.last())
            .map(|(id, _)| *id);
        if let Some((task, _)) = most_silent.and_then(|id| self.open.remove(&id)) {
            task.abort();
        }
    }
}

/// When a connection asked last.
struct Heard {
    opened: Instant,
    /// Milliseconds since it was opened.
    last_millis: AtomicU64,
    ever: AtomicBool,
}

impl Heard {
    fn new() -> Self {
        Self {
            opened: Instant::now(),
            last_millis: AtomicU64::new(0),
            ever: AtomicBool::new(false),
        }
    }

    fn now(&self) {
        let millis = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_millis.store(millis, Ordering::Relaxed);
        self.ever.store(true, Ordering::Relaxed);
    }

    fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last_millis.load(Ordering::Relaxed))
    }

    /// Resolves if nothing is asked in time.
    async fn nothing_in_time(&self) {
        sleep(FIRST_CALL).await;
        if self.ever.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }
}

/// One connection, until the other side ends it, the accept loop does, or stop is heard.
async fn converse(
    stream: TcpStream,
    service: GrpcService,
    heard: Arc<Heard>,
    mut stop: watch::Receiver<bool>,
) {
    // Answers are written at once; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request: Request<Incoming>| {
        heard.now();
        service.clone().call(request)
    });
    let mut connection = std::pin::pin!(
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING_ANSWER)
            .max_concurrent_streams(MAX_CALLS)
            .max_header_list_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), answer)
    );
    tokio::select! {
        // Whatever broke the connection is the caller's business.
        _ = connection.as_mut() => return,
        () = heard.nothing_in_time() => return,
        () = stopped(&mut stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(STOP_GRACE, connection).await;
}
