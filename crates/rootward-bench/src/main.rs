//! Benchmarks: ours beside others, in one interleaved run, so that a noisy machine is noisy for all.
//!
//! Run with `cargo run --profile bench -p rootward-bench -- BENCHMARK`. Absolute numbers say more about the machine than
//! about the servers; the ratios, taken round by round, are what counts. docs/benchmarks.md says what each means.

mod agent;
mod aggregator;
mod arguments;
mod asker;
mod child;
mod client;
mod cpu;
mod distress;
mod fleet;
mod footprint;
mod goal;
mod health;
mod host;
mod load;
mod mock;
mod mocked;
mod overview;
mod peers;
mod plain;
mod plan;
mod poll;
mod prober;
mod probes;
mod proxies;
mod real_time;
mod reference;
mod rounds;
mod statistics;
mod subject;
mod temporary;

use std::io;
use std::process::ExitCode;

use arguments::{Arguments, Benchmark};
use goal::Outcome;
use plan::Plan;
use tokio::signal::unix::{SignalKind, signal};

/// A goal was missed, and `--check` was given.
const MISSED: u8 = 1;

/// It could not run.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments = match Arguments::parse(&words) {
        Ok(arguments) => arguments,
        Err(sentence) => {
            complain(&format!("{sentence}\n\n{}", arguments::USAGE));
            return ExitCode::from(FAILED);
        }
    };
    let check = arguments.check;
    if let Some(helped) = help(&arguments.benchmark) {
        return match helped {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    match run(&arguments) {
        Ok(outcome) => {
            print(&outcome.to_string());
            if check && !outcome.all_met() {
                ExitCode::from(MISSED)
            } else {
                ExitCode::SUCCESS
            }
        }
        Err(error) => failed(&error),
    }
}

/// What a benchmark starts in a process of its own, if it is that.
fn help(benchmark: &Benchmark) -> Option<io::Result<()>> {
    match benchmark {
        Benchmark::Host { dependency, embeds } => Some(host::run(*dependency, *embeds, print)),
        Benchmark::Mock(mock) => Some(mock::run(mock, print)),
        Benchmark::Asker(asker) => Some(asker::run(*asker)),
        Benchmark::Serve(file) => Some(aggregator::serve(file)),
        Benchmark::Health
        | Benchmark::Probes
        | Benchmark::Peers
        | Benchmark::Distress
        | Benchmark::Footprint
        | Benchmark::Agent
        | Benchmark::Poll
        | Benchmark::Overview => None,
    }
}

/// The benchmark, unless it is interrupted; either way, nothing that it started is left.
fn run(arguments: &Arguments) -> io::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::select! {
            outcome = benchmark(&arguments.benchmark, &arguments.plan) => outcome,
            _ = interrupt.recv() => Err(io::Error::other("interrupted")),
            _ = terminate.recv() => Err(io::Error::other("told to end")),
            _ = hangup.recv() => Err(io::Error::other("the terminal is gone")),
        }
    })
}

async fn benchmark(benchmark: &Benchmark, plan: &Plan) -> io::Result<Outcome> {
    match benchmark {
        Benchmark::Health => health::run(plan).await,
        Benchmark::Probes => probes::run(plan).await,
        Benchmark::Peers => peers::run(plan, complain).await,
        Benchmark::Distress => distress::run(plan).await,
        Benchmark::Agent => agent::run(plan).await,
        Benchmark::Footprint => footprint::run(plan).await,
        Benchmark::Poll => poll::run(plan).await,
        Benchmark::Overview => overview::run(plan).await,
        Benchmark::Host { .. } | Benchmark::Mock(_) | Benchmark::Asker(_) | Benchmark::Serve(_) => {
            Err(io::Error::other("that is no benchmark"))
        }
    }
}

fn failed(error: &io::Error) -> ExitCode {
    complain(&error.to_string());
    ExitCode::from(FAILED)
}

#[expect(clippy::print_stdout, reason = "only main prints")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "only main prints")]
fn complain(text: &str) {
    eprintln!("{text}");
}
