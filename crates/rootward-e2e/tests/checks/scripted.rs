//! A fake HTTP server: it answers each question with what the test says, over plain TCP or TLS, and keeps what it was
//! asked.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// Any free port.
const ANY: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    answer: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Scripted {
    pub(crate) async fn plain(answer: impl Into<String>) -> Self {
        Self::at(ANY, answer, None).await
    }

    pub(crate) async fn secured(answer: impl Into<String>, config: Arc<ServerConfig>) -> Self {
        Self::at(ANY, answer, Some(config)).await
    }

    /// At an address that another one had before, perhaps.
    pub(crate) async fn at(
        address: SocketAddr,
        answer: impl Into<String>,
        config: Option<Arc<ServerConfig>>,
    ) -> Self {
        let answer = answer.into();
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let answer = Arc::new(Mutex::new(answer));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answering, hearing) = (Arc::clone(&answer), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answering, hearing) = (Arc::clone(&answering), Arc::clone(&hearing));
                let config = config.clone();
                connections.spawn(async move {
                    match config {
                        None => talk(stream, &answering, &hearing).await,
                        Some(config) => {
                            if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                                talk(stream, &answering, &hearing).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            address,
            answer,
            asked,
            task,
        }
    }

    /// From now on it answers this.
    pub(crate) fn answers(&self, answer: impl Into<String>) {
        *self.answer.lock().expect("not poisoned") = answer.into();
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A whole answer.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// Head and body of each question; all of ours are short.
async fn talk(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: &Mutex<String>,
    asked: &Mutex<Vec<String>>,
) {
    loop {
        let mut text = Vec::new();
        while !text.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => text.push(byte),
                Err(_) => return,
            }
        }
        let mut head = String::from_utf8_lossy(&text).into_owned();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|length| length.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).await.is_err() {
            return;
        }
        head.push_str(&String::from_utf8_lossy(&body));
        let is_head = head.starts_with("HEAD ");
        asked.lock().expect("not poisoned").push(head);
        let answer = answer.lock().expect("not poisoned").clone();
        // The answer to HEAD has no body, whatever its headers say.
        let sent = match answer.split_once("\r\n\r\n") {
            Some((head, _)) if is_head => format!("{head}\r\n\r\n"),
            _ => answer,
        };
        if stream.write_all(sent.as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}
