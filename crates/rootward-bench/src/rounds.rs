//! Servers side by side: each round measures every one of them, in rotating order, and ratios are taken inside a round.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::child::Child;
use crate::client::{self, Connection, Crowd, Size};
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
#[derive(Debug, Clone, Default)]
struct Side {
    answers: f64,
    took: Duration,
    /// Processor time, user and system, of all that serves.
    spent: Duration,
    latencies: Latencies,
}

impl Side {
    fn per_second(&self) -> f64 {
        self.answers / self.took.as_secs_f64()
    }

    /// For each answer of the closed loop, in microseconds.
    fn cpu_us(&self) -> f64 {
        self.spent.as_secs_f64() * 1e6 / self.answers
    }
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

/// Which way round a ratio is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ratio {
    OursOverIts,
    ItsOverOurs,
}

impl Ratio {
    fn of(self, ours: f64, its: f64) -> f64 {
        match self {
            Self::OursOverIts => ours / its,
            Self::ItsOverOurs => its / ours,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::OursOverIts => "ours/its",
            Self::ItsOverOurs => "its/ours",
        }
    }
}

/// Everybody once, beginning with another one each time.
fn order(count: usize, turn: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |place| (turn + place) % count)
}

/// Measures all contenders. The first one is ours.
pub(crate) async fn run(contenders: &[Contender], plan: &Plan) -> io::Result<Measured> {
    let before = Load::now();
    let mut sizes = Vec::new();
    for contender in contenders {
        let warm = contender.warm_up(plan).await;
        sizes.push(warm.map_err(|error| contender.blame(&error))?);
    }
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        let mut sides = vec![Side::default(); contenders.len()];
        for slice in 0..plan.slices {
            for at in order(contenders.len(), round + slice) {
                let slice = contenders[at].closed_loop(&mut sides[at], plan).await;
                slice.map_err(|error| contenders[at].blame(&error))?;
            }
        }
        for at in order(contenders.len(), round) {
            let paced = contenders[at].paced(plan).await;
            sides[at].latencies = paced.map_err(|error| contenders[at].blame(&error))?;
        }
        rounds.push(sides);
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
    /// Asks for a while; how large its answer is.
    async fn warm_up(&self, plan: &Plan) -> io::Result<Size> {
        let crowd = Crowd::open(self.address, self.path, self.code, CONNECTIONS).await?;
        crowd.ask_for(plan.warm_up).await?;
        let mut connection = Connection::open(self.address, self.path, self.code).await?;
        connection.ask().await
    }

    /// One slice, added to the side.
    async fn closed_loop(&self, side: &mut Side, plan: &Plan) -> io::Result<()> {
        let crowd = Crowd::open(self.address, self.path, self.code, CONNECTIONS).await?;
        let (begin, before) = (Instant::now(), self.serving.spent()?);
        side.answers += crowd.ask_for(plan.closed_loop).await?;
        side.took += begin.elapsed();
        side.spent += self.serving.spent()?.saturating_sub(before);
        Ok(())
    }

    async fn paced(&self, plan: &Plan) -> io::Result<Latencies> {
        let (count, pace) = (plan.paced, plan.pace);
        client::latencies(self.address, self.path, self.code, count, pace).await
    }

    fn blame(&self, error: &io::Error) -> io::Error {
        io::Error::other(format!("measuring {}: {error}", self.name))
    }
}

impl Measured {
    /// The ratio of each round; `None` where the other did not take part.
    pub(crate) fn ratio(&self, name: &str, figure: Figure, ratio: Ratio) -> Option<Figures> {
        let at = self.names.iter().position(|other| *other == name)?;
        Some(self.ratios(figure, ratio, at))
    }

    fn ratios(&self, figure: Figure, ratio: Ratio, at: usize) -> Figures {
        let of = |side: &Side| match figure {
            Figure::Cpu => side.cpu_us(),
            Figure::PerSecond => side.per_second(),
        };
        let rounds = self.rounds.iter();
        Figures::new(rounds.map(|sides| ratio.of(of(&sides[0]), of(&sides[at]))))
    }

    /// How many answers of ours came late, of how many.
    pub(crate) fn ours_late(&self) -> (usize, usize) {
        let ours = Latencies::all(self.rounds.iter().map(|sides| &sides[0].latencies));
        (ours.late(), ours.count())
    }

    /// The table: every round of every contender, then the ratios.
    pub(crate) fn table(
        &self,
        title: &str,
        plan: &Plan,
        ratio: Ratio,
        absent: &[Absent],
    ) -> String {
        let mut text = format!(
            "{title}\n{CONNECTIONS} keep-alive connections in a closed loop for {} x {:?}, alternating; then {} requests, one every {:?}; {} rounds, order rotating\n\
             load average {} before, {} after\n\n",
            plan.slices,
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
            format!("CPU {}", ratio.words()),
            format!("/s {}", ratio.words()),
            "head+body B"
        );
        for (round, sides) in self.rounds.iter().enumerate() {
            for (at, side) in sides.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{:>5}  {:<28} {:>10.0} {:>9.1} {:>8.2} {:>8.2}  {:>13.2} {:>11.2}  {:>11}",
                    round + 1,
                    self.names[at],
                    side.per_second(),
                    side.cpu_us(),
                    side.latencies.percentile(500),
                    side.latencies.percentile(990),
                    ratio.of(sides[0].cpu_us(), side.cpu_us()),
                    ratio.of(sides[0].per_second(), side.per_second()),
                    format!("{}+{}", self.sizes[at].head, self.sizes[at].body)
                );
            }
        }
        text.push('\n');
        for (at, name) in self.names.iter().enumerate().skip(1) {
            let over = match ratio {
                Ratio::OursOverIts => format!("ours / {name}"),
                Ratio::ItsOverOurs => format!("{name} / ours"),
            };
            let _ = writeln!(
                text,
                "{over}: CPU {}, answers/s {}",
                self.ratios(Figure::Cpu, ratio, at),
                self.ratios(Figure::PerSecond, ratio, at)
            );
        }
        for Absent { name, why } in absent {
            let _ = writeln!(text, "{name}: not measured: {why}");
        }
        text
    }
}
