//! `rootward status`

use rootward_wire::v1::api::{Diagnosis, Overview};

use crate::arguments::Status;
use crate::commands::{client, small_runtime};
use crate::exit::Exit;
use crate::render::status;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &Status, terminal: &Terminal) -> Result<Exit, Trouble> {
    let client = client(&arguments.aggregator.url)?;
    small_runtime()?.block_on(async {
        let overview = if arguments.json {
            let mut body = client.get_bytes("/api/v1/overview").await?;
            let overview: Overview = client.read("/api/v1/overview", &body)?;
            body.push(b'\n');
            Terminal::put(&body)?;
            overview
        } else {
            let overview: Overview = client.get("/api/v1/overview").await?;
            let diagnosis: Diagnosis = client.get("/api/v1/diagnosis").await?;
            terminal.show(&status::page(&overview, &diagnosis))?;
            overview
        };
        Ok(if status::is_well(&overview) {
            Exit::Well
        } else {
            Exit::NotWell
        })
    })
}
