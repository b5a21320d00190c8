//! `health`: the detailed report of a service at its worst, beside a bare server that sends the same bytes.

use std::io;
use std::time::Duration;

use crate::client::Connection;
use crate::goal::Outcome;
use crate::plan::Plan;
use crate::reference::Reference;
use crate::rounds::{self, Ratio};
use crate::subject::{Dependencies, Subject};

const PATH: &str = "/health";

/// Every dependency is down, so the report says it with its code.
const CODE: u16 = 503;

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let subject = Subject::start(Dependencies::HungOnce).await?;
    subject.block();
    // Until the report says so: the other side sends the same bytes.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let body = Connection::open(subject.address, PATH, CODE)
        .await?
        .body()
        .await?;
    let size = body.len();
    let reference = Reference::start(body.into(), CODE)?;
    let contenders = [subject.contender(PATH, CODE), reference.contender(PATH)];
    let measured = rounds::run(&contenders, plan).await?;
    let at_the_end = Connection::open(subject.address, PATH, CODE)
        .await?
        .ask()
        .await?
        .body;
    // Ages gain a digit or two; anything more would mean that the two sides did not send the same.
    if at_the_end.abs_diff(size) > size / 50 {
        let text = format!("the answer changed during the run: {size} bytes, then {at_the_end}");
        return Err(io::Error::other(text));
    }
    let (late, count) = measured.ours_late();
    let title = format!(
        "{PATH}, {size} bytes, every dependency hanging, the application's runtime blocked"
    );
    let table = measured.table(&title, plan, Ratio::OursOverIts, &[]);
    subject.stop().await;
    Ok(Outcome {
        table: format!("{table}ours, all rounds: {late} of {count} answers over 10 ms\n"),
        goals: Vec::new(),
    })
}
