//! The `rootward` binary: reads arguments, calls the crate that knows, prints.
//!
//! `arguments` is what can be typed, `commands` has one module for each command, `render` makes pages of answers, `text`
//! is a page, `duration` reads times, `terminal` the only place that writes one, `exit` and `trouble` say how it ends.

mod arguments;
mod commands;
mod configuration;
mod duration;
mod exit;
mod log;
mod render;
mod signals;
mod terminal;
mod text;
mod trouble;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::Exit;
use terminal::Terminal;
use trouble::Trouble;

fn main() -> ExitCode {
    // Ends with 2 and a sentence when the arguments are wrong.
    let arguments = Arguments::parse();
    let terminal = Terminal::of_this_process();
    run(&arguments.command, &terminal)
        .unwrap_or_else(|trouble| terminal.complain(&trouble))
        .into()
}

fn run(command: &Command, terminal: &Terminal) -> Result<Exit, Trouble> {
    match command {
        Command::Serve(serve) => commands::serve::run(serve, terminal),
        Command::Agent(agent) => commands::agent::run(agent, terminal),
        Command::Demo(demo) => commands::demo::run(demo, terminal),
        Command::Status(status) => commands::status::run(status, terminal),
        Command::Explain(explain) => commands::explain::run(explain, terminal),
        Command::Replay(replay) => commands::replay::run(replay, terminal),
        Command::Parse(parse) => commands::parse::run(parse, terminal),
        Command::Schema(schema) => commands::schema::run(schema, terminal),
        Command::Validate(validate) => commands::validate::run(validate, terminal),
        Command::Token(token) => commands::token::run(token, terminal),
        Command::Checkin(checkin) => commands::checkin::run(checkin, terminal),
        Command::Conform(conform) => commands::conform::run(conform, terminal),
        Command::Probe(probe) => commands::probe::run(probe, terminal),
    }
}
