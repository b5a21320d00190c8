//! A server on a free loopback port that does with each connection what the test says.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rootward_fetch::{Limits, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Long enough for loopback on a busy machine, short enough to wait for.
pub(crate) const SOON: Duration = Duration::from_millis(300);

/// For exchanges that are expected to succeed.
pub(crate) const PLENTY: Duration = Duration::from_secs(10);

pub(crate) const MAX_BODY: usize = 16 * 1024;

pub(crate) const fn within(deadline: Duration) -> Limits {
    Limits {
        deadline,
        max_body_bytes: MAX_BODY,
    }
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Runs `behaviour` for each connection, with its number from 0.
    pub(crate) async fn start<F, B>(behaviour: F) -> Self
    where
        F: Fn(TcpStream, usize) -> B + Send + 'static,
        B: Future<Output = ()> + Send + 'static,
    {
        Self::start_on("127.0.0.1:0", behaviour).await
    }

    pub(crate) async fn start_on<F, B>(address: &str, behaviour: F) -> Self
    where
        F: Fn(TcpStream, usize) -> B + Send + 'static,
        B: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address)
            .await
            .expect("loopback has free ports");
        let address = listener.local_addr().expect("it is bound");
        let accepted = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.expect("descriptors are left");
                let number = counter.fetch_add(1, Ordering::SeqCst);
                connections.spawn(behaviour(stream, number));
            }
        });
        Self {
            address,
            accepted,
            task,
        }
    }

    /// Answers each connection with the same bytes, and then closes it.
    pub(crate) async fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut stream, _| {
            let answer = Arc::clone(&answer);
            async move {
                if read_request(&mut stream).await.is_some() {
                    let _ = stream.write_all(&answer).await;
                }
            }
        })
        .await
    }

    pub(crate) fn target(&self) -> Target {
        Target::parse(&format!("http://{}/health?deep=1", self.address)).expect("a URL")
    }

    /// Connections so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The head of the next request; `None` if the client closed instead.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
        assert!(head.len() < 16 * 1024, "a request is short");
    }
    Some(String::from_utf8(head).expect("our own requests are ASCII"))
}

/// Whether this machine has IPv6 on its loopback interface; containers often have not.
#[expect(clippy::print_stderr, reason = "a part that was not tested is said so")]
pub(crate) fn has_ipv6() -> bool {
    let bound = std::net::TcpListener::bind("[::1]:0").is_ok();
    if !bound {
        eprintln!("no IPv6 on the loopback interface here: that part is not tested");
    }
    bound
}

/// An address that answers nothing at all, not even a connection: a listener whose queue is full, with what fills it.
pub(crate) struct Silence {
    pub(crate) address: SocketAddr,
    _listener: TcpListener,
    _queue: Vec<TcpStream>,
}

impl Silence {
    pub(crate) async fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("descriptors are left");
        socket
            .bind((std::net::Ipv4Addr::LOCALHOST, 0).into())
            .expect("loopback has free ports");
        let listener = socket.listen(1).expect("it is bound");
        let address = listener.local_addr().expect("it is bound");
        let mut queue = Vec::new();
        while let Ok(stream) = tokio::time::timeout(SOON, TcpStream::connect(address)).await {
            queue.push(stream.expect("somebody listens"));
            assert!(queue.len() < 100, "a queue of one is full sooner");
        }
        Self {
            address,
            _listener: listener,
            _queue: queue,
        }
    }
}

/// An address where nobody listens.
pub(crate) async fn closed_address(family: &str) -> SocketAddr {
    let listener = TcpListener::bind(family)
        .await
        .expect("loopback has free ports");
    listener.local_addr().expect("it is bound")
}
