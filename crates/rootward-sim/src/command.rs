//! What the program can be asked.

use std::fmt::Write as _;

use crate::baseline::{DeepestRed, EveryRed, MostReported, PageRank, SetCover};
use crate::scenario::write_line;
use crate::score::{Contestant, Seeds, Size, incidents, print, run as score};
use crate::simulator::Kind;

const USAGE: &str = "\
usage: rootward-sim score [--seeds tuning|reporting] [--quick]
       rootward-sim write KIND NUMBER [--seeds tuning|reporting]

score  plays simulated incidents to the localisers and prints how good they are
write  prints one simulated incident: the map, what is true, what was received

kinds:";

/// Does what the arguments ask; the text to print.
///
/// # Errors
/// A sentence when the arguments are wrong.
pub fn run(arguments: &[String]) -> Result<String, String> {
    let mut words = arguments.iter().map(String::as_str);
    let command = words.next();
    let mut seeds = Seeds::Reporting;
    let mut size = Size::FULL;
    let mut free = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--quick" => size = Size::QUICK,
            "--seeds" => {
                seeds = match words.next() {
                    Some("tuning") => Seeds::Tuning,
                    Some("reporting") => Seeds::Reporting,
                    Some(_) | None => return Err("--seeds takes tuning or reporting".to_owned()),
                }
            }
            other if other.starts_with("--") => {
                return Err(format!("unknown option {other}\n\n{}", usage()));
            }
            other => free.push(other),
        }
    }
    match (command, free.as_slice()) {
        (Some("score"), []) => {
            let contestants = contestants();
            let rows = score(&contestants, seeds, size);
            Ok(print(&contestants, &rows))
        }
        (Some("write"), [kind, number]) => {
            let number = number
                .parse()
                .map_err(|_| format!("`{number}` is not the number of an incident"))?;
            write(seeds, kind, number)
        }
        _ => Err(usage()),
    }
}

fn usage() -> String {
    let mut text = USAGE.to_owned();
    for kind in Kind::ALL {
        let _ = write!(text, "\n  {kind}");
    }
    text
}

fn contestants() -> Vec<Contestant> {
    vec![
        Contestant {
            name: "set cover",
            make: |graph| Box::new(SetCover::new(graph)),
        },
        Contestant {
            name: "deepest red",
            make: |graph| Box::new(DeepestRed::new(graph)),
        },
        Contestant {
            name: "most reported",
            make: |graph| Box::new(MostReported::new(graph)),
        },
        Contestant {
            name: "PageRank",
            make: |graph| Box::new(PageRank::new(graph)),
        },
        Contestant {
            name: "every red tile",
            make: |graph| Box::new(EveryRed::new(graph)),
        },
    ]
}

fn write(seeds: Seeds, kind: &str, number: usize) -> Result<String, String> {
    let kind = Kind::ALL
        .iter()
        .find(|known| known.as_str() == kind)
        .ok_or_else(|| format!("no kind is called `{kind}`\n\n{}", usage()))?;
    let found = incidents(seeds, *kind, u64::MAX).nth(number);
    let incident = found.ok_or_else(|| format!("there is no {kind} number {number}"))?;
    let mut text = String::new();
    let mut line = |json: Result<String, crate::scenario::Problem>| {
        json.map(|json| {
            text.push_str(&json);
            text.push('\n');
        })
        .map_err(|problem| problem.to_string())
    };
    line(write_line(&incident.scenario.graph))?;
    line(write_line(&incident.truth))?;
    for event in &incident.scenario.events {
        line(write_line(event))?;
    }
    Ok(text)
}
