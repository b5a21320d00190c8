//! A whole run: what comes after what, and what ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_fetch::dial;
use rootward_testkit::Mood;
use tokio::time::{sleep, timeout};

use crate::ask::Asker;
use crate::detail::Detail;
use crate::drain::Drains;
use crate::faults::{Faults, Pace};
use crate::launch::{Launch, Process};
use crate::look::Look;
use crate::plan::{MAX_STUBS, Plan};
use crate::rule::{Need, Rule};
use crate::stage::Prop;
use crate::start::{self, Dependencies, NotStarted};
use crate::verdict::{Ending, Evidence, Ledger, Outcome};
use crate::{Progress, Size, Trouble, access, deep, detail, endpoints, grpc, limits, load, query};

/// What the rules that need only the address take at most.
const ENDPOINTS_AT_MOST: Duration = Duration::from_secs(60);

/// What the rule about limits of rate takes at most.
const LIMITS_AT_MOST: Duration = Duration::from_secs(60);

/// For a listener to be gone with its process.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// For a connection to this machine.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// Tests a service. The stubs listen from here on, until it returns; what is not awaited is not run. A service that was
/// started here is gone when it returns, also when the future is dropped before.
///
/// `begin` is told once how much there is to do, `progress` what is done next.
///
/// # Errors
/// When the service does not answer at all or does not start, or a stub cannot listen.
pub async fn run(
    plan: &Plan,
    begin: &mut dyn FnMut(Size),
    progress: Progress<'_>,
) -> Result<Outcome, Trouble> {
    let begun = Instant::now();
    let asker = Arc::new(
        Asker::new(plan.base.clone(), plan.token.as_deref()).with_grpc(plan.grpc.as_ref()),
    );
    match &plan.launch {
        None => {
            if let Err(missing) = asker.get("/livez", &[]).await {
                return Err(Trouble::NotReached {
                    url: plan.base.to_string(),
                    error: missing.error,
                });
            }
        }
        // What answers already would be tested in the place of what is started.
        Some(_) => free(plan, Duration::ZERO).await?,
    }
    let mut props = Vec::with_capacity(plan.stubs.len());
    for stub in plan.stubs.iter().take(MAX_STUBS) {
        props.push(Prop::open(stub).map_err(|error| Trouble::NoPort {
            component: stub.component.clone(),
            port: stub.port,
            error,
        })?);
    }
    let mut ledger = Ledger::default();
    let mut ending = None;
    let whole = Whole {
        plan,
        asker: &asker,
        props: &props,
        begun,
    };
    let outcome = whole.run(&mut ledger, &mut ending, begin, progress).await;
    for prop in props {
        prop.close().await;
    }
    outcome?;
    asker.settle(&mut ledger);
    Ok(Outcome {
        url: plan.base.to_string(),
        took: begun.elapsed(),
        ending,
        verdicts: ledger.close(),
    })
}

fn out_of_time(at_most: Duration, ledger: &mut Ledger) {
    let seconds = at_most.as_secs();
    ledger.not_tested_yet(&format!(
        "the time of {seconds} s was over before it came to that"
    ));
}

/// Whether nothing listens at the address, at the latest after this time.
async fn free(plan: &Plan, within: Duration) -> Result<(), Trouble> {
    let begun = Instant::now();
    while dial(&plan.base, CONNECT_WITHIN).await.is_ok() {
        if begun.elapsed() >= within {
            return Err(Trouble::Taken {
                url: plan.base.to_string(),
            });
        }
        sleep(Look::PAUSE).await;
    }
    Ok(())
}

struct Whole<'a> {
    plan: &'a Plan,
    asker: &'a Arc<Asker>,
    props: &'a [Prop],
    begun: Instant,
}

impl Whole<'_> {
    async fn run(
        &self,
        ledger: &mut Ledger,
        ending: &mut Option<Ending>,
        begin: &mut dyn FnMut(Size),
        progress: Progress<'_>,
    ) -> Result<(), Trouble> {
        let mut drains = Drains::default();
        let starts = self.start(&mut drains, ledger, progress);
        let Ok(started) = timeout(self.left(Duration::MAX), starts).await else {
            out_of_time(self.begun.elapsed(), ledger);
            return Ok(());
        };
        let started = started?;
        let detail = read(self.asker, ledger).await;
        let pace = detail.as_ref().map(|detail| Pace::of(self.plan, detail));
        let faults = pace.filter(|_| !self.props.is_empty()).map(|pace| Faults {
            asker: self.asker,
            plan: self.plan,
            props: self.props,
            pace,
        });
        let size = self.size(faults.as_ref());
        begin(size);
        let testing = self.test(detail.as_ref(), faults, ledger, progress);
        if timeout(self.left(size.at_most), testing).await.is_err() {
            out_of_time(size.at_most, ledger);
        }
        if let Some((launch, process)) = started {
            progress("the service ends", launch.drain_within);
            let end = drains.end(self.asker, launch, process, ledger);
            match timeout(self.left(Duration::MAX), end).await {
                Ok(ended) => *ending = Some(ended),
                Err(_) => out_of_time(self.begun.elapsed(), ledger),
            }
            drains.judge(ledger);
        }
        Ok(())
    }

    /// What is left of the time that was given, or of this one.
    fn left(&self, needed: Duration) -> Duration {
        let at_most = self.plan.at_most.map_or(needed, |given| given.min(needed));
        at_most.saturating_sub(self.begun.elapsed())
    }

    /// The service as it is to be tested, if it is started here.
    async fn start(
        &self,
        drains: &mut Drains,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) -> Result<Option<(&Launch, Process)>, Trouble> {
        let Some(launch) = &self.plan.launch else {
            return Ok(None);
        };
        if !self.props.is_empty() {
            self.start_alone(launch, drains, ledger, progress).await?;
        }
        progress("the service starts", launch.start_within);
        let mut process = spawn(launch)?;
        start::watch(self.asker, launch, &mut process, Dependencies::Well, ledger)
            .await
            .map_err(Trouble::NotStarted)?;
        Ok(Some((launch, process)))
    }

    fn size(&self, faults: Option<&Faults<'_>>) -> Size {
        let end = self.plan.launch.as_ref();
        let end = end.map_or(Duration::ZERO, |launch| launch.drain_within);
        let needed = faults
            .map_or(Duration::ZERO, |faults| faults.pace.at_most())
            .saturating_add(ENDPOINTS_AT_MOST)
            .saturating_add(if self.plan.limits {
                LIMITS_AT_MOST
            } else {
                Duration::ZERO
            })
            .saturating_add(self.begun.elapsed())
            .saturating_add(end);
        let is_tested = |rule: &&Rule| {
            let need = rule.need();
            (faults.is_some() || !need.is_of_stubs())
                && (self.plan.limits || need != Need::Limits)
                && (self.plan.grpc.is_some() || need != Need::Grpc)
                && (self.plan.launch.is_some() || !need.is_of_command())
        };
        Size {
            rules: Rule::ALL.iter().filter(is_tested).count(),
            at_most: self.plan.at_most.map_or(needed, |given| given.min(needed)),
        }
    }

    /// A start, and an end, while no dependency answers.
    async fn start_alone(
        &self,
        launch: &Launch,
        drains: &mut Drains,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) -> Result<(), Trouble> {
        progress(
            "the service starts without its dependencies",
            launch.start_within,
        );
        for prop in self.props {
            // A port that cannot be listened on again shows as a component that does not come back.
            let _ = prop.turn(prop.dead()).await;
        }
        let mut process = spawn(launch)?;
        let dead = Dependencies::Dead(self.props);
        match start::watch(self.asker, launch, &mut process, dead, ledger).await {
            Ok(()) => {
                ledger.kept(Rule::NotBlocked);
                progress(
                    "the service ends, without its dependencies",
                    launch.drain_within,
                );
                drains.end(self.asker, launch, process, ledger).await;
            }
            Err(reason) => {
                ledger.broken(Rule::NotBlocked, blocked(&reason));
                process.end().await;
            }
        }
        free(self.plan, GONE_WITHIN).await?;
        for prop in self.props {
            let _ = prop.turn(Mood::Healthy).await;
        }
        Ok(())
    }

    async fn test(
        &self,
        detail: Option<&Detail>,
        faults: Option<Faults<'_>>,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) {
        let asker = self.asker;
        let settled = match &faults {
            Some(faults) => faults.settle(ledger, progress).await,
            None => false,
        };
        progress("the endpoints", Duration::from_secs(20));
        endpoints::test(asker, ledger).await;
        Look::take(asker, ledger).await;
        progress("who may ask", Duration::from_secs(10));
        access::test(asker, detail, ledger).await;
        progress("grpc.health.v1", Duration::from_secs(20));
        grpc::test(asker, detail, ledger).await;
        progress("queries", Duration::from_secs(20));
        query::test(asker, detail, ledger).await;
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
        if self.plan.limits {
            progress("more questions than are allowed", Duration::from_secs(40));
            limits::test(asker, ledger).await;
        }
    }
}

fn spawn(launch: &Launch) -> Result<Process, Trouble> {
    Process::start(launch).map_err(|error| Trouble::NoProgram {
        program: launch.to_string(),
        error,
    })
}

fn blocked(reason: &NotStarted) -> Evidence {
    let last = reason.output().last();
    let last = last.map_or(String::new(), |line| {
        format!("; it said last: {}", crate::ask::shown(line))
    });
    Evidence::new(
        "GET /startupz while the service starts and its dependencies do not answer",
        format!("{reason}{last}"),
        "200: a first result that is bad is a result",
    )
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
