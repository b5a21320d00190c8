//! `rootward serve --config FILE`

use std::path::Path;

use rootward_config::Checked;
use rootward_demo::aggregator::words;
use rootward_server::{App, Summary};

use crate::arguments::Serve;
use crate::commands::{large_runtime, lines};
use crate::configuration;
use crate::exit::Exit;
use crate::log;
use crate::signals::{self, Signals};
use crate::terminal::Terminal;
use crate::trouble::Trouble;

mod watch;

use watch::Files;

pub(crate) fn run(arguments: &Serve, terminal: &Terminal) -> Result<Exit, Trouble> {
    let env = configuration::environment();
    let reading = configuration::load(&arguments.config, &env);
    let checked = reading.compiled?;
    let files = Files {
        paths: arguments.config.as_slice().into(),
        env: env.into(),
        stamp: reading.stamp,
    };
    log::start("info", terminal)?;
    let runtime = large_runtime()?;
    let record = arguments.record.as_deref();
    let ended = runtime.block_on(serve(checked, files, record, terminal));
    // After a second signal something may still run; it ends with the process.
    runtime.shutdown_background();
    ended
}

async fn serve(
    checked: Checked,
    files: Files,
    record: Option<&Path>,
    terminal: &Terminal,
) -> Result<Exit, Trouble> {
    let mut first = Signals::listen()?;
    let mut second = Signals::listen()?;
    let hangup = signals::hangup()?;
    let mut opening = Vec::new();
    if !checked.warnings.is_empty() {
        opening.extend(
            checked
                .warnings
                .iter()
                .map(|warning| format!("{warning} (warning)")),
        );
    }
    let instances = words::count(checked.targets.len() as u64, "instance");
    let mut app = App::build(checked).map_err(|error| {
        if error.is_listen() {
            Trouble::of(Exit::WrongInput, &error).with_help(
                "stop what listens there, or write another address under listen.internal.bind",
            )
        } else {
            Trouble::of(Exit::CouldNotStart, &error)
        }
    })?;
    if let Some(directory) = record {
        app.record(directory)
            .map_err(|error| Trouble::of(Exit::CouldNotStart, &error))?;
        opening.push(format!("rootward: recording into {}", directory.display()));
    }
    opening.push(format!(
        "rootward: page and API on http://{}/, polling {instances}; Ctrl-C stops it",
        app.local_addr()
    ));
    terminal.note(&lines(&opening));
    let reloader = app.reloader();
    let stop = async {
        first.next().await;
    };
    let stopped_twice = async {
        second.next().await;
        second.next().await
    };
    tokio::select! {
        summary = app.run(stop) => {
            let summary = summary.map_err(|error| Trouble::of(Exit::CouldNotStart, &error))?;
            terminal.note(&lines(&[goodbye(&summary)]));
            Ok(Exit::Well)
        }
        never = files.watch(hangup, reloader) => match never {},
        signal = stopped_twice => Ok(Exit::Interrupted(signal)),
    }
}

fn goodbye(summary: &Summary) -> String {
    format!(
        "rootward: stopped after {}, {} opened, {} resolved",
        words::count(summary.polls.total(), "poll"),
        words::count(summary.incidents_opened, "incident"),
        summary.incidents_resolved
    )
}
