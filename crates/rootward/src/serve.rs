//! A server that drains: it serves on while the instance leaves, then stops accepting, lets what is in flight
//! finish, and ends what is left.

mod announce;
mod connection;
mod goaway;
mod socket;
mod streams;

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use crate::drain::Drain;
use connection::{Connection, End, Phase};

pub use connection::{
    FIRST_BYTES, MAX_HEAD_BYTES, MAX_STREAMS, NEXT_REQUEST, PING_INTERVAL, PING_TIMEOUT,
};

/// The most connections at a time: 16,384. More wait in the kernel until one ends.
///
/// ```
/// use rootward::serve::MAX_CONNECTIONS;
///
/// // Each has a file descriptor, and so have the connections to what the service depends on (ulimit -n).
/// let (pool, descriptors) = (20, 65_536);
/// assert!(MAX_CONNECTIONS + pool < descriptors);
/// ```
pub const MAX_CONNECTIONS: usize = 16 * 1024;

/// How long to wait when no connection could be accepted, for want of file descriptors usually.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long connections are still listened to after the last one was accepted, before the idle ones are closed: a
/// request may be on its way that was sent before anybody could know. At most half of the grace.
const LAST_LOOK: Duration = Duration::from_millis(100);

/// How long to wait, at the end, for handlers that block their thread.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// What became of the connections.
///
/// ```
/// use rootward::serve::Served;
///
/// fn log(served: &Served) {
///     if served.cut_off > 0 {
///         eprintln!("the grace is too short: {} of {} connections", served.cut_off, served.accepted);
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Served {
    /// How many were accepted in all.
    pub accepted: u64,
    /// How many of those that were open when accepting stopped ended in time.
    pub finished: usize,
    /// How many were still busy when the grace was over: streams without an end, clients that do not read, upgraded
    /// connections, and requests that took too long.
    pub cut_off: usize,
}

/// Serves HTTP/1.1 and HTTP/2 (with prior knowledge, as load balancers speak it) until the drain is over.
///
/// The service is any tower service, an `axum::Router` for example; a service of hyper's own goes to
/// [`serve_hyper`]. The drain comes from [`Health::drain`](crate::Health::drain). Without a drain this never returns.
///
/// # What happens when the drain begins
///
/// With delay D and grace G, counted from the moment when it begins:
///
/// - 0 to D: everything is served as before, on old connections and new ones. Answers over HTTP/1.1 say
///   `connection: close`, so that clients that keep connections leave by themselves.
/// - D: it accepts what has already arrived, and nothing after it. 100 ms later (or G/2, if that is less) idle
///   connections are closed; busy ones finish what they are at. HTTP/2 clients are sent GOAWAY; requests that cross
///   it on the way are served.
/// - D + G: what is left is cut off, upgraded connections (WebSockets) as well, and this returns.
///
/// So it returns within D + G, whatever clients do. It returns earlier when nothing is left, with no task of its own
/// behind it. Only a handler that blocks its thread cannot be cancelled: it is waited for one second more, and then
/// left behind.
///
/// # Bounds
///
/// | what | bound | beyond it |
/// | --- | --- | --- |
/// | connections at a time | [`MAX_CONNECTIONS`] | wait in the kernel |
/// | head of a request | [`MAX_HEAD_BYTES`] | 431 |
/// | first bytes of a connection | [`FIRST_BYTES`] | closed |
/// | idle, or sending the head of a request (HTTP/1.1) | [`NEXT_REQUEST`] | closed |
/// | requests at a time on one HTTP/2 connection | [`MAX_STREAMS`] | refused, to be sent again |
/// | answer to a ping (HTTP/2) | every [`PING_INTERVAL`], [`PING_TIMEOUT`] | closed |
///
/// Not bounded here, because only the application knows: how long a handler may take, the size and the speed of
/// bodies, requests per client. Use tower's layers. There is no TLS: it is for what stands in front.
///
/// # Errors
/// None: what breaks a connection concerns that connection. What cannot be accepted (no file descriptors) is tried
/// again after 50 ms.
///
/// ```no_run
/// # #[derive(Clone)] struct App;
/// # impl tower_service::Service<http::Request<hyper::body::Incoming>> for App {
/// #     type Response = http::Response<String>;
/// #     type Error = std::convert::Infallible;
/// #     type Future = std::future::Ready<Result<Self::Response, Self::Error>>;
/// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
/// #         std::task::Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, _: http::Request<hyper::body::Incoming>) -> Self::Future {
/// #         std::future::ready(Ok(http::Response::new(String::new())))
/// #     }
/// # }
/// use rootward::Health;
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let listener = tokio::net::TcpListener::bind("0.0.0.0:8080").await?;
///     let health = Health::builder("cart")
///         .drain_on_sigterm()
///         .listen("0.0.0.0:8790".parse()?)
///         .start()?;
///     let app = App; // an axum::Router, for example
///     let served = rootward::serve(listener, app, health.drain()).await;
///     println!("{served:?}");
///     health.stop().await; // last, so that probes are answered until the end
///     Ok(())
/// }
/// ```
pub async fn serve<S, B>(listener: TcpListener, service: S, drain: Drain) -> Served
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn StdError + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    serve_hyper(listener, TowerToHyperService::new(service), drain).await
}

/// As [`serve`], for a service of hyper's own kind: what `hyper::service::service_fn` makes.
///
/// ```no_run
/// # async fn run(health: rootward::Health) -> std::io::Result<()> {
/// use std::convert::Infallible;
/// use http::{Request, Response};
/// use hyper::body::Incoming;
/// use hyper::service::service_fn;
///
/// let listener = tokio::net::TcpListener::bind("0.0.0.0:8080").await?;
/// let app = service_fn(|_: Request<Incoming>| async {
///     Ok::<_, Infallible>(Response::new("hello".to_owned()))
/// });
/// rootward::serve::serve_hyper(listener, app, health.drain()).await;
/// health.stop().await;
/// # Ok(())
/// # }
/// ```
pub async fn serve_hyper<S, B>(listener: TcpListener, service: S, drain: Drain) -> Served
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn StdError + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut connections = Connections::new();
    let stop = drain.stop_accepting();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(ended) = connections.tasks.join_next() => note(&ended),
            accepted = listener.accept(), if connections.tasks.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => connections.open(stream, &service, &drain),
                // The other side gave up already, or we are out of descriptors. Neither is worth more than a pause.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    connections.open_what_waits(listener, &service, &drain);
    connections.finish(&drain).await
}

struct Connections {
    tasks: JoinSet<End>,
    phase: watch::Sender<Phase>,
    accepted: u64,
}

impl Connections {
    fn new() -> Self {
        Self {
            tasks: JoinSet::new(),
            phase: watch::Sender::new(Phase::Open),
            accepted: 0,
        }
    }

    fn open<S, B>(&mut self, stream: TcpStream, service: &S, drain: &Drain)
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn StdError + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.accepted += 1;
        let connection = Connection::new(stream, drain.clone(), self.phase.subscribe());
        self.tasks.spawn(connection.converse(service.clone()));
    }

    /// Accepts what the kernel has accepted already, and closes the listener: whoever is connected is answered.
    fn open_what_waits<S, B>(&mut self, listener: TcpListener, service: &S, drain: &Drain)
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn StdError + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        // Not through the runtime, which may not have heard of them yet.
        let Ok(listener) = listener.into_std() else {
            return;
        };
        while self.tasks.len() < MAX_CONNECTIONS {
            let stream = listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                TcpStream::from_std(stream)
            });
            match stream {
                Ok(stream) => self.open(stream, service, drain),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => break,
            }
        }
    }

    async fn finish(mut self, drain: &Drain) -> Served {
        while let Some(ended) = self.tasks.try_join_next() {
            note(&ended);
        }
        let open = self.tasks.len();
        tracing::info!(target: "rootward", open, "stopped accepting connections");
        let mut served = Served {
            accepted: self.accepted,
            ..Served::default()
        };
        let over = drain.grace_over();
        tokio::pin!(over);
        let last_look = sleep(LAST_LOOK.min(drain.grace() / 2));
        tokio::pin!(last_look);
        let mut is_looking = true;
        let mut is_over = false;
        while !is_over && !self.tasks.is_empty() {
            tokio::select! {
                biased;
                Some(ended) = self.tasks.join_next() => served.count(&ended),
                () = &mut over => is_over = true,
                () = &mut last_look, if is_looking => {
                    is_looking = false;
                    self.phase.send_replace(Phase::Finish);
                }
            }
        }
        self.cut_off(&mut served).await;
        let Served {
            finished, cut_off, ..
        } = served;
        tracing::info!(target: "rootward", finished, cut_off, "served");
        served
    }

    async fn cut_off(mut self, served: &mut Served) {
        self.phase.send_replace(Phase::CutOff);
        let ended = async {
            while let Some(ended) = self.tasks.join_next().await {
                served.count(&ended);
            }
        };
        if timeout(CANCEL_LIMIT, ended).await.is_err() {
            let left = self.tasks.len();
            served.cut_off += left;
            tracing::warn!(target: "rootward", left, "handlers that block their thread still run");
        }
    }
}

impl Served {
    fn count(&mut self, ended: &Result<End, JoinError>) {
        note(ended);
        match ended {
            Ok(End::CutOff) => self.cut_off += 1,
            // A panic ended it; the panic hook has said so.
            Ok(End::ByItself) | Err(_) => self.finished += 1,
        }
    }
}

/// A handler that panics takes its own HTTP/1.1 connection with it, and nothing else.
fn note(ended: &Result<End, JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(target: "rootward", "a handler panicked: its connection is closed");
    }
}
