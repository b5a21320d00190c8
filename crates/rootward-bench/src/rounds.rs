//! The run: reference and subject in turn, round by round, and the ratios of each round.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use crate::client::{self, Connection};
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

/// One side of a round.
#[derive(Debug, Clone)]
struct Side {
    per_second: f64,
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
    subject.block();
    let mut pairs = Vec::new();
    for _ in 0..rounds.max(1) {
        let bare = runtime.block_on(measure(reference.address))?;
        let ours = runtime.block_on(measure(subject.address))?;
        pairs.push((bare, ours));
    }
    Ok(table(&pairs, size))
}

async fn measure(address: std::net::SocketAddr) -> io::Result<Side> {
    let per_second = client::throughput(address, "/health", CONNECTIONS, LOOP).await?;
    let latencies = client::latencies(address, "/health", PACED, PACE).await?;
    Ok(Side {
        per_second,
        latencies,
    })
}

fn table(pairs: &[(Side, Side)], size: usize) -> String {
    let mut text = format!(
        "/health, {size} bytes, every dependency hanging, the application's runtime blocked; {} rounds, interleaved\n\n",
        pairs.len()
    );
    text.push_str("round   bare hyper/s   ours/s   ratio   bare p50/p99 ms   ours p50/p99 ms\n");
    for (at, (bare, ours)) in pairs.iter().enumerate() {
        let (b, o) = (percentiles(&bare.latencies), percentiles(&ours.latencies));
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{at:>5}   {:>12.0}   {:>6.0}   {:>5.2}   {:>7.2} / {:<5.2}   {:>7.2} / {:<5.2}",
            bare.per_second,
            ours.per_second,
            ours.per_second / bare.per_second,
            b.0,
            b.1,
            o.0,
            o.1
        );
    }
    let mut ratios: Vec<f64> = pairs
        .iter()
        .map(|(bare, ours)| ours.per_second / bare.per_second)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let all: Vec<Duration> = pairs
        .iter()
        .flat_map(|(_, ours)| ours.latencies.iter().copied())
        .collect();
    let late = all.iter().filter(|taken| **taken > PROMISE).count();
    let (p50, p99) = percentiles(&all);
    let _ = write!(
        text,
        "\nthroughput, ours / bare hyper: median {:.2} ({:.2} to {:.2})\n\
         ours, all rounds: p50 {p50:.2} ms, p99 {p99:.2} ms, {late} of {} answers over 10 ms",
        ratios[ratios.len() / 2],
        ratios.first().copied().unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        all.len()
    );
    text
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
