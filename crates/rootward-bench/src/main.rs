//! Benchmarks: ours beside a reference, in one interleaved run, so that a noisy machine is noisy for both.
//!
//! Run with `cargo run --profile bench -p rootward-bench -- health`. Absolute numbers say more about the machine than
//! about the servers; the ratios, taken round by round, are what counts.

mod client;
mod cpu;
mod reference;
mod rounds;
mod subject;

use std::process::ExitCode;

/// Rounds when nothing else is said.
const DEFAULT_ROUNDS: usize = 7;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["health"] => Ok(DEFAULT_ROUNDS),
        ["health", "--rounds", count] => count
            .parse()
            .map_err(|_| "--rounds takes a number".to_owned()),
        _ => Err("usage: rootward-bench health [--rounds N]".to_owned()),
    };
    let outcome = rounds.and_then(|rounds| rounds::run(rounds).map_err(|error| error.to_string()));
    match outcome {
        Ok(report) => {
            print(&report);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            complain(&problem);
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stdout, reason = "only main prints")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "only main prints")]
fn complain(text: &str) {
    eprintln!("{text}");
}
