//! Polls at the usual pace: everybody once in 10 s, beside our own client with a timer for each target.

use std::fmt::Write as _;
use std::io;
use std::process::Command;
use std::time::Instant;

use tokio::time::sleep;

use super::{ALL_ASKED, goal, per_answer};
use crate::aggregator::Aggregator;
use crate::child::Child;
use crate::cpu;
use crate::goal::{Bound, Outcome};
use crate::mock::Answers;
use crate::mocked::Mocked;
use crate::plan::Plan;
use crate::statistics::Figures;
use crate::temporary::Directory;

/// Both at once, each with a fleet of its own, so that they meet the same neighbours.
pub(super) async fn run(plan: &Plan, directory: &Directory) -> io::Result<Outcome> {
    let (count, interval) = (plan.paced_targets, plan.interval);
    let fleet = Mocked::start("fleet-paced", Answers::Fresh, None, directory).await?;
    let other = Mocked::start("fleet-untimed", Answers::Fresh, None, directory).await?;
    let ours = Aggregator::start("paced", count, fleet.port, interval, None, directory).await?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("asker").arg(interval.as_millis().to_string());
    command.args([count.to_string(), other.port.to_string()]);
    let untimed = Child::start("untimed", &mut command, directory)?;
    for mock in [&fleet, &other] {
        mock.asked(count, interval + ALL_ASKED).await?;
    }
    let mut table = format!(
        "paced: {count} targets every {interval:?}, both at once; {} windows of {:?}\n\
         window {:>9} {:>9}  {:>14} {:>9}  {:>6}\n",
        plan.rounds, plan.paced_window, "ours/s", "CPU us", "no tick/s", "CPU us", "ratio"
    );
    let mut ratios = Vec::new();
    for round in 0..plan.rounds {
        let begin = Instant::now();
        let before = (ours.spent()?, cpu::of_group(untimed.id())?);
        let counted = (fleet.count().await?.answers, other.count().await?.answers);
        sleep(plan.paced_window).await;
        let after = (ours.spent()?, cpu::of_group(untimed.id())?);
        let answers = (
            fleet.count().await?.answers - counted.0,
            other.count().await?.answers - counted.1,
        );
        let took = begin.elapsed().as_secs_f64();
        let cost = (
            per_answer(after.0.saturating_sub(before.0), answers.0),
            per_answer(after.1.saturating_sub(before.1), answers.1),
        );
        let ratio = cost.0 / cost.1;
        ratios.push(ratio);
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{:>6} {:>9.1} {:>9.1}  {:>14.1} {:>9.1}  {ratio:>6.2}",
            round + 1,
            answers.0 / took,
            cost.0,
            answers.1 / took,
            cost.1
        );
    }
    let ratio = Figures::new(ratios);
    let _ = writeln!(
        table,
        "ours, with engine and store, over our client without a tick, engine or store: {ratio}"
    );
    let goals = vec![goal(
        "A2",
        "CPU of a paced poll, ours / the same client without a tick",
        Bound::AtMost(0.5),
        &ratio,
    )];
    Ok(Outcome { table, goals })
}
