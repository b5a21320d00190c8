//! `agent`: what the sidecar costs: resident memory and processor time of `rootward agent` with ten checks every 10 s.
//!
//! The program is the one beside this one (`cargo build --profile bench -p rootward-cli`), so that what is measured is
//! what is shipped.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::child::{Child, free_address};
use crate::client::Crowd;
use crate::cpu;
use crate::footprint::{PROBES, resident};
use crate::goal::{Bound, Goal, Outcome};
use crate::load::Load;
use crate::plan::{CONNECTIONS, Plan};
use crate::statistics::Figures;
use crate::subject::CHECKS;
use crate::temporary::Directory;

/// What the stand-in for another service answers to each question.
const READY: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 31\r\n\r\n{\"ready\":true,\"serving\":true}\r\n";

/// Where real servers are, if `./test --only-servers` has started some: their checks take the place of others.
const SERVERS: [(&str, &str); 2] = [
    ("ROOTWARD_TEST_POSTGRES_URL", "postgresql"),
    ("ROOTWARD_TEST_REDIS_URL", "redis"),
];

/// One sidecar, measured.
#[derive(Debug)]
struct Measured {
    started: f64,
    asked: f64,
    share: f64,
}

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let before = Load::now();
    let directory = Directory::create()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let service = listener.local_addr()?;
    // Dropped, and so aborted, with the set.
    let mut serving = JoinSet::new();
    serving.spawn(serve(listener));
    let mut measured = Vec::new();
    for _ in 0..plan.rounds {
        measured.push(measure(service, plan, &directory).await?);
    }
    let servers = SERVERS
        .iter()
        .filter(|(variable, _)| std::env::var_os(variable).is_some())
        .map(|(_, kind)| *kind);
    let servers: Vec<_> = servers.collect();
    let mut table = format!(
        "rootward agent with {CHECKS} checks every 10 s: {} of a real server ({}), the others of a service's readiness\n\
         resident memory (VmRSS) with all checks healthy, and when every endpoint has been asked over {CONNECTIONS} connections\n\
         processor time, user and system, of the whole process while nobody asks, over {:?}\n\
         load average {before} before, {} after\n\n\
         round   RSS KiB started    asked   CPU % of a core\n",
        servers.len(),
        if servers.is_empty() {
            "none".to_owned()
        } else {
            servers.join(", ")
        },
        plan.window,
        Load::now()
    );
    for (round, one) in measured.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{:>5}   {:>15.0} {:>8.0}   {:>15.4}",
            round + 1,
            one.started,
            one.asked,
            one.share
        );
    }
    let figures = |of: fn(&Measured) -> f64| Figures::new(measured.iter().map(of));
    let (asked, share) = (figures(|one| one.asked), figures(|one| one.share));
    let goals = vec![
        Goal::new(
            "P7",
            "memory of the sidecar, asked, in MiB",
            Bound::AtMost(15.0),
            Ok(asked.median() / 1024.0),
        ),
        Goal::new(
            "P7",
            format!("CPU of the sidecar with {CHECKS} checks every 10 s, in % of a core"),
            Bound::AtMost(0.5),
            Ok(share.median()),
        ),
    ];
    Ok(Outcome { table, goals })
}

async fn measure(service: SocketAddr, plan: &Plan, directory: &Directory) -> io::Result<Measured> {
    let address = free_address()?;
    let file = directory.write("agent.yaml", &file(address, service))?;
    let mut command = Command::new(program()?);
    command.arg("agent").arg(&file).env("ROOTWARD_LOG", "warn");
    let mut child = Child::start("agent", &mut command, directory)?;
    child.healthy(address, "/health").await?;
    let started = resident(child.id())?;
    for path in PROBES {
        let crowd = Crowd::open_refusable(address, path, CONNECTIONS).await?;
        crowd.ask_for(plan.closed_loop).await?;
    }
    let asked = resident(child.id())?;
    let (begin, spent) = (Instant::now(), cpu::of_group(child.id())?);
    sleep(plan.window).await;
    let (took, spent_then) = (begin.elapsed(), cpu::of_group(child.id())?);
    let spent = spent_then.saturating_sub(spent);
    Ok(Measured {
        started,
        asked,
        share: spent.as_secs_f64() / took.as_secs_f64() * 100.0,
    })
}

/// The program that is shipped, beside this one.
fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("rootward");
    if program.exists() {
        return Ok(program);
    }
    Err(io::Error::other(format!(
        "{} is missing: cargo build --profile bench -p rootward-cli",
        program.display()
    )))
}

fn file(address: SocketAddr, service: SocketAddr) -> String {
    let mut text = format!(
        "service: {{name: bench, instance: bench-0}}\nlisten: {{bind: \"{address}\"}}\nchecks:\n"
    );
    for number in 0..CHECKS {
        let server = SERVERS.get(number);
        let server = server.filter(|(variable, _)| std::env::var_os(variable).is_some());
        let what = match server {
            Some((variable, kind)) => format!("{kind}: {{url: {{env: {variable}}}}}"),
            None => format!("service: {{url: \"http://{service}/readyz\"}}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "- {{name: check-{number}, {what}, criticality: hard}}"
        );
    }
    text
}

/// Answers every question on every connection alike.
async fn serve(listener: TcpListener) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) {
    let mut question = [0; 4096];
    // A question of ours comes in one piece.
    while matches!(stream.read(&mut question).await, Ok(1..)) {
        if stream.write_all(READY).await.is_err() {
            return;
        }
    }
}
