//! A steady load over both protocols that counts every request: sent, answered 200, failed and why.
//!
//! Clients keep their connections, as browsers and other services do. A connection that the other side has closed
//! between two requests is replaced. A request that was sent and not answered with 200 has failed, and is not sent
//! again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Clients of each protocol.
const CLIENTS: u32 = 25;

/// How often each sends: 25 clients, ten times a second, over two protocols, are 500 requests a second.
const PERIOD: Duration = Duration::from_millis(100);

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// What became of the requests of one protocol.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) sent: u64,
    pub(super) answered: u64,
    /// The others, by the reason.
    pub(super) failed: BTreeMap<String, u64>,
}

impl Count {
    pub(super) fn failures(&self) -> u64 {
        self.failed.values().sum()
    }
}

/// Clients at work. Dropped, they stop.
pub(super) struct Load {
    count: Arc<Mutex<Count>>,
    stop: watch::Sender<bool>,
    clients: JoinSet<()>,
}

impl Load {
    pub(super) fn start(protocol: Protocol, port: u16) -> Self {
        let count = Arc::default();
        let (stop, stopped) = watch::channel(false);
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let client = Client {
                protocol,
                port,
                connection: None,
                count: Arc::clone(&count),
            };
            // Spread over the period.
            clients.spawn(client.work(PERIOD * number / CLIENTS, stopped.clone()));
        }
        Self {
            count,
            stop,
            clients,
        }
    }

    /// Stops when the requests in flight are over.
    pub(super) async fn end(self) -> Count {
        let _ = self.stop.send(true);
        self.clients.join_all().await;
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        count.clone()
    }
}

/// A connection, and the task that drives it.
struct Connection {
    sender: Sender,
    _driver: JoinSet<()>,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Connection {
    async fn open(protocol: Protocol, port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await;
        let stream = stream.map_err(|error| format!("no connection: {error}"))?;
        let set = stream.set_nodelay(true);
        set.map_err(|error| error.to_string())?;
        let io = TokioIo::new(stream);
        let mut driver = JoinSet::new();
        // How a connection ended is seen by whoever asks over it.
        let sender = match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await.map_err(text)?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Http1(sender)
            }
            Protocol::Http2 => {
                let handshake = http2::handshake(TokioExecutor::new(), io).await;
                let (sender, connection) = handshake.map_err(text)?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Http2(sender)
            }
        };
        Ok(Self {
            sender,
            _driver: driver,
        })
    }

    /// Whether a request can be sent over it.
    async fn is_open(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    async fn send(&mut self) -> Result<Response<Incoming>, String> {
        let request = Request::get("http://orders/order")
            .header("host", "orders")
            .body(Empty::new());
        let request = request.map_err(|error| error.to_string())?;
        match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await.map_err(text),
            Sender::Http2(sender) => sender.send_request(request).await.map_err(text),
        }
    }
}

struct Client {
    protocol: Protocol,
    port: u16,
    connection: Option<Connection>,
    count: Arc<Mutex<Count>>,
}

impl Client {
    async fn work(mut self, offset: Duration, mut stop: watch::Receiver<bool>) {
        tokio::time::sleep(offset).await;
        let mut tick = interval(PERIOD);
        // What was missed on a busy machine is sent later, not left out.
        tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                _ = tick.tick() => {}
            }
            let outcome = timeout(ANSWER, self.ask()).await;
            let outcome = outcome.unwrap_or_else(|_| Err(format!("no answer in {ANSWER:?}")));
            if outcome.is_err() {
                self.connection = None;
            }
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            count.sent += 1;
            match outcome {
                Ok(()) => count.answered += 1,
                Err(why) => *count.failed.entry(why).or_default() += 1,
            }
        }
    }

    async fn ask(&mut self) -> Result<(), String> {
        let is_open = match &mut self.connection {
            Some(connection) => connection.is_open().await,
            None => false,
        };
        if !is_open {
            // The other side has closed it since the last answer.
            self.connection = None;
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(self.protocol, self.port).await?),
        };
        let answer = connection.send().await?;
        let status = answer.status().as_u16();
        answer.into_body().collect().await.map_err(text)?;
        if status == 200 {
            return Ok(());
        }
        Err(format!("HTTP {status}"))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn text(error: hyper::Error) -> String {
    use std::error::Error as _;
    let source = error
        .source()
        .map_or_else(String::new, |source| format!(": {source}"));
    format!("{error}{source}")
}
