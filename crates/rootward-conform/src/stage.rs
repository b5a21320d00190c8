//! The dependencies that this process stands in for.

use std::io;
use std::time::Duration;

use rootward_testkit::http::StandInHttp;
use rootward_testkit::postgres::StandInPostgres;
use rootward_testkit::redis::StandInRedis;
use rootward_testkit::tcp::StandInTcp;
use rootward_testkit::{Control, Mood};

use crate::plan::{Stub, StubKind};

/// What the HTTP stubs send that nobody may repeat.
const PLANTED: &str = r#"{"error":"planted-7d1f0c"}"#;

/// The part of it that is searched for.
pub(crate) const MARKER: &str = "planted-7d1f0c";

/// One dependency.
#[derive(Debug)]
pub(crate) struct Prop {
    pub(crate) component: String,
    pub(crate) kind: StubKind,
    stand_in: StandIn,
}

#[derive(Debug)]
enum StandIn {
    Tcp(StandInTcp),
    Http(StandInHttp),
    Postgresql(StandInPostgres),
    Redis(StandInRedis),
}

impl Prop {
    /// Listens where the service expects its dependency, healthy.
    pub(crate) fn open(stub: &Stub) -> io::Result<Self> {
        Ok(Self {
            component: stub.component.clone(),
            kind: stub.kind,
            stand_in: match stub.kind {
                StubKind::Tcp => StandIn::Tcp(StandInTcp::start(stub.port)?),
                StubKind::Http => StandIn::Http(StandInHttp::start(stub.port)?),
                StubKind::Postgresql => StandIn::Postgresql(StandInPostgres::start(stub.port)?),
                StubKind::Redis => StandIn::Redis(StandInRedis::start(stub.port)?),
            },
        })
    }

    fn control(&self) -> Control<Mood> {
        match &self.stand_in {
            StandIn::Tcp(it) => it.mood(),
            StandIn::Http(it) => it.mood(),
            StandIn::Postgresql(it) => it.mood(),
            StandIn::Redis(it) => it.mood(),
        }
    }

    /// In force when it returns.
    pub(crate) async fn turn(&self, mood: Mood) -> io::Result<()> {
        const LIMIT: Duration = Duration::from_secs(10);
        let changed = tokio::time::timeout(LIMIT, self.control().change(mood)).await;
        changed.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// How it does not answer: it hangs if it can, else it refuses.
    pub(crate) const fn dead(&self) -> Mood {
        if self.kind.can_hang() {
            Mood::Frozen
        } else {
            Mood::Refusing
        }
    }

    /// From here on an HTTP stub answers with an error that holds what must not be repeated.
    pub(crate) fn plant(&self) {
        if let StandIn::Http(it) = &self.stand_in {
            it.answer_with(500, PLANTED);
        }
    }

    /// Back to readiness.
    pub(crate) fn clear(&self) {
        if let StandIn::Http(it) = &self.stand_in {
            it.answer_ready();
        }
    }

    /// Requests, and those among them that said that they are checks; of an HTTP stub.
    pub(crate) fn asked(&self) -> Option<(u64, u64)> {
        match &self.stand_in {
            StandIn::Http(it) => Some((it.queries_seen(), it.checks_seen())),
            StandIn::Tcp(_) | StandIn::Postgresql(_) | StandIn::Redis(_) => None,
        }
    }

    /// Whether anybody has connected.
    pub(crate) fn was_connected_to(&self) -> bool {
        let seen = match &self.stand_in {
            StandIn::Tcp(it) => it.connections_seen(),
            StandIn::Http(it) => it.connections_seen(),
            StandIn::Postgresql(it) => it.connections_seen(),
            StandIn::Redis(it) => it.connections_seen(),
        };
        seen > 0
    }

    pub(crate) async fn close(self) {
        match self.stand_in {
            StandIn::Tcp(it) => it.stop().await,
            StandIn::Http(it) => it.stop().await,
            StandIn::Postgresql(it) => it.stop().await,
            StandIn::Redis(it) => it.stop().await,
        }
    }
}
