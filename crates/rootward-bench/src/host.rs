//! `host`: the program whose memory and processor time `footprint` compares: a service with a runtime of two workers and
//! an HTTP server of its own, with or without our crate.
//!
//! It prints one line, the address of its server and, where it has them, that of its probes. It ends when its standard
//! input does, so with whoever started it.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use rootward::{Access, Check, Health};
use tokio::net::{TcpListener, TcpStream};

use crate::reference;
use crate::subject::CHECKS;

const WORKERS: usize = 2;

/// Between two runs of a check.
pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// Runs until standard input ends.
pub(crate) fn run(
    dependency: SocketAddr,
    embeds: bool,
    print: impl FnOnce(&str),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()?;
    let _inside = runtime.enter();
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let own = listener.local_addr()?;
    let body = Bytes::from_static(b"hello");
    runtime.spawn(reference::serve(listener, body, hyper::StatusCode::OK));
    let health = embeds.then(|| health(dependency)).transpose()?;
    match health.as_ref().and_then(Health::listen_addr) {
        Some(probes) => print(&format!("{own} {probes}")),
        None => print(&own.to_string()),
    }
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn health(dependency: SocketAddr) -> io::Result<Health> {
    let mut builder = Health::builder("host")
        .access(Access::loopback().unlimited_rates())
        .listen((Ipv4Addr::LOCALHOST, 0).into())
        .interval(INTERVAL);
    for n in 0..CHECKS {
        let connect = move || async move {
            TcpStream::connect(dependency).await?;
            Ok(())
        };
        builder = builder.check(Check::new(format!("dependency-{n}"), connect).hard());
    }
    builder.start().map_err(io::Error::other)
}
