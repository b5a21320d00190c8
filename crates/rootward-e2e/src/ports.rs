//! Ports of 127.0.0.1 where nobody listens.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use crate::error::{Error, Kind};

/// Below the range that the kernel takes ports for outgoing connections from (32768 and up on Linux). A client that
/// keeps trying a port there while nobody listens is sooner or later given that very port and connected to itself,
/// which looks like an answer, and keeps the server from starting again.
const PORTS: Range<u16> = 10_000..32_000;

/// How many ports this process has looked at, so that no two of its tests are given the same one.
static LOOKED_AT: AtomicU16 = AtomicU16::new(0);

/// A port of 127.0.0.1 where nobody listens now. Never the same twice from one process.
///
/// # Errors
///
/// When there is none.
pub fn free_port() -> Result<u16, Error> {
    let count = PORTS.end - PORTS.start;
    // Another process begins elsewhere, which makes it unlikely that both choose one port at one time.
    let offset = u16::try_from(std::process::id().wrapping_mul(101) % u32::from(count))
        .expect("the remainder of a division by a u16 is one");
    for _ in PORTS {
        let look = LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + offset.wrapping_add(look) % count;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Kind::NoPort {
        first: PORTS.start,
        last: PORTS.end - 1,
    }
    .into())
}
