//! The run: reference and subject in turn, round by round, and the ratios of each round.

use std::fmt::{self, Write as _};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::client::{self, Connection};
use crate::cpu;
use crate::reference::Reference;
use crate::subject::Subject;

/// Keep-alive connections of the closed loop.
const CONNECTIONS: usize = 32;

/// How long each closed loop runs.
const LOOP: Duration = Duration::from_secs(1);

/// Paced requests a round, and their pace.
const PACED: usize = 400;
const PACE: Duration = Duration::from_micros(3_300);

/// What the promise says about the slowest answer in a hundred.
const PROMISE: Duration = Duration::from_millis(10);

/// The name of the probe listener's thread.
const SUBJECT_THREAD: &str = "rootward-probe";

/// One side of a round.
#[derive(Debug, Clone)]
struct Side {
    per_second: f64,
    /// Processor time of the server's thread for each answer of the closed loop.
    cpu_us: f64,
    latencies: Vec<Duration>,
}

/// Runs the benchmark and returns its table.
pub(crate) fn run(rounds: usize) -> io::Result<String> {
    let subject = Subject::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let body = runtime.block_on(async {
        Connection::open(subject.address, "/health")
            .await?
            .body()
            .await
    })?;
    let size = body.len();
    let reference = Reference::start(body.into())?;
    // The first answer also proves that its thread runs and has its name.
    runtime.block_on(async {
        Connection::open(reference.address, "/health")
            .await?
            .ask()
            .await
    })?;
    subject.block();
    let mut pairs = Vec::new();
    for _ in 0..rounds.max(1) {
        let bare = runtime.block_on(measure(reference.address, "reference"))?;
        let ours = runtime.block_on(measure(subject.address, SUBJECT_THREAD))?;
        pairs.push((bare, ours));
    }
    let size_at_the_end = runtime.block_on(async {
        Connection::open(subject.address, "/health")
            .await?
            .ask()
            .await
    })?;
    // Ages gain a digit or two; anything more would mean that the two sides did not send the same.
    if size_at_the_end.abs_diff(size) > size / 50 {
        let text =
            format!("the answer changed during the run: {size} bytes, then {size_at_the_end}");
        return Err(io::Error::other(text));
    }
    Ok(table(&pairs, size))
}

/// Asks one server; `thread` is the name of its thread.
async fn measure(address: SocketAddr, thread: &str) -> io::Result<Side> {
    let before = cpu::of_thread(thread)?;
    let loop_ = client::throughput(address, "/health", CONNECTIONS, LOOP).await?;
    let spent = cpu::of_thread(thread)?.saturating_sub(before);
    let latencies = client::latencies(address, "/health", PACED, PACE).await?;
    let cpu_us = spent.as_secs_f64() * 1e6 / loop_.answers;
    Ok(Side {
        per_second: loop_.answers / loop_.took.as_secs_f64(),
        cpu_us,
        latencies,
    })
}

fn table(pairs: &[(Side, Side)], size: usize) -> String {
    let mut text = format!(
        "/health, {size} bytes, every dependency hanging, the application's runtime blocked; {} rounds, interleaved\n\n",
        pairs.len()
    );
    text.push_str("round   bare hyper/s   ours/s   ratio   bare CPU us   ours CPU us   ratio   bare p50/p99 ms   ours p50/p99 ms\n");
    for (at, (bare, ours)) in pairs.iter().enumerate() {
        let (b, o) = (percentiles(&bare.latencies), percentiles(&ours.latencies));
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{at:>5}   {:>12.0}   {:>6.0}   {:>5.2}   {:>11.1}   {:>11.1}   {:>5.2}   {:>7.2} / {:<5.2}   {:>7.2} / {:<5.2}",
            bare.per_second,
            ours.per_second,
            ours.per_second / bare.per_second,
            bare.cpu_us,
            ours.cpu_us,
            ours.cpu_us / bare.cpu_us,
            b.0,
            b.1,
            o.0,
            o.1
        );
    }
    let throughput = Ratios::of(pairs, |side| side.per_second);
    let cpu = Ratios::of(pairs, |side| side.cpu_us);
    let all: Vec<Duration> = pairs
        .iter()
        .flat_map(|(_, ours)| ours.latencies.iter().copied())
        .collect();
    let late = all.iter().filter(|taken| **taken > PROMISE).count();
    let (p50, p99) = percentiles(&all);
    let _ = write!(
        text,
        "\nthroughput, ours / bare hyper: {throughput}\n\
         CPU of the server's thread for each answer, ours / bare hyper: {cpu}\n\
         ours, all rounds: p50 {p50:.2} ms, p99 {p99:.2} ms, {late} of {} answers over 10 ms",
        all.len()
    );
    text
}

/// The ratios of all rounds, in order.
struct Ratios(Vec<f64>);

impl Ratios {
    fn of(pairs: &[(Side, Side)], measure: impl Fn(&Side) -> f64) -> Self {
        let mut ratios: Vec<f64> = pairs
            .iter()
            .map(|(bare, ours)| measure(ours) / measure(bare))
            .collect();
        ratios.sort_by(f64::total_cmp);
        Self(ratios)
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, .., most] = self.0.as_slice() else {
            return f.write_str("too few rounds");
        };
        write!(
            f,
            "median {:.2} ({least:.2} to {most:.2})",
            self.0[self.0.len() / 2]
        )
    }
}

/// The median and the 99th percentile, in milliseconds.
fn percentiles(latencies: &[Duration]) -> (f64, f64) {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let at = |share: usize| {
        sorted
            .get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1)))
            .map_or(0.0, |d| d.as_secs_f64() * 1e3)
    };
    (at(50), at(99))
}
