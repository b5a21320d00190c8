//! The log of this process, on standard error. What is in it is set by `ROOTWARD_LOG`.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

const VARIABLE: &str = "ROOTWARD_LOG";

/// Starts logging; `usual` is what is logged when nobody says otherwise.
pub(crate) fn start(usual: &str, terminal: &Terminal) -> Result<(), Trouble> {
    let wanted = std::env::var(VARIABLE).unwrap_or_default();
    let wanted = if wanted.is_empty() { usual } else { &wanted };
    let filter = EnvFilter::builder().parse(wanted).map_err(|error| {
        Trouble::new(
            Exit::WrongInput,
            format!("{VARIABLE} is {wanted:?}, and that is no filter: {error}"),
        )
        .with_help("write one of off, error, warn, info, debug")
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(terminal.colour_err())
        .with_target(false)
        .try_init()
        .map_err(|error| {
            Trouble::new(
                Exit::CouldNotStart,
                format!("failed to start the log: {error}"),
            )
        })
}
