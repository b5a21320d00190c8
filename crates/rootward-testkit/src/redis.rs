//! A stand-in for a Redis cache: a real client connects, pings, and sets and gets small values.
//!
//! What it answers: `HELLO`, `AUTH` (there is no password), `CLIENT SETINFO` and `SETNAME`, `SELECT`,
//! `PING`, `ECHO`, `INFO`, `GET`, plain `SET` and `QUIT`, in RESP2 and RESP3. Everything else gets an
//! error that says it is a stand-in. Values never expire and are kept until it stops, also while it
//! refuses connections.

mod commands;
mod resp;
mod shelf;

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpStream;

use crate::control::Control;
use crate::conversation::converse;
use crate::counter::Counter;
use crate::front::{Front, Serve};
use crate::gate::Gate;
use crate::mood::Mood;

use commands::Session;
use shelf::Shelf;

/// A stand-in for a Redis cache, listening on 127.0.0.1. It is not a cache.
///
/// Dropping it aborts its tasks; [`StandInRedis::stop`] also waits for them.
#[derive(Debug)]
pub struct StandInRedis {
    front: Front<Mood>,
    queries: Counter,
}

impl StandInRedis {
    /// Starts on `port` of 127.0.0.1, or on a free one for 0, in [`Mood::Healthy`].
    ///
    /// # Errors
    ///
    /// The port cannot be listened on, or there is no tokio runtime here.
    pub fn start(port: u16) -> io::Result<Self> {
        let queries = Counter::new();
        let serve = ServeRedis {
            queries: queries.clone(),
            shelf: Shelf::default(),
        };
        Ok(Self {
            front: Front::start(port, Mood::Healthy, serve)?,
            queries,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.front.addr()
    }

    /// What a client is configured with to connect here.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}/", self.addr())
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

    /// Commands that clients sent so far, answered or not. What a client sends to set a connection
    /// up (`HELLO`, `AUTH`, `CLIENT`, `SELECT`) and `QUIT` is not counted.
    #[must_use]
    pub fn queries_seen(&self) -> u64 {
        self.queries.seen()
    }

    /// Waits until `connections_seen` is at least `goal`; bound it with a timeout.
    pub async fn connections_reached(&self, goal: u64) {
        self.front.connections().reached(goal).await;
    }

    /// Waits until `queries_seen` is at least `goal`; bound it with a timeout.
    pub async fn queries_reached(&self, goal: u64) {
        self.queries.reached(goal).await;
    }

    /// Closes the port, resets the connections, and returns when none of its tasks is left.
    pub async fn stop(self) {
        self.front.stop().await;
    }
}

#[derive(Clone, Debug)]
struct ServeRedis {
    queries: Counter,
    shelf: Shelf,
}

impl Serve for ServeRedis {
    type Condition = Mood;

    async fn serve(
        &self,
        stream: &mut TcpStream,
        number: u64,
        gate: &Gate<Mood>,
    ) -> io::Result<()> {
        converse(
            stream,
            Session::new(number, self.shelf.clone()),
            gate,
            &self.queries,
        )
        .await
    }
}
