//! Servers side by side: each round measures every one of them, in rotating order, and ratios are taken inside a round.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::child::Child;
use crate::client::{self, Connection, Size};
use crate::cpu;
use crate::load::Load;
use crate::plan::{CONNECTIONS, Plan};
use crate::statistics::{Figures, Latencies};

/// A server that takes part.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) path: &'static str,
    pub(crate) code: u16,
    pub(crate) serving: Serving,
}

/// Who serves: whose processor time is an answer's.
#[derive(Debug)]
pub(crate) enum Serving {
    /// The thread of this process with this name.
    Thread(&'static str),
    /// A program with all its processes, which lives as long as this.
    Program(Child),
}

impl Serving {
    fn spent(&self) -> io::Result<Duration> {
        match self {
            Self::Thread(name) => cpu::of_thread(name),
            Self::Program(child) => cpu::of_group(child.id()),
        }
    }
}

/// Who did not take part, and a sentence why.
#[derive(Debug, Clone)]
pub(crate) struct Absent {
    pub(crate) name: &'static str,
    pub(crate) why: String,
}

impl Absent {
    /// Why somebody did not take part.
    pub(crate) fn reason(absent: &[Self], name: &str) -> String {
        let found = absent.iter().find(|absent| absent.name == name);
        found.map_or_else(
            || format!("{name} did not take part"),
            |absent| absent.why.clone(),
        )
    }
}

/// One server in one round.
#[derive(Debug, Clone)]
struct Side {
    per_second: f64,
    /// Processor time, user and system, of all that serves, for each answer of the closed loop.
    cpu_us: f64,
    latencies: Latencies,
}

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    names: Vec<&'static str>,
    sizes: Vec<Size>,
    /// By round, then by contender.
    rounds: Vec<Vec<Side>>,
    before: Load,
    after: Load,
}

/// Which figure a ratio is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    Cpu,
    PerSecond,
}

/// Measures all contenders. The first one is ours.
pub(crate) async fn run(contenders: &[Contender], plan: &Plan) -> io::Result<Measured> {
    let before = Load::now();
    let mut sizes = Vec::new();
    for contender in contenders {
        sizes.push(
            contender
                .ask()
                .await
                .map_err(|error| contender.blame(&error))?,
        );
    }
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        let mut sides: Vec<(usize, Side)> = Vec::new();
        for place in 0..contenders.len() {
            let at = (round + place) % contenders.len();
            let side = contenders[at].measure(plan).await;
            sides.push((at, side.map_err(|error| contenders[at].blame(&error))?));
        }
        sides.sort_by_key(|(at, _)| *at);
        rounds.push(sides.into_iter().map(|(_, side)| side).collect());
    }
    Ok(Measured {
        names: contenders.iter().map(|contender| contender.name).collect(),
        sizes,
        rounds,
        before,
        after: Load::now(),
    })
}

impl Contender {
    async fn ask(&self) -> io::Result<Size> {
        let mut connection = Connection::open(self.address, self.path, self.code).await?;
        connection.ask().await
    }

    async fn measure(&self, plan: &Plan) -> io::Result<Side> {
        let (address, path, code) = (self.address, self.path, self.code);
        let before = self.serving.spent()?;
        let closed = client::throughput(address, path, code, CONNECTIONS, plan.closed_loop).await?;
        let spent = self.serving.spent()?.saturating_sub(before);
        let latencies = client::latencies(address, path, code, plan.paced, plan.pace).await?;
        Ok(Side {
            per_second: closed.answers / closed.took.as_secs_f64(),
            cpu_us: spent.as_secs_f64() * 1e6 / closed.answers,
            latencies,
        })
    }

    fn blame(&self, error: &io::Error) -> io::Error {
        io::Error::other(format!("measuring {}: {error}", self.name))
    }
}

impl Measured {
    /// Ours over another one's, round by round; `None` where the other did not take part.
    pub(crate) fn ours_over(&self, name: &str, figure: Figure) -> Option<Figures> {
        let at = self.names.iter().position(|other| *other == name)?;
        Some(self.ratios(figure, 0, at))
    }

    /// Another one's over ours, round by round.
    pub(crate) fn over_ours(&self, name: &str, figure: Figure) -> Option<Figures> {
        let at = self.names.iter().position(|other| *other == name)?;
        Some(self.ratios(figure, at, 0))
    }

    fn ratios(&self, figure: Figure, above: usize, below: usize) -> Figures {
        let of = |side: &Side| match figure {
            Figure::Cpu => side.cpu_us,
            Figure::PerSecond => side.per_second,
        };
        let rounds = self.rounds.iter();
        Figures::new(rounds.map(|sides| of(&sides[above]) / of(&sides[below])))
    }

    /// How many answers of ours came late, of how many.
    pub(crate) fn ours_late(&self) -> (usize, usize) {
        let ours = Latencies::all(self.rounds.iter().map(|sides| &sides[0].latencies));
        (ours.late(), ours.count())
    }

    /// The table: every round of every contender, then the ratios.
    pub(crate) fn table(&self, title: &str, plan: &Plan, absent: &[Absent]) -> String {
        let mut text = format!(
            "{title}\n{CONNECTIONS} keep-alive connections in a closed loop for {:?}, then {} requests, one every {:?}; {} rounds, order rotating\n\
             load average {} before, {} after\n\n",
            plan.closed_loop,
            plan.paced,
            plan.pace,
            self.rounds.len(),
            self.before,
            self.after
        );
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "round  {:<28} {:>10} {:>9} {:>8} {:>8}  {:>13} {:>11}  {:>11}",
            "server",
            "answers/s",
            "CPU us",
            "p50 ms",
            "p99 ms",
            "CPU ours/its",
            "/s ours/its",
            "head+body B"
        );
        for (round, sides) in self.rounds.iter().enumerate() {
            for (at, side) in sides.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{:>5}  {:<28} {:>10.0} {:>9.1} {:>8.2} {:>8.2}  {:>13.2} {:>11.2}  {:>11}",
                    round + 1,
                    self.names[at],
                    side.per_second,
                    side.cpu_us,
                    side.latencies.percentile(500),
                    side.latencies.percentile(990),
                    sides[0].cpu_us / side.cpu_us,
                    sides[0].per_second / side.per_second,
                    format!("{}+{}", self.sizes[at].head, self.sizes[at].body)
                );
            }
        }
        text.push('\n');
        for (at, name) in self.names.iter().enumerate().skip(1) {
            let _ = writeln!(
                text,
                "ours / {name}: CPU {}, answers/s {}; {name} / ours: CPU {}",
                self.ratios(Figure::Cpu, 0, at),
                self.ratios(Figure::PerSecond, 0, at),
                self.ratios(Figure::Cpu, at, 0)
            );
        }
        for Absent { name, why } in absent {
            let _ = writeln!(text, "{name}: not measured: {why}");
        }
        text
    }
}
