//! `poll`: what a poll of the aggregator costs, beside bare clients on the same fleet. Goals A1, A2, A6 to A9 and J1.
//!
//! A fleet of stand-ins answers, each service at an address of its own, and counts. All figures are processor time, user and
//! system, of everything that the measured process does in a window, over what the fleet has answered in it.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use crate::aggregator;
use crate::goal::{Bound, Goal, Outcome};
use crate::load::Load;
use crate::plan::Plan;
use crate::statistics::Figures;
use crate::temporary::Directory;

mod large;
mod paced;
mod parse;
mod saturated;

/// How long a whole fleet may take until everybody was asked, beyond one interval.
const ALL_ASKED: Duration = Duration::from_secs(60);

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let before = Load::now();
    let directory = Directory::create()?;
    let saturated = saturated::run(plan, &directory).await?;
    let paced = paced::run(plan, &directory).await?;
    let large = large::run(plan, &directory).await?;
    let parse = parse::run(plan)?;
    let mut table = format!(
        "polls of {}, of reports of about 1.5 KB that differ each time\n\
         CPU: processor time, user and system, of the whole process over the answers that the fleet has counted\n\
         load average {before} before, {} after\n",
        aggregator::measured(),
        Load::now()
    );
    let mut goals = Vec::new();
    for part in [saturated, paced, large, parse] {
        let _ = write!(table, "\n{}", part.table);
        goals.extend(part.goals);
    }
    Ok(Outcome { table, goals })
}

/// Microseconds of processor time for each answer.
fn per_answer(spent: Duration, answers: f64) -> f64 {
    spent.as_secs_f64() * 1e6 / answers
}

/// A goal for the median of these.
fn goal(name: &'static str, what: impl Into<String>, bound: Bound, figures: &Figures) -> Goal {
    Goal::new(name, what, bound, Ok(figures.median()))
}
