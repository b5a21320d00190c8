//! Reading a report, beside the same bytes read into plain borrowed types by the same parser. Goal J1.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::time::Instant;

use rootward_core::Moment;
use rootward_wire::v1;

use super::goal;
use crate::fleet::Report;
use crate::goal::{Bound, Outcome};
use crate::plain;
use crate::plan::Plan;
use crate::statistics::Figures;

/// Which report of the fleet is read.
const NUMBER: u32 = 42;

/// The three ways, in the order of the table: microseconds for one report.
fn measure(bytes: &[u8], times: u32, turn: usize) -> io::Result<[f64; 3]> {
    let mut took = [0.0; 3];
    for place in 0..took.len() {
        let at = (turn + place) % took.len();
        let begin = Instant::now();
        for _ in 0..times {
            let bytes = black_box(bytes);
            match at {
                0 => drop(black_box(v1::parse(bytes).map_err(io::Error::other)?)),
                1 => {
                    let read = v1::read(bytes, Moment::from_millis(1_000_000));
                    drop(black_box(read.map_err(io::Error::other)?));
                }
                _ => drop(black_box(plain::read(bytes).map_err(io::Error::other)?)),
            }
        }
        took[at] = begin.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    }
    Ok(took)
}

pub(super) fn run(plan: &Plan) -> io::Result<Outcome> {
    let report = Report::of(NUMBER);
    let mut rounds = Vec::new();
    // Short slices: the neighbours take whole milliseconds.
    for turn in 0..plan.rounds * plan.slices * 10 {
        rounds.push(measure(&report.body, plan.parses, turn)?);
    }
    let column = |at: usize| Figures::new(rounds.iter().map(|took| took[at]));
    let over = |at: usize| Figures::new(rounds.iter().map(|took| took[at] / took[2]));
    let mut table = format!(
        "reading a report of {} bytes, {} slices of {} each\n{:<32} {:>9} {:>12}\n",
        report.body.len(),
        rounds.len(),
        plan.parses,
        "reader",
        "us",
        "over plain"
    );
    let names = [
        "ours, parsed",
        "ours, parsed, checked, to the core",
        "serde_json, plain borrowed types",
    ];
    for (at, name) in names.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{name:<32} {:>9.2} {:>12.2}",
            column(at).median(),
            over(at).median()
        );
    }
    let goals = vec![goal(
        "J1",
        "parsing a report, ours / plain borrowed types of serde_json",
        Bound::AtMost(1.1),
        &over(0),
    )];
    Ok(Outcome { table, goals })
}
