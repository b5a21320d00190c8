//! A wire that can be cut: a TCP proxy on 127.0.0.1 in front of any address.
//!
//! What it cannot do: the kernel on each side of the proxy acknowledges what it takes, so a sender
//! sees its bytes accepted while the wire is cut until the buffers are full, and a connect succeeds
//! where a firewall would swallow it. When the target refuses, the client's connection is reset.

mod pump;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::control::Control;
use crate::counter::Counter;
use crate::front::{Condition, Door, Front, Serve};
use crate::gate::{Flow, Gate};

/// What a wire does with what it carries. It can be changed while connections exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireState {
    /// Everything passes at once.
    #[default]
    Open,
    /// Nothing passes, as behind a firewall that drops: connections stall, new ones are accepted and
    /// get no further. What was sent meanwhile goes on when the wire is open again.
    Cut,
    /// Connections are reset on both sides, new ones as soon as they are accepted.
    Reset,
    /// Everything passes this long after it came in, in each direction, so that a question and its
    /// answer take twice as long.
    Delay(Duration),
}

impl Condition for WireState {
    fn flow(self) -> Flow {
        match self {
            Self::Open => Flow::Pass,
            Self::Cut | Self::Reset => Flow::Hold,
            Self::Delay(delay) => Flow::After(delay),
        }
    }

    fn door(self) -> Door {
        match self {
            Self::Open | Self::Cut | Self::Delay(_) => Door::Open,
            Self::Reset => Door::Resetting,
        }
    }
}

/// A TCP proxy between 127.0.0.1 and a target, which can be cut, reset and delayed.
///
/// Dropping it aborts its tasks and resets its connections; [`CuttableWire::stop`] also waits.
#[derive(Debug)]
pub struct CuttableWire {
    front: Front<WireState>,
    carried: Carried,
}

/// Bytes passed, by direction.
#[derive(Clone, Debug)]
struct Carried {
    to_target: Counter,
    to_client: Counter,
}

impl CuttableWire {
    /// Starts on `port` of 127.0.0.1, or on a free one for 0, in [`WireState::Open`]. The target is
    /// connected to once for each connection, and need not exist yet.
    ///
    /// # Errors
    ///
    /// The port cannot be listened on, or there is no tokio runtime here.
    pub fn start(port: u16, target: SocketAddr) -> io::Result<Self> {
        let carried = Carried {
            to_target: Counter::new(),
            to_client: Counter::new(),
        };
        let serve = ServeWire {
            target,
            carried: carried.clone(),
        };
        Ok(Self {
            front: Front::start(port, WireState::Open, serve)?,
            carried,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.front.addr()
    }

    /// The handle that changes its state.
    #[must_use]
    pub fn control(&self) -> Control<WireState> {
        self.front.control()
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn connections_seen(&self) -> u64 {
        self.front.connections().seen()
    }

    /// Bytes handed to the target so far.
    #[must_use]
    pub fn bytes_to_target(&self) -> u64 {
        self.carried.to_target.seen()
    }

    /// Bytes handed to clients so far.
    #[must_use]
    pub fn bytes_to_client(&self) -> u64 {
        self.carried.to_client.seen()
    }

    /// Waits until `connections_seen` is at least `goal`; bound it with a timeout.
    pub async fn connections_reached(&self, goal: u64) {
        self.front.connections().reached(goal).await;
    }

    /// Waits until `bytes_to_target` is at least `goal`; bound it with a timeout.
    pub async fn target_reached(&self, goal: u64) {
        self.carried.to_target.reached(goal).await;
    }

    /// Waits until `bytes_to_client` is at least `goal`; bound it with a timeout.
    pub async fn client_reached(&self, goal: u64) {
        self.carried.to_client.reached(goal).await;
    }

    /// Closes the port, resets the connections, and returns when none of its tasks is left.
    pub async fn stop(self) {
        self.front.stop().await;
    }
}

#[derive(Clone, Debug)]
struct ServeWire {
    target: SocketAddr,
    carried: Carried,
}

impl Serve for ServeWire {
    type Condition = WireState;

    async fn serve(
        &self,
        client: &mut TcpStream,
        _number: u64,
        gate: &Gate<WireState>,
    ) -> io::Result<()> {
        pump::carry(client, self.target, gate, &self.carried).await
    }
}
