//! What the program can be asked.

use std::fmt::Write as _;

use rootward_core::localise::Settings;

use crate::baseline::{DeepestRed, EveryRed, MostReported, PageRank, SetCover};
use crate::engine::CoreEngine;
use crate::scenario::write_line;
use crate::score::{Contestant, Seeds, Size, exact, incidents, judge, print, run as score};
use crate::simulator::Kind;

const USAGE: &str = "\
usage: rootward-sim score [--seeds tuning|reporting] [--quick]
       rootward-sim misses [KIND] [--seeds tuning|reporting] [--quick]
       rootward-sim write KIND NUMBER [--seeds tuning|reporting]

score   plays simulated incidents to the localisers and prints how good they are
misses  lists the incidents whose causes the engine does not name exactly at the end
write   prints one simulated incident: the map, what is true, what was received

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
            let rows = score(&contestants, seeds, size)?;
            Ok(print(&contestants, &rows))
        }
        (Some("misses"), []) => misses(seeds, size, Kind::ALL),
        (Some("misses"), [kind]) => misses(seeds, size, &[named(kind)?]),
        (Some("write"), [kind, number]) => {
            let number = number
                .parse()
                .map_err(|_| format!("`{number}` is not the number of an incident"))?;
            write(seeds, named(kind)?, number)
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
            name: "rootward",
            make: |graph| match CoreEngine::new(graph, Settings::default()) {
                Ok(engine) => Ok(Box::new(engine)),
                Err(error) => Err(error.to_string()),
            },
        },
        Contestant {
            name: "set cover",
            make: |graph| Ok(Box::new(SetCover::new(graph))),
        },
        Contestant {
            name: "set cover, hit ratio",
            make: |graph| Ok(Box::new(SetCover::with_hit_ratio(graph))),
        },
        Contestant {
            name: "deepest red",
            make: |graph| Ok(Box::new(DeepestRed::new(graph))),
        },
        Contestant {
            name: "most reported",
            make: |graph| Ok(Box::new(MostReported::new(graph))),
        },
        Contestant {
            name: "PageRank",
            make: |graph| Ok(Box::new(PageRank::new(graph))),
        },
        Contestant {
            name: "every red tile",
            make: |graph| Ok(Box::new(EveryRed::new(graph))),
        },
    ]
}

fn named(kind: &str) -> Result<Kind, String> {
    let known = Kind::ALL.iter().find(|known| known.as_str() == kind);
    known
        .copied()
        .ok_or_else(|| format!("no kind is called `{kind}`\n\n{}", usage()))
}

fn misses(seeds: Seeds, size: Size, kinds: &[Kind]) -> Result<String, String> {
    let mut text = String::new();
    for &kind in kinds {
        for (number, incident) in incidents(seeds, kind, size.of_each_kind).enumerate() {
            let mut engine = CoreEngine::new(&incident.scenario.graph, Settings::default())
                .map_err(|error| error.to_string())?;
            let verdict = judge(&incident, &mut engine);
            if exact(&incident.truth, &verdict.last) {
                continue;
            }
            let _ = writeln!(
                text,
                "{kind} {number} ({})",
                incident.scenario.graph.scenario
            );
            for cause in &incident.truth.causes {
                let _ = writeln!(text, "  true   {} {:?}", cause.id, cause.accept);
            }
            for cause in &verdict.last.root_causes {
                let mark = match incident.truth.matching(&cause.id) {
                    Some(_) => "right",
                    None => "wrong",
                };
                let _ = writeln!(text, "  {mark}  {} {:.3}", cause.id, cause.confidence);
            }
            for ranked in verdict.last.rank.iter().take(6) {
                let _ = writeln!(text, "  rank   {} {:.1}", ranked.id, ranked.margin);
            }
        }
    }
    Ok(text)
}

fn write(seeds: Seeds, kind: Kind, number: usize) -> Result<String, String> {
    let found = incidents(seeds, kind, u64::MAX).nth(number);
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
