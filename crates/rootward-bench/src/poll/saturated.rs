//! Polls as fast as they can be made: everybody ten times a second, beside a bare connection of hyper in a closed loop.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::{ALL_ASKED, goal, per_answer};
use crate::aggregator::Aggregator;
use crate::child::Child;
use crate::cpu;
use crate::goal::{Bound, Outcome};
use crate::mock::Answers;
use crate::mocked::{Mocked, roots};
use crate::plan::Plan;
use crate::statistics::Figures;
use crate::temporary::Directory;

/// The shortest that a configuration may ask for.
const INTERVAL: Duration = Duration::from_millis(100);

/// Where TLS is compared: the time for a handshake on a busy machine is longer than the shortest interval allows.
const TLS_INTERVAL: Duration = Duration::from_secs(2);

/// What takes part.
const SIDES: [Side; 5] = [Side::Ours, Side::Bare, Side::Same, Side::Plain, Side::Tls];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Bare,
    Same,
    Plain,
    Tls,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Bare => "bare hyper, parse only",
            Self::Same => "ours, the same bytes again",
            Self::Plain => "ours every 2 s, plain",
            Self::Tls => "ours every 2 s, TLS",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    per_second: f64,
    cpu_us: f64,
}

pub(super) async fn run(plan: &Plan, directory: &Directory) -> io::Result<Outcome> {
    let count = plan.saturated;
    let pem = roots("saturated", directory);
    let plain = Mocked::start("fleet", Answers::Fresh, None, directory).await?;
    let same = Mocked::start("fleet-same", Answers::Same, None, directory).await?;
    let tls = Some((count, pem.as_path()));
    let secured = Mocked::start("fleet-tls", Answers::Fresh, tls, directory).await?;
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        let mut measured = [None; SIDES.len()];
        for turn in 0..SIDES.len() {
            let at = (round + turn) % SIDES.len();
            let side = SIDES[at];
            let (mock, roots) = match side {
                Side::Ours | Side::Bare | Side::Plain => (&plain, None),
                Side::Same => (&same, None),
                Side::Tls => (&secured, pem.to_str()),
            };
            let one = measure(side, mock, roots, plan, directory).await;
            measured[at] = Some(one.map_err(|error| {
                io::Error::other(format!("measuring {}: {error}", side.name()))
            })?);
        }
        rounds.push(measured.map(|one| one.expect("every side had its turn")));
    }
    Ok(outcome(count, &rounds))
}

async fn measure(
    side: Side,
    mock: &Mocked,
    roots: Option<&str>,
    plan: &Plan,
    directory: &Directory,
) -> io::Result<Measured> {
    let count = plan.saturated;
    mock.reset().await?;
    let interval = match side {
        Side::Ours | Side::Bare | Side::Same => INTERVAL,
        Side::Plain | Side::Tls => TLS_INTERVAL.min(plan.interval),
    };
    let running = match side {
        Side::Ours | Side::Same | Side::Plain | Side::Tls => Running::Ours(
            Aggregator::start("saturated", count, mock.port, interval, roots, directory).await?,
        ),
        Side::Bare => Running::Bare(bare(count, mock.port, directory)?),
    };
    mock.asked(count, ALL_ASKED).await?;
    sleep(plan.warm_up).await;
    let (begin, spent, answers) = (
        Instant::now(),
        running.spent()?,
        mock.count().await?.answers,
    );
    sleep(plan.saturated_window).await;
    let (took, spent, answers) = (
        begin.elapsed(),
        running.spent()?.saturating_sub(spent),
        mock.count().await?.answers - answers,
    );
    Ok(Measured {
        per_second: answers / took.as_secs_f64(),
        cpu_us: per_answer(spent, answers),
    })
}

#[derive(Debug)]
enum Running {
    Ours(Aggregator),
    Bare(Child),
}

impl Running {
    fn spent(&self) -> io::Result<Duration> {
        match self {
            Self::Ours(aggregator) => aggregator.spent(),
            Self::Bare(child) => cpu::of_group(child.id()),
        }
    }
}

fn bare(count: u32, port: u16, directory: &Directory) -> io::Result<Child> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["asker", "bare", &count.to_string(), &port.to_string()]);
    Child::start("bare", &mut command, directory)
}

fn outcome(count: u32, rounds: &[[Measured; SIDES.len()]]) -> Outcome {
    let mut table = format!(
        "saturated: {count} targets, ours with an interval of {INTERVAL:?}, bare hyper in a closed loop of 64; {} rounds, order rotating\n\
         round  {:<28} {:>10} {:>9} {:>12}\n",
        rounds.len(),
        "client",
        "polls/s",
        "CPU us",
        "over bare"
    );
    for (round, sides) in rounds.iter().enumerate() {
        for (side, measured) in SIDES.iter().zip(sides) {
            // Writing to a string does not fail.
            let _ = writeln!(
                table,
                "{:>5}  {:<28} {:>10.0} {:>9.1} {:>12.2}",
                round + 1,
                side.name(),
                measured.per_second,
                measured.cpu_us,
                measured.cpu_us / sides[1].cpu_us
            );
        }
    }
    let over = |one: usize, other: usize| {
        Figures::new(
            rounds
                .iter()
                .map(|sides| sides[one].cpu_us / sides[other].cpu_us),
        )
    };
    let (bare, same, tls) = (over(0, 1), over(2, 0), over(4, 3));
    let _ = writeln!(
        table,
        "ours / bare hyper: {bare}; TLS / plain: {tls}; the same bytes again / fresh ones: {same}"
    );
    let goals = vec![
        goal(
            "A1",
            "CPU of a saturated poll with parse, engine and store, ours / bare hyper",
            Bound::AtMost(1.4),
            &bare,
        ),
        goal("A7", "CPU of a poll, TLS / plain", Bound::AtMost(1.6), &tls),
    ];
    Outcome { table, goals }
}
