//! `rootward validate FILE…`

use rootward_config::Checked;
use rootward_demo::aggregator::words;

use crate::arguments::Validate;
use crate::commands::problems;
use crate::configuration;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &Validate, _terminal: &Terminal) -> Result<Exit, Trouble> {
    match configuration::load(&arguments.files)? {
        Ok(checked) => {
            Terminal::put(valid(&checked).as_bytes())?;
            Ok(Exit::Well)
        }
        Err(found) => {
            let count = found.as_slice().len() + found.left_out();
            let count = words::count(count as u64, "problem");
            Terminal::put(format!("{}{count}: not valid\n", problems(&found)).as_bytes())?;
            Ok(Exit::WrongInput)
        }
    }
}

fn valid(checked: &Checked) -> String {
    let mut text = String::new();
    for warning in &checked.warnings {
        text.push_str(&format!("{warning} (warning)\n"));
    }
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
