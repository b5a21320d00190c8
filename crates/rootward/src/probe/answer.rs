//! From a request to its answer: the path, the method, who asks, what is said.
//!
//! No request runs a check and none is logged. An answer is made from one moment and shared by all who ask within the
//! same millisecond, so a burst of probes costs little more than sending the bytes.

use std::sync::{Arc, Mutex, TryLockError};

use http::header::{ACCEPT, HeaderName};
use http::{HeaderValue, Request};
use tokio::time::Instant;

use crate::access::{Caller, Refusal};
use crate::finding::incomplete_run;
use crate::report::{Selection, report, report_of};
use crate::shared::Shared;
use crate::view::{Condition, View};

#[cfg(feature = "tls")]
use super::Tls;
use super::answering::Answering;
use super::body;
use super::format::accept::Format;
use super::format::openmetrics;
use super::format::verbose::{Told, verbose};
use super::query::{self, BadQuery};
use super::reply::{self, Answer, Reply};
use super::route::{Asked, Endpoint};

/// Sent by a check of another service, with the name of the service that asks.
///
/// Whoever writes a check of another service by hand sends it as well. The detailed routes refuse it with 508 ([RFC
/// 5842, section 7.2]): a check that asks for the health of what others depend on would walk the graph, and go round in
/// it. The ready-made one is `rootward_checks::service`.
///
/// ```
/// use rootward::CHECK_FROM;
///
/// let request = http::Request::get("http://rates:8790/readyz").header(CHECK_FROM, "cart").body(())?;
/// assert_eq!(request.headers()["rootward-check-from"], "cart");
/// # Ok::<_, http::Error>(())
/// ```
///
/// [RFC 5842, section 7.2]: https://www.rfc-editor.org/rfc/rfc5842#section-7.2
pub const CHECK_FROM: HeaderName = HeaderName::from_static("rootward-check-from");

/// Where the detailed report in the other format is kept.
const IN_HEALTH_JSON: usize = Endpoint::ALL.len();

/// What somebody who may ask wants to know.
enum Asks {
    /// What is the same for everybody at one moment.
    Cached(Format),
    Selected(Selection, Format),
    Deep(Selection, Format),
    Verbose(Told),
}

/// Why somebody gets something else than what is asked for.
enum Instead {
    /// It was not asked for; only how it may be.
    Ways,
    WrongMethod,
    CheckOfACheck,
    NotAdmitted(Refusal),
    Query(BadQuery),
}

impl From<Instead> for Reply {
    fn from(instead: Instead) -> Self {
        match instead {
            Instead::Ways => reply::ways(),
            Instead::WrongMethod => reply::wrong_method(),
            Instead::CheckOfACheck => reply::loop_detected(),
            Instead::NotAdmitted(Refusal::Stranger) => reply::unauthorized(),
            Instead::NotAdmitted(Refusal::TooMany(wait)) => reply::too_many(wait),
            Instead::Query(bad) => reply::bad_query(&bad),
        }
    }
}

/// Makes answers.
pub(crate) struct Answers {
    shared: Arc<Shared>,
    made: Mutex<Made>,
}

/// The answers made for one moment.
#[derive(Default)]
struct Made {
    moment: Option<Moment>,
    /// One for each endpoint, and one for the report in the other format.
    answers: [Option<Answer>; Endpoint::ALL.len() + 1],
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

    /// What connections are secured with, if they may be.
    #[cfg(feature = "tls")]
    pub(super) fn tls(&self) -> Option<&Tls> {
        self.shared.gate.tls.as_ref()
    }

    /// Answers one request, and counts it. Its body, if it has one, is not read. Without a peer nobody knows who asks, so
    /// nobody is taken for a caller on this machine.
    pub(crate) fn answer<B>(
        self: &Arc<Self>,
        request: &Request<B>,
        caller: &Caller,
        now: Instant,
    ) -> Answering {
        let Some(endpoint) = Endpoint::of(request.uri().path()) else {
            return self.counted(None, reply::not_found());
        };
        match self.admitted(endpoint, request, caller, now) {
            Err(instead) => self.counted(Some(endpoint), instead.into()),
            Ok(Asks::Deep(selection, format)) => self.deep(selection, format),
            Ok(Asks::Cached(format)) => {
                let answer = self.answer_at(endpoint, format, now);
                self.counted(Some(endpoint), replied(endpoint, answer))
            }
            Ok(Asks::Selected(selection, format)) => {
                let view = View::of(&self.shared, now);
                let answer = body::health(&report_of(&view, &selection), format);
                self.counted(Some(endpoint), replied(endpoint, answer))
            }
            Ok(Asks::Verbose(told)) => {
                let view = View::of(&self.shared, now);
                let conditions = body::conditions(endpoint, &view);
                let code = body::code(conditions.iter().all(Condition::holds));
                let probe = endpoint.path().trim_start_matches('/');
                let answer = verbose(probe, &conditions, told, code);
                self.counted(Some(endpoint), answer.into())
            }
        }
    }

    /// What is asked for, by somebody who may.
    fn admitted<B>(
        &self,
        endpoint: Endpoint,
        request: &Request<B>,
        caller: &Caller,
        now: Instant,
    ) -> Result<Asks, Instead> {
        match Asked::by(request.method()) {
            Some(Asked::Read) => {}
            Some(Asked::Ways) => return Err(Instead::Ways),
            None => return Err(Instead::WrongMethod),
        }
        let headers = request.headers();
        if endpoint.refuses_checks() && headers.contains_key(CHECK_FROM) {
            return Err(Instead::CheckOfACheck);
        }
        self.shared
            .admit(endpoint, caller, headers, now)
            .map_err(Instead::NotAdmitted)?;
        let query = request.uri().query();
        Ok(match endpoint {
            Endpoint::Livez | Endpoint::Readyz | Endpoint::Healthz | Endpoint::Startupz
                if query::is_verbose(query) =>
            {
                Asks::Verbose(if self.shared.knows(caller, headers, now) {
                    Told::Reasons
                } else {
                    Told::Withheld
                })
            }
            Endpoint::Livez
            | Endpoint::Readyz
            | Endpoint::Healthz
            | Endpoint::Startupz
            | Endpoint::Status
            | Endpoint::Metrics => Asks::Cached(Format::Report),
            Endpoint::Health | Endpoint::Deep => {
                let selection =
                    query::selection(query, &self.shared.checks()).map_err(Instead::Query)?;
                let accept = headers.get_all(ACCEPT).iter();
                let accept: Vec<_> = accept.map(HeaderValue::as_bytes).collect();
                let format = Format::wanted(&accept);
                match (endpoint, selection) {
                    (Endpoint::Deep, selection) => Asks::Deep(selection, format),
                    (_, Selection::All) => Asks::Cached(format),
                    (_, selection) => Asks::Selected(selection, format),
                }
            }
        })
    }

    fn counted(&self, endpoint: Option<Endpoint>, reply: Reply) -> Answering {
        let probes = &self.shared.telemetry.probes;
        probes.count(endpoint, reply.status());
        reply.into()
    }

    /// Joins the run of all checks that is under way, or begins one, and reports when it is over.
    fn deep(self: &Arc<Self>, selection: Selection, format: Format) -> Answering {
        let answers = Arc::clone(self);
        Answering::Later(Box::pin(async move {
            let shared = &answers.shared;
            let asked = if shared.is_ended() {
                // Nobody runs checks any more, so there is nothing to wait for.
                Ok(None)
            } else {
                shared.deep.ask(Instant::now()).map(Some)
            };
            let reply = match asked {
                Err(too_many) => reply::too_many_runs(too_many),
                Ok(waiting) => {
                    let all = match waiting {
                        Some(waiting) => waiting.completed(shared.longest_timeout()).await,
                        None => false,
                    };
                    let view = View::of(shared, Instant::now());
                    let mut report = report_of(&view, &selection);
                    if !all {
                        report.findings.push(incomplete_run());
                    }
                    replied(Endpoint::Deep, body::health(&report, format))
                }
            };
            let probes = &shared.telemetry.probes;
            probes.count(Some(Endpoint::Deep), reply.status());
            reply
        }))
    }

    fn answer_at(&self, endpoint: Endpoint, format: Format, now: Instant) -> Answer {
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
            Err(TryLockError::WouldBlock) => return make(endpoint, format, &self.shared, now),
        };
        if made.moment != Some(moment) {
            *made = Made {
                moment: Some(moment),
                ..Made::default()
            };
        }
        let slot = match format {
            Format::Report => endpoint as usize,
            Format::HealthJson => IN_HEALTH_JSON,
        };
        made.answers[slot]
            .get_or_insert_with(|| make(endpoint, format, &self.shared, now))
            .clone()
    }
}

fn make(endpoint: Endpoint, format: Format, shared: &Arc<Shared>, now: Instant) -> Answer {
    let view = || View::of(shared, now);
    match endpoint {
        Endpoint::Livez => body::livez(&shared.vitals.seen().alive),
        Endpoint::Readyz | Endpoint::Healthz => body::readyz(&view()),
        Endpoint::Startupz => body::startupz(&view()),
        Endpoint::Status => body::status(&view()),
        Endpoint::Health | Endpoint::Deep => body::health(&report(&view()), format),
        Endpoint::Metrics => openmetrics::metrics(shared, now),
    }
}

fn replied(endpoint: Endpoint, answer: Answer) -> Reply {
    match endpoint {
        Endpoint::Health | Endpoint::Deep => reply::negotiated(answer),
        Endpoint::Livez
        | Endpoint::Readyz
        | Endpoint::Healthz
        | Endpoint::Startupz
        | Endpoint::Status
        | Endpoint::Metrics => answer.into(),
    }
}
