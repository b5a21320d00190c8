//! What every name would be told now, kept for all who watch.
//!
//! One look serves all watches: the probe thread looks whenever something was written, and every 100 ms because some
//! things change with time alone (evidence turns stale, lag grows). It writes only what differs, so a watch sleeps until
//! there is something to say. While nobody watches, nobody looks.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::{CheckStatus, Name};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::runner::stopped;
use crate::shared::Shared;
use crate::view::View;

/// The most gRPC watches of one instance that are open at a time, on all its servers together: 256. One more is refused
/// with `RESOURCE_EXHAUSTED`.
pub const MAX_WATCHES: usize = 256;

/// How often to look again when nothing was written.
const LOOK: Duration = Duration::from_millis(100);

/// What watches are told, and how many may be open.
pub(crate) struct Board {
    seen: watch::Sender<Seen>,
    /// Something was written, or somebody came to watch.
    stirred: Notify,
    places: Arc<Semaphore>,
}

/// What was seen last.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    Now(Statuses),
    /// Nobody looks any more.
    Ended,
}

/// What readiness and each check say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statuses {
    readiness: ServingStatus,
    checks: Arc<[(Name, ServingStatus)]>,
}

/// Whom a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whom {
    Readiness,
    Check(Name),
    Nobody,
}

impl Whom {
    /// A check, before the service if both have the name; the empty name is the service.
    pub(super) fn called(shared: &Shared, name: &str) -> Self {
        let checks = shared.checks();
        let is_check = checks.iter().any(|check| check.facts.name.as_str() == name);
        if !is_check && (name.is_empty() || name == shared.identity.service.as_str()) {
            Self::Readiness
        } else {
            // Of no check yet, perhaps: one of that name may come.
            Name::parse(name).map_or(Self::Nobody, Self::Check)
        }
    }
}

impl Statuses {
    /// Of nobody, too, if it is about a check that was taken out.
    pub(super) fn of(&self, whom: &Whom) -> ServingStatus {
        match whom {
            Whom::Readiness => self.readiness,
            Whom::Check(name) => {
                let check = self.checks.iter().find(|(check, _)| check == name);
                check.map_or(ServingStatus::ServiceUnknown, |(_, status)| *status)
            }
            Whom::Nobody => ServingStatus::ServiceUnknown,
        }
    }
}

/// What is so now.
pub(super) fn statuses(shared: &Shared) -> Statuses {
    let view = View::of(shared, Instant::now());
    Statuses {
        readiness: if view.reasons_not_ready().is_empty() {
            ServingStatus::Serving
        } else {
            ServingStatus::NotServing
        },
        checks: view
            .checks()
            .map(|check| {
                let status = match check.status {
                    CheckStatus::Up | CheckStatus::Degraded => ServingStatus::Serving,
                    CheckStatus::Down => ServingStatus::NotServing,
                    CheckStatus::Unknown => ServingStatus::Unknown,
                };
                (check.facts.name.clone(), status)
            })
            .collect(),
    }
}

impl Board {
    pub(crate) fn new() -> Self {
        let nothing = Statuses {
            readiness: ServingStatus::NotServing,
            checks: Arc::default(),
        };
        Self {
            seen: watch::Sender::new(Seen::Now(nothing)),
            stirred: Notify::new(),
            places: Arc::new(Semaphore::new(MAX_WATCHES)),
        }
    }

    /// Something was written.
    pub(crate) fn stir(&self) {
        if self.is_watched() {
            self.stirred.notify_one();
        }
    }

    fn is_watched(&self) -> bool {
        self.seen.receiver_count() > 0
    }

    /// A place among those who watch, if there is one.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

/// For one who comes to watch: what is so now, and from here on each change.
pub(super) fn subscribe(shared: &Shared) -> watch::Receiver<Seen> {
    let receiver = shared.board.seen.subscribe();
    look(shared);
    shared.board.stirred.notify_one();
    receiver
}

fn look(shared: &Shared) {
    shared.board.seen.send_if_modified(|seen| match seen {
        Seen::Ended => false,
        Seen::Now(before) => {
            // Looked at with the lock held, so what is older is never written over what is newer.
            let now = statuses(shared);
            let differs = *before != now;
            *before = now;
            differs
        }
    });
}

/// Looks, for as long as there is somebody to tell, until stop is heard.
pub(crate) async fn follow(shared: &Shared, mut stop: watch::Receiver<bool>) {
    let _ending = Ending(&shared.board);
    loop {
        let time = async {
            if shared.board.is_watched() {
                sleep(LOOK).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = stopped(&mut stop) => break,
            () = shared.board.stirred.notified() => {}
            () = time => {}
        }
        if shared.board.is_watched() {
            look(shared);
        }
    }
}

/// Nobody is left to wait for what nobody will say, whatever ended the looking.
struct Ending<'a>(&'a Board);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.seen.send_replace(Seen::Ended);
    }
}
