//! Looks up the names whose addresses are instances, again and again.
//!
//! One task for each name; what it found goes to the loop, which decides what it means ([`membership`]). The resolver is
//! the one of the system, as for every other name here: it obeys `/etc/hosts` and whatever else the machine is told.

use std::net::SocketAddr;
use std::time::Duration;

use rootward_core::Name;
use rootward_fetch::{FetchError, Target, resolve};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

pub(crate) mod membership;

/// From the end of one lookup to the next: as often as is polled, within these. The system's resolver tells no time to
/// live, and what stands between it and the name server caches for as long as it was told.
const OFTENEST: Duration = Duration::from_secs(1);
const SELDOMEST: Duration = Duration::from_secs(30);

/// How long one lookup may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// Lookups that wait to be heard. A task whose answer does not fit waits.
const MAX_UNHEARD: usize = 64;

/// What a lookup gave.
#[derive(Debug)]
pub(crate) struct Looked {
    /// Whose name it was.
    pub(crate) service: Name,
    /// Its addresses, each once.
    pub(crate) found: Result<Vec<SocketAddr>, FetchError>,
}

/// The tasks. Dropping it ends them; a lookup that the system's resolver holds outlives it on a thread of the
/// runtime's (see [`rootward_fetch::MAX_LOOKUPS`]).
#[derive(Debug)]
pub(crate) struct Discovery {
    tasks: JoinSet<()>,
    heard: mpsc::Receiver<Looked>,
    say: mpsc::Sender<Looked>,
}

impl Discovery {
    pub(crate) fn new() -> Self {
        let (say, heard) = mpsc::channel(MAX_UNHEARD);
        Self {
            tasks: JoinSet::new(),
            heard,
            say,
        }
    }

    /// Looks up these from now on, about as often as each says, and nothing else. What others found that was not heard
    /// yet is dropped.
    pub(crate) fn watch(&mut self, names: impl IntoIterator<Item = (Name, Target, Duration)>) {
        *self = Self::new();
        for (service, target, interval) in names {
            let every = interval.clamp(OFTENEST, SELDOMEST);
            let say = self.say.clone();
            self.tasks.spawn(look(service, target, every, say));
        }
    }

    /// What was found already, if something was.
    pub(crate) fn try_looked(&mut self) -> Option<Looked> {
        self.heard.try_recv().ok()
    }

    /// What was found next; forever while nothing is looked up. Nothing is lost if the wait is given up.
    pub(crate) async fn looked(&mut self) -> Looked {
        match self.heard.recv().await {
            Some(looked) => looked,
            // It has a sender of its own, so this does not happen.
            None => std::future::pending().await,
        }
    }
}

async fn look(service: Name, target: Target, every: Duration, say: mpsc::Sender<Looked>) {
    loop {
        let found = resolve(&target, DEADLINE).await.map(|mut addresses| {
            addresses.sort_unstable();
            addresses.dedup();
            addresses
        });
        let service = service.clone();
        if say.send(Looked { service, found }).await.is_err() {
            return;
        }
        sleep(every).await;
    }
}
