//! `footprint`: what a program gains by the crate in memory and processor time: the same program with and without it.
//! Goal P6.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::child::Child;
use crate::client::Crowd;
use crate::cpu;
use crate::goal::{Bound, Goal, Outcome};
use crate::host;
use crate::load::Load;
use crate::plan::{CONNECTIONS, Plan};
use crate::statistics::Figures;
use crate::subject::CHECKS;
use crate::temporary::Directory;

/// How many pairs stay alive while their processor time is counted.
const COUNTED_PAIRS: usize = 3;

pub(crate) const PROBES: [&str; 4] = ["/livez", "/readyz", "/status", "/health"];

/// One program, measured.
#[derive(Debug)]
struct Program {
    child: Child,
    /// Resident memory in KiB: started, and when all its endpoints have been asked over many connections.
    started: f64,
    asked: f64,
}

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let before = Load::now();
    let directory = Directory::create()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let dependency = listener.local_addr()?;
    // What all checks connect to; dropped, and so aborted, with the set.
    let mut accepting = tokio::task::JoinSet::new();
    accepting.spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    let mut pairs = Vec::new();
    for start in 0..plan.starts {
        // The order rotates.
        let first = start % 2 == 1;
        let one = Program::start(dependency, first, plan, &directory).await?;
        let other = Program::start(dependency, !first, plan, &directory).await?;
        let pair = if first { (other, one) } else { (one, other) };
        pairs.push(pair);
    }
    let counted = &pairs[pairs.len().saturating_sub(COUNTED_PAIRS)..];
    let shares = shares(counted, plan).await?;
    let mut text = format!(
        "a program with a runtime of 2 workers and an HTTP server of its own, without and with rootward: {CHECKS} checks every {:?}, \
         each a TCP connect, and its probe listener\n\
         resident memory (VmRSS) when started, and when every endpoint has been asked over {CONNECTIONS} connections; {} starts of each\n\
         processor time, user and system, of the whole process while nobody asks, over {:?}, the last {} pairs at once\n\
         load average {before} before, {} after\n\n",
        host::INTERVAL,
        pairs.len(),
        plan.window,
        counted.len(),
        Load::now()
    );
    memory_table(&mut text, &pairs);
    let added = |of: fn(&Program) -> f64| {
        Figures::new(pairs.iter().map(|(without, with)| of(with) - of(without)))
    };
    let (started, asked) = (added(|p| p.started), added(|p| p.asked));
    text.push_str("\npair   CPU % of a core: without     with    added\n");
    for (pair, (without, with)) in shares.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:>4}   {without:>24.4} {with:>8.4} {:>8.4}",
            pair + 1,
            with - without
        );
    }
    let cpu = Figures::new(shares.iter().map(|(without, with)| with - without));
    let _ = writeln!(
        text,
        "\nadded memory, KiB: started {started:.0}; asked {asked:.0}\nadded CPU, % of a core: {cpu:.4}"
    );
    let goals = vec![
        Goal::new(
            "P6",
            "memory added to the program, asked, in MiB",
            Bound::AtMost(2.0),
            Ok(asked.median() / 1024.0),
        ),
        Goal::new(
            "P6",
            format!("CPU of {CHECKS} checks every 10 s, in % of a core"),
            Bound::AtMost(0.1),
            Ok(cpu.median()),
        ),
    ];
    Ok(Outcome { table: text, goals })
}

impl Program {
    async fn start(
        dependency: SocketAddr,
        embeds: bool,
        plan: &Plan,
        directory: &Directory,
    ) -> io::Result<Self> {
        let word = if embeds { "with" } else { "without" };
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["host", &dependency.to_string(), word]);
        let mut child = Child::start("host", &mut command, directory)?;
        let line = child.first_line().await?;
        let addresses: Result<Vec<SocketAddr>, _> = line.split(' ').map(str::parse).collect();
        let addresses = addresses.map_err(io::Error::other)?;
        let [own, probes @ ..] = addresses.as_slice() else {
            return Err(io::Error::other("the host has no address"));
        };
        // The first round of all checks, within a loopback's time.
        child.healthy(*own, "/").await?;
        for probes in probes {
            child.healthy(*probes, "/health").await?;
        }
        let started = resident(child.id())?;
        ask(*own, "/", plan).await?;
        for probes in probes {
            for path in PROBES {
                ask(*probes, path, plan).await?;
            }
        }
        let asked = resident(child.id())?;
        Ok(Self {
            child,
            started,
            asked,
        })
    }
}

async fn ask(address: SocketAddr, path: &'static str, plan: &Plan) -> io::Result<()> {
    let crowd = Crowd::open_refusable(address, path, CONNECTIONS).await?;
    crowd.ask_for(plan.closed_loop).await.map(drop)
}

/// Processor time of the programs of each pair, without and with, in percent of a core, in the same window.
async fn shares(pairs: &[(Program, Program)], plan: &Plan) -> io::Result<Vec<(f64, f64)>> {
    let spent = || -> io::Result<Vec<_>> {
        let of = |program: &Program| cpu::of_group(program.child.id());
        pairs
            .iter()
            .map(|(without, with)| Ok((of(without)?, of(with)?)))
            .collect()
    };
    let (begin, before) = (Instant::now(), spent()?);
    sleep(plan.window).await;
    let (took, after) = (begin.elapsed(), spent()?);
    let share = |before, after: std::time::Duration| {
        after.saturating_sub(before).as_secs_f64() / took.as_secs_f64() * 100.0
    };
    let rounds = before.into_iter().zip(after);
    Ok(rounds
        .map(|(before, after)| (share(before.0, after.0), share(before.1, after.1)))
        .collect())
}

fn memory_table(text: &mut String, pairs: &[(Program, Program)]) {
    text.push_str(
        "start  RSS KiB started: without     with    added   asked: without     with    added\n",
    );
    for (start, (without, with)) in pairs.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:>5}  {:>24.0} {:>8.0} {:>8.0}   {:>14.0} {:>8.0} {:>8.0}",
            start + 1,
            without.started,
            with.started,
            with.started - without.started,
            without.asked,
            with.asked,
            with.asked - without.asked
        );
    }
}

/// Resident memory in KiB: VmRSS of proc(5).
pub(crate) fn resident(process: u32) -> io::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| io::Error::other("the host has ended"))
}
