//! Accepts connections and serves HTTP/1 on them, within bounds.
//!
//! axum's own `serve` bounds neither connections nor the time a request may take to arrive, and detaches its tasks.
//! Here every connection is a task of one set that is joined before [`serve`] returns.
//!
//! Browsers keep connections open. So that a few open pages cannot lock out a probe of `/livez`, only the first
//! [`Limits::kept`] connections may be kept alive; the next [`Limits::spare`] are served one request each, and quickly.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use crate::events;
use crate::stop::Stop;

/// The pause after the system refused to hand over a connection, usually for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What clients may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections that may be kept alive.
    pub(crate) kept: usize,
    /// Connections beyond those, served one request each.
    pub(crate) spare: usize,
    /// The longest time for the head of a request to arrive, and for a kept connection to be idle.
    pub(crate) head: Duration,
    /// Bytes of the head of a request, and of what is read ahead.
    pub(crate) head_bytes: usize,
    /// Header fields of a request.
    pub(crate) headers: usize,
    /// The longest life of a kept connection: also the bound for a client that does not read its answers.
    pub(crate) life: Duration,
    /// The same for a spare one.
    pub(crate) spare_life: Duration,
    /// How long a connection may take to finish what it is doing after it was told to end.
    pub(crate) drain: Duration,
}

impl Limits {
    /// For people, their scripts, and a scraper or two.
    pub(crate) const DEFAULT: Self = Self {
        kept: 256,
        spare: 64,
        head: Duration::from_secs(15),
        head_bytes: 16 * 1024,
        headers: 64,
        life: Duration::from_secs(300),
        spare_life: Duration::from_secs(5),
        drain: Duration::from_secs(2),
    };
}

/// Serves until stop is heard; when it returns, no connection is left. Returns how many there were.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stop: Stop,
) -> u64 {
    let mut connections = JoinSet::new();
    let mut accepted = 0;
    loop {
        tokio::select! {
            biased;
            () = stop.heard() => break,
            Some(_) = connections.join_next() => {}
            stream = accept(&listener), if connections.len() < limits.kept + limits.spare => {
                accepted += 1;
                let kept = connections.len() < limits.kept;
                connections.spawn(talk(stream, router.clone(), kept, limits, stop.clone()));
            }
        }
    }
    drop(listener);
    // Each connection heard the same signal and ends by itself within the drain time.
    while connections.join_next().await.is_some() {}
    accepted
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                events::accept_failed(&error);
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether the client went away before it was accepted: its own business.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

async fn talk(stream: TcpStream, router: Router, kept: bool, limits: Limits, mut stop: Stop) {
    // Answers are small and written at once; waiting to fill a segment only adds delay.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        // The router is always ready, so it may be called without asking.
        let answer = router.clone().call(request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_headers(limits.headers)
            .max_buf_size(limits.head_bytes)
            .keep_alive(kept)
            .serve_connection(TokioIo::new(stream), service)
    );
    let life = if kept { limits.life } else { limits.spare_life };
    tokio::select! {
        // A broken connection is the client's business; there is nobody left to tell.
        _ = connection.as_mut() => return,
        () = stop.heard() => {}
        () = sleep(life) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(limits.drain, connection).await;
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinHandle;

    use super::*;
    use crate::stop::{self, StopSender};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Small and quick bounds.
    const SMALL: Limits = Limits {
        kept: 2,
        spare: 1,
        head: Duration::from_millis(300),
        head_bytes: 8 * 1024,
        headers: 8,
        life: PATIENCE,
        spare_life: Duration::from_millis(300),
        drain: Duration::from_millis(300),
    };

    async fn serving(limits: Limits) -> (SocketAddr, StopSender, JoinHandle<u64>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "hello"));
        let (give_stop, stop) = stop::pair();
        let served = tokio::spawn(serve(listener, router, limits, stop));
        (address, give_stop, served)
    }

    async fn connect(address: SocketAddr) -> TcpStream {
        TcpStream::connect(address).await.unwrap()
    }

    /// Sends a request and reads one answer of the router, or whatever came until the connection ended.
    async fn ask(stream: &mut TcpStream, head: &str) -> String {
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let read = async {
            while !answer.ends_with(b"hello") {
                match stream.read_buf(&mut answer).await {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
            }
        };
        timeout(PATIENCE, read).await.expect("an answer comes");
        String::from_utf8(answer).unwrap()
    }

    async fn is_closed(stream: &mut TcpStream) -> bool {
        let read = timeout(PATIENCE, stream.read(&mut [0; 64])).await;
        matches!(read.expect("it is closed"), Ok(0) | Err(_))
    }

    const GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

    #[tokio::test]
    async fn open_pages_do_not_lock_out_a_probe() {
        let limits = Limits {
            head: PATIENCE,
            ..SMALL
        };
        let (address, _stop, _served) = serving(limits).await;
        let mut pages = [connect(address).await, connect(address).await];
        for page in &mut pages {
            let answer = ask(page, GET).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            assert!(!answer.contains("connection: close"), "{answer}");
        }
        for _ in 0..3 {
            let mut probe = connect(address).await;
            let answer = ask(&mut probe, GET).await;
            assert!(answer.contains("connection: close"), "{answer}");
            assert!(is_closed(&mut probe).await);
        }
        // The kept ones are still there.
        let answer = ask(&mut pages[0], GET).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn silent_connections_free_their_places() {
        let (address, _stop, _served) = serving(SMALL).await;
        // More than there is room for; each of them says nothing, or half a request.
        let mut silent = Vec::new();
        for at in 0..9 {
            let mut stream = connect(address).await;
            if at % 2 == 0 {
                stream.write_all(b"GET / HT").await.unwrap();
            }
            silent.push(stream);
        }
        let mut probe = connect(address).await;
        let answer = ask(&mut probe, GET).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn a_kept_connection_is_not_kept_idle_for_ever() {
        let (address, _stop, _served) = serving(SMALL).await;
        let mut page = connect(address).await;
        ask(&mut page, GET).await;
        assert!(is_closed(&mut page).await);
    }

    #[tokio::test]
    async fn a_head_beyond_the_bounds_is_refused() {
        let (address, _stop, _served) = serving(SMALL).await;
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(9 * 1024));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(9));
        for head in [long, many] {
            let mut stream = connect(address).await;
            let answer = ask(&mut stream, &head).await;
            assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
        }
    }

    #[tokio::test]
    async fn no_connection_outlives_stop() {
        let limits = Limits {
            head: PATIENCE,
            ..SMALL
        };
        let (address, stop, served) = serving(limits).await;
        let mut idle = connect(address).await;
        ask(&mut idle, GET).await;
        let mut half = connect(address).await;
        half.write_all(b"GET / HT").await.unwrap();
        let mut last = connect(address).await;
        ask(&mut last, GET).await;
        stop.stop();
        let accepted = timeout(PATIENCE, served).await.expect("it ends").unwrap();
        assert_eq!(accepted, 3);
        assert!(is_closed(&mut idle).await);
        assert!(is_closed(&mut half).await);
    }
}
