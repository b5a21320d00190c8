//! A service in distress, for the proof of what the crate promises: it embeds the crate with the checks that it is
//! asked for, and does to itself what it is told over a control port.
//!
//! Checks come from `DISTRESS_CHECKS`, such as `hang:20,panic`. The control port takes one command a connection and
//! answers when it has taken effect; it has a thread of its own, so that it hears while the runtime is blocked.

mod checks;
mod commands;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rootward::{Access, Health};
use tokio::runtime::Handle;

use checks::Tallies;
use commands::{Commands, obey};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Workers of the runtime.
const WORKERS: usize = 2;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build();
    let ended = runtime
        .map_err(Error::from)
        .and_then(|runtime| runtime.block_on(run()));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("distressed: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let control = TcpListener::bind(local("DISTRESS_CONTROL_PORT")?)?;
    let mut tallies = Tallies::new();
    let health = match std::env::var("DISTRESS_CHECKS") {
        // Without the crate, to see what it costs.
        Err(_) => None,
        Ok(checks) => Some(Arc::new(start(&checks, &mut tallies)?)),
    };
    let commands = Commands {
        runtime: Handle::current(),
        tallies,
        health,
        heartbeat: Mutex::default(),
    };
    let thread = thread::Builder::new().name("control".to_owned());
    let handle = thread.spawn(move || obey(&control, &commands))?;
    // Signals end the process by their default action; the control thread ends with it.
    tokio::task::spawn_blocking(move || handle.join())
        .await?
        .map_err(|_| "the control thread panicked")?;
    Ok(())
}

fn start(checks: &str, tallies: &mut Tallies) -> Result<Health, Error> {
    let mut builder = Health::builder("distressed")
        // The flood asks what nobody may ask that often, to see what the answers cost.
        .access(Access::loopback().unlimited_rates())
        .instance("distressed-0")
        .listen(local("DISTRESS_PROBE_PORT")?)
        .interval(millis("DISTRESS_INTERVAL_MS")?)
        .timeout(millis("DISTRESS_TIMEOUT_MS")?);
    if std::env::var("DISTRESS_WEDGE_LIMIT_MS").is_ok() {
        builder = builder.wedge_limit(millis("DISTRESS_WEDGE_LIMIT_MS")?);
    }
    for kind in checks.split(',').filter(|kind| !kind.is_empty()) {
        let (kind, count) = kind.split_once(':').unwrap_or((kind, "1"));
        for number in 0..count.parse()? {
            builder = checks::add(builder, kind, number, tallies)?;
        }
    }
    Ok(builder.start()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a service in distress blocks its threads"
)]
fn sleep(duration: Duration) {
    thread::sleep(duration);
}

fn millis(name: &str) -> Result<Duration, Error> {
    Ok(Duration::from_millis(variable(name)?.parse()?))
}

fn local(name: &str) -> Result<SocketAddr, Error> {
    Ok((Ipv4Addr::LOCALHOST, variable(name)?.parse()?).into())
}

fn variable(name: &str) -> Result<String, Error> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

#[expect(
    clippy::print_stderr,
    reason = "its log is what a test shows when it fails"
)]
fn complain(text: &str) {
    eprintln!("{text}");
}
