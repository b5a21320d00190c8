//! What the tests of the server need: a service with every kind of answer, a running server, and plain clients.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{CONNECTION, UPGRADE};
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use h2::client::SendRequest;
use hyper_util::rt::TokioIo;
use rootward::serve::Served;
use rootward::{Drain, Health};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Longer than anything takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A body that gives one piece and then nothing for ever, like an event stream on a quiet day.
struct Quiet(Option<Bytes>);

/// A body that gives for ever.
struct Flood;

impl hyper::body::Body for Quiet {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(piece) => std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(piece)))),
            None => std::task::Poll::Pending,
        }
    }
}

impl hyper::body::Body for Flood {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        let piece = Bytes::from_static(&[0; 16 * 1024]);
        std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(piece))))
    }
}

/// Gives back what it is sent, once the connection is no HTTP any more.
async fn echo(mut request: Request<Body>) -> Response<Body> {
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(&mut request).await else {
            return;
        };
        let mut io = TokioIo::new(upgraded);
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = io.read(&mut bytes).await {
            if io.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, "upgrade".parse().expect("a value"));
    headers.insert(UPGRADE, "echo".parse().expect("a value"));
    response
}

fn orders(handled: Arc<AtomicU64>) -> Router {
    let order = move || {
        handled.fetch_add(1, Ordering::SeqCst);
        async { "an order" }
    };
    Router::new()
        .route("/", get(order))
        .route(
            "/slow",
            get(|| async {
                sleep(Duration::from_millis(300)).await;
                "a slow order"
            }),
        )
        .route("/never", get(std::future::pending::<&'static str>))
        .route(
            "/events",
            get(|| async { Body::new(Quiet(Some(Bytes::from_static(b"data: hello\n\n")))) }),
        )
        .route("/flood", get(|| async { Body::new(Flood) }))
        .route("/echo", get(echo))
}

/// A running server and its drain.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) drain: Drain,
    /// How many plain requests were handled.
    pub(crate) handled: Arc<AtomicU64>,
    served: JoinHandle<Served>,
}

impl Server {
    pub(crate) async fn start(delay: Duration, grace: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let health = Health::builder("orders")
            .instance("orders-0")
            .drain_delay(delay)
            .drain_grace(grace)
            .start()
            .expect("it starts");
        let drain = health.drain();
        // The drain is all that the server needs.
        health.stop().await;
        let handled = Arc::default();
        let served = tokio::spawn(rootward::serve(
            listener,
            orders(Arc::clone(&handled)),
            drain.clone(),
        ));
        Self {
            address,
            drain,
            handled,
            served,
        }
    }

    /// What it says when it returns, and how long that took.
    pub(crate) async fn returns(self) -> (Served, Duration) {
        let began = Instant::now();
        let served = timeout(LIMIT, self.served).await.expect("it returns");
        (served.expect("no panic"), began.elapsed())
    }

    /// Drops it where it is.
    pub(crate) fn abort(self) {
        self.served.abort();
    }

    pub(crate) async fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).await;
        Client(stream.expect("a connection"))
    }

    /// An HTTP/2 connection, and the task that drives it.
    pub(crate) async fn connect_http2(&self) -> (SendRequest<Bytes>, JoinHandle<()>) {
        let stream = TcpStream::connect(self.address).await;
        let stream = stream.expect("a connection");
        // As clients do; what they have begun is not held back by the kernel.
        stream.set_nodelay(true).expect("set");
        let (sender, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
        let driver = tokio::spawn(async move {
            // How it ended is seen by whoever asked.
            let _ = connection.await;
        });
        (sender, driver)
    }
}

/// A plain HTTP/1.1 connection.
pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) async fn send(&mut self, path: &str, headers: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: orders\r\n{headers}\r\n");
        self.0.write_all(request.as_bytes()).await.expect("sent");
    }

    /// The head of an answer and what of the body came with it; up to the end of a short body.
    pub(crate) async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        let read = async {
            let mut bytes = [0; 4096];
            loop {
                let count = self.0.read(&mut bytes).await.unwrap_or(0);
                answer.extend_from_slice(&bytes[..count]);
                let text = String::from_utf8_lossy(&answer);
                if count == 0 || is_whole(&text) {
                    return text.into_owned();
                }
            }
        };
        timeout(LIMIT, read).await.expect("an answer")
    }

    pub(crate) async fn get(&mut self, path: &str) -> String {
        self.send(path, "").await;
        self.answer().await
    }

    /// Until the server has ended the connection.
    pub(crate) async fn ends(mut self) {
        let read = async {
            let mut bytes = vec![0; 64 * 1024];
            while let Ok(1..) = self.0.read(&mut bytes).await {}
        };
        timeout(LIMIT, read).await.expect("the end");
    }
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok());
    // Without a length it is a stream, of which the first piece is enough.
    length.map_or(head.contains("101") || !body.is_empty(), |length: usize| {
        body.len() >= length
    })
}
