//! A stand-in for a PostgreSQL database: a real client connects, pools and asks `SELECT 1`.
//!
//! What it answers: requests for encryption (no), start-up with any user and no password, the empty
//! statement, and `SELECT 1` by the simple and by the extended protocol, prepared or not. Every other
//! statement gets an error that says it is a stand-in, and leaves the connection usable. A request to
//! cancel is taken and changes nothing. There are no tables, no transactions, no parameters.

mod message;
mod reply;
mod session;

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpStream;

use crate::control::Control;
use crate::conversation::converse;
use crate::counter::Counter;
use crate::front::{Front, Serve};
use crate::gate::Gate;
use crate::mood::Mood;

use session::Session;

/// A stand-in for a PostgreSQL database, listening on 127.0.0.1. It is not a database.
///
/// Dropping it aborts its tasks; [`StandInPostgres::stop`] also waits for them.
#[derive(Debug)]
pub struct StandInPostgres {
    front: Front<Mood>,
    queries: Counter,
}

impl StandInPostgres {
    /// Starts on `port` of 127.0.0.1, or on a free one for 0, in [`Mood::Healthy`].
    ///
    /// # Errors
    ///
    /// The port cannot be listened on, or there is no tokio runtime here.
    pub fn start(port: u16) -> io::Result<Self> {
        let queries = Counter::new();
        let serve = ServePostgres {
            queries: queries.clone(),
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

    /// What a client is configured with to connect here. It says in the user and the database that
    /// this is a stand-in; neither is looked at.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgresql://stand_in@{}/stand_in", self.addr())
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

    /// Statements that clients asked to run so far, answered or not: simple queries and executions.
    /// Preparing one is not counted.
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
struct ServePostgres {
    queries: Counter,
}

impl Serve for ServePostgres {
    type Condition = Mood;

    async fn serve(
        &self,
        stream: &mut TcpStream,
        number: u64,
        gate: &Gate<Mood>,
    ) -> io::Result<()> {
        converse(stream, Session::new(number), gate, &self.queries).await
    }
}
