//! `rootward-sim`: scores localisers on simulated incidents, and writes such incidents to look at.

use std::process::ExitCode;

use rootward_sim::command;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command::run(&arguments) {
        Ok(text) => {
            print(&text);
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
    print!("{text}");
}

#[expect(clippy::print_stderr, reason = "only main prints")]
fn complain(text: &str) {
    eprintln!("{text}");
}
