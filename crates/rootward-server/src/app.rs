//! The aggregator as a whole: built, then run, then gone.
//!
//! Building binds the address and starts nothing. Running starts two tasks, the loop that decides and the listener
//! that answers, and returns when both have ended: then no task that it started is alive.

use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use rootward_config::Checked;
use rootward_core::Engine;
use rootward_history::{History, Memory};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::api;
use crate::clock::Clock;
use crate::discovery::Discovery;
use crate::driver::Driver;
use crate::error::{Error, Kind, Refusal};
use crate::events;
use crate::ledger::Ledger;
use crate::listener::{self, Limits};
use crate::metrics::Metrics;
use crate::poller::{MAX_POLLS_IN_FLIGHT, Poller};
use crate::published::SnapshotReader;
use crate::pushed::MAX_UNHEARD;
use crate::recorder::Recorder;
use crate::reload::{Described, Prepared, Reloader};
use crate::self_checks::SelfChecking;
use crate::stop;
use crate::summary::Summary;

/// An aggregator that listens and does nothing yet.
///
/// ```no_run
/// # async fn example(config: rootward_config::Checked) -> Result<(), rootward_server::Error> {
/// let app = rootward_server::App::build(config)?;
/// println!("open http://{}/", app.local_addr());
/// let summary = app.run(std::future::pending()).await?;
/// println!("{} polls", summary.polls.total());
/// # Ok(())
/// # }
/// ```
pub struct App {
    listener: TcpListener,
    address: SocketAddr,
    driver: Driver,
    router: Router,
    snapshots: SnapshotReader,
    targets: usize,
    reloader: Reloader,
}

impl App {
    /// Binds the address of the configuration. Connections wait in the system's queue until [`App::run`].
    ///
    /// # Errors
    /// When the address cannot be had, or a target cannot be asked.
    pub fn build(config: Checked) -> Result<Self, Error> {
        Self::build_with(config, Box::new(Memory::new()))
    }

    pub(crate) fn build_with(config: Checked, history: Box<dyn History>) -> Result<Self, Error> {
        let (environment, groups) = (config.aggregator.environment.clone(), config.groups.clone());
        let bind = config.listen_internal;
        let Prepared {
            map,
            roster,
            settings,
            references,
        } = Prepared::new(config)?;
        let (listener, address) = listen(bind)?;

        let clock = Arc::new(Clock::start());
        let count = roster.len();
        let (describe, described) = watch::channel(Arc::new(Described {
            environment,
            groups,
            loaded_at: clock.now(),
            reloads: 0,
            refused: None,
        }));
        let engine = Engine::new(
            Arc::clone(&map),
            roster.targets(),
            settings.clone(),
            clock.now(),
        );
        let (publish, published) = watch::channel(engine.snapshot());
        let snapshots = SnapshotReader::new(published, Arc::clone(&clock));
        let metrics = Arc::new(Metrics::new(snapshots.clone(), described.clone()));
        let ledger = Ledger::new(history);
        let (pushes, pushed) = mpsc::channel(MAX_UNHEARD);
        let router = api::router(api::Shared {
            pushes,
            snapshots: snapshots.clone(),
            history: ledger.reader(),
            write_health: ledger.write_health(),
            metrics: Arc::clone(&metrics),
            described,
        });
        // One at a time: what is asked for next has seen what became of this.
        let (requests, reloads) = mpsc::channel(1);
        let reloader = Reloader::new(
            requests,
            describe,
            bind,
            Arc::clone(&clock),
            Arc::clone(&metrics),
        );
        Ok(Self {
            listener,
            address,
            driver: Driver {
                engine,
                ledger,
                poller: Poller::new(
                    roster.asks(),
                    MAX_POLLS_IN_FLIGHT,
                    Arc::clone(&clock),
                    Arc::clone(&metrics),
                ),
                map,
                settings,
                roster,
                discovery: Discovery::new(),
                self_checks: SelfChecking::new(references),
                recorder: None,
                clock,
                publish,
                metrics,
                summary: Summary::default(),
                reloads,
                pushed,
            },
            router,
            snapshots,
            targets: count,
            reloader,
        })
    }

    /// Writes everything the diagnosis is told into files in this directory, for `rootward replay`. Each holds at most
    /// 64 MiB, and the newest 32 are kept.
    ///
    /// # Errors
    /// When the directory or the first file cannot be made.
    pub fn record(&mut self, directory: &Path) -> Result<(), Error> {
        let clock = &self.driver.clock;
        let now = clock.now();
        let millis = clock.read().time(now).as_unix_millis();
        let seconds = u64::try_from(millis / 1_000).unwrap_or_default();
        let recorder = Recorder::start(directory, now, seconds).map_err(|source| Kind::Record {
            directory: directory.to_owned(),
            source,
        })?;
        self.driver.engine.record();
        self.driver.recorder = Some(recorder);
        Ok(())
    }

    /// Where it listens. A configured port of 0 has become a real one.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Gives this aggregator other configurations while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Reads snapshots in this process, during the run and after it.
    #[must_use]
    pub fn snapshots(&self) -> SnapshotReader {
        self.snapshots.clone()
    }

    /// Runs until `stop` completes, which is heard at once, also in the middle of a poll. When it returns, no task
    /// that it started is alive and the address is free again. Only a name lookup that the system's resolver holds
    /// outlives it, on a thread of the runtime's for blocking work (see [`rootward_fetch::MAX_LOOKUPS`]).
    ///
    /// # Errors
    /// When a part of it ended by itself, which is a fault of ours. The rest was stopped then, too.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<Summary, Error> {
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(|error| not_listening(self.address, error))?;
        events::started(
            self.address,
            self.snapshots.current().services.len(),
            self.targets,
        );
        let (give_stop, stop_given) = stop::pair();
        let mut parts = JoinSet::new();
        let decide = self.driver.run(stop_given.clone());
        parts.spawn(async { Part::Loop(decide.await) });
        let serve = listener::serve(listener, self.router, Limits::DEFAULT, stop_given);
        parts.spawn(async { Part::Listener(serve.await) });

        let mut ended = Vec::new();
        tokio::select! {
            () = pin!(stop) => {}
            // Neither part returns before stop is given, so this one panicked.
            part = parts.join_next() => ended.extend(part),
        }
        give_stop.stop();
        while let Some(part) = parts.join_next().await {
            ended.push(part);
        }
        let mut summary = None;
        let mut connections = None;
        for part in ended {
            match part {
                Ok(Part::Loop(counted)) => summary = Some(counted),
                Ok(Part::Listener(counted)) => connections = Some(counted),
                // Which one it was shows in what is missing below; the panic itself was printed by the hook.
                Err(_) => {}
            }
        }
        let counted = summary.ok_or(Kind::Ended("polling loop"))?;
        let connections = connections.ok_or(Kind::Ended("listener"))?;
        let summary = Summary {
            connections,
            ..counted
        };
        events::stopped(&summary);
        Ok(summary)
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("address", &self.address)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

/// What a part of the run left behind.
#[derive(Debug)]
enum Part {
    Loop(Summary),
    Listener(u64),
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let bound = || -> std::io::Result<_> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    bound().map_err(|error| not_listening(address, error))
}

fn not_listening(address: SocketAddr, error: std::io::Error) -> Error {
    Kind::Listen {
        address,
        source: Refusal(error),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rootward_core::incident::IncidentEvent;
    use rootward_core::snapshot::Transition;
    use rootward_history::Reader;
    use tokio::runtime::Handle;
    use tokio::time::timeout;

    use super::*;
    use crate::sample;

    /// A history with a fault that nobody foresaw.
    #[derive(Debug)]
    struct Faulty;

    impl History for Faulty {
        fn record(&mut self, _: &Transition) -> Result<(), rootward_history::Error> {
            panic!("a fault that nobody foresaw")
        }

        fn record_incident(&mut self, _: &IncidentEvent) -> Result<(), rootward_history::Error> {
            panic!("a fault that nobody foresaw")
        }

        fn reader(&self) -> Arc<dyn Reader> {
            Memory::new().reader()
        }
    }

    #[tokio::test]
    async fn when_the_loop_dies_the_run_ends_with_an_error_and_nothing_stays() {
        let before = Handle::current().metrics().num_alive_tasks();
        let app = App::build_with(sample::unreachable_front(), Box::new(Faulty)).unwrap();
        let address = app.local_addr();
        let run = timeout(Duration::from_secs(20), app.run(std::future::pending()));
        let error = run.await.expect("it ends").unwrap_err();
        assert_eq!(error.to_string(), "the polling loop ended by itself");
        assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
        assert!(TcpListener::bind(address).is_ok(), "the address is taken");
    }

    #[tokio::test]
    async fn a_target_that_cannot_be_asked_is_named_before_anything_starts() {
        let mut config = sample::unreachable_front();
        config.targets[0].url = "ftp://front/health".into();
        let error = App::build(config).unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        insta::assert_snapshot!(format!("{error}: {source}"), @"cannot poll front#0: only http:// URLs can be asked");
    }
}
