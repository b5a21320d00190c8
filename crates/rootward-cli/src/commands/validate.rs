//! `rootward validate FILE…`

use rootward_agent::Plan;
use rootward_agent::file::Values;
use rootward_config::agent::is_agent_file;
use rootward_config::{Checked, Problem, Problems, Severity, Source};
use rootward_demo::aggregator::words;

use crate::arguments::{FindingsFormat, Validate};
use crate::configuration;
use crate::exit::Exit;
use crate::render::findings::Findings;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// Each file of an agent is a configuration of its own; all others are one together.
pub(crate) fn run(arguments: &Validate, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let validated = match (configuration::sources(&arguments.files), arguments.format) {
        (Ok(sources), _) => validated(sources),
        (Err(unread), FindingsFormat::Human) => return Err(configuration::unread(&unread)),
        (Err(unread), FindingsFormat::Json | FindingsFormat::Sarif) => vec![Validated {
            problems: unread.into_iter().map(Problem::from).collect(),
            ..Validated::default()
        }],
    };
    let exit = match validated.iter().all(|one| one.summary.is_some()) {
        true => Exit::Well,
        false => Exit::WrongInput,
    };
    let text = match arguments.format {
        FindingsFormat::Human => validated.iter().map(Validated::text).collect(),
        FindingsFormat::Json => pretty(&findings(validated).json())?,
        FindingsFormat::Sarif => {
            // Without a working directory no path is relative to it.
            let directory = std::env::current_dir().unwrap_or_default();
            pretty(&findings(validated).sarif(&directory, exit.code()))?
        }
    };
    Terminal::put(text.as_bytes())?;
    Ok(exit)
}

/// What came of one configuration.
#[derive(Debug, Default)]
struct Validated {
    /// What is wrong, or what is probably not meant.
    problems: Vec<Problem>,
    left_out: usize,
    /// What it holds, if it is valid.
    summary: Option<String>,
}

fn validated(sources: Vec<Source>) -> Vec<Validated> {
    let env = configuration::environment();
    let (agents, others): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(is_agent_file);
    let mut validated = Vec::new();
    if !others.is_empty() || agents.is_empty() {
        let compiled = configuration::compile(&others, &env, &Values::default());
        validated.push(match compiled {
            Ok(checked) => Validated {
                summary: Some(summary(&checked)),
                problems: checked.warnings,
                left_out: 0,
            },
            Err(problems) => Validated::from(problems),
        });
    }
    validated.extend(
        agents
            .iter()
            .map(|source| match Plan::compile(source, &env) {
                Ok(plan) => Validated {
                    problems: plan.warnings().to_vec(),
                    left_out: 0,
                    summary: Some(summary_of_agent(&plan)),
                },
                Err(problems) => Validated::from(problems),
            }),
    );
    validated
}

impl From<Problems> for Validated {
    fn from(problems: Problems) -> Self {
        Self {
            left_out: problems.left_out(),
            problems: problems.into_vec(),
            summary: None,
        }
    }
}

impl Validated {
    /// Each problem in a line of its own that is not wrapped, and what it comes to.
    fn text(&self) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            let note = match problem.rule.severity() {
                Severity::Error => "",
                Severity::Warning => " (warning)",
            };
            text.push_str(&format!("{problem}{note}\n"));
        }
        match self.left_out {
            0 => {}
            more => text.push_str(&format!("and {more} more\n")),
        }
        match &self.summary {
            Some(summary) => text.push_str(&format!("valid: {summary}\n")),
            None => {
                let count = (self.problems.len() + self.left_out) as u64;
                text.push_str(&format!("{}: not valid\n", words::count(count, "problem")));
            }
        }
        text
    }
}

fn findings(validated: Vec<Validated>) -> Findings {
    let mut findings = Findings::default();
    for one in validated {
        findings.problems.extend(one.problems);
        findings.left_out += one.left_out;
    }
    findings
}

fn pretty(value: &serde_json::Value) -> Result<String, Trouble> {
    match serde_json::to_string_pretty(value) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Trouble::of(Exit::CouldNotStart, &error)),
    }
}

fn summary_of_agent(plan: &Plan) -> String {
    let checks = words::count(plan.checks() as u64, "check");
    format!("an agent with {checks}")
}

fn summary(checked: &Checked) -> String {
    let nodes = checked.map.indices().count();
    let services = checked
        .map
        .indices()
        .filter(|node| checked.map.is_service(*node))
        .count();
    let parts = [
        words::count(services as u64, "service"),
        words::count(checked.targets.len() as u64, "instance"),
        words::count((nodes - services) as u64, "resource"),
        words::count(checked.groups.len() as u64, "group"),
    ];
    parts.join(", ")
}
