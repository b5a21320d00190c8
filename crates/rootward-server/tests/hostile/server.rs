//! A server that does what a script says with each connection, whatever that breaks.
//!
//! It lives on a runtime and threads of its own. What it sends without end, it sends slowly: it must be a nuisance to
//! the aggregator and not to the machine.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

/// What is done with a connection, in this order. Then it is held open until the other side closes it, and nothing that
/// comes on it is answered.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Waits for a whole question.
    Question,
    /// Waits for a whole call of HTTP/2.
    Call,
    /// Sends this at once.
    Send(Vec<u8>),
    /// Sends this, one byte at a time.
    Trickle(&'static str),
    /// Sends this again and again.
    Forever(Vec<u8>),
    /// Answers every question with this from now on.
    Always(Vec<u8>),
    /// Sends back what comes.
    Echo,
    /// Ends its side and the connection.
    Close,
    /// Ends it in the rudest way there is.
    Reset,
}

/// Between two bytes of a trickle: an exchange takes longer than its deadline, and something always moves.
const TRICKLE: Duration = Duration::from_millis(40);
/// Between two pieces of what never ends.
const BREATH: Duration = Duration::from_millis(2);
/// What never ends, ends here: nobody should be listening any more.
const MOST_SENT: usize = 64 * 1024 * 1024;

/// Where hostile servers live. Dropping it ends them.
pub(crate) struct Zoo {
    runtime: Option<Runtime>,
}

impl Zoo {
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

    pub(crate) fn start(&self, script: Vec<Step>, shown: Option<Arc<ServerConfig>>) -> SocketAddr {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        self.runtime.as_ref().unwrap().spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, script.clone(), shown.clone()));
            }
        });
        address
    }
}

impl Drop for Zoo {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(stream: TcpStream, script: Vec<Step>, shown: Option<Arc<ServerConfig>>) {
    match shown {
        None => {
            if script.iter().any(|step| matches!(step, Step::Reset)) {
                stream.set_zero_linger().unwrap();
            }
            follow(stream, script).await;
        }
        Some(config) => {
            if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                follow(stream, script).await;
            }
        }
    }
}

async fn follow(mut stream: impl AsyncRead + AsyncWrite + Unpin, script: Vec<Step>) {
    for step in script {
        if one(&mut stream, step).await.is_none() {
            return;
        }
    }
    let mut rest = [0; 4096];
    while let Ok(1..) = stream.read(&mut rest).await {}
}

/// `None` when the connection is over.
async fn one(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), step: Step) -> Option<()> {
    match step {
        Step::Question => question(stream).await,
        Step::Call => call(stream).await,
        Step::Send(bytes) => send(stream, &bytes).await,
        Step::Trickle(text) => {
            for byte in text.bytes() {
                send(stream, &[byte]).await?;
                sleep(TRICKLE).await;
            }
            Some(())
        }
        Step::Forever(bytes) => {
            let mut sent = 0;
            while sent < MOST_SENT {
                send(stream, &bytes).await?;
                sent += bytes.len();
                sleep(BREATH).await;
            }
            None
        }
        Step::Always(bytes) => loop {
            question(stream).await?;
            send(stream, &bytes).await?;
        },
        Step::Echo => {
            let mut chunk = [0; 4096];
            loop {
                let count = stream
                    .read(&mut chunk)
                    .await
                    .ok()
                    .filter(|count| *count > 0)?;
                send(stream, &chunk[..count]).await?;
            }
        }
        Step::Close => {
            let _ = stream.shutdown().await;
            None
        }
        // The socket was told not to linger: closing it sends a reset. Not before the other side knows that it is
        // connected: then it would be another story.
        Step::Reset => {
            sleep(BREATH * 25).await;
            None
        }
    }
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).await.ok()?;
    stream.flush().await.ok()
}

async fn question(stream: &mut (impl AsyncRead + Unpin)) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        let count = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        head.extend_from_slice(&chunk[..count]);
    }
    Some(())
}

/// Bytes before the frames of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: usize = 24;
/// The head of a frame (section 4.1).
const FRAME_HEAD: usize = 9;

/// Waits until a whole call of HTTP/2 has come: the frame that ends its stream.
async fn call(stream: &mut (impl AsyncRead + Unpin)) -> Option<()> {
    const END_STREAM: u8 = 1;
    let mut came = Vec::new();
    let mut at = PREFACE;
    loop {
        let mut chunk = [0; 1024];
        let count = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        came.extend_from_slice(&chunk[..count]);
        while let Some(head) = came.get(at..at + FRAME_HEAD) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let has_stream = matches!(head[3], 0 | 1);
            if has_stream && head[4] & END_STREAM != 0 && came.len() >= at + FRAME_HEAD + length {
                return Some(());
            }
            at += FRAME_HEAD + length;
        }
    }
}
