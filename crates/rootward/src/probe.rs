//! The probe thread: a thread of its own with a runtime of its own, so that it answers whatever the application's
//! runtime does.

mod answer;
mod answering;
mod body;
mod format;
mod ports;
mod query;
mod reply;
mod route;
mod serve;
#[cfg(feature = "tls")]
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::access::watch_files;
use crate::error::Kind;
use crate::runner::stopped;
use crate::shared::Shared;

pub(crate) use answer::Answers;
pub use answer::CHECK_FROM;
#[cfg(feature = "tower")]
pub(crate) use answering::Answering;
pub(crate) use ports::Ports;
pub(crate) use route::Endpoint;
#[cfg(feature = "tls")]
pub(crate) use tls::Tls;

/// How long a stop waits for files that are being read.
const READ_GRACE: Duration = Duration::from_secs(1);

/// Work that goes on beside the answering of probes, on the same thread: what must not wait for the application.
pub(crate) type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The thread that answers probes and hears signals.
pub(crate) struct ProbeThread {
    addresses: Ports<SocketAddr>,
    thread: JoinHandle<()>,
    ended: oneshot::Receiver<()>,
}

impl ProbeThread {
    /// Binds where there is an address, and starts the thread. When it returns, the thread accepts.
    pub(crate) fn start(
        ports: Ports<SocketAddr>,
        shared: &Arc<Shared>,
        beside: Option<Beside>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, Kind> {
        let thread = |source| Kind::Thread {
            what: "the probe listener",
            source,
        };
        let (sockets, addresses) = ports.try_map(bind)?.unzip();
        let answers = Arc::new(Answers::new(Arc::clone(shared)));
        let shared = Arc::clone(shared);
        let (ready, became_ready) = mpsc::sync_channel(1);
        let (ending, ended) = oneshot::channel();
        // The runtime is built, used and dropped in its own thread: it must not be dropped in the application's.
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let started = runtime.and_then(|runtime| {
                let sockets = {
                    let _inside = runtime.enter();
                    sockets.try_map(tokio::net::TcpListener::from_std)?
                };
                Ok((runtime, sockets))
            });
            match started {
                Ok((runtime, sockets)) => {
                    // Whoever waits for it gives up only with its own thread.
                    let _ = ready.send(Ok(()));
                    runtime.block_on(async {
                        let serving = async {
                            let watching = watch_files(Arc::clone(&shared), stop.clone());
                            tokio::join!(sockets.serve(&answers, &shared, stop.clone()), watching);
                            // Where nothing listens, signals are heard all the same.
                            stopped(&mut stop.clone()).await;
                        };
                        tokio::select! {
                            () = serving => {}
                            () = never_over(beside) => {}
                        }
                    });
                    // A file that cannot be read to its end may be on a disk that is gone; nobody waits for that.
                    runtime.shutdown_timeout(READ_GRACE);
                }
                Err(source) => {
                    let _ = ready.send(Err(source));
                }
            }
            let _ = ending.send(());
        };
        let started = thread::Builder::new()
            .name("rootward-probe".to_owned())
            .spawn(serve)
            .map_err(thread)?;
        became_ready
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("it ended at once")))
            .map_err(thread)?;
        Ok(Self {
            addresses,
            thread: started,
            ended,
        })
    }

    /// Where it listens; none if it does not.
    pub(crate) const fn address(&self) -> Option<SocketAddr> {
        self.addresses.http
    }

    /// Where it serves gRPC; none if it does not.
    #[cfg(feature = "grpc")]
    pub(crate) const fn grpc_address(&self) -> Option<SocketAddr> {
        self.addresses.grpc
    }

    /// Until the thread has ended, which was asked to.
    pub(crate) async fn ended(self) {
        // A sender that is gone says the same as one that has sent.
        let _ = self.ended.await;
        if self.thread.join().is_err() {
            tracing::error!(target: "rootward", "the probe thread panicked");
        }
    }
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Kind> {
    let listen = |source| Kind::Listen {
        addr: address,
        source,
    };
    let socket = TcpListener::bind(address).map_err(listen)?;
    socket.set_nonblocking(true).map_err(listen)?;
    let bound = socket.local_addr().map_err(listen)?;
    Ok((socket, bound))
}

/// Does the work, and never returns: the thread ends when it stops answering.
async fn never_over(work: Option<Beside>) {
    if let Some(work) = work {
        work.await;
    }
    std::future::pending::<()>().await;
}
