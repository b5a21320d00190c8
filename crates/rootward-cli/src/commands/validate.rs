//! `rootward validate FILE…`

use rootward_agent::Plan;
use rootward_agent::file::Values;
use rootward_config::agent::is_agent_file;
use rootward_config::{Checked, Problem, Problems, Source};
use rootward_demo::aggregator::words;

use crate::arguments::Validate;
use crate::commands::problems;
use crate::configuration;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// Each file of an agent is a configuration of its own; all others are one together.
pub(crate) fn run(arguments: &Validate, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let env = configuration::environment();
    let (agents, others): (Vec<Source>, Vec<Source>) = configuration::sources(&arguments.files)?
        .into_iter()
        .partition(is_agent_file);
    let mut text = String::new();
    let mut exit = Exit::Well;
    if !others.is_empty() || agents.is_empty() {
        told(
            configuration::compile(&others, &env, &Values::default())
                .map(|checked| valid(&checked)),
            &mut text,
            &mut exit,
        );
    }
    for source in &agents {
        told(
            Plan::compile(source, &env).map(|plan| valid_agent(&plan)),
            &mut text,
            &mut exit,
        );
    }
    Terminal::put(text.as_bytes())?;
    Ok(exit)
}

fn told(compiled: Result<String, Problems>, text: &mut String, exit: &mut Exit) {
    match compiled {
        Ok(valid) => text.push_str(&valid),
        Err(found) => {
            let count = found.as_slice().len() + found.left_out();
            let count = words::count(count as u64, "problem");
            text.push_str(&format!("{}{count}: not valid\n", problems(&found)));
            *exit = Exit::WrongInput;
        }
    }
}

fn warned(warnings: &[Problem]) -> String {
    let lines = warnings.iter();
    lines
        .map(|warning| format!("{warning} (warning)\n"))
        .collect()
}

fn valid_agent(plan: &Plan) -> String {
    let checks = words::count(plan.checks() as u64, "check");
    format!("{}valid: an agent with {checks}\n", warned(plan.warnings()))
}

fn valid(checked: &Checked) -> String {
    let mut text = warned(&checked.warnings);
    let nodes = checked.map.indices().count();
    let services = checked
        .map
        .indices()
        .filter(|node| checked.map.is_service(*node))
        .count();
    let resources = nodes - services;
    let targets = checked.targets.len();
    let parts = [
        words::count(services as u64, "service"),
        words::count(targets as u64, "instance"),
        words::count(resources as u64, "resource"),
        words::count(checked.groups.len() as u64, "group"),
    ];
    text.push_str(&format!("valid: {}\n", parts.join(", ")));
    text
}
