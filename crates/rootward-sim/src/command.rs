//! What the program can be asked.

use std::fmt::Write as _;

use rootward_core::localise::Settings;

use crate::baseline::{DeepestRed, EveryRed, MostReported, PageRank, SetCover};
use crate::engine::CoreEngine;
use crate::scenario::write_line;
use crate::score::{
    Contestant, Seeds, Size, Suite, calm, exact, false_causes, incidents, judge, print,
    run as score,
};
use crate::simulator::Kind;

const USAGE: &str = "\
usage: rootward-sim score [--only NAME] [--kind KIND] [--seeds tuning|reporting] [--count N] [--threads N] [--quick]
       rootward-sim misses [KIND] [--seeds tuning|reporting] [--count N] [--quick]
       rootward-sim false [--seeds tuning|reporting] [--count N] [--quick]
       rootward-sim write KIND NUMBER [--seeds tuning|reporting]

score   plays simulated incidents to the localisers and prints how good they are;
        --only leaves out all but one of them, --kind all but this kind, as often as it is given
misses  lists the incidents whose causes the engine does not name exactly at the end
false   lists the causes that the engine names in hours without a fault
write   prints one simulated incident: the map, what is true, what was received

kinds:";

/// What the options say.
struct Options {
    suite: Suite,
    only: Option<String>,
}

/// Does what the arguments ask; the text to print.
///
/// # Errors
/// A sentence when the arguments are wrong.
pub fn run(arguments: &[String]) -> Result<String, String> {
    let mut words = arguments.iter().map(String::as_str);
    let command = words.next();
    let (free, options) = options(words)?;
    let Options { suite, only } = options;
    let (seeds, size) = (suite.seeds, suite.size);
    match (command, free.as_slice()) {
        (Some("score"), []) => {
            let mut contestants = contestants();
            if let Some(only) = only {
                contestants.retain(|contestant| contestant.name == only);
                if contestants.is_empty() {
                    return Err(format!("no localiser is called `{only}`"));
                }
            }
            let rows = score(&contestants, &suite)?;
            Ok(print(&contestants, &rows))
        }
        (Some("misses"), []) => misses(seeds, size, Kind::ALL),
        (Some("misses"), [kind]) => misses(seeds, size, &[named(kind)?]),
        (Some("false"), []) => named_for_nothing(seeds, size),
        (Some("write"), [kind, number]) => {
            let number = number
                .parse()
                .map_err(|_| format!("`{number}` is not the number of an incident"))?;
            write(seeds, named(kind)?, number)
        }
        _ => Err(usage()),
    }
}

/// The words that are no options, and the options.
fn options<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> Result<(Vec<&'a str>, Options), String> {
    let mut suite = Suite::new(Seeds::Reporting, Size::FULL);
    let mut only = None;
    let mut free = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--quick" => suite.size = Size::QUICK,
            "--seeds" => {
                suite.seeds = match words.next() {
                    Some("tuning") => Seeds::Tuning,
                    Some("reporting") => Seeds::Reporting,
                    Some(_) | None => return Err("--seeds takes tuning or reporting".to_owned()),
                }
            }
            "--count" => {
                let count = words.next().and_then(|number| number.parse().ok());
                suite.size.of_each_kind = count.ok_or("--count takes a number")?;
                suite.size.healthy_systems = suite.size.of_each_kind / 4;
            }
            "--only" => only = words.next().map(str::to_owned),
            "--kind" => {
                if suite.healthy {
                    suite.kinds.clear();
                    suite.healthy = false;
                }
                suite.kinds.push(named(words.next().unwrap_or_default())?);
            }
            "--threads" => {
                let threads = words.next().and_then(|number| number.parse().ok());
                suite.threads = threads.ok_or("--threads takes a number")?;
            }
            other if other.starts_with("--") => {
                return Err(format!("unknown option {other}\n\n{}", usage()));
            }
            other => free.push(other),
        }
    }
    Ok((free, Options { suite, only }))
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

fn named_for_nothing(seeds: Seeds, size: Size) -> Result<String, String> {
    let mut text = String::new();
    for number in 0..size.healthy_systems {
        let calm = calm(seeds, size, number);
        let mut engine = CoreEngine::new(&calm.scenario.graph, Settings::default())
            .map_err(|error| error.to_string())?;
        for found in false_causes(&calm, &mut engine) {
            let _ = writeln!(
                text,
                "{number} at {} {} {:.3} {:?} {:?}",
                found.t,
                found.cause.id,
                found.cause.confidence,
                found.cause.state,
                found.cause.evidence
            );
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
