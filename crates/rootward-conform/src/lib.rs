//! Tests a running service, in any language, against the published contract, and says which promise it breaks.
//!
//! The promises are the [`Rule`]s of `docs/spec/conformance-v1.md`. Most need nothing but the address. Those about
//! dependencies need a dependency under control: for each [`Stub`] this process listens where the service expects its
//! database, cache or other service, lets it answer, hang, refuse and be slow, and looks at what the service says
//! meanwhile. What could not be put to the test is [`Verdict::NotTested`], with the reason, and never kept.
//!
//! | module | what it is |
//! | --- | --- |
//! | `rule`, `verdict`, `plan`, `json` | the promises; what became of them; what is tested; the outcome for programs |
//! | `ask`, `raw`, `leak` | one question; one in bytes; what no answer may hold |
//! | `detail`, `look`, `course` | one report; one look at everything; one component through a fault |
//! | `endpoints`, `access`, `load`, `deep` | the rules that need only the address |
//! | `stage`, `faults` | the stubs; the faults, one after another |
//!
//! It reads and changes nothing: GET, HEAD, OPTIONS, one POST that must be refused. It asks a few hundred times, at most
//! twelve at once.

mod access;
mod ask;
mod course;
mod deep;
mod detail;
mod endpoints;
mod faults;
mod json;
mod leak;
mod load;
mod look;
mod plan;
mod raw;
mod rule;
mod stage;
mod verdict;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

pub use plan::{MAX_STUBS, Plan, Stub, StubError, StubKind};
pub use rule::{Need, Rule};
pub use verdict::{Evidence, Outcome, Verdict};

use ask::Asker;
use detail::Detail;
use faults::{Faults, Pace};
use look::Look;
use stage::Prop;
use verdict::Ledger;

/// What the rules that need only the address take at most.
const ENDPOINTS_AT_MOST: Duration = Duration::from_secs(60);

/// Is told what is done next, and how long that takes at most.
pub type Progress<'a> = &'a mut dyn FnMut(&str, Duration);

/// Nothing could be tested.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The service does not answer.
    #[error("no answer from {url}: {error}")]
    NotReached {
        /// What was asked.
        url: String,
        /// Why there is none.
        error: rootward_fetch::FetchError,
    },
    /// A stub has no port.
    #[error("cannot listen on 127.0.0.1:{port} in the place of {component}: {}", error.kind())]
    NoPort {
        /// The component that it is for.
        component: String,
        /// The port.
        port: u16,
        /// Why not.
        error: io::Error,
    },
}

impl Trouble {
    /// Whether the service is the one that does not answer.
    #[must_use]
    pub const fn is_not_reached(&self) -> bool {
        match self {
            Self::NotReached { .. } => true,
            Self::NoPort { .. } => false,
        }
    }
}

/// What is known before the test begins.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// How many rules are put to the test.
    pub rules: usize,
    /// What it takes at most. Usually it takes a fraction of that.
    pub at_most: Duration,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rules, at most {} s",
            self.rules,
            self.at_most.as_secs()
        )
    }
}

/// Tests a service. The stubs listen from here on, until it returns; what is not awaited is not run.
///
/// `begin` is told once how much there is to do, `progress` what is done next.
///
/// # Errors
/// When the service does not answer at all, or a stub cannot listen.
pub async fn run(
    plan: &Plan,
    begin: &mut dyn FnMut(Size),
    progress: Progress<'_>,
) -> Result<Outcome, Trouble> {
    let begun = Instant::now();
    let asker = Asker::new(plan.base.clone(), plan.token.as_deref());
    if let Err(missing) = asker.get("/livez", &[]).await {
        return Err(Trouble::NotReached {
            url: plan.base.to_string(),
            error: missing.error,
        });
    }
    let mut props = Vec::with_capacity(plan.stubs.len());
    for stub in plan.stubs.iter().take(MAX_STUBS) {
        props.push(Prop::open(stub).map_err(|error| Trouble::NoPort {
            component: stub.component.clone(),
            port: stub.port,
            error,
        })?);
    }
    let asker = Arc::new(asker);
    let mut ledger = Ledger::default();
    let detail = read(&asker, &mut ledger).await;
    let pace = detail.as_ref().map(|detail| Pace::of(plan, detail));
    let faults = pace.filter(|_| !props.is_empty()).map(|pace| Faults {
        asker: &asker,
        plan,
        props: &props,
        pace,
    });
    let needed = faults
        .as_ref()
        .map_or(Duration::ZERO, |faults| faults.pace.at_most())
        .saturating_add(ENDPOINTS_AT_MOST);
    let size = Size {
        rules: Rule::ALL
            .iter()
            .filter(|rule| faults.is_some() || !rule.need().is_of_stubs())
            .count(),
        at_most: plan.at_most.map_or(needed, |given| given.min(needed)),
    };
    begin(size);
    let testing = test(&asker, detail.as_ref(), faults, &mut ledger, progress);
    let left = size.at_most.saturating_sub(begun.elapsed());
    if timeout(left, testing).await.is_err() {
        let seconds = size.at_most.as_secs();
        ledger.not_tested_yet(&format!(
            "the time of {seconds} s was over before it came to that"
        ));
    }
    for prop in props {
        prop.close().await;
    }
    asker.settle(&mut ledger);
    Ok(Outcome {
        url: plan.base.to_string(),
        took: begun.elapsed(),
        verdicts: ledger.close(),
    })
}

async fn test(
    asker: &Arc<Asker>,
    detail: Option<&Detail>,
    faults: Option<Faults<'_>>,
    ledger: &mut Ledger,
    progress: Progress<'_>,
) {
    let settled = match &faults {
        Some(faults) => faults.settle(ledger, progress).await,
        None => false,
    };
    progress("the endpoints", Duration::from_secs(20));
    endpoints::test(asker, ledger).await;
    Look::take(asker, ledger).await;
    progress("who may ask", Duration::from_secs(10));
    access::test(asker, detail, ledger).await;
    progress("many questions at once", Duration::from_secs(10));
    load::many(asker, "", ledger).await;
    load::reports(asker, ledger).await;
    load::ages(asker, ledger).await;
    progress("all checks now", Duration::from_secs(10));
    deep::test(asker, ledger).await;
    if let Some(faults) = faults.filter(|_| settled) {
        faults.run(ledger, progress).await;
    }
    progress("who asks the wrong route", Duration::from_secs(5));
    access::misuse(asker, ledger).await;
}

/// The report as it is at the beginning; without one, why.
async fn read(asker: &Asker, ledger: &mut Ledger) -> Option<Detail> {
    match asker.health().await {
        Ok(seen) if matches!(seen.status, 401 | 403) => {
            let reason = format!("/health answers {}: give --token-file", seen.status);
            ledger.not_tested(Rule::Report, reason);
            None
        }
        Ok(seen) => detail::judge(&seen, ledger),
        Err(missing) => {
            ledger.broken(Rule::Report, missing.against("200 or 503 with a report"));
            None
        }
    }
}
