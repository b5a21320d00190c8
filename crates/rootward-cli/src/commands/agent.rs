//! `rootward agent [FILE]`

use rootward_agent::{Agent, StartError};
use rootward_demo::aggregator::words;

use crate::arguments;
use crate::commands::{lines, not_started, small_runtime};
use crate::configuration;
use crate::exit::Exit;
use crate::log;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &arguments::Agent, terminal: &Terminal) -> Result<Exit, Trouble> {
    log::start("info", terminal)?;
    // One thread for the checks: they wait and do not compute. The probes have their own.
    let runtime = small_runtime()?;
    let ended = runtime.block_on(async {
        let agent = Agent::start(&arguments.file, configuration::environment()).map_err(trouble)?;
        terminal.note(&lines(&opening(&agent)));
        agent.run().await;
        terminal.note(&lines(&["rootward: stopped".to_owned()]));
        Ok(Exit::Well)
    });
    // A check that blocks its thread ends with the process.
    runtime.shutdown_background();
    ended
}

fn opening(agent: &Agent) -> Vec<String> {
    let plan = agent.plan();
    let mut opening: Vec<String> = plan
        .warnings()
        .iter()
        .map(|warning| format!("{warning} (warning)"))
        .collect();
    let checks = words::count(plan.checks() as u64, "check");
    if let Some(address) = agent.local_addr() {
        opening.push(format!(
            "rootward: {checks} of {}, probes on http://{address}/; Ctrl-C stops it",
            agent.file().display()
        ));
    }
    opening
}

fn trouble(error: StartError) -> Trouble {
    match error {
        StartError::Unreadable(sentence) => Trouble::new(Exit::WrongInput, sentence),
        StartError::Problems(problems) => not_started(&problems),
        StartError::Health(error) if error.is_address_in_use() => {
            Trouble::new(Exit::WrongInput, error.to_string())
                .with_help("stop what listens there, or write another address under listen.bind")
        }
        StartError::Health(error) if !error.problems().is_empty() => {
            Trouble::new(Exit::WrongInput, error.to_string())
        }
        StartError::Health(_) | StartError::Signal(_) => {
            Trouble::new(Exit::CouldNotStart, error.to_string())
        }
    }
}
