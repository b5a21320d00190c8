//! A paced prober on a thread of its own, so that it can have a scheduling class of its own: an ordinary one would, on
//! a busy machine, measure how long it waits for a core itself.

use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::client;
use crate::real_time;
use crate::statistics::Latencies;

const THREAD: &str = "prober";

/// How a thread is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Ordinary,
    RealTime,
}

/// Asks `path`, which must answer 200, `count` times at a steady pace.
pub(crate) async fn probe(
    address: SocketAddr,
    path: &'static str,
    count: usize,
    pace: Duration,
    class: Class,
) -> io::Result<Latencies> {
    let (running, runs) = oneshot::channel();
    let (go, may_go) = oneshot::channel::<()>();
    let (done, outcome) = oneshot::channel();
    let work = move || {
        // Whoever is not there any more has given up.
        let _ = running.send(());
        if may_go.blocking_recv().is_err() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let taken = runtime.and_then(|runtime| {
            runtime.block_on(client::latencies(address, path, 200, count, pace))
        });
        let _ = done.send(taken);
    };
    let thread = thread::Builder::new().name(THREAD.to_owned()).spawn(work)?;
    runs.await.map_err(io::Error::other)?;
    if class == Class::RealTime {
        real_time::promote(THREAD).map_err(io::Error::other)?;
    }
    // It is waiting for this.
    let _ = go.send(());
    let taken = outcome.await.map_err(io::Error::other)?;
    // It has nothing left to do.
    let _ = thread.join();
    taken
}
