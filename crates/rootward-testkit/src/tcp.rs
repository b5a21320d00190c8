//! A stand-in for whatever is only connected to: it accepts, reads, and says nothing.

use std::io;
use std::net::SocketAddr;

use bytes::BytesMut;
use tokio::net::TcpStream;

use crate::control::Control;
use crate::front::{Front, Serve};
use crate::gate::Gate;
use crate::mood::Mood;

/// What is read at once, and forgotten.
const CHUNK: usize = 4 * 1024;

/// A stand-in for a listener, on 127.0.0.1. Whoever only connects sees no difference between healthy, slow and frozen:
/// the kernel completes connects in all of them.
///
/// Dropping it aborts its tasks; [`StandInTcp::stop`] also waits for them.
#[derive(Debug)]
pub struct StandInTcp {
    front: Front<Mood>,
}

impl StandInTcp {
    /// Starts on `port` of 127.0.0.1, or on a free one for 0, in [`Mood::Healthy`].
    ///
    /// # Errors
    ///
    /// The port cannot be listened on, or there is no tokio runtime here.
    pub fn start(port: u16) -> io::Result<Self> {
        Ok(Self {
            front: Front::start(port, Mood::Healthy, ServeTcp)?,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.front.addr()
    }

    /// The handle that changes its mood.
    #[must_use]
    pub fn mood(&self) -> Control<Mood> {
        self.front.control()
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn connections_seen(&self) -> u64 {
        self.front.connections().seen()
    }

    /// Closes the port, resets the connections, and returns when none of its tasks is left.
    pub async fn stop(self) {
        self.front.stop().await;
    }
}

#[derive(Clone, Copy, Debug)]
struct ServeTcp;

impl Serve for ServeTcp {
    type Condition = Mood;

    async fn serve(
        &self,
        stream: &mut TcpStream,
        _number: u64,
        gate: &Gate<Mood>,
    ) -> io::Result<()> {
        let mut forgotten = BytesMut::with_capacity(CHUNK);
        while gate.read(stream, &mut forgotten).await? > 0 {
            forgotten.clear();
        }
        Ok(())
    }
}
