//! `rootward schema [aggregator|agent]`

use crate::arguments::{Schema, SchemaOf};
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &Schema, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let schema = match arguments.of {
        SchemaOf::Aggregator => rootward_config::schema::of_aggregator(),
        SchemaOf::Agent => rootward_agent::schema(),
    };
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| Trouble::of(Exit::CouldNotStart, &error))?;
    Terminal::put((text + "\n").as_bytes())?;
    Ok(Exit::Well)
}
