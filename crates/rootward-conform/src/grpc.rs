//! grpc.health.v1 beside the probes: the whole says readiness, each component says itself, and nothing says the rollup.

use std::time::{Duration, Instant};

use rootward_core::CheckStatus;
use rootward_fetch::Target;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::ask::{Asker, PATIENCE};
use crate::detail::Detail;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// Nobody's name, in the shape of one.
const NOBODY: &str = "rootward-conform.v1.NoSuchService";

/// How many components are asked for, one after another.
const MAX_COMPONENTS: usize = 32;

/// For a stream that is to stay open: whoever ends it does so at once.
const STAYS: Duration = Duration::from_millis(300);

/// Asks one server. Without TLS.
#[derive(Debug, Clone)]
pub(crate) struct Grpc {
    client: HealthClient<Channel>,
}

/// What is said of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Known(ServingStatus),
    /// A number that is none of the protocol.
    Other(i32),
    Code(Code),
    /// Nothing within [`PATIENCE`], or the stream is over.
    Nothing,
}

impl Said {
    fn of(answer: Result<HealthCheckResponse, Status>) -> Self {
        match answer {
            Ok(answer) => ServingStatus::try_from(answer.status)
                .map_or(Self::Other(answer.status), Self::Known),
            Err(status) => Self::Code(status.code()),
        }
    }

    /// In a word; what the server wrote besides is its own text.
    fn word(&self) -> String {
        match self {
            Self::Known(status) => status.as_str_name().to_owned(),
            Self::Other(number) => format!("the status {number}"),
            Self::Code(code) => format!("the code {code:?}"),
            Self::Nothing => "nothing".to_owned(),
        }
    }
}

impl Grpc {
    /// Connects when it is asked for the first time, and again after a connection broke.
    pub(crate) fn new(target: &Target) -> Option<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{}", target.authority())).ok()?;
        let channel = endpoint.connect_timeout(PATIENCE).connect_lazy();
        Some(Self {
            client: HealthClient::new(channel),
        })
    }

    async fn check(&self, name: &str) -> Said {
        let mut client = self.client.clone();
        let asked = client.check(question(name));
        match timeout(PATIENCE, asked).await {
            Ok(answer) => Said::of(answer.map(tonic::Response::into_inner)),
            Err(_) => Said::Nothing,
        }
    }

    /// Watches a name; what stands at the beginning is read.
    pub(crate) async fn watch(&self, name: &str) -> Watched {
        let mut client = self.client.clone();
        let opened = timeout(PATIENCE, client.watch(question(name))).await;
        let (stream, first) = match opened {
            Ok(Ok(answer)) => (Some(answer.into_inner()), None),
            Ok(Err(status)) => (None, Some(Said::Code(status.code()))),
            Err(_) => (None, Some(Said::Nothing)),
        };
        let mut watched = Watched {
            name: name.to_owned(),
            stream,
            last: Said::Nothing,
        };
        watched.last = match first {
            Some(first) => first,
            None => watched.next(PATIENCE).await.unwrap_or(Said::Nothing),
        };
        watched
    }
}

fn question(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.to_owned(),
    }
}

/// A name that is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    name: String,
    stream: Option<Streaming<HealthCheckResponse>>,
    last: Said,
}

impl Watched {
    /// What comes next; none if nothing comes within this time.
    async fn next(&mut self, within: Duration) -> Option<Said> {
        let stream = self.stream.as_mut()?;
        let next = timeout(within, stream.message()).await.ok()?;
        Some(match next {
            Ok(Some(answer)) => Said::of(Ok(answer)),
            Ok(None) => Said::Nothing,
            Err(status) => Said::Code(status.code()),
        })
    }

    /// Hears for so long, and no longer; until it says this, or is over.
    pub(crate) async fn hear(&mut self, wanted: ServingStatus, within: Duration) {
        let hearing = async {
            while self.last != Said::Known(wanted) {
                let Some(next) = self.next(within).await else {
                    return;
                };
                let over = !matches!(next, Said::Known(_) | Said::Other(_));
                self.last = next;
                if over {
                    self.stream = None;
                    return;
                }
            }
        };
        // A stream that never pauses is no answer either.
        let _ = timeout(within, hearing).await;
    }

    /// It has to have said this at last.
    pub(crate) fn judge(&self, wanted: ServingStatus, when: &str, ledger: &mut Ledger) {
        ledger.judge(Rule::GrpcWatch, self.says(wanted), || {
            Evidence::new(
                format!("Watch {:?} {when}", self.name),
                format!("{} at last", self.last.word()),
                format!("{}, as soon as it is so", wanted.as_str_name()),
            )
        });
    }

    pub(crate) fn says(&self, wanted: ServingStatus) -> bool {
        self.last == Said::Known(wanted)
    }

    /// It has to say this, now or soon: several changes may have come meanwhile.
    pub(crate) async fn expects(&mut self, wanted: ServingStatus, when: &str, ledger: &mut Ledger) {
        self.hear(wanted, PATIENCE).await;
        self.judge(wanted, when, ledger);
    }
}

/// While all is well.
pub(crate) async fn test(asker: &Asker, detail: Option<&Detail>, ledger: &mut Ledger) {
    let Some(grpc) = asker.grpc() else { return };
    if let Said::Code(_) | Said::Nothing = grpc.check("").await {
        let said = grpc.check("").await.word();
        let right = "SERVING or NOT_SERVING, as /readyz says";
        ledger.broken(Rule::GrpcReady, Evidence::new("Check \"\"", said, right));
        return;
    }
    readiness(asker, detail, "", ledger).await;
    strangers(grpc, ledger).await;
    components(asker, "", ledger).await;
    let mut watched = grpc.watch("").await;
    let before = asker.get("/readyz", &[]).await;
    // What stood at the beginning was said at once; a change since then was told.
    if let Ok(seen) = before {
        watched
            .expects(serving(seen.status == 200), "at its beginning", ledger)
            .await;
    }
}

const fn serving(ready: bool) -> ServingStatus {
    if ready {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    }
}

/// The empty name, and that of the service, beside readiness; asked until nothing changed in between.
pub(crate) async fn readiness(
    asker: &Asker,
    detail: Option<&Detail>,
    condition: &str,
    ledger: &mut Ledger,
) {
    let Some(grpc) = asker.grpc() else { return };
    // Where a component is called as the service is, the name means the component.
    let own = detail
        .filter(|detail| detail.entry(&detail.service).is_none())
        .map(|detail| detail.service.as_str());
    for name in std::iter::once("").chain(own) {
        for _ in 0..3 {
            let before = asker.get("/readyz", &[]).await;
            let said = grpc.check(name).await;
            let after = asker.get("/readyz", &[]).await;
            let (Ok(before), Ok(after)) = (before, after) else {
                return;
            };
            if before.status != after.status {
                continue;
            }
            let right = serving(after.status == 200);
            ledger.judge(Rule::GrpcReady, said == Said::Known(right), || {
                let right = format!(
                    "{}, because /readyz answers {}",
                    right.as_str_name(),
                    after.status
                );
                Evidence::new(format!("Check {name:?}{condition}"), said.word(), right)
            });
            break;
        }
    }
}

async fn strangers(grpc: &Grpc, ledger: &mut Ledger) {
    let said = grpc.check(NOBODY).await;
    let holds = said == Said::Code(Code::NotFound);
    ledger.judge(Rule::GrpcUnknown, holds, || {
        Evidence::new(
            format!("Check {NOBODY:?}"),
            said.word(),
            "the code NotFound",
        )
    });
    let mut watched = grpc.watch(NOBODY).await;
    let begins = watched.last == Said::Known(ServingStatus::ServiceUnknown);
    let next = watched.next(STAYS).await;
    ledger.judge(Rule::GrpcUnknown, begins && next.is_none(), || {
        let then = next.map_or(String::new(), |next| format!(", and then {}", next.word()));
        Evidence::new(
            format!("Watch {NOBODY:?}"),
            format!("{}{then}", watched.last.word()),
            "SERVICE_UNKNOWN, and the stream stays open",
        )
    });
}

/// The components, each beside what the report says of it before and after.
pub(crate) async fn components(asker: &Asker, condition: &str, ledger: &mut Ledger) {
    let Some(grpc) = asker.grpc() else { return };
    for _ in 0..3 {
        let Some(before) = asker.detail().await else {
            ledger.not_tested(Rule::GrpcComponents, "there is no report");
            return;
        };
        let mut all = Vec::new();
        for entry in before.components.iter().take(MAX_COMPONENTS) {
            all.push((entry, grpc.check(&entry.name).await));
        }
        let Some(after) = asker.detail().await else {
            return;
        };
        let mut compared = all.is_empty();
        for (entry, said) in all {
            let still = after.entry(&entry.name).map(|entry| entry.status);
            if still != Some(entry.status) {
                continue;
            }
            compared = true;
            let right = status_of(entry.status);
            ledger.judge(Rule::GrpcComponents, said == Said::Known(right), || {
                let right = format!(
                    "{}, because the report says {}",
                    right.as_str_name(),
                    entry.status
                );
                let asked = format!("Check {:?}{condition}", entry.name);
                Evidence::new(asked, said.word(), right)
            });
        }
        if compared {
            return;
        }
    }
}

/// What the status of a component is there.
pub(crate) const fn status_of(status: CheckStatus) -> ServingStatus {
    match status {
        CheckStatus::Up | CheckStatus::Degraded => ServingStatus::Serving,
        CheckStatus::Down => ServingStatus::NotServing,
        CheckStatus::Unknown => ServingStatus::Unknown,
    }
}

/// When it drains and says so elsewhere, which does not end before the process does.
pub(crate) async fn draining(asker: &Asker, ledger: &mut Ledger) {
    let Some(grpc) = asker.grpc() else { return };
    match grpc.check("").await {
        // The application's own server may be the first to go.
        Said::Code(_) | Said::Nothing => {}
        said @ (Said::Known(_) | Said::Other(_)) => {
            let holds = said == Said::Known(ServingStatus::NotServing);
            ledger.judge(Rule::GrpcReady, holds, || {
                let asked = format!("Check \"\" {DRAINING}");
                Evidence::new(asked, said.word(), "NOT_SERVING")
            });
        }
    }
}

/// What is heard of a drain by who watches readiness: at each look, for as long as between two looks.
#[derive(Debug)]
pub(crate) struct DrainWatch {
    watched: Watched,
    since: Option<Instant>,
}

impl DrainWatch {
    pub(crate) async fn begin(asker: &Asker) -> Option<Self> {
        let watched = asker.grpc()?.watch("").await;
        Some(Self {
            watched,
            since: None,
        })
    }

    pub(crate) async fn hear(&mut self, within: Duration) {
        self.since.get_or_insert_with(Instant::now);
        self.watched.hear(ServingStatus::NotServing, within).await;
    }

    /// Who is gone within a moment may be gone before it was heard.
    pub(crate) fn close(&self, ledger: &mut Ledger) {
        const MOMENT: Duration = Duration::from_secs(1);
        let Some(since) = self.since else { return };
        let said = self.watched.says(ServingStatus::NotServing);
        if said || since.elapsed() >= MOMENT {
            self.watched
                .judge(ServingStatus::NotServing, DRAINING, ledger);
        }
    }
}

const DRAINING: &str = "after SIGTERM, when /readyz answers 503";
