//! A dependency that accepts and never answers, and knows how often somebody came.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Silent until dropped.
pub(super) struct Dependency {
    pub(super) address: SocketAddr,
    accepted: Arc<AtomicU64>,
    _task: JoinSet<()>,
}

impl Dependency {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let accepted = Arc::new(AtomicU64::new(0));
        let mut task = JoinSet::new();
        task.spawn(accept(listener, Arc::clone(&accepted)));
        Self {
            address,
            accepted,
            _task: task,
        }
    }

    /// How many connections there ever were.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, accepted: Arc<AtomicU64>) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            stream = listener.accept() => {
                let Ok((stream, _)) = stream else { return };
                accepted.fetch_add(1, Ordering::Relaxed);
                open.spawn(keep(stream));
            }
            Some(_) = open.join_next() => {}
        }
    }
}

/// Until the other side hangs up.
async fn keep(mut stream: TcpStream) {
    let mut part = [0; 64];
    while matches!(stream.read(&mut part).await, Ok(length) if length > 0) {}
}
