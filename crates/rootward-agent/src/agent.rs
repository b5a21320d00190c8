//! The running agent: starts what the file says, takes up what it says later, and ends when the platform asks for it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use rootward::{Builder, Health};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::access::{access, digests};
use crate::error::StartError;
use crate::file::{self, Values};
use crate::plan::Plan;
use crate::reload::{LOOK, Reading, Refusal, Watched, needs_restart, next};

/// The finding that says that the file has changed and is refused.
const REFUSED: &str = "reload_refused";

/// A running agent.
pub struct Agent {
    health: Health,
    watched: Watched,
    plan: Plan,
    hangup: Signal,
}

impl Agent {
    /// Reads the file and starts what it says, with `env` as the environment. Must be called in a tokio runtime with
    /// its drivers enabled; the address is bound when this returns.
    ///
    /// # Errors
    /// When the file cannot be read or something is wrong with it, and when the address cannot be listened on. Nothing
    /// runs then.
    pub fn start(
        file: impl Into<PathBuf>,
        env: BTreeMap<String, String>,
    ) -> Result<Self, StartError> {
        let file = file.into();
        // Before anything else: until it is heard, SIGHUP ends the process.
        let hangup = signal(SignalKind::hangup()).map_err(StartError::Signal)?;
        let values = Values::default();
        let source = file::source(&file, &values)
            .map_err(|unread| StartError::Unreadable(unread.to_string()))?;
        let plan = Plan::compile_with(&source, &env, &values).map_err(StartError::Problems)?;
        let mut plan = plan;
        let health = builder(&mut plan).start()?;
        Ok(Self {
            health,
            watched: Watched::new(file, env, values.stamp()),
            plan,
            hangup,
        })
    }

    /// Where it answers.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.health.listen_addr()
    }

    /// What it runs.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The file that says what it runs.
    #[must_use]
    pub fn file(&self) -> &Path {
        self.watched.path()
    }

    /// Until SIGTERM or SIGINT was heard and the drain is over. Takes up what the file says until then. No task and no
    /// thread is left afterwards.
    pub async fn run(self) {
        let Self {
            health,
            mut watched,
            mut plan,
            mut hangup,
        } = self;
        {
            let mut drained = pin!(health.drain().stop_accepting());
            let follow = pin!(follow(&health, &mut watched, &mut plan, &mut hangup));
            tokio::select! {
                () = &mut drained => {}
                () = follow => {}
            }
        }
        health.stop().await;
    }
}

/// Takes up what the file says, for as long as it is polled.
async fn follow(health: &Health, watched: &mut Watched, plan: &mut Plan, hangup: &mut Signal) {
    let mut looks = interval_at(Instant::now() + LOOK, LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let reading = tokio::select! {
            Some(()) = hangup.recv() => watched.read_now().await,
            _ = looks.tick() => watched.look().await,
        };
        if let Some(reading) = reading {
            take_up(health, watched.path(), plan, reading).await;
        }
    }
}

/// What the file says now is run from here on, or refused as a whole.
async fn take_up(health: &Health, path: &Path, running: &mut Plan, reading: Reading) {
    let taken = match reading.plan {
        Ok(plan) => replace(health, path, running, plan).await,
        Err(refusal) => Err(refusal),
    };
    match taken {
        Ok(()) => health.clear_finding(REFUSED),
        Err(refusal) => {
            refusal.log(path);
            health.set_finding(REFUSED, &refusal.finding(path));
        }
    }
}

async fn replace(
    health: &Health,
    path: &Path,
    running: &mut Plan,
    mut plan: Plan,
) -> Result<(), Refusal> {
    if let Some(refusal) = needs_restart(&running.spec, &plan.spec) {
        return Err(refusal);
    }
    let (checks, difference) = next(&running.checks, &mut plan.checks);
    health
        .replace_checks(checks)
        .await
        .map_err(|error| Refusal::one(error.to_string()))?;
    let detail = &plan.spec.listen.detail;
    if *detail != running.spec.listen.detail {
        // How many there are was judged, and that there were some before.
        if let Err(error) = health.set_tokens(digests(detail)) {
            tracing::warn!(target: "rootward", %error, "the tokens are not replaced");
        }
    }
    *running = plan;
    tracing::info!(
        target: "rootward",
        file = %path.display(),
        kept = difference.kept,
        begun = difference.begun,
        ended = difference.ended,
        "the file was read again"
    );
    Ok(())
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("file", &self.watched.path())
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

/// Tells the builder one part of who the service is.
type Say = fn(Builder, String) -> Builder;

/// The health of the plan, not started. Its checks move from the plan.
fn builder(plan: &mut Plan) -> Builder {
    let spec = &plan.spec;
    let service = &spec.service;
    let mut builder = Health::builder(service.name.as_str())
        .listen(spec.listen.bind)
        .access(access(&spec.listen.detail))
        // Nothing is in flight when it stops: an answer takes no time.
        .drain_grace(Duration::ZERO)
        .drain_on_sigterm();
    if let Some(drain) = spec.application.drain {
        builder = builder.drain_delay(drain);
    }
    let parts: [(_, Say); 6] = [
        (&service.version, Builder::version),
        (&service.instance, Builder::instance),
        (&service.environment, Builder::environment),
        (&service.namespace, Builder::namespace),
        (&service.zone, Builder::zone),
        (&service.host, Builder::host),
    ];
    for (name, say) in parts {
        if let Some(name) = name {
            builder = say(builder, name.as_str().to_owned());
        }
    }
    for planned in &mut plan.checks {
        if let Some(check) = planned.check.take() {
            builder = builder.check(check);
        }
    }
    builder
}
