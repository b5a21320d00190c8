//! `rootward serve --config FILE`

use rootward_config::Checked;
use rootward_demo::aggregator::words;
use rootward_server::{App, Summary};

use crate::arguments::Serve;
use crate::commands::{large_runtime, lines, not_started};
use crate::configuration;
use crate::exit::Exit;
use crate::log;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &Serve, terminal: &Terminal) -> Result<Exit, Trouble> {
    let checked = match configuration::load(&arguments.config)? {
        Ok(checked) => checked,
        Err(found) => {
            return Err(not_started(&found));
        }
    };
    log::start("info", terminal)?;
    let runtime = large_runtime()?;
    let ended = runtime.block_on(serve(checked, terminal));
    // After a second signal something may still run; it ends with the process.
    runtime.shutdown_background();
    ended
}

async fn serve(checked: Checked, terminal: &Terminal) -> Result<Exit, Trouble> {
    let mut first = Signals::listen()?;
    let mut second = Signals::listen()?;
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
    let app = App::build(checked).map_err(|error| {
        if error.is_listen() {
            Trouble::of(Exit::WrongInput, &error).with_help(
                "stop what listens there, or write another address under listen.internal.bind",
            )
        } else {
            Trouble::of(Exit::CouldNotStart, &error)
        }
    })?;
    opening.push(format!(
        "rootward: page and API on http://{}/, polling {instances}; Ctrl-C stops it",
        app.local_addr()
    ));
    terminal.note(&lines(&opening));
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
