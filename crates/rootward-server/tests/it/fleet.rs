//! Targets: small real HTTP servers on loopback ports, each with its own way to answer.
//!
//! They live on a runtime and threads of their own, so that what the aggregator leaves behind on its runtime can be
//! counted.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// How a target answers.
#[derive(Debug, Clone)]
pub(crate) enum Manner {
    /// With a report of a service, with an HTTP status.
    Report {
        /// In whose name.
        service: &'static str,
        /// `healthy`, `unhealthy`, …
        status: &'static str,
        /// The HTTP status.
        code: u16,
    },
    /// With these bytes.
    Bytes(String),
    /// With headers, and then a body that never ends.
    Endless,
    /// With a good report, one byte every 20 ms.
    Drip(&'static str),
    /// Not at all: it reads the request and keeps the connection open.
    Hang,
}

impl Manner {
    pub(crate) fn healthy(service: &'static str) -> Self {
        Self::Report {
            service,
            status: "healthy",
            code: 200,
        }
    }

    pub(crate) fn answer(head: &str, body: &str) -> Self {
        Self::Bytes(format!(
            "HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn bytes(&self) -> Option<String> {
        match self {
            Self::Report {
                service,
                status,
                code,
            } => {
                let body = report(service, status);
                let length = body.len();
                Some(format!(
                    "HTTP/1.1 {code} X\r\ncontent-length: {length}\r\n\r\n{body}"
                ))
            }
            Self::Drip(service) => {
                let body = report(service, "healthy");
                let length = body.len();
                Some(format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}"
                ))
            }
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Endless => Some("HTTP/1.1 200 OK\r\n\r\n".into()),
            Self::Hang => None,
        }
    }
}

fn report(service: &str, status: &str) -> String {
    format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"0","status":"{status}"}}"#
    )
}

/// What a target was asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Questions>>);

#[derive(Debug, Default)]
struct Questions {
    at: Vec<Instant>,
    heads: Vec<String>,
    connections: usize,
}

impl Asked {
    /// How often.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().at.len()
    }

    /// Waits until it was asked that often.
    pub(crate) async fn reaches(&self, count: usize) {
        let wait = async {
            while self.count() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::running::PATIENCE, wait)
            .await
            .expect("the target is asked");
    }

    /// When.
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.0.lock().unwrap().at.clone()
    }

    /// Over how many connections.
    pub(crate) fn connections(&self) -> usize {
        self.0.lock().unwrap().connections
    }

    /// With what, the last time.
    pub(crate) fn last_head(&self) -> String {
        self.0.lock().unwrap().heads.last().unwrap().clone()
    }
}

/// The manner of a target that runs.
#[derive(Debug, Clone)]
pub(crate) struct Changing(Arc<Mutex<Manner>>);

impl Changing {
    pub(crate) fn set(&self, manner: Manner) {
        *self.0.lock().unwrap() = manner;
    }
}

/// Where targets run. Dropping it ends them.
pub(crate) struct Fleet {
    runtime: Option<Runtime>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        Self {
            runtime: Some(runtime),
        }
    }

    /// Starts a target.
    pub(crate) fn start(&self, manner: Manner) -> (SocketAddr, Asked) {
        let (address, asked, _) = self.start_changing(manner);
        (address, asked)
    }

    /// Starts a target whose manner can be changed; the next question gets the new one.
    pub(crate) fn start_changing(&self, manner: Manner) -> (SocketAddr, Asked, Changing) {
        self.start_at("127.0.0.1:0", manner)
    }

    /// The same, at this address.
    pub(crate) fn start_at(&self, address: &str, manner: Manner) -> (SocketAddr, Asked, Changing) {
        let runtime = self.runtime.as_ref().unwrap();
        let listener = StdListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let changing = Changing(Arc::new(Mutex::new(manner)));
        let (shared, manner) = (asked.clone(), changing.clone());
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                shared.0.lock().unwrap().connections += 1;
                tokio::spawn(answer(stream, manner.clone(), shared.clone()));
            }
        });
        (address, asked, changing)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// An address where nothing listens.
pub(crate) fn nobody() -> SocketAddr {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

async fn answer(mut stream: TcpStream, manner: Changing, asked: Asked) {
    let mut head = Vec::new();
    loop {
        let mut chunk = [0; 1024];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&chunk[..count]),
        }
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        {
            let mut questions = asked.0.lock().unwrap();
            questions.at.push(Instant::now());
            questions
                .heads
                .push(String::from_utf8_lossy(&head).into_owned());
        }
        head.clear();
        let manner = manner.0.lock().unwrap().clone();
        let Some(bytes) = manner.bytes() else {
            continue;
        };
        match manner {
            Manner::Drip(_) => {
                for byte in bytes.bytes() {
                    if stream.write_all(&[byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Manner::Endless => {
                let filler = [b'x'; 16 * 1024];
                if stream.write_all(bytes.as_bytes()).await.is_err() {
                    return;
                }
                while stream.write_all(&filler).await.is_ok() {}
                return;
            }
            Manner::Report { .. } | Manner::Bytes(_) | Manner::Hang => {
                if stream.write_all(bytes.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }
}
