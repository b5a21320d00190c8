//! From a request to its answer: the path, the method, who asks, what is said.
//!
//! No request runs a check and none is logged. An answer is made from one moment and shared by all who ask within the
//! same millisecond, so a burst of probes costs little more than sending the bytes.

use std::sync::{Arc, Mutex, TryLockError};

use http::Request;
use http::header::HeaderName;
use tokio::time::Instant;

use crate::access::{Caller, Refusal};
use crate::shared::Shared;
use crate::view::View;

use super::body;
use super::format::openmetrics;
use super::reply::{self, Answer, Reply};
use super::route::{Asked, Endpoint};

/// Sent by a check of another service, with the name of the service that asks.
pub const CHECK_FROM: HeaderName = HeaderName::from_static("rootward-check-from");

/// Makes answers.
pub(crate) struct Answers {
    shared: Arc<Shared>,
    made: Mutex<Made>,
}

/// The answers made for one moment.
#[derive(Default)]
struct Made {
    moment: Option<Moment>,
    answers: [Option<Answer>; Endpoint::ALL.len()],
}

/// Nothing that an answer says can differ between two equal ones.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moment {
    version: (u64, u64),
    millis: u128,
}

impl Answers {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            made: Mutex::default(),
        }
    }

    /// Answers one request, and counts it. Its body, if it has one, is not read. Without a peer nobody knows who asks, so
    /// nobody is taken for a caller on this machine.
    pub(crate) fn answer<B>(&self, request: &Request<B>, caller: &Caller, now: Instant) -> Reply {
        let endpoint = Endpoint::of(request.uri().path());
        let reply = endpoint.map_or_else(reply::not_found, |endpoint| {
            self.reply(endpoint, request, caller, now)
        });
        self.shared.telemetry.probes.count(endpoint, reply.status());
        reply
    }

    fn reply<B>(
        &self,
        endpoint: Endpoint,
        request: &Request<B>,
        caller: &Caller,
        now: Instant,
    ) -> Reply {
        match Asked::by(request.method()) {
            Some(Asked::Read) => {}
            Some(Asked::Ways) => return reply::ways(),
            None => return reply::wrong_method(),
        }
        let headers = request.headers();
        if endpoint.refuses_checks() && headers.contains_key(CHECK_FROM) {
            return reply::loop_detected();
        }
        match self.shared.admit(endpoint, caller, headers, now) {
            Ok(_) => {}
            Err(Refusal::Stranger) => return reply::unauthorized(),
            Err(Refusal::TooMany(wait)) => return reply::too_many(wait),
        }
        self.answer_at(endpoint, now).into()
    }

    fn answer_at(&self, endpoint: Endpoint, now: Instant) -> Answer {
        // Before anything is read: what is made may be newer than its version, never older.
        let moment = Moment {
            version: self.shared.version(),
            millis: now.saturating_duration_since(self.shared.born).as_millis(),
        };
        // Nobody waits for a thread that was put aside while it had the lock: whoever finds it taken makes the answer
        // for itself.
        let mut made = match self.made.try_lock() {
            Ok(made) => made,
            // What a panic left behind is made anew.
            Err(TryLockError::Poisoned(left)) => left.into_inner(),
            Err(TryLockError::WouldBlock) => return make(endpoint, &self.shared, now),
        };
        if made.moment != Some(moment) {
            *made = Made {
                moment: Some(moment),
                ..Made::default()
            };
        }
        made.answers[endpoint as usize]
            .get_or_insert_with(|| make(endpoint, &self.shared, now))
            .clone()
    }
}

fn make(endpoint: Endpoint, shared: &Arc<Shared>, now: Instant) -> Answer {
    let view = || View::of(shared, now);
    match endpoint {
        Endpoint::Livez => body::livez(&shared.vitals.seen().alive),
        Endpoint::Readyz | Endpoint::Healthz => body::readyz(&view()),
        Endpoint::Startupz => body::startupz(&view()),
        Endpoint::Status => body::status(&view()),
        Endpoint::Health => body::health(&view()),
        Endpoint::Metrics => openmetrics::metrics(shared, now),
    }
}
