//! A small orchestrator: starts replicas, probes them, restarts on liveness, takes out of traffic on readiness.
//!
//! The rules are the defaults of Kubernetes, with times a tenth as long except for the time limit of a probe, which
//! stays at its 1 s: probe periods of 1 s, three failures in a row count, one success makes ready again, and a restart
//! waits twice as long as the one before. Liveness probes begin when the replica has been ready once, as with a startup
//! probe: nobody is killed for starting slowly.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run};
use rootward_fetch::{Limits, Request, Target, fetch};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::fleet::{Fleet, Probes, Replica};

/// What a start costs before the replica connects to its database: 20 s, scaled.
const START_UP: Duration = Duration::from_secs(2);

/// How long a start may take: thirty periods.
const START_LIMIT: Duration = Duration::from_secs(30);

const PERIOD: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(1);
const FAILURE_THRESHOLD: u32 = 3;

/// The wait before the second restart; the first comes at once. 10 s, scaled.
const BACK_OFF: Duration = Duration::from_secs(1);

/// 300 s, scaled.
const MAX_BACK_OFF: Duration = Duration::from_secs(30);

/// How soon an exit is noticed.
const LOOK: Duration = Duration::from_millis(100);

/// Keeps every replica of the fleet running until dropped.
pub(super) fn keep(run: &Run, fleet: &Arc<Fleet>) -> JoinSet<Result<(), Error>> {
    let mut keepers = JoinSet::new();
    for index in 0..fleet.replicas.len() {
        let (run, fleet) = (run.clone(), Arc::clone(fleet));
        keepers.spawn(keep_one(run, fleet, index));
    }
    keepers
}

async fn keep_one(run: Run, fleet: Arc<Fleet>, index: usize) -> Result<(), Error> {
    let replica = &fleet.replicas[index];
    let mut back_off = Duration::ZERO;
    loop {
        let process = start(&run, &fleet, index)?;
        probe(fleet.probes, replica, &process, index).await;
        replica.ready.store(false, Ordering::Relaxed);
        replica.restarts.fetch_add(1, Ordering::Relaxed);
        // Dropped, it is killed and waited for, which blocks.
        let killed = tokio::task::spawn_blocking(move || drop(process));
        killed.await.expect("nothing panics there");
        sleep(back_off).await;
        back_off = (back_off * 2).clamp(BACK_OFF, MAX_BACK_OFF);
    }
}

fn start(run: &Run, fleet: &Fleet, index: usize) -> Result<Process, Error> {
    let replica = &fleet.replicas[index];
    let name = format!("{}-{index}", fleet.probes.as_str());
    let mut command = Command::new(env!("CARGO_BIN_EXE_replica"));
    command.envs([
        ("REPLICA_PROBES", fleet.probes.as_str().to_owned()),
        ("REPLICA_NAME", name.clone()),
        ("REPLICA_DATABASE", fleet.database.clone()),
        ("REPLICA_PORT", replica.port.to_string()),
        ("REPLICA_PROBE_PORT", replica.probe_port.to_string()),
        ("REPLICA_START_UP_MS", START_UP.as_millis().to_string()),
    ]);
    Process::spawn(run, &name, command)
}

/// Probes a replica until it has to be restarted.
async fn probe(probes: Probes, replica: &Replica, process: &Process, index: usize) {
    let port = match probes {
        Probes::Naive => replica.port,
        Probes::Rootward => replica.probe_port,
    };
    // Probes of many replicas do not come all at once.
    let phase = PERIOD / 20 * u32::try_from(index % 20).unwrap_or(0);
    let exit = async {
        while process.is_alive() {
            sleep(LOOK).await;
        }
    };
    let (started, starts) = watch::channel(false);
    tokio::select! {
        () = exit => {}
        () = readiness(replica, port, phase, &started) => {}
        () = liveness(replica, port, starts) => {}
    }
}

/// Never ends.
async fn readiness(replica: &Replica, port: u16, delay: Duration, started: &watch::Sender<bool>) {
    sleep(delay).await;
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failures = 0;
    loop {
        period.tick().await;
        if passes(port, "/readyz").await {
            failures = 0;
            started.send_replace(true);
            replica.ready.store(true, Ordering::Relaxed);
        } else {
            failures += 1;
            replica
                .failed_probes
                .fetch_add(usize::from(*started.borrow()), Ordering::Relaxed);
            if failures >= FAILURE_THRESHOLD {
                replica.ready.store(false, Ordering::Relaxed);
            }
        }
    }
}

/// Until the replica counts as dead.
async fn liveness(replica: &Replica, port: u16, mut starts: watch::Receiver<bool>) {
    let started = starts.wait_for(|started| *started);
    if !matches!(timeout(START_LIMIT, started).await, Ok(Ok(_))) {
        return;
    }
    // Not at the same moment as readiness.
    sleep(PERIOD / 2).await;
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failures = 0;
    while failures < FAILURE_THRESHOLD {
        period.tick().await;
        if passes(port, "/livez").await {
            failures = 0;
        } else {
            failures += 1;
            replica.failed_probes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn passes(port: u16, path: &str) -> bool {
    get(port, path, TIMEOUT)
        .await
        .is_ok_and(|(code, _)| code == 200)
}

/// The code and the time that it took; a text for a person otherwise.
pub(super) async fn get(
    port: u16,
    path: &str,
    deadline: Duration,
) -> Result<(u16, Duration), String> {
    let target = Target::parse(&format!("http://127.0.0.1:{port}{path}")).expect("a URL");
    let limits = Limits {
        deadline,
        max_body_bytes: 1024 * 1024,
    };
    match fetch(&Request::get(&target), &limits).await {
        Ok(answer) => Ok((answer.status, answer.took)),
        Err(error) => Err(error.to_string()),
    }
}
